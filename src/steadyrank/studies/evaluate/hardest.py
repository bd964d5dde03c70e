"""The section of a report about single topics, the hardest first."""

from __future__ import annotations

import math

import numpy as np

from steadyrank.data.scores import Scores, mean_of_present
from steadyrank.present.cells import name, number, table, whole
from steadyrank.present.table import Cell
from steadyrank.present.view import Finding
from steadyrank.studies.part import Body, Findings, Part
from steadyrank.words import counted

MOST_TOPICS = 300
"""Most topics that the table lists, the hardest."""


def _body(result: None, findings: Findings) -> Body:
    """Return the table of topics, the hardest first."""
    scores = findings.material.scores
    measure = scores.measures[0]
    matrix, sign = scores.matrix(measure), -1.0 if scores.lower_is_better(measure) else 1.0
    by_topic = mean_of_present(matrix.T)
    order = np.argsort(np.nan_to_num(sign * by_topic, nan=np.inf), kind="stable")[:MOST_TOPICS]
    rows = [_topic_row(scores, matrix[:, topic], int(topic), sign) for topic in order]
    caption = f"{measure} by topic, hardest first."
    if len(order) < matrix.shape[1]:
        caption += f" The {len(order):,} hardest of {matrix.shape[1]:,} topics."
    header = ["topic", "mean", "sd over runs", "lowest", "highest", "best run", "runs at 0"]
    return Body(
        answer=tuple(_answer(scores, matrix, sign)),
        tables=(table("hardest-topics", caption, header, rows, shown=15),),
    )


def _topic_row(scores: Scores, column: np.ndarray, topic: int, sign: float) -> list[Cell]:
    known = column[~np.isnan(column)]
    if not len(known):
        return [name(scores.topics[topic]), *[Cell("–")] * 6]
    best = int(np.nanargmax(sign * column))
    ties = int((known == column[best]).sum()) - 1
    more = f" and {ties} more" if ties else ""
    sd = float(known.std(ddof=1)) if len(known) > 1 else math.nan
    return [
        name(scores.topics[topic]),
        number(float(known.mean())),
        number(sd),
        number(float(known.min())),
        number(float(known.max())),
        name(scores.runs[best] + more),
        whole(int((known == 0.0).sum())),
    ]


def _answer(scores: Scores, matrix: np.ndarray, sign: float) -> list[Finding]:
    by_topic = mean_of_present(matrix.T)
    if np.isnan(by_topic).all():
        return []
    low, high = int(np.nanargmin(sign * by_topic)), int(np.nanargmax(sign * by_topic))
    text = (
        f"The hardest topic is {scores.topics[low]} (mean {by_topic[low]:.3f}), the easiest "
        f"{scores.topics[high]} ({by_topic[high]:.3f})."
    )
    values = {"hardest": scores.topics[low], "easiest": scores.topics[high]}
    said = [Finding("hardest.topics", text, values)]
    dead = int((np.nan_to_num(matrix, nan=0.0) == 0.0).all(axis=0).sum())
    if dead and sign > 0.0:
        text = (
            f"On {counted(dead, 'topic', form=',')} every run scores 0: "
            f"{'it does' if dead == 1 else 'they do'} not separate runs."
        )
        said.append(Finding("hardest.dead", text, {"n_topics": dead}))
    return said


PART = Part(
    title="Topic by topic",
    question="Which topics are hard, and which separate the runs?",
    means=(
        "A topic with a low mean is hard for all runs; one with a large spread decides the order."
    ),
    means_not=(
        "A hard topic is not a bad one. A topic on which all runs score 0 may have no "
        "relevant document among the judged ones."
    ),
    body=_body,
    run=lambda job: None,
    is_read=True,
)
