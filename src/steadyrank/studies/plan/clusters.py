"""Topics in clusters or of unequal weight: how many more of them does a plan need?"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from steadyrank.data.scores import Scores, cluster_codes, mean_of_present, topic_weights
from steadyrank.stats.pairs.clustered import design_effect, effective_topics
from steadyrank.studies.plan.measures import MeasurePlan


def with_clusters(row: MeasurePlan, scores: Scores, *, paired: bool, asked: bool) -> MeasurePlan:
    """The plan with the design effect of the pilot's clusters, and the topics that it `asked` for.

    Of a paired design it is the effect on differences, else on the runs' own scores.
    """
    weights = topic_weights(scores)
    if weights is not None:
        row = replace(row, effective_topics=effective_topics(weights))
    codes = cluster_codes(scores)
    if codes is None:
        return row
    matrix = scores.matrix(row.measure)
    effect = design_effect(matrix - mean_of_present(matrix.T) if paired else matrix, codes)
    row = replace(row, design_effect=effect)
    if not asked or math.isnan(effect):
        return row
    n_topics = math.ceil(row.topics * max(1.0, effect))
    size = len(codes) / len(np.unique(codes))
    return replace(row, topics_clustered=n_topics, clusters=math.ceil(n_topics / size))
