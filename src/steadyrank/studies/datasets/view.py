"""The sentences, tables and figures of `datasets`, and its part of a report."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, cast

import numpy as np

from steadyrank.errors import InputError
from steadyrank.present.cells import signed_interval
from steadyrank.present.json import picked
from steadyrank.present.page import Tile
from steadyrank.present.view import (
    Assumption,
    Col,
    FigureSpec,
    Finding,
    TableSpec,
    View,
    Words,
    literal,
)
from steadyrank.stats.datasets import Aggregate, columns_of, dataset_units
from steadyrank.stats.planning.needed_topics import MOST_SHOWN
from steadyrank.stats.planning.reversal import unit_swap_share
from steadyrank.stats.run_means import share_turned
from steadyrank.studies.datasets.result import AGGREGATES, DatasetPair, DatasetsResult, Drawn
from steadyrank.studies.datasets.study import datasets, lacking_words
from steadyrank.studies.material import Material
from steadyrank.studies.part import (
    ROWS,
    Findings,
    Front,
    Job,
    board_of,
    fragility_tile,
    part_of,
    significance_tile,
)
from steadyrank.words import (
    best_words,
    counted,
    enough_digits,
    interval,
    roughly,
    swap_words,
    typeset,
)
from steadyrank.words import size as size_words

MOST_INFLUENCES = 10
"""Number of datasets that a command lists."""


def findings(result: DatasetsResult) -> list[Finding]:
    """Return who leads, who could be first, how many pairs differ, and two runs in depth."""
    board, pair = _board_findings(result), _pair_findings(result.pair)
    leads = [verdict(result), lead(result), *(one.finding for one in assumptions(result))]
    about_both = [*pair, *leads, *board] if result.pair_asked else [*leads, *board, *pair]
    return [*_cautions(result), *about_both, *_fragility(result), *_influence(result)]


def describe(result: DatasetsResult) -> str:
    """Return the paragraph for a paper."""
    leader = result.order[0]
    n, total = len(result.first_names()), len(result.runs)
    drawn = {"types": "whole types of datasets", "topics": "topics"}.get(result.drawn, "datasets")
    best = f"{n} of the runs could be first" if n > 1 else "no other could be first"
    most = "lowest" if result.lowest_leads else "highest"
    return (
        f"We compared {total:,} runs by {AGGREGATES[result.aggregate]} over "
        f"{counted(len(result.datasets), 'dataset')}: paired t tests of all {len(result.pairs):,} "
        "pairs with skewness-corrected limits and a variance floor, corrected by studentized sign "
        f"flips of {drawn} (max-t, stepdown, family-wise alpha {result.alpha:g}; Mogstad et al., "
        f"2024). "
        f"{result.told_apart_share:.0%} of the pairs differ significantly. "
        f"{result.runs[leader]} has the {most} value ({result.value[leader]:.4f}); with "
        f"{1 - result.alpha:.0%} confidence {best}."
    )


def _cautions(result: DatasetsResult) -> list[Finding]:
    said = []
    if result.gap_rows:
        total = len(result.datasets) + len(result.left_out)
        done = {
            "zero": "a missing score counts as 0",
            "pairwise": "each pair is compared on the datasets of both",
        }.get(result.gaps, f"the {len(result.datasets)} that all runs have are used")
        values = picked(result, "gaps n_missing") | {"n_lacking": len(result.gap_rows)}
        who = lacking_words(result.gap_rows, len(result.runs), total, most=1)
        said.append(Finding("datasets.gaps", f"{who}; {done}.", values))
    if not result.can_be_significant:
        what = "types of datasets" if result.drawn == "types" else "datasets"
        text = (
            f"{result.n_units} {what} are too few for any difference to be significant at alpha "
            f"{result.alpha:g}."
        )
        said.append(Finding("datasets.too_few", text, picked(result, "n_units n_patterns alpha")))
    return said


def _board_findings(result: DatasetsResult) -> list[Finding]:
    firsts, total = result.first_names(), len(result.runs)
    text = best_words(firsts, total, f"With {1 - result.alpha:.0%} confidence", most=3)
    values = {"runs": firsts, "alpha": result.alpha}
    said = [Finding("datasets.first", text, values)]
    if total > 2:
        near = total - 1 - result.adjacent_not_told_apart
        text = (
            f"{result.told_apart_share:.0%} of {len(result.pairs):,} pairs of runs differ "
            f"significantly; of {total - 1:,} pairs of neighbours in the ranking, "
            f"{f'{near:,}' if near else 'none'}."
        )
        values = picked(result, "told_apart_share adjacent_not_told_apart")
        said.append(Finding("datasets.pairs", text, values | {"n_pairs": len(result.pairs)}))
    return said


def verdict(result: DatasetsResult) -> Finding:
    """Say who leads, and how many could be first."""
    leader, n, total = result.runs[result.order[0]], len(result.first_names()), len(result.runs)
    first = f"leads, but {n:,} of {total:,} runs could be first"
    if n == 1:
        sure = f"{1 - result.alpha:.0%}"
        first = f"leads; with {sure} confidence no other of the {total:,} runs could be first"
    elif n == total:
        first = f"leads, but any of the {total:,} runs could be first"
    values = {"leaders": [leader], "could_be_first": n, "n_rows": total}
    return Finding("datasets.verdict", f"{leader} {first}.", values)


def lead(result: DatasetsResult) -> Finding:
    """Return the values of the first two, their difference and its interval."""
    first, second, difference, limits, is_significant = result.lead
    names, ends = (result.runs[first], result.runs[second]), limits.tolist()
    form = f".{enough_digits([result.value[first], result.value[second]], 3)}f"
    gap = typeset(f"{difference:+{form}}")
    text = (
        f"{names[0]} {result.value[first]:{form}}, {names[1]} {result.value[second]:{form}}: "
        f"{gap} {signed_interval(ends, f'+{form}').text}."
    )
    values = {"a": names[0], "b": names[1], "difference": difference, "interval": ends}
    return Finding("datasets.lead", text, values | {"significant": is_significant})


def _pair_findings(pair: DatasetPair | None) -> list[Finding]:
    if pair is None:
        return []
    mean, ahead = (
        typeset(interval(ends, "+.4f")) for ends in (pair.interval, pair.prediction_interval)
    )
    both = {"a": pair.a, "b": pair.b}
    text = (
        f"{pair.a} − {pair.b}: mean {typeset(f'{pair.difference:+.4f}')} {mean}, next dataset "
        f"{ahead} ({1 - pair.alpha:.0%} intervals for this pair alone)."
    )
    values = both | picked(pair, "difference interval prediction_interval alpha")
    said = [Finding("datasets.pair", text, values)]
    text = f"{pair.a} and {pair.b} differ significantly in the family of all pairs."
    if not pair.significant:
        needed = f"{size_words(pair.datasets_assured)} datasets would show it, with 80% assurance"
        if not math.isfinite(pair.datasets_assured):
            needed = "no number of datasets would show a difference"
        text = f"{pair.a} and {pair.b} do not differ significantly among all pairs; {needed}."
    values = both | picked(
        pair, "significant datasets_needed datasets_assured datasets_needed_interval"
    )
    said.append(Finding("datasets.needed", text, values))
    wins, ties, losses = pair.wins
    tied = f", ties on {ties}" if ties else ""
    text = (
        f"{pair.a} is better than {pair.b} on {wins}, worse on {losses} of "
        f"{counted(len(pair.datasets), 'dataset')}{tied}."
    )
    values = both | {"wins": wins, "ties": ties, "losses": losses}
    return [*said, Finding("datasets.wins", text, values)]


def _fragility(result: DatasetsResult) -> list[Finding]:
    found = result.fragility
    if found is None:
        return []
    which = f" ({found.datasets[0]})" if found.n == 1 else ""
    total = len(result.datasets)
    text = f"Without {found.n} of the {total} datasets{which}, {found.rival} would catch up."
    return [Finding("datasets.fragility", text, found._asdict())]


def _influence(result: DatasetsResult) -> list[Finding]:
    if not result.influence or math.isnan(result.influence[0].tau):
        return []
    first = result.influence[0]
    text = f"The ranking depends most on {first.dataset}: tau without it is {first.tau:.3f}."
    if first.tau == 1.0:
        text = "No single dataset changes the ranking when it is left out."
    return [Finding("datasets.influence", text, {"dataset": first.dataset, "tau": first.tau})]


BY = {
    "mean": "mean score",
    "mean-of-types": "the mean over types",
    "borda": "average rank",
    "wins": "share of wins",
}
"""Short names of the aggregates."""

ANOTHER_LEADS = 1.5
"""Weight of an assumption under which another run would lead."""


def assumptions(result: DatasetsResult) -> list[Assumption]:
    """Return what would change the verdict, the most important first."""
    leader, total, made = result.runs[result.order[0]], len(result.runs), []
    others = {by: name for by, name in result.leaders.items() if name != leader}
    for aggregate, name in [*others.items()][:1]:
        text = f"By {BY[aggregate]} {name} leads."
        values: dict[str, Any] = {"aggregate": aggregate, "leader": name}
        made.append(Assumption(Finding("datasets.aggregate", text, values), ANOTHER_LEADS))
    n, known = result.first_by_types, len(result.first_names())
    if n is not None and n != known:
        which = f"any of the {total:,} runs" if n == total else f"{counted(n, 'run', form=',')}"
        text = f"If whole types of datasets were resampled, {which} could be first."
        values = {"could_be_first": n, "n_rows": total}
        share = abs(n - known) / total
        made.append(Assumption(Finding("datasets.by_types", text, values), share))
    return made  # no share is above 1


def _leaderboard_rows(result: DatasetsResult) -> list[dict[str, Any]]:
    """Return the rows of the CSV, with a column for each end of an interval or range."""
    rows = []
    for row in result.rows():
        low, high = row.pop("interval")
        best, worst = row.pop("rank_set")
        completed = row.pop("completion_ranks") or (None, None)
        ends = {"rank_best": best, "rank_worst": worst}
        ends |= {"completion_rank_best": completed[0], "completion_rank_worst": completed[1]}
        following = row.pop("next_rank") or (None, None)
        ends |= {"next_rank_best": following[0], "next_rank_worst": following[1]}
        del row["fragility"]  # of the leader alone, with names: JSON has it
        start = {"run": row.pop("run"), "value": row.pop("value")}
        rows.append({**start, "interval_low": low, "interval_high": high, **row, **ends})
    return rows


def _pair_rows(result: DatasetsResult) -> list[dict[str, Any]]:
    if result.pair is None:
        return []
    row = result.pair.row()
    without = {left["dataset"]: left for left in row["leave_one_out"]}
    return [
        {**own, "without": left.get("difference"), "without_interval": left.get("interval")}
        for own in row["per_dataset"]
        for left in [without.get(own["dataset"], {})]
    ]


def _pair_columns(result: DatasetsResult) -> tuple[Col, ...]:
    pair = result.pair
    return (
        Col("dataset", form="name"),
        Col("difference", literal(f"{pair.a} − {pair.b}") if pair else "", "change"),
        Col("se", "s.e.", when="known", about="standard error over topics"),
        Col("without", "mean without it", "change"),
        Col("without_interval", "{sure} interval", "change"),
    )


def _pair_caption(result: DatasetsResult) -> str:
    if result.pair is None or result.pair.effects is None:
        return "Student's t over datasets, as scores by topic are not known (docs/datasets.md)."
    effects = result.pair.effects
    return (
        f"Random effects: tau² {effects.tau2:.6f} (REML), I² {effects.i2:.0%}, Q {effects.q:.2f} "
        f"(p {effects.q_pvalue:.2g}); intervals after Hartung, Knapp, Sidik and Jonkman."
    )


LEADERBOARD = TableSpec(
    id="dataset-leaderboard",
    rows=_leaderboard_rows,
    columns=(
        Col("run", form="name"),
        Col("value", "{aggregate_words}"),
        Col(("interval_low", "interval_high"), "{sure} interval", about="for one run at a time"),
        Col("rank", form="count"),
        Col(
            ("rank_best", "rank_worst"),
            "{sure} ranks",
            ",.0f",
            about="possible ranks by the run's own comparisons",
        ),
        Col("could_be_first", form="yes"),
        Col("tier", form="count", about="1: down to the last run that the best does not beat"),
        Col(
            ("next_rank_best", "next_rank_worst"),
            "next dataset",
            ",.0f",
            about="ranks on another dataset of this kind",
        ),
        Col("first_share", "first on", "percent", about="share of datasets on which it is first"),
        Col(
            "n_different",
            "differs from",
            "count",
            about="how many of the other runs differ significantly",
        ),
        Col(
            ("completion_rank_best", "completion_rank_worst"),
            "completed",
            ",.0f",
            when="known",
            about="ranks over all completions of the missing scores between the lowest and the "
            "highest score of their dataset, over all datasets of the table",
        ),
    ),
    caption=lambda result: result.caption(),
    best="value",
)
GAPS = TableSpec(
    id="dataset-gaps",
    rows=lambda result: [picked(row, "run missing kept_without") for row in result.gap_rows],
    columns=(
        Col("run", form="name"),
        Col("missing", "lacks", "count"),
        Col("kept_without", form="count"),
    ),
    caption="Runs that lack datasets. Kept without: number of datasets that all other runs have "
    "if this run and those above it are omitted.",
)
PAIR = TableSpec(
    id="dataset-pair",
    rows=_pair_rows,
    columns=_pair_columns,
    caption=_pair_caption,
    printed=lambda result: None if result.pair_asked else 0,
)
INFLUENCE = TableSpec(
    id="dataset-influence",
    rows=lambda result: [picked(row, "dataset tau leader") for row in result.influence],
    columns=(Col("dataset", "without", "name"), Col("tau", form=".4f"), Col("leader", form="name")),
    caption="Kendall's tau between the rankings with and without a dataset, and the leader without "
    "it.",
    printed=lambda result: MOST_INFLUENCES,
)


def fields(result: DatasetsResult) -> dict[str, Any]:
    """Return the fields of the JSON output."""
    ranks = result.friedman
    return {
        **picked(result, "aggregate drawn alpha"),
        "n_datasets": len(result.datasets),
        "n_runs": len(result.runs),
        "datasets": list(result.datasets),
        "runs": result.rows(),
        "could_be_first": result.first_names(),
        **picked(result, "told_apart_share adjacent_not_told_apart"),
        "pair": None if result.pair is None else result.pair.row(),
        "gaps": result.gaps,
        "types": dict(zip(result.datasets, result.types, strict=True)) if result.types else None,
        "left_out": list(result.left_out),
        **picked(result, "n_missing n_topics_dropped"),
        "gap_runs": GAPS.rows(result),
        "influence": INFLUENCE.rows(result),
        "friedman": None
        if ranks is None
        else {
            **picked(ranks, "statistic pvalue critical_difference"),
            "average_rank": {result.runs[i]: float(ranks.average_rank[i]) for i in result.order},
        },
        **picked(result, "comparison_alpha n_patterns exact seed"),
    }


def _figure(result: DatasetsResult) -> FigureSpec:
    """Return the figure of the two best runs or, where they are not compared, of all ranks."""
    if result.pair is None:
        return FigureSpec(id="dataset-ranks", caption="Possible ranks of each run.", kind="ranks")
    return FigureSpec(id="forest", caption="The two best, dataset by dataset.", kind="forest")


VIEW = View(
    words=Words(
        title="Other datasets",
        question="Would other datasets change it?",
        means=(
            "All pairs of runs are compared over the datasets, and corrected together. The ranks "
            "of a run, its tier and whether it could be first follow from its comparisons with all "
            "others, corrected for these alone. Both are about other datasets of this kind."
        ),
        means_not=(
            "Selected datasets are not a random sample, and datasets of the same type resemble "
            "each other: resampling whole types is more conservative. The section does not apply "
            "to other measures or training data. A run that could be first is not necessarily as "
            "good as the first."
        ),
    ),
    findings=findings,
    describe=describe,
    tables=(LEADERBOARD, GAPS, PAIR, INFLUENCE),
    fields=fields,
    figure=_figure,
)


def _run(job: Job) -> DatasetsResult:
    leaderboard = job.material.leaderboard
    if leaderboard is None:
        raise InputError(_why_not(job.material))
    progress = job.machine.progress("blocks of sign patterns")
    given = job.material.settings
    return datasets(
        leaderboard,
        aggregate=cast(Aggregate, given.aggregate),
        drawn=cast(Drawn, given.drawn),
        alpha=given.alpha,
        progress=progress,
        **job.common,
    )


def _why_not(material: Material) -> str:
    if material.leaderboard is None:
        return "scores on one collection: give a table of scores on several with --datasets"
    return ""


def _front(result: DatasetsResult, others: Findings) -> Front:
    said = [f for f in findings(result) if f.id in ("datasets.gaps", "datasets.too_few")]
    digits = enough_digits(result.value[result.order[:ROWS]], 3)
    return Front(
        verdict=verdict(result),
        line=lead(result),
        assumption=next(iter(assumptions(result)), None),
        board=board_of(
            result,
            lambda run: f"{result.value[run]:.{digits}f}",
            measure=result.aggregate_words,
            link="datasets",
        ),
        cautions=tuple(said),
        swap=_swap(result),
        more_swaps=tuple(_more_swaps(result)),
        tiles=tuple(_tiles(result)),
    )


def _swap(result: DatasetsResult) -> Finding | None:
    """Return the expected share of pairs that other datasets, equally many, would reverse."""
    if np.isnan(result.scores).any() or len(result.datasets) < 2:
        return None
    columns = columns_of(result.scores, result.aggregate, result.types)
    share = unit_swap_share(dataset_units(columns))
    n = counted(len(result.datasets), "other dataset")
    text = f"On {n} {swap_words(share, len(result.runs), said=roughly)}."
    return Finding("datasets.swap", text, {"share": share})


def _more_swaps(result: DatasetsResult) -> Iterator[tuple[str, Finding]]:
    """Yield the shares reversed by other types, and by another aggregate."""
    if np.isnan(result.scores).any() or len(result.datasets) < 3:
        return
    scores, m = result.scores, len(result.runs)
    columns = columns_of(scores, result.aggregate, result.types)
    value = columns.values @ columns.weight
    if len(set(result.types)) > 1:
        share = unit_swap_share(dataset_units(columns, result.types))
        n = counted(len(set(result.types)), "other type")
        text = f"On {n} of datasets {swap_words(share, m, said=roughly)}."
        yield "Other types of datasets", Finding("datasets.swap_types", text, {"share": share})
    other: Aggregate = "mean" if result.aggregate == "borda" else "borda"
    others = columns_of(scores, other, result.types)
    share = _turned(result.pairs, value, others.values @ others.weight)
    text = f"By {BY[other]} {swap_words(share, m)}."
    changed = Finding("datasets.swap_aggregate", text, {"share": share, "aggregate": other})
    yield "Another aggregate", changed


def _turned(pairs: np.ndarray, here: np.ndarray, there: np.ndarray) -> float:
    return share_turned(*(each[pairs[:, 0]] - each[pairs[:, 1]] for each in (here, there)))


def _tiles(result: DatasetsResult) -> list[Tile]:
    made = []
    if len(result.runs) > 2:
        values = {"told_apart_share": result.told_apart_share, "n_pairs": len(result.pairs)}
        made.append(significance_tile("datasets.pairs", result.significant, **values))
    if result.fragility is not None:
        made.append(fragility_tile("datasets", result.fragility, "dataset"))
    pair = result.pair
    if pair is not None and not pair.significant and pair.datasets_assured < MOST_SHOWN:
        made.append(
            Tile(
                id="datasets.needed",
                figure=size_words(pair.datasets_assured),
                text="datasets to separate first from second (80% assurance); there are "
                f"{len(result.datasets)}",
                values={"datasets_assured": pair.datasets_assured},
            )
        )
    return made


PART = part_of(
    VIEW,
    run=_run,
    why_not=_why_not,
    works_on="datasets",
    is_required=True,
    is_open=True,
    front=_front,
    varies="Other datasets",
    examine=lambda material: "report --datasets TABLE",
)
