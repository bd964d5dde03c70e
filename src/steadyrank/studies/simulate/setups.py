"""Runs made ready for simulation: scores to be drawn apart, or rankings of shared documents.

The first is the paper's reading (Yang, Zhang & Song 2018), the second a new collection that all
runs rank: see `sources` for how either is sampled.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from steadyrank.compute.executors import Progress
from steadyrank.compute.random import block_stream
from steadyrank.data.qrels import Qrels
from steadyrank.data.read.runs import Runs
from steadyrank.data.run import Run
from steadyrank.measures.names import Measure
from steadyrank.measures.scoring import prepare
from steadyrank.studies.simulate.density_bins import joined_bins
from steadyrank.studies.simulate.measures import (
    Denominator,
    SimulatedMeasure,
    make_gain,
    raw_values,
)
from steadyrank.studies.simulate.profiles import (
    Bandwidth,
    Model,
    ScoreProfiles,
    ScoreSource,
    score_profiles,
)
from steadyrank.studies.simulate.score_bins import Gain
from steadyrank.studies.simulate.shared_lists import shared_lists
from steadyrank.studies.simulate.sources import (
    IndependentRuns,
    SharedDocuments,
    SmoothedRuns,
    Source,
)

Depth = Literal["retrieved"] | int


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Setup:
    """What a simulation samples, and what was odd about it; runs are by name."""

    source: Source
    measure: str
    """What is simulated, by its name."""
    raw: np.ndarray
    """[run, topic]: of the rankings as they are."""
    runs: tuple[Run, ...]
    given: np.ndarray
    """Places of the runs in the order in which they came."""
    missing: np.ndarray
    """[run]: topics that each lacks."""
    none_relevant: int
    constant: tuple[str, ...]
    rank_like: tuple[str, ...] = ()
    graded_measure: str | None = None
    graded: np.ndarray | None = None
    """[run, topic]: the graded measure, where its binary version is simulated."""
    plain: int = 0
    fingerprint: str
    """A digest of all that the samples depend on."""


def shared_setup(
    runs: Runs,
    qrels: Qrels,
    measure: Measure,
    *,
    topics: Sequence[str],
    depth: Depth,
    score_source: ScoreSource,
    seed: int,
    jobs: int | None,
    progress: Progress | None,
) -> Setup:
    """One new collection for all runs, whose documents keep their grades."""
    recipe = prepare(measure, qrels.max_grade)
    found = shared_lists(
        runs,
        qrels,
        recipe,
        topics=topics,
        depth=depth,
        score_source=score_source,
        jobs=jobs,
        progress=progress,
    )
    return Setup(
        source=SharedDocuments(found.lists, recipe, topic_keys(seed, topics)),
        measure=str(measure),
        raw=found.raw,
        runs=found.runs,
        given=found.given,
        missing=found.missing,
        none_relevant=found.none_relevant,
        constant=found.constant,
        fingerprint=_fingerprint(found.lists, found.runs, topics),
    )


def topic_keys(seed: int, topics: Sequence[str]) -> np.ndarray:
    """Of the counts of each topic's documents: topics meet random numbers by name."""
    streams = (block_stream(seed, f"documents of topic {topic}", 0) for topic in topics)
    return np.array([stream.integers(2**64, dtype=np.uint64) for stream in streams], np.uint64)


def independent_setup(
    runs: Runs,
    qrels: Qrels,
    asked: SimulatedMeasure,
    *,
    topics: Sequence[str],
    depth: Depth,
    model: Model,
    bandwidth: Bandwidth | float,
    denominator: Denominator,
    score_source: ScoreSource,
    seed: int,
    jobs: int | None,
    progress: Progress | None,
) -> Setup:
    """The scores of every run's relevant and other documents, without grades."""
    is_itself = asked.is_itself(qrels)
    profiles = score_profiles(
        runs,
        qrels,
        topics=topics,
        level=asked.level,
        model=model,
        depth=depth,
        bandwidth=bandwidth,
        score_source=score_source,
        graded=None if is_itself else prepare(asked.measure, qrels.max_grade),
        jobs=jobs,
        progress=progress,
    )
    gain = make_gain(asked.measure, denominator, profiles.cells, longest=profiles.longest)
    key = block_stream(seed, "simulated collections", 0).integers(2**64, dtype=np.uint64)
    source: Source = IndependentRuns(profiles.cells, gain, key)
    columns = [*profiles.cells]
    if model == "kde":
        joined, tilt = joined_bins(profiles.cells)
        source = SmoothedRuns(profiles.cells, gain, key, joined, tilt)
        columns += [*joined, tilt]
    return Setup(
        source=source,
        measure=asked.name_on(qrels),
        raw=_raw(profiles, gain),
        runs=profiles.runs,
        given=profiles.given,
        missing=profiles.missing,
        none_relevant=profiles.none_relevant,
        constant=profiles.constant,
        rank_like=profiles.rank_like,
        graded_measure=None if is_itself else str(asked.measure),
        graded=profiles.graded,
        plain=profiles.plain,
        fingerprint=_fingerprint(columns, profiles.runs, topics),
    )


def _raw(profiles: ScoreProfiles, gain: Gain) -> np.ndarray:
    judged = profiles.cells.judged[: len(profiles.topics)]
    runs = zip(profiles.ranks, profiles.blocks, strict=True)
    return np.stack([raw_values(ranks, blocks, judged, gain) for ranks, blocks in runs])


def _fingerprint(columns: Sequence[np.ndarray], runs: Sequence[Run], topics: Sequence[str]) -> str:
    digest = hashlib.blake2b(digest_size=16)
    for column in columns:
        digest.update(np.ascontiguousarray(column).tobytes())
    digest.update("\0".join([*(run.name for run in runs), *topics]).encode(errors="surrogatepass"))
    return digest.hexdigest()
