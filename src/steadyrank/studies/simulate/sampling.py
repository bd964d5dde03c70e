"""From a study of simulated collections to its statistics, on processors or on a GPU."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Executor
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple, cast

import numpy as np

from steadyrank.compute.executors import Progress
from steadyrank.compute.stores import Store
from steadyrank.stats.pairs.result import all_pairs
from steadyrank.studies.simulate import statistics
from steadyrank.studies.simulate.blocks import Study, block_name, kept_block, sample_study
from steadyrank.studies.simulate.prediction import Prediction
from steadyrank.studies.simulate.sources import (
    IndependentRuns,
    SharedDocuments,
    SmoothedRuns,
    Source,
)


class Summary(NamedTuple):
    """All that is told about the samples of a study."""

    means: np.ndarray
    """[sample, run]"""
    shift: np.ndarray
    """[run, topic]: sum over samples of the difference from the raw value."""
    squares: np.ndarray
    odd: int
    """What the source of the samples counts."""
    correlation: statistics.CollectionCorrelation
    errors: statistics.ErrorRate
    rates: statistics.SignificanceRates
    rank_share: np.ndarray
    prediction: Prediction | None = None


def summarise(
    study: Study,
    store: Store | None,
    *,
    alpha: float,
    jobs: int | None = None,
    scheduler: str | None = None,
    executor: Executor | None = None,
    progress: Progress | None = None,
) -> Summary:
    """Sample and summarise on this machine's processors or on a cluster."""
    raw = study.raw.mean(axis=1)
    with sample_study(
        study, store, jobs=jobs, scheduler=scheduler, executor=executor, progress=progress
    ) as sampled:
        means = sampled.means
        rates = statistics.significance_rates(
            means, sampled.errors, study.raw.shape[1], alpha=alpha, jobs=jobs
        )
    return Summary(
        means=means,
        shift=sampled.shift,
        squares=sampled.squares,
        odd=sampled.odd,
        correlation=statistics.rank_correlation(raw, means, jobs=jobs),
        errors=statistics.error_rate(raw, means),
        rates=rates,
        rank_share=statistics.rank_shares(means),
    )


def in_given_order(summary: Summary, given: np.ndarray) -> Summary:
    """A summary of runs by name as one of the runs as they were given: given[0] comes first."""
    at = np.empty((len(given), len(given)), np.int64)
    first, second = all_pairs(len(given)).T
    at[first, second] = at[second, first] = np.arange(len(first))
    pairs = at[given[first], given[second]]
    prediction = summary.prediction
    if prediction is not None:
        prediction = replace(
            prediction, rank_share=prediction.rank_share[given], swap=prediction.swap[pairs]
        )
    return summary._replace(
        means=np.ascontiguousarray(summary.means[:, given]),
        shift=summary.shift[given],
        squares=summary.squares[given],
        rates=replace(
            summary.rates,
            rate=summary.rates.rate[pairs],
            rate_error=summary.rates.rate_error[pairs],
        ),
        rank_share=summary.rank_share[given],
        prediction=prediction,
    )


def summarise_on_gpu(
    study: Study, store: Store | None, *, alpha: float, progress: Progress | None = None
) -> Summary:
    """Sample and summarise on one GPU: only sums and statistics leave it."""
    from steadyrank.studies.simulate.cuda import DeviceSamples

    samples = DeviceSamples(study.n_samples, study.raw)
    shift, squares, odd = np.zeros(study.raw.shape), np.zeros(study.raw.shape), 0
    for number, sums in enumerate(_device_blocks(study, store, samples)):
        shift += sums["shift"]
        squares += sums["squares"]
        odd += int(sums["odd"])
        if progress is not None:
            progress(number + 1, study.n_blocks)
    n_topics = study.raw.shape[1]
    critical = statistics.critical_value(n_topics, alpha)
    place = statistics.place_from_top(study.n_samples, alpha)
    pairs = samples.statistics(all_pairs(len(study.raw)), critical, place)
    return Summary(
        means=samples.means.get(),
        shift=shift,
        squares=squares,
        odd=odd,
        correlation=statistics.correlation_from(pairs.taus),
        errors=statistics.error_rate_from(pairs.counts, pairs.errors, pairs.zeros),
        rates=statistics.rates_from(
            pairs.rates, pairs.differences, study.n_samples, n_topics, alpha=alpha
        ),
        rank_share=pairs.rank_share,
    )


def _device_blocks(study: Study, store: Store | None, samples: Any) -> Iterator[dict[str, Any]]:
    """The sums of each block in turn, whose samples have gone into `samples`."""
    draw = _device_sampler(study.source)
    for number in range(study.n_blocks):
        part = study.samples_of(number)
        kept = kept_block(study, store, number)
        if kept is not None:
            samples.restore(kept, part.start)
            yield kept
            continue
        values, odd = draw(part.start, part.stop - part.start)
        shift, squares = samples.take(values, part.start)
        sums = {"shift": shift.get(), "squares": squares.get(), "odd": odd.get()[0]}
        if store is not None:
            store.save(block_name(number), {**samples.block(part), **sums})
        yield sums


def _device_sampler(source: Source) -> Callable[[int, int], tuple[Any, Any]]:
    """What draws values [sample, cell] on the device, given the first sample and their number."""
    from steadyrank.studies.simulate.cuda import sample_on_device, upload
    from steadyrank.studies.simulate.shared_cuda import DeviceLists, sample_shared

    if isinstance(source, SharedDocuments):
        return partial(sample_shared, DeviceLists(source))
    apart = cast(IndependentRuns | SmoothedRuns, source)
    return partial(sample_on_device, upload(apart.cells, apart.gain), apart.key)
