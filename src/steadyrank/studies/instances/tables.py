"""Comparisons of non-deterministic systems, as tables with the words that belong to them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from steadyrank.present.cells import name, number, signed, signed_interval
from steadyrank.present.cells import pvalue as pvalue_cell
from steadyrank.present.json import picked, to_json
from steadyrank.present.table import (
    Cell,
    Table,
    exact_table,
    frame_table,
    render,
    text_rows,
    with_words,
)
from steadyrank.stats.interval import Interval
from steadyrank.studies.instances.result import InstancesResult, InstancesTable
from steadyrank.studies.instances.sentences import PARTS
from steadyrank.words import MISSING, counted, figure, interval, pvalue

if TYPE_CHECKING:
    from steadyrank.studies.instances.planning import InstancePlan, PowerTable

Result = InstancesResult | InstancesTable

SOURCE = "Jayasinghe et al. 2015"
"""Whose tests stand beside the sound one."""

COMPONENTS = {"topic": "topic", **PARTS}
"""Name of each variance, in the order of the table."""


def instances_json(results: Sequence[Result]) -> dict[str, Any]:
    """The promised keys of one pair; of several pairs or measures, a list of such objects."""
    if len(results) > 1:
        return {"studies": [instances_json([result]) for result in results]}
    result = results[0]
    if isinstance(result, InstancesResult):
        return {**result.row(), "words": result.words()}
    return {
        **picked(result, "measure baseline sweep smallest_non_inferior"),
        "correction": "holm",
        "family": {
            "comparisons": len(result.comparisons),
            "difference": "holm",
            "equivalence": result.margin_correction,
            "non_inferiority": result.margin_correction,
            "interval": "bonferroni",
            "margin_interval": "bonferroni" if result.margin_correction == "holm" else "none",
        },
        "alpha": result.alpha,
        "delta": result.delta,
        "mode": result.mode,
        "comparisons": result.rows(),
        "words": result.words(),
    }


def instances_text(results: Sequence[Result], form: str, *, digits: int = 4, **looks: Any) -> str:
    """The results in one of the output formats; CSV holds one row per comparison."""
    if form == "json":
        return to_json(instances_json(results))
    if form == "csv":
        return render(exact_table([row for result in results for row in result.rows()]), "csv")
    parts = []
    for result in results:
        if isinstance(result, InstancesResult):
            tables = [_figures_table(result, digits), _variance_table(result, digits)]
            words = result.words(digits)
        else:
            tables, words = [_many_table(result, digits), None], result.words()
        shown = [table for table in tables if table is not None]
        parts.append(with_words([], shown, words, form, **looks))
    return "\n".join(parts)


def _figures_table(result: InstancesResult, digits: int) -> Table:
    """Everything about one pair, one row per figure."""
    level, sizes, signed = f"{1 - result.alpha:.0%}", result.n_instances, f"+.{digits}f"
    test = result.equivalence
    rows = [
        [
            f"mean of {result.a} ({counted(sizes['a'], 'run', 'instances')})",
            f"{result.pair.a.mean:.{digits}f}",
        ],
        [
            f"mean of {result.b} ({counted(sizes['b'], 'run', 'instances')})",
            f"{result.pair.b.mean:.{digits}f}",
        ],
        [f"{result.a} − {result.b}", figure(result.difference, signed)],
        [f"{level} interval", interval(result.interval, signed)],
        ["p, mixed model", pvalue(result.pvalue["mixed"])],
        [f"p, mixed model of {SOURCE}", pvalue(result.pvalue["mixed_paper"])],
        [f"p, Algorithm 2 of {SOURCE}", pvalue(result.pvalue["bootstrap"])],
        ["p, two-way bootstrap", pvalue(result.pvalue["two_way_bootstrap"])],
        ["effect size, by residual sd", figure(result.effect_size, "+.2f")],
        ["effect size, by sd of topics' differences", figure(result.effect_size_paired, "+.2f")],
    ]
    if result.posterior is not None and result.hpd is not None:
        rows += [
            ["posterior mean", figure(float(result.posterior.mean[-1]), signed)],
            [f"posterior, shortest {level} interval", interval(result.hpd, signed)],
            ["posterior p", pvalue(float(result.posterior.pvalue[-1]))],
        ]
    rows += [
        [f"{1 - 2 * test.alpha:.0%} interval", interval(test.interval, signed)],
        [f"p, equivalence at {test.delta:g}", pvalue(test.pvalue_equivalence)],
        [f"p, non-inferiority at {test.delta:g}", pvalue(test.pvalue_non_inferiority)],
    ]
    known = [row for row in rows if row[1] != MISSING]
    return Table(header=["", result.measure], rows=text_rows(known), caption=result.caption())


def _variance_table(result: InstancesResult, digits: int) -> Table | None:
    """Components with their intervals, and shares of what makes differences vary."""
    if result.one_instance:
        return None
    rows = []
    for key, words in COMPONENTS.items():
        rows.append(_component(result, words, result.variance[key], key, digits))
        if key == "instance":
            rows += [
                _component(result, f"· {factor}", value, f"instance factor {factor}", digits)
                for factor, value in result.factor_variance.items()
            ]
    header = ["component", "variance", "sd", f"{1 - result.alpha:.0%} interval of sd", "share"]
    caption = (
        "Variance components. Shares are of differences, from which topics' difficulty cancels."
    )
    return Table(header=header, rows=text_rows(rows), caption=caption)


def _component(
    result: InstancesResult, words: str, value: float, key: str, digits: int
) -> list[str]:
    """Variance, standard deviation, interval and share of one component."""
    if math.isnan(value):
        return [words, MISSING, MISSING, MISSING, MISSING]
    low, high = result.variance_interval.get(key, (math.nan, math.nan))
    total = sum(result.variance[part] for part in PARTS if result.variance[part] > 0.0)
    share = MISSING if key == "topic" or not total > 0.0 else f"{value / total:.1%}"
    return [
        words,
        f"{value:.{digits + 2}f}",
        f"{math.sqrt(value):.{digits}f}",
        MISSING if math.isnan(low) else f"[{math.sqrt(low):.{digits}f}, {_root(high, digits)}]",
        share,
    ]


def _root(value: float, digits: int) -> str:
    return "no limit" if math.isinf(value) else f"{math.sqrt(value):.{digits}f}"


def _many_table(result: InstancesTable, digits: int) -> Table:
    """A row per comparison: means, difference, interval, p, and what is known about the margin."""
    level, against = f"{1 - result.alpha:.0%}", result.baseline
    columns: list[tuple[str, list[Cell]]] = [
        *(
            [("a", _names(result, "a")), ("b", _names(result, "b"))]
            if against is None
            else [(f"against {against}", _names(result, "a"))]
        ),
        ("instances", [Cell(_sizes(comparison)) for comparison in result.comparisons]),
        ("mean a" if against is None else "mean", _means(result, "a", digits)),
        ("mean b" if against is None else f"mean of {against}", _means(result, "b", digits)),
        (
            "difference",
            [signed(comparison.difference, f"+.{digits}f") for comparison in result.comparisons],
        ),
        (
            f"{level} interval",
            [_ends(comparison.interval, digits) for comparison in result.comparisons],
        ),
        ("p", [pvalue_cell(comparison.headline_pvalue) for comparison in result.comparisons]),
        (
            "p adjusted",
            [pvalue_cell(comparison.pvalue_adjusted) for comparison in result.comparisons],
        ),
        (f"{level} HPD", [_ends(comparison.hpd, digits) for comparison in result.comparisons]),
        ("verdict", [name(verdict(comparison)) for comparison in result.comparisons]),
        (
            f"margin {result.delta:g}",
            [name(margin(comparison)) for comparison in result.comparisons],
        ),
    ]
    kept = [(head, cells) for head, cells in columns if not _is_left_out(head, cells, result)]
    header = [head for head, _ in kept]
    return Table(
        header=header,
        marks={
            (row, header.index("difference")): "*"
            for row in result.significant.nonzero()[0].tolist()
        },
        rows=[list(row) for row in zip(*(cells for _, cells in kept), strict=True)],
        n_names=2 if against is None else 1,
        caption=_many_caption(result, digits),
    )


def _is_left_out(head: str, cells: Sequence[Cell], result: InstancesTable) -> bool:
    """Columns that hold one value stand in the caption, columns without any nowhere."""
    if len(result.comparisons) == 1:
        return head in ("p adjusted", "instances") or all(cell.text == MISSING for cell in cells)
    is_said_once = head in ("instances", "verdict") or head.startswith(("mean of ", "margin "))
    texts = {cell.text for cell in cells}
    return (is_said_once and len(texts) == 1) or (head.endswith("HPD") and texts == {MISSING})


def _many_caption(result: InstancesTable, digits: int) -> str:
    first = result.comparisons[0]
    said = [result.caption()]
    if len({_sizes(comparison) for comparison in result.comparisons}) == 1:
        one, other = first.n_instances["a"], first.n_instances["b"]
        each = f"{counted(one, 'instance')} per system"
        said.append(f"{each}." if one == other else f"{one} against {other} instances.")
    means = {cell.text for cell in _means(result, "b", digits)}
    if result.baseline is not None and len(means) == 1:
        said.append(f"Mean of {result.baseline}: {means.pop()}.")
    if result.significant.any():
        corrected = " after correction" if len(result.comparisons) > 1 else ""
        said.append(f"* significant{corrected}.")
    if len(result.comparisons) > 1:
        said.append("p and HPD are for each comparison on its own.")
    return " ".join(said)


def _names(result: InstancesTable, side: str) -> list[Cell]:
    return [name(getattr(comparison, side)) for comparison in result.comparisons]


def _means(result: InstancesTable, side: str, digits: int) -> list[Cell]:
    return [
        number(getattr(comparison.pair, side).mean, f".{digits}f")
        for comparison in result.comparisons
    ]


def _sizes(comparison: InstancesResult) -> str:
    return f"{comparison.n_instances['a']}/{comparison.n_instances['b']}"


def _ends(ends: Interval | None, digits: int) -> Cell:
    return signed_interval(ends, f"+.{digits}f")


def verdict(comparison: InstancesResult) -> str:
    """What the test of the difference shows, after correction in a table."""
    if not comparison.significant:
        return "not significant"
    return "better" if comparison.difference > 0.0 else "worse"


def instance_plan_json(result: InstancesResult, plans: Sequence[InstancePlan]) -> dict[str, Any]:
    """A plan by the variances found and, second, by the largest variance of instances."""
    first = plans[0]
    table = _power_table(result, plans)
    return {
        **picked(result, "a b measure design"),
        **picked(first.test, "claim difference delta alpha"),
        "power": first.target,
        **_plan_figures(first),
        "cautious": _plan_figures(plans[1]) if plans[1:] else None,
        "cost_per_topic": first.cost_per_topic,
        "cost_per_instance": first.cost_per_instance,
        "table": picked(table, "topics instances power limit"),
        "words": instance_plan_words(plans),
    }


def _plan_figures(plan: InstancePlan) -> dict[str, Any]:
    return {
        "variance": plan.test.variances.to_dict(),
        "topics": plan.topics,
        "instances": plan.instances,
        "reached": plan.reached,
        "achieved_power": plan.power,
        "cost": plan.cost,
        "fewest_topics": plan.fewest_topics,
        "fewest_instances": plan.fewest_instances,
    }


def instance_plan_words(plans: Sequence[InstancePlan]) -> list[str]:
    """The plan in words, and what it would be if instances varied as much as they may."""
    words = plans[0].words()
    if plans[1:]:
        words.append(
            "If instances vary as much as their interval allows: "
            + " ".join(plans[1].words()[:1]).replace("No design", "no design")
        )
    return words


def instance_plan_text(
    result: InstancesResult, form: str, *, plans: Sequence[InstancePlan], **looks: Any
) -> str:
    """A plan in one of the output formats: power by topics and instances, and words."""
    if form == "json":
        return to_json(instance_plan_json(result, plans))
    powers = _power_table(result, plans)
    header = ["topics", *(f"{m} instances" for m in powers.instances), "limit"]
    figures = [[*row, limit] for row, limit in zip(powers.power, powers.limit, strict=True)]
    exact = form == "csv"
    rows = [
        [number(n, "d"), *(Cell(str(value) if exact else f"{value:.2f}", value) for value in row)]
        for n, row in zip(powers.topics, figures, strict=True)
    ]
    enough = frozenset(
        (i, j + 1)
        for i, row in enumerate(powers.power)
        for j, value in enumerate(row)
        if value >= plans[0].target
    )
    caption = (
        "Power by numbers of topics and instances, and the limit that no number of instances "
        f"exceeds, by the variances of {result.caption()}"
    )
    table = Table(header=header, rows=rows, best=enough, caption=caption)
    if exact:
        return render(table, "csv")
    return with_words([], [table], instance_plan_words(plans), form, **looks)


def one_plan_text(plan: InstancePlan, form: str, **looks: Any) -> str:
    """A plan that stands by itself: power around the sizes that it found, and words."""
    topics, instances = plan.topics or plan.given_topics, plan.instances or plan.given_instances
    around_topics, around_instances = topics or 50, instances or 10
    powers = plan.table(
        sorted({max(2, around_topics // 2), around_topics, 2 * around_topics}),
        sorted({max(2, around_instances // 2), max(2, around_instances), 2 * around_instances}),
    )
    return with_words([], [frame_table(powers)], plan.words(), form, **looks)


def _power_table(result: InstancesResult, plans: Sequence[InstancePlan]) -> PowerTable:
    """Around the sizes that there are, with those that the plan found."""
    n, m = result.n_topics, max(result.n_instances.values())
    planned = plans[0]
    topics = {max(2, n // 2), n, 2 * n, 4 * n, planned.topics or n}
    instances = {2, 5, 10, 20, 50, m, planned.instances or m}
    return planned.table(sorted(topics), sorted(instances))


def margin(comparison: InstancesResult) -> str:
    """What the one-sided t tests say about the margin, in a word or two; in a table corrected."""
    if comparison.equivalence.equivalent:
        return "within"
    if comparison.beyond_margin > 0:
        return "better"
    if comparison.equivalence.non_inferior:
        return "not worse"
    return "worse" if comparison.beyond_margin < 0 else "undecided"
