"""Yang, Zhang & Song (SIGIR 2018) again: does another sample of documents change the comparison?

Figures 1 and 2 and Table 1 on the runs at hand, the printed figures beside them. Where the paper's
words and its algorithms part, the exhibits say so (`yang2018_significance`).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from steadyrank.compute.executors import Progress
from steadyrank.papers.data import PaperData
from steadyrank.papers.model import (
    Claim,
    Exhibit,
    Reproduction,
    Work,
    claim,
    listed,
    page_figure,
    page_table,
    result_figure,
)
from steadyrank.papers.yang2018.significance import (
    MODELS,
    TABLE_1,
    Simulations,
    algorithm_3,
    algorithm_4,
    raw_share,
    table_1,
)
from steadyrank.present.page import PageFigure
from steadyrank.studies.simulate.profiles import Model
from steadyrank.studies.simulate.study import SimulateResult, simulate

REFERENCE = (
    "M. Yang, P. Zhang & D. Song: A study of per-topic variance on system comparison. "
    "SIGIR 2018, 1181–1184. doi:10.1145/3209978.3210122"
)

FIRST = 7
"""Bins in which the text has BST's error rate above KDE's."""


def yang2018(data: PaperData, work: Work) -> Reproduction:
    """Every figure and table of the paper, on runs with judgments.

    From scores alone only the share of significant pairs can be had. Simulated rankings are as
    deep as the deepest one at hand: 1000 documents, as in the paper, for most runs of TREC.
    """
    if data.runs is None:
        scores = data.scores(("AP",))
        measure = data.measures[0] if data.measures else scores.measures[0]
        exhibits: tuple[Exhibit, ...] = (raw_share(scores.matrix(measure)),)
        return _reproduction(data, exhibits, measure=measure)
    settings: dict[str, Any] = {
        "measure": data.measures[0] if data.measures else "AP",
        "n_samples": work.number(small=200, full=10_000),
        "depth": max(int(np.diff(run.blocks).max(initial=1)) for run in data.runs),
        "documents": "independent",
        "bandwidth": "scott",
        "denominator": "judged",
    }
    # How the user wants topics treated that lack relevant documents.
    kept = {key: value for key, value in data.scoring.items() if key == "no_relevant"}
    results: dict[Model, SimulateResult] = {
        model: simulate(
            data.runs,
            data.qrels,
            mode="paper",
            model=model,
            jobs=work.jobs,
            progress=_part(work.progress, place, len(MODELS)),
            rng=work.seed,
            **settings,
            **kept,
        )
        for place, model in enumerate(MODELS)
    }
    exhibits = (
        figure_1(results),
        figure_2(results),
        table_1(results),
        algorithm_3(results["bootstrap"]),
        algorithm_4(results),
    )
    return _reproduction(data, exhibits, **settings)


def _reproduction(
    data: PaperData, exhibits: tuple[Exhibit, ...], **settings: object
) -> Reproduction:
    return Reproduction(
        paper="yang2018", reference=REFERENCE, data=data.words, exhibits=exhibits, settings=settings
    )


def _part(progress: Progress | None, place: int, parts: int) -> Progress | None:
    """Progress of one of several equal parts of the work."""
    if progress is None:
        return None
    return lambda done, total: progress(place * total + done, parts * total)


def figure_1(results: Simulations) -> Exhibit:
    """Simulated scores against raw ones: of the best run drawn, of all runs in numbers."""
    best = results["bootstrap"]
    run, high = best.runs[int(np.argmax(best.raw_mean))], best.raw > np.median(best.raw)
    rows = []
    for model, result in results.items():
        off = np.abs(result.cell_mean - result.raw)
        halves = (float(off[part].mean()) if part.any() else np.nan for part in (~high, high))
        rows.append((MODELS[model], float(off.mean()), *halves, float(result.cell_sd.mean())))
    _, mean, low, top, spread = (np.array(column) for column in zip(*rows, strict=True))
    header = ("model", "mean distance", "lower half of raw scores", "upper half", "mean sd")
    caption = "Distance of simulated from raw scores, and their spread, over all runs and topics"
    return Exhibit(
        id="figure-1",
        title="Simulated against raw scores, topic by topic, of one run",
        figures=tuple(
            result_figure(
                f"figure-1-{model}",
                f"{MODELS[model]}: {run}, mean ± sd of simulated scores",
                result,
                "topics",
                run=run,
            )
            for model, result in results.items()
        ),
        tables=(page_table("figure-1-data", caption, header, rows),),
        claims=(
            claim(
                "The standard deviations of both models are alike (within a quarter).",
                0.8 < spread[1] / spread[0] < 1.25,
                f"mean sd {listed(spread, 4)}",
            ),
            claim(
                "Simulated scores are nearer to the raw ones where these are small.",
                (low < top).all(),
                f"lower half {listed(low, 4)}; upper half {listed(top, 4)}",
            ),
            claim(
                "BST comes nearer to the raw scores than KDE.",
                mean[0] < mean[1],
                f"mean distance {listed(mean, 4)}",
            ),
        ),
        explanation="The paper draws one run of Robust 2004 without naming it; this is the best "
        "run at hand. The claims go by all runs.",
    )


def figure_2(results: Simulations) -> Exhibit:
    """The error rate in 21 bins of the simulated difference."""
    rates = [result.error_rate for result in results.values()]
    rows = [
        (f"{low:.2f}", *(figure for rate in rates for figure in (rate.count[k], rate.rate[k])))
        for k, low in enumerate(rates[0].low)
    ]
    header = (
        "from",
        *(f"{name}, {what}" for name in MODELS.values() for what in ("count", "rate")),
    )
    caption = "Comparisons of two runs in a collection, and the share in the wrong order"
    return Exhibit(
        id="figure-2",
        title="Error rate by the size of the simulated difference",
        figures=(_error_figure(results),),
        tables=(page_table("figure-2-data", caption, header, rows),),
        claims=(
            _falls(results),
            _vanishes(results),
            _higher_bootstrap(results),
            _from_tau(results),
        ),
        explanation=_figure_2_words(results),
    )


def _error_figure(results: Simulations) -> PageFigure:
    from steadyrank.studies.plotting import plot

    figure = plot(results["bootstrap"], kind="error_rate")
    plot(results["kde"], kind="error_rate", ax=figure.axes[0])
    first, last = (
        ", ".join(f"{MODELS[m]} {float(r.error_rate.rate[k]):.3f}" for m, r in results.items())
        for k in (0, 10)
    )
    alt = f"Error rates that fall with the difference: {first} below 0.01; {last} at 0.1."
    caption = "Error rate by bins of the simulated difference, with Monte Carlo standard errors"
    return page_figure("figure-2", caption, figure, alt=alt)


def _falls(results: Simulations) -> Claim:
    """Of neighbouring bins the second has the lower rate."""
    steps, ends = [], []
    for model, result in results.items():
        rate = result.error_rate
        known = np.flatnonzero(rate.count > 0)
        error = rate.rate_error[known]
        rise = np.diff(rate.rate[known]) - 3 * np.hypot(error[1:], error[:-1])
        steps.append(rise.max(initial=-1.0))
        ends.append(f"{MODELS[model]} {rate.rate[0]:.3f} to {rate.rate[known[-1]]:.3f}")
    return claim(
        "The error rate falls from bin to bin (up to three Monte Carlo standard errors).",
        max(steps) <= 1e-12,
        "; ".join(ends),
    )


def _vanishes(results: Simulations) -> Claim:
    last = np.concatenate([result.error_rate.rate[-FIRST:] for result in results.values()])
    known = last[~np.isnan(last)]
    return claim(
        "The error rate is close to 0 in the last seven bins (below 0.02).",
        known.max() < 0.02 if len(known) else None,
        f"at most {known.max():.4f}" if len(known) else "no pair is so far apart",
    )


def _higher_bootstrap(results: Simulations) -> Claim:
    one, two = (results[model].error_rate.rate[:FIRST] for model in MODELS)
    return claim(
        "BST has the higher error rate in the first seven bins (printed for Robust 2004).",
        None if np.isnan(one + two).any() else (one > two).all(),
        f"in {int((one > two).sum())} of {FIRST} bins; BST {listed(one)}; KDE {listed(two)}",
    )


def _from_tau(results: Simulations) -> Claim:
    """The share of swapped pairs, from the bins and from tau."""
    pairs = [(r.error_rate.overall, (1 - r.rank_correlation.mean) / 2) for r in results.values()]
    return claim(
        "Over all bins the error rate is (1 − KRCC) / 2, as it must be where nothing ties.",
        max(abs(one - two) for one, two in pairs) < 0.002,
        "; ".join(f"{listed(pair, 4)}" for pair in pairs),
    )


def _figure_2_words(results: Simulations) -> str:
    implied = "; ".join(
        f"{name} {' and '.join(f'{(1 - printed[m].correlation) / 2:.3f}' for m in MODELS)}"
        for name, printed in TABLE_1.items()
    )
    near = [r.error_rate.count[:3].sum() / r.error_rate.count.sum() for r in results.values()]
    return (
        "The paper bins by d_i; a negative one would have no bin, so bins are of |d_i|. A "
        "comparison is wrong where the pair is discordant, so the rate over all bins follows from "
        f"Table 1's KRCC, for BST and KDE: {implied}. By these figures BST swaps fewer pairs, "
        "although the text has its rates higher in the first seven bins and both near 0 beyond. "
        "Both can be true only if KDE moves so many more pairs into the small bins that these "
        f"outweigh its lower rates; here the first three bins hold shares of {listed(near, 2)}."
    )
