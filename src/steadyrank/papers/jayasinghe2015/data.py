"""What Jayasinghe et al. (IP&M 2015) are reproduced on: settings, instances, a baseline.

The paper compares selective search, at several sampling rates and with 100 instances of each, with
exhaustive search. Any systems with several runs can take that place; a deterministic one among
them is the baseline, or else one run of the best stands in for it.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from steadyrank.compute.random import block_stream
from steadyrank.data.scores import Scores, mean_of_present
from steadyrank.errors import InputError, SteadyrankWarning
from steadyrank.papers.data import PaperData
from steadyrank.stats.instances.systems import Groups, systems_of
from steadyrank.studies.instances.result import InstancesResult, InstancesTable
from steadyrank.studies.instances.study import instances

MEASURES = ("nDCG@10", "P@10", "AP")
"""Those of the paper, the one that most figures are about first."""

SWEEP = "rate"
"""The column of run information that orders settings, as `shard` writes it."""

SIMULATED_RATES = (0.01, 0.05, 0.1, 0.5, 1.0, 2.0, 4.0)
"""Of the simulated sweep, in percent."""

Pools = Iterator[tuple[np.ndarray, np.ndarray]]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class InstanceData:
    """Systems with instances, and a deterministic one."""

    words: str
    scores: Scores
    baseline: str
    """The deterministic system."""
    stand_in: str
    """The system whose run stands in for a deterministic one, or nothing."""
    varied: tuple[str, ...]
    """Systems with several runs."""
    sweep: str | None
    """The column that orders the settings of the first of them, or nothing."""

    @property
    def measure(self) -> str:
        """The measure that most figures are about."""
        return self.scores.measures[0]

    def against(self, baseline: str, measure: str, **options: Any) -> InstancesTable:
        """Every setting, or every system that varies, against a system or setting."""
        scores, first = self.scores, self.varied[0] if self.sweep else None
        if not self.sweep:
            kept = {*self.varied, baseline}
            systems = zip(scores.runs, scores.run_info["system"], strict=True)
            scores = scores.select(runs=[run for run, name in systems if (name or run) in kept])
        with _quietly():
            table = instances(
                scores, a=first, b=baseline, measure=measure, sweep=self.sweep, **options
            )
        return cast(InstancesTable, table)

    def halves(self, runs: tuple[str, ...], measure: str, **options: Any) -> InstancesResult | None:
        """Every other run of a system against the rest; nothing if there are too few."""
        if len(runs) < 4:
            return None
        chosen = self.scores.select(runs=runs)
        sides = [("first half", "second half")[place % 2] for place in range(len(runs))]
        with _quietly():
            result = instances(
                chosen.with_run_info(system=sides),
                a="first half",
                b="second half",
                measure=measure,
                **options,
            )
        return cast(InstancesResult, result)


@contextmanager
def _quietly() -> Iterator[None]:
    """Without warnings about instances that share draws: the exhibits say that."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SteadyrankWarning)
        yield


def instance_data(data: PaperData, *, jobs: int | None) -> InstanceData:
    """Systems with several runs, the settings of one if it has a rate, and a deterministic one."""
    scores = data.scores(MEASURES, jobs=jobs)
    means = dict(zip(scores.runs, mean_of_present(scores.values[0]).tolist(), strict=True))
    single = [scores.runs[places[0]] for places in systems_of(scores).values() if len(places) == 1]
    stand_in = ""
    if single:
        run = max(single, key=means.__getitem__)
        baseline = scores.run_info["system"][scores.runs.index(run)] or run
    else:
        stand_in, baseline, scores = _stand_in(scores, means)
    varied = _varied(scores)
    swept = [name for name, places in varied.items() if _is_swept(scores, places)][:1]
    if swept:
        scores = _without_lonely(scores, varied[swept[0]])
    return InstanceData(
        words=data.words,
        scores=scores,
        baseline=baseline,
        stand_in=stand_in,
        varied=(*swept, *(name for name in varied if name not in swept)),
        sweep=SWEEP if swept else None,
    )


def _varied(scores: Scores) -> Groups:
    systems = {name: places for name, places in systems_of(scores).items() if len(places) > 1}
    if not systems:
        raise InputError(
            "no system has two runs or more, apart from one that is deterministic: this paper is "
            "about systems that answer differently every time; say which runs are instances of "
            "one system with run_info= or system_from="
        )
    return systems


def _without_lonely(scores: Scores, places: Iterable[int]) -> Scores:
    """Without the settings that have a single run: it says nothing about instances."""
    column = [scores.run_info[SWEEP][place] for place in places]
    lonely = {
        scores.runs[place]
        for place, value in zip(places, column, strict=True)
        if column.count(value) == 1
    }
    return scores.select(runs=[run for run in scores.runs if run not in lonely])


def _is_swept(scores: Scores, places: Iterable[int]) -> bool:
    """Whether these runs have several numeric settings."""
    column = scores.run_info.get(SWEEP, ())
    if not column:
        return False
    values = {column[place] for place in places} - {""}
    try:
        return len({float(value.strip().removesuffix("%")) for value in values}) > 1
    except ValueError:
        return False


def _stand_in(scores: Scores, means: dict[str, float]) -> tuple[str, str, Scores]:
    """The run in the middle of the best system as a system of its own."""
    groups = systems_of(scores)
    best = max(groups, key=lambda name: np.mean([means[scores.runs[p]] for p in groups[name]]))
    order = sorted(groups[best], key=lambda place: means[scores.runs[place]])
    place = order[len(order) // 2]
    name = f"{scores.runs[place]} alone"
    column = list(scores.run_info["system"])
    column[place] = name
    return best, name, scores.with_run_info(system=column)


def simulated_sweep(n_instances: int, rates: tuple[float, ...] = SIMULATED_RATES) -> Scores:
    """Scores of a sampled system at several rates, and of a deterministic one.

    The larger the rate, the better the mean, the less instances differ, and the smaller the
    residual; on some topics nothing varies. Always the same scores.
    """
    n_topics = 50
    stream = block_stream(0, "selective search, simulated", 0)
    baseline = np.clip(stream.normal(0.45, 0.2, n_topics), 0.02, 0.98)
    own = stream.normal(0.0, 0.08, n_topics)
    susceptible = 1.5 * stream.beta(0.8, 1.2, n_topics)
    susceptible[stream.random(n_topics) < 0.1] = 0.0
    rows, info = [baseline], [("exhaustive", "")]
    least, most = SIMULATED_RATES[0], SIMULATED_RATES[-1]
    for rate in rates:
        share = np.log(rate / least) / np.log(most / least)
        draws = block_stream(0, "selective search, simulated", round(100 * rate))
        mean = (
            0.02
            - 0.14 * (1.0 - share) ** 2
            + 0.045 * (1.0 - 0.8 * share) * draws.normal(size=(n_instances, 1))
        )
        noise = 0.12 * (1.0 - 0.6 * share) * draws.normal(size=(n_instances, n_topics))
        rows += list(
            np.clip(baseline + own * (susceptible > 0) + susceptible * (mean + noise), 0, 1)
        )
        info += [("sampled", f"{rate:g}")] * n_instances
    names = (
        "exhaustive",
        *(f"r{rate:g}-i{i}" for rate in rates for i in range(1, n_instances + 1)),
    )
    systems, settings = zip(*info, strict=True)
    return Scores(
        measures=("score",),
        runs=names,
        topics=tuple(str(701 + n) for n in range(n_topics)),
        values=np.array(rows)[None],
        run_info={"system": systems, SWEEP: settings},
    )


def pools(table: InstancesTable, *, sizes: tuple[int, ...], number: int, seed: int) -> Pools:
    """Instances of each setting drawn with replacement, beside the deterministic system."""
    for place, comparison in enumerate(table.comparisons):
        scores, baseline = comparison.pair.a.scores, comparison.pair.b.scores[0]
        stream = block_stream(seed, "pools of a setting", place)
        for size in sizes:
            for chosen in stream.integers(len(scores), size=(number, size)):
                yield scores[chosen], baseline
