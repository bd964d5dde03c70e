"""What `datasets` found, as tables that paste into a paper, and as JSON."""

from __future__ import annotations

from typing import Any

from steadyrank.present.cells import interval, name, number
from steadyrank.present.json import picked, to_json
from steadyrank.present.table import Cell, Table, exact_table, render, with_words
from steadyrank.studies.datasets.pair import DatasetPair
from steadyrank.studies.datasets.result import AGGREGATES, DatasetsResult
from steadyrank.studies.datasets.sentences import answer

MOST_INFLUENCES = 10
"""Datasets that a table of influences lists."""


def datasets_json(result: DatasetsResult) -> dict[str, Any]:
    """The promised keys, and what else there is."""
    ranks = result.friedman
    return {
        "aggregate": result.aggregate,
        "drawn": result.drawn,
        "alpha": result.alpha,
        "n_datasets": len(result.datasets),
        "n_runs": len(result.runs),
        "datasets": list(result.datasets),
        "runs": result.rows(),
        "could_be_first": result.first_names(),
        "told_apart_share": result.told_apart_share,
        "adjacent_not_told_apart": result.adjacent_not_told_apart,
        "pair": None if result.pair is None else result.pair.row(),
        "gaps": result.gaps,
        "types": dict(zip(result.datasets, result.types, strict=True)) if result.types else None,
        "left_out": list(result.left_out),
        "n_missing": result.n_missing,
        "n_topics_dropped": result.n_topics_dropped,
        "gap_runs": [
            {"run": row.run, "missing": row.missing, "kept_without": row.kept_without}
            for row in result.gap_rows
        ],
        "influence": [
            {"dataset": row.dataset, "tau": row.tau, "leader": row.leader}
            for row in result.influence
        ],
        "friedman": None
        if ranks is None
        else {
            "statistic": ranks.statistic,
            "pvalue": ranks.pvalue,
            "critical_difference": ranks.critical_difference,
            "average_rank": {result.runs[i]: float(ranks.average_rank[i]) for i in result.order},
        },
        **picked(result, "type_correlation comparison_alpha n_patterns exact seed"),
    }


def datasets_text(result: DatasetsResult, form: str, *, digits: int = 4, **looks: Any) -> str:
    """The result in one of the output formats; CSV holds the leaderboard."""
    if form == "json":
        return to_json(datasets_json(result))
    if form == "csv":
        return render(exact_table([_flat(row) for row in result.rows()]), form)
    tables = [leaderboard_table(result, digits)]
    if result.gap_rows:
        tables.append(gaps_table(result))
    if result.pair is not None and result.pair_asked:
        tables.append(pair_table(result.pair, digits))
    if result.influence:
        tables.append(influence_table(result, most=MOST_INFLUENCES))
    return with_words(answer(result, digits), tables, [], form, **looks)


def _flat(row: dict[str, Any]) -> dict[str, Any]:
    """A row whose pairs of ranks are columns of their own."""
    best, worst = row["rank_set"]
    completed = row["completion_ranks"] or (None, None)
    flat = {key: row[key] for key in row if key not in ("rank_set", "completion_ranks")}
    return {
        **flat,
        "rank_best": best,
        "rank_worst": worst,
        "completion_rank_best": completed[0],
        "completion_rank_worst": completed[1],
    }


def leaderboard_table(result: DatasetsResult, digits: int) -> Table:
    """Runs by their value, with the ranks that they may have."""
    completed = result.completion_ranks is not None
    rows = []
    for i in result.order:
        low, high = result.rank_set[i]
        rows.append(
            [
                name(result.runs[i]),
                number(float(result.value[i]), f".{digits}f"),
                interval(result.interval[i], f".{digits}f"),
                Cell(f"{result.rank[i]} [{low}–{high}]", int(result.rank[i])),
                number(int(result.n_different[i]), "d"),
                *([_completed(result, i)] if completed else []),
            ]
        )
    caption = (
        f"{result.caption()} Ranks in brackets: those that a run may have, simultaneous with "
        f"{1 - result.alpha:.0%} confidence. Intervals are for one run at a time."
    )
    if completed:
        caption += (
            " Completed: the best and the worst rank over all completions of missing scores "
            "between the lowest and the highest score of their dataset, over all datasets of the "
            "table."
        )
    header = [
        "run",
        AGGREGATES[result.aggregate],
        f"{1 - result.alpha:.0%} interval",
        "rank",
        "differs from",
        *(["completed"] if completed else []),
    ]
    return Table(header=header, rows=rows, best=frozenset({(0, 1)}), caption=caption)


def _completed(result: DatasetsResult, run: int) -> Cell:
    if result.completion_ranks is None:
        return Cell("–")
    low, high = result.completion_ranks[run].tolist()
    return Cell(f"{low}–{high}", int(low))


def gaps_table(result: DatasetsResult) -> Table:
    """Runs that lack datasets, and how many datasets leaving them out would keep."""
    rows = [
        [name(row.run), number(row.missing, "d"), number(row.kept_without, "d")]
        for row in result.gap_rows
    ]
    caption = (
        "Runs that lack datasets. Kept: how many datasets all other runs have once this run "
        "and those above it are omitted."
    )
    return Table(header=["run", "lacks", "kept without"], rows=rows, caption=caption)


def pair_table(pair: DatasetPair, digits: int) -> Table:
    """The difference on each dataset, and what remains of the mean without it."""
    form = f"+.{digits}f"
    known = pair.effects is not None
    left = {row.dataset: row for row in pair.leave_one_out}
    rows = []
    for name_, gap, error in zip(pair.datasets, pair.per_dataset, pair.error, strict=True):
        without = left.get(name_)
        rows.append(
            [
                name(name_),
                number(float(gap), form),
                *([number(float(error), f".{digits}f")] if known else []),
                number(None if without is None else without.difference, form),
                interval(None if without is None else without.interval, form),
            ]
        )
    errors = ["s.e."] if known else []
    header = ["dataset", f"{pair.a} − {pair.b}", *errors, "mean without it", "its interval"]
    return Table(header=header, rows=rows, caption=_pair_caption(pair, digits))


def _pair_caption(pair: DatasetPair, digits: int) -> str:
    effects = pair.effects
    if effects is None:
        return (
            "Mean differences by Student's t over datasets, whose scores by topic are not known, "
            "so that variation between datasets and noise within them are not separated."
        )
    return (
        f"Random effects: tau² {effects.tau2:.{digits + 2}f} (REML), I² {effects.i2:.0%}, Q "
        f"{effects.q:.2f} (p {effects.q_pvalue:.2g}); intervals after Hartung, Knapp, Sidik and "
        "Jonkman. s.e.: standard error over topics."
    )


def influence_table(result: DatasetsResult, *, most: int) -> Table:
    """Datasets without which the ranking changes most."""
    rows = [
        [name(row.dataset), number(row.tau, ".4f"), name(row.leader)]
        for row in result.influence[:most]
    ]
    caption = "Kendall's tau between the ranking with and without a dataset, and who leads without."
    if len(result.influence) > most:
        caption += f" The first {most} of {len(result.influence)}."
    return Table(header=["without", "tau", "leader"], rows=rows, caption=caption)
