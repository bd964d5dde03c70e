"""What is known about the topics of a report: clusters and segments, and which studies use them."""

from __future__ import annotations

from dataclasses import replace

from steadyrank.data.read.run_info import describe_topics
from steadyrank.data.scores import Scores, cluster_codes, topic_column
from steadyrank.studies.material import Material
from steadyrank.words import counted


def with_topic_information(material: Material) -> Material:
    """The material with what its settings say about the topics, and what a reader must know."""
    settings = material.settings
    scores = describe_topics(
        material.scores, topic_info=settings.topic_info, cluster_from=settings.cluster_from
    )
    if settings.by is not None:
        topic_column(scores, settings.by)
    scores, notes = _without_weights(scores)
    codes = cluster_codes(scores)
    if codes is not None:
        clusters = counted(int(codes.max(initial=-1)) + 1, "cluster")
        notes.append(
            f"The {counted(len(scores.topics), 'topic')} come in {clusters}: the sections on "
            "pairs of runs, other topics and planning account for them; all others treat "
            "topics as independent."
        )
    return replace(material, scores=scores, warnings=(*material.warnings, *notes))


def _without_weights(scores: Scores) -> tuple[Scores, list[str]]:
    """Means of a page are one kind of mean: those over topics that count the same."""
    if "weight" not in scores.topic_info:
        return scores, []
    kept = {key: column for key, column in scores.topic_info.items() if key != "weight"}
    note = (
        "The topics have weights, which a report does not use: in its means all topics count "
        "the same. compare, topics and gate compute weighted means."
    )
    return replace(scores, topic_info=kept), [note]
