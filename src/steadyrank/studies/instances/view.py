"""The sentences, tables and figures of `instances`, and its part of a report.

"Not significant" does not mean "equal": a separate test says whether two systems differ by less
than a margin.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from steadyrank.data.scores import Scores, mean_of_present
from steadyrank.errors import InputError
from steadyrank.present.json import picked
from steadyrank.present.view import Col, FigureSpec, Finding, TableSpec, View, Words, literal
from steadyrank.stats.instances.systems import systems_of
from steadyrank.stats.mixed.two_way import FEW_INSTANCES
from steadyrank.stats.pairs.result import NO_DIFFERENCE, ZERO_VARIANCE
from steadyrank.stats.run_means import SAME_MEAN, adjusted_means, signs_of
from steadyrank.studies.instances.result import InstancesResult, InstancesTable
from steadyrank.studies.instances.study import instances
from steadyrank.studies.material import Material, named_systems
from steadyrank.studies.part import Findings, Front, Job, Samples, part_of
from steadyrank.words import counted, interval, number_word, pvalue_words, swap_words, typeset

Result = InstancesResult | InstancesTable
Subject = Result | Sequence[Result]
"""One result, or one per measure; either all are pairs or all are tables."""

SOURCE = "Jayasinghe et al. 2015"
"""The paper whose tests are shown in addition to the sound one."""

PARTS = {"system_topic": "system × topic", "instance": "instances", "residual": "residual"}
"""Variance components of differences, from which topics' difficulty cancels."""

MOST_PRINTED = 10
"""Largest number of comparisons whose variances a command lists."""

MOST_DESCRIBED = 3
"""Largest number of comparisons in a paragraph for a paper."""


def _each(subject: Subject) -> list[Any]:
    return list(subject) if isinstance(subject, Sequence) else [subject]


def _is_pair(subject: Subject) -> bool:
    return isinstance(_each(subject)[0], InstancesResult)


def _comparisons(subject: Subject) -> list[InstancesResult]:
    return [one for table in _each(subject) for one in table.comparisons]


def findings(subject: Subject) -> list[Finding]:
    """Return the sentences about the first measure."""
    result = _each(subject)[0]
    return _of_pair(result) if isinstance(result, InstancesResult) else _of_table(result)


def describe(subject: Subject) -> str:
    """Return the paragraph for a paper, one measure after the other."""
    return " ".join(map(_described, _each(subject)))


def _described(result: InstancesResult | InstancesTable) -> str:
    several = [result] if isinstance(result, InstancesResult) else _clearest(result)
    one = several[0]
    n, k = one.n_topics, sorted({*one.n_instances.values()})
    runs = f"{k[0]} to {k[-1]} instances" if k[0] < k[-1] else counted(k[0], "instance")
    said = " ".join(difference_words(each) for each in several[:MOST_DESCRIBED])
    if isinstance(result, InstancesTable) and len(several) > MOST_DESCRIBED:
        said = f"{_decided(result).text} {said}"
    margins = f" {margin_words(one)}" if len(several) == 1 else ""
    return (
        f"Systems with {runs} were compared by mean {one.measure} on "
        f"{counted(n, 'topic')} with a mixed model in which topics and instances are random "
        f"(alpha {one.alpha:g}). {said}{margins}"
    )


def _of_pair(result: InstancesResult) -> list[Finding]:
    """Return sentences about the difference, the margin, the variances, and cautions."""
    both, test = picked(result, "a b"), result.equivalence
    values = both | picked(result, "difference interval pvalue_adjusted significant")
    said = [Finding("instances.difference", difference_words(result), values)]
    if result.one_instance:
        text = "Both systems have one run: this is a paired t test of these two instances alone."
        said.append(Finding("instances.scope", text, picked(result, "n_instances")))
    if not math.isnan(test.pvalue_equivalence):
        values = both | picked(test, "delta equivalent non_inferior")
        values |= picked(result, "beyond_margin")
        said.append(Finding("instances.margin", margin_words(result), values))
    return [*said, *_variance_findings(result), *_posterior_findings(result)]


def difference_words(result: InstancesResult) -> str:
    """Say which system is better, or that no difference is shown."""
    a, b = result.a, result.b
    if result.flag == NO_DIFFERENCE:
        return f"{a} and {b} have the same scores."
    if result.flag == ZERO_VARIANCE:
        return f"{a} − {b} is {result.difference:+.4f} for all scores."
    if math.isnan(result.headline_pvalue):
        return f"Whether {a} and {b} differ cannot be tested: there are too few scores."
    of_several = _family(result)
    p = f"{'adjusted ' if of_several else ''}{pvalue_words(result.pvalue_adjusted)}{of_several}"
    low, high = (typeset(f"{limit:+.4f}") for limit in result.interval)
    span = f"{1 - result.alpha:.0%} interval {low} to {high}"
    if not result.significant:
        return f"{a} is not significantly different from {b} ({span}, {p})."
    kind = "better" if result.difference > 0.0 else "worse"
    # Holm's steps may reject where the simultaneous interval includes 0.
    shown = p if result.interval[0] <= 0.0 <= result.interval[1] else f"{span}, {p}"
    return f"{a} is {kind} than {b} by {abs(result.difference):.4f} ({shown})."


def _family(result: InstancesResult) -> str:
    """Return the number of comparisons over which a statement is corrected, in words."""
    if result.family is None or result.family.size == 1:
        return ""
    return f" over {result.family.size} comparisons"


def margin_words(result: InstancesResult) -> str:
    """Say what the one-sided tests decide about the margin."""
    test, a, b = result.equivalence, result.a, result.b
    claim = {
        "within": f"{a} is within {test.delta:g} of {b}",
        "better": f"{a} is better than {b} by {test.delta:g} or more",
        "worse": f"{a} is worse than {b} by more than {test.delta:g}",
        "not worse": f"{a} is not worse than {b} by {test.delta:g}",
    }.get(margin(result))
    if claim is None:
        return f"Whether {a} is worse than {b} by {test.delta:g} is undecided."
    more = f"; whether within {test.delta:g} is undecided" if margin(result) == "not worse" else ""
    return f"{claim} with {1 - test.alpha:.0%} confidence{_family(result)}{more}."


def margin(comparison: InstancesResult) -> str:
    """Return the decision of the one-sided t tests about the margin; corrected in a table."""
    if comparison.equivalence.equivalent:
        return "within"
    if comparison.beyond_margin > 0:
        return "better"
    if comparison.equivalence.non_inferior:
        return "not worse"
    return "worse" if comparison.beyond_margin < 0 else "undecided"


def _variance_findings(result: InstancesResult) -> list[Finding]:
    said, shares = [], result.variance_share
    figures = {
        key: "<1%" if 0.0 < share < 0.005 else f"{share:.0%}" for key, share in shares.items()
    }
    parts = [f"{words} {figures[key]}" for key, words in PARTS.items() if key in figures]
    if len(parts) > 1:
        text = f"Variance of the differences: {', '.join(parts)}."
        said.append(Finding("instances.variance", text, shares))
    span = result.variance_interval.get("instance")
    fewest = min((size for size in result.n_instances.values() if size > 1), default=FEW_INSTANCES)
    if fewest < FEW_INSTANCES and span is not None:
        low, high = (math.sqrt(end) for end in span)
        most = "any number" if math.isinf(high) else f"{high:.4f}"
        text = (
            f"With {fewest} instances their variance is hardly known: standard deviation "
            f"{low:.4f} to {most}."
        )
        values = {"n_instances": fewest, "sd_interval": [low, high]}
        said.append(Finding("instances.few", text, values))
    if result.design == "crossed" and result.inflation is not None:
        factor, ends = result.inflation.factor, result.inflation.interval
        span_words = "" if math.isnan(ends[0]) else f" {interval(ends, '.2f')}"
        text = (
            f"Tests that average instances understate the variance of the difference by a factor "
            f"of {factor:.2f}{span_words}."
        )
        values = picked(result.inflation, "factor interval")
        said.append(Finding("instances.inflation", text, values))
    return said


def _posterior_findings(result: InstancesResult) -> list[Finding]:
    """Say what the shortest interval of the posterior decides about the margin."""
    if result.posterior is None or result.hpd is None or math.isnan(result.hpd[0]):
        return []
    a, b, delta = result.a, result.b, result.equivalence.delta
    claim = {
        "better": f"{a} is better than {b}",
        "not worse": f"{a} is not worse than {b} by {delta:g}",
        "worse": f"{a} is worse than {b} by more than {delta:g}",
        "undecided": "the margin is undecided",
    }[result.hpd_verdict or "undecided"]
    low, high = (typeset(f"{end:+.4f}") for end in result.hpd)
    sure = f"{result.posterior.confidence:.0%}"
    text = f"By the posterior's shortest {sure} interval, {low} to {high}, {claim}."
    return [Finding("instances.posterior", text, picked(result, "hpd hpd_verdict"))]


def _of_table(table: InstancesTable) -> list[Finding]:
    """Return sentences about the best system, the pairs that differ, and the best setting."""
    said = [] if table.settings is None else _sweep_findings(table)
    means = _means(table)
    if table.settings is None and len(table.comparisons) == math.comb(len(means), 2):
        best = max(means, key=lambda name: means[name])
        values = {"best": best, "means": means}
        said.append(Finding("instances.systems", systems_words(table, best), values))
    said.append(_decided(table))
    first = _clearest(table)[0]
    if len(table.comparisons) > 1 and not math.isnan(first.pvalue_adjusted):
        values = picked(first, "a b difference interval pvalue_adjusted significant")
        said.append(Finding("instances.clearest", difference_words(first), values))
    return said


def _clearest(table: InstancesTable) -> list[InstancesResult]:
    """Return the comparisons, the most significant first."""
    order = np.argsort(table.pvalue_adjusted, kind="stable")  # NaN comes last
    return [table.comparisons[place] for place in order]


def _means(table: InstancesTable) -> dict[str, float]:
    """Return the mean of each system; empty where it varies between comparisons due to gaps."""
    means: dict[str, float] = {}
    for one in table.comparisons:
        for name, mean in ((one.a, one.pair.a.mean), (one.b, one.pair.b.mean)):
            if abs(means.setdefault(name, mean) - mean) > SAME_MEAN:
                return {}
    return means


def systems_words(table: InstancesTable, best: str) -> str:
    """Say which system has the best mean, and how many others it is significantly better than."""
    with_best = [one for one in table.comparisons if best in (one.a, one.b)]
    beaten, others = sum(one.significant for one in with_best), len(with_best)
    lead = f"{best} has the best mean {table.measure} over its instances"
    if others == 1:
        other = with_best[0].b if with_best[0].a == best else with_best[0].a
        told = "significantly better than" if beaten else "not significantly different from"
        return f"{lead}; it is {told} {other}."
    among = f"all {number_word(others)} others"
    if beaten < others:
        among = f"{number_word(beaten) if beaten else 'none'} of the {number_word(others)} others"
    return f"{lead}; it is significantly better than {among}."


def _decided(table: InstancesTable) -> Finding:
    """Say how many pairs differ, how many are within the margin, and how many are inconclusive."""
    equal = np.array([one.equivalence.equivalent for one in table.comparisons])
    n, different, within = len(equal), int(table.significant.sum()), int(equal.sum())
    unsure = int((~table.significant & ~equal).sum())
    values = {"n_comparisons": n, "n_different": different, "n_within": within}
    values |= {"n_inconclusive": unsure} | picked(table, "delta alpha")
    differ, negated = "differ" if different else "do not differ", "" if within else "not "
    text = (
        f"The two systems {differ} significantly; they are {negated}shown to be within "
        f"{table.delta:g}."
    )
    if n > 1:
        open_ones = f"; {unsure} {'is' if unsure == 1 else 'are'} inconclusive" if unsure else ""
        text = (
            f"{different or 'None'} of {n} pairs {'differs' if different < 2 else 'differ'} "
            f"significantly; {within or 'none'} {'is' if within < 2 else 'are'} shown to be within "
            f"{table.delta:g}{open_ones}."
        )
    return Finding("instances.decided", text, values)


def _sweep_findings(table: InstancesTable) -> list[Finding]:
    """Say which setting of a sweep is the smallest that is not worse by the margin."""
    passing = [
        setting
        for setting, comparison in zip(table.settings or (), table.comparisons, strict=True)
        if comparison.equivalence.pvalue_non_inferiority < table.alpha
    ]
    smallest = table.smallest_non_inferior
    claim = f"not worse than {table.baseline} by {table.delta:g}"
    text = f"No {table.sweep} is shown to be {claim}."
    if smallest is not None:
        sure = f"{1 - table.alpha:.0%} confidence"
        text = f"The smallest {table.sweep} that is {claim} is {smallest} ({sure})."
    values = picked(table, "sweep smallest_non_inferior delta margin_correction")
    said = [Finding("instances.sweep", text, values)]
    if passing and passing[0] != smallest:
        text = f"{passing[0]} passes when tested alone, but a larger {table.sweep} does not."
        said.append(Finding("instances.sweep_alone", text, {"passing": passing}))
    return said


def _figure_rows(subject: Subject) -> list[dict[str, Any]]:
    """Return all figures of one pair: a row per figure with its form, a column per measure."""
    columns = [_figures(result) for result in _each(subject)]
    rows = []
    for place, (what, form, _) in enumerate(columns[0]):
        values = {
            result.measure: column[place][2]
            for result, column in zip(_each(subject), columns, strict=True)
        }
        if any(_is_known(value) for value in values.values()):
            rows.append({"figure": what, "form": form, **values})
    return rows


def _is_known(value: Any) -> bool:
    first = value[0] if isinstance(value, tuple) else value
    return first is not None and not math.isnan(first)


def _figures(result: InstancesResult) -> list[tuple[str, str, Any]]:
    level, sizes, p = f"{1 - result.alpha:.0%}", result.n_instances, result.pvalue
    test, posterior = result.equivalence, result.posterior
    means = [
        (
            f"mean of {system.name} ({counted(sizes[side], 'run', 'instances')})",
            "score",
            system.mean,
        )
        for side, system in (("a", result.pair.a), ("b", result.pair.b))
    ]
    drawn = (None, None) if posterior is None else (posterior.mean[-1], posterior.pvalue[-1])
    return [
        *means,
        (f"{result.a} − {result.b}", "change", result.difference),
        (f"{level} interval", "change", tuple(result.interval)),
        ("p, mixed model", "pvalue", p["mixed"]),
        (f"p, mixed model of {SOURCE}", "pvalue", p["mixed_paper"]),
        (f"p, Algorithm 2 of {SOURCE}", "pvalue", p["bootstrap"]),
        ("p, two-way bootstrap", "pvalue", p["two_way_bootstrap"]),
        ("effect size, by residual sd", "+.2f", result.effect_size),
        ("effect size, by sd of topics' differences", "+.2f", result.effect_size_paired),
        ("posterior mean", "change", drawn[0]),
        (f"posterior, shortest {level} interval", "change", result.hpd and tuple(result.hpd)),
        ("posterior p", "pvalue", drawn[1]),
        (f"{1 - 2 * test.alpha:.0%} interval", "change", tuple(test.interval)),
        (f"p, equivalence at {test.delta:g}", "pvalue", test.pvalue_equivalence),
        (f"p, non-inferiority at {test.delta:g}", "pvalue", test.pvalue_non_inferiority),
    ]


def _component_rows(subject: Subject) -> list[dict[str, Any]]:
    """Return the components with their intervals, and their shares of a difference's variance."""
    return [row for result in _each(subject) if not result.one_instance for row in _parts(result)]


def _parts(result: InstancesResult) -> list[dict[str, Any]]:
    total = sum(value for key in PARTS if (value := result.variance[key]) > 0.0)
    named: list[tuple[str, str, float]] = []
    for key, words in {"topic": "topic", **PARTS}.items():
        named.append((key, words, result.variance[key]))
        if key == "instance":
            named += [
                (f"instance factor {factor}", f"· {factor}", value)
                for factor, value in result.factor_variance.items()
            ]
    rows = []
    for key, words, value in named:
        low, high = result.variance_interval.get(key, (math.nan, math.nan))
        if math.isnan(value):
            low = high = math.nan
        rows.append(
            {
                "measure": result.measure,
                "component": words,
                "variance": value,
                "sd": math.sqrt(value),
                "sd_low": math.sqrt(low),
                "sd_high": math.sqrt(high),
                "share": None if key == "topic" or not total > 0.0 else value / total,
            }
        )
    return rows


def _caption(subject: Subject) -> str:
    """Return the caption of the first result, with the measures of all."""
    results = _each(subject)
    measures = ", ".join(result.measure for result in results)
    return f"{measures}{results[0].caption().removeprefix(results[0].measure)}"


def _pair_rows(subject: Subject, rows: Any) -> list[dict[str, Any]]:
    shown = []
    for one in _comparisons(subject):
        (low, high), hpd = one.interval, one.hpd or (None, None)
        sizes = f"{one.n_instances['a']}/{one.n_instances['b']}"
        row = picked(one, "measure a b difference significant pvalue_adjusted")
        row |= {"mean_a": one.pair.a.mean, "mean_b": one.pair.b.mean, "instances": sizes}
        row |= {"low": low, "high": high, "hpd_low": hpd[0], "hpd_high": hpd[1]}
        row |= {"pvalue": one.headline_pvalue, "two_way": one.pvalue["two_way_bootstrap"]}
        shown.append(row | {"margin": margin(one)})
    return shown


def _pair_columns(subject: Subject) -> tuple[Col, ...]:
    table = _each(subject)[0]
    against, several = table.baseline, len(table.comparisons) > 1
    alone = "for each comparison alone"
    return (
        MEASURE,
        Col("a", "a" if against is None else literal(f"against {against}"), "name"),
        Col("b", form="name", when=lambda subject: against is None),
        Col("instances", form="name", when="varies"),
        Col("mean_a", "mean a" if against is None else "mean"),
        Col(
            "mean_b", "mean b" if against is None else literal(f"mean of {against}"), when="varies"
        ),
        Col("difference", form="change", star="significant"),
        Col(("low", "high"), "{sure} interval", "change"),
        Col("pvalue", "p", "pvalue", about=f"by the mixed model, {alone}"),
        Col("pvalue_adjusted", "p adjusted", "pvalue", when=lambda subject: several),
        Col("two_way", "two-way p", "pvalue", about=f"by the two-way bootstrap, {alone}"),
        Col(("hpd_low", "hpd_high"), "{sure} HPD", "change", "known", alone),
        Col("margin", f"margin {table.delta:g}", "name"),
    )


def _pair_caption(subject: Subject) -> str:
    tables = _each(subject)
    said, comparisons = [_caption(subject)], tables[0].comparisons
    if any(one.significant for one in _comparisons(subject)):
        said.append("* significant.")
    sizes = {tuple(one.n_instances.values()) for one in comparisons}
    if len(sizes) == 1:
        one, other = sizes.pop()
        each = f"{counted(one, 'instance')} per system"
        said.append(f"{each}." if one == other else f"{one} against {other} instances.")
    means = {one.pair.b.mean for one in comparisons}
    if tables[0].baseline is not None and len(means) == 1 == len(tables):
        said.append(f"Mean of {tables[0].baseline}: {means.pop():.4f}.")
    return " ".join(said)


MEASURE = Col("measure", form="name", when=lambda subject: len(_each(subject)) > 1)

FIGURES = TableSpec(
    id="instance-figures",
    rows=_figure_rows,
    when=_is_pair,
    columns=lambda subject: (
        Col("figure", " ", "name"),
        *(Col(result.measure, literal(result.measure), "row") for result in _each(subject)),
    ),
    caption=_caption,
)
COMPONENTS = TableSpec(
    id="instance-components",
    rows=_component_rows,
    when=_is_pair,
    columns=(
        MEASURE,
        Col("component", form="name"),
        Col("variance", form=".6f"),
        Col("sd"),
        Col(("sd_low", "sd_high"), "{sure} interval of sd"),
        Col("share", form="percent"),
    ),
    caption="Variance components. Shares are of differences, from which topics' difficulty "
    "cancels.",
)
PAIRS = TableSpec(
    id="instance-pairs",
    rows=lambda subject: [row for result in _each(subject) for row in result.rows()],
    shown=_pair_rows,
    when=lambda subject: not _is_pair(subject),
    columns=_pair_columns,
    caption=_pair_caption,
)
SHARES = TableSpec(
    id="instance-variances",
    rows=lambda subject: [
        {"measure": one.measure, "systems": f"{one.a} − {one.b}", **one.variance_share}
        for one in _comparisons(subject)
    ],
    when=lambda subject: not _is_pair(subject),
    columns=(
        MEASURE,
        Col("systems", form="name"),
        *(Col(key, title, "percent") for key, title in PARTS.items()),
    ),
    caption="Shares of the variance of the differences.",
    printed=lambda subject: MOST_PRINTED,
)


def fields(subject: Subject) -> dict[str, Any]:
    """Return the JSON fields of one pair or table; for several measures a list of such objects."""
    results = _each(subject)
    if len(results) > 1:
        return {"studies": [VIEW.json([result]) for result in results]}
    result, words = results[0], [finding.text for finding in findings(subject)]
    if isinstance(result, InstancesResult):
        return {**result.row(), "words": words}
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
        **picked(result, "alpha delta mode"),
        "comparisons": result.rows(),
        "words": words,
    }


VIEW = View(
    words=Words(
        title="Other instances",
        question="Would other random instances of the systems change it?",
        means=(
            "Runs of one system are instances of it, such as seeds. The mixed model treats topics "
            "and instances as random, so its p-values are about other topics and instances. "
            "Systems within the margin are shown to differ by less than the margin."
        ),
        means_not=(
            "Systems that do not differ significantly may still differ: see the margin. Other "
            "documents and judgments are not examined here."
        ),
    ),
    findings=findings,
    describe=describe,
    tables=(FIGURES, COMPONENTS, PAIRS, SHARES),
    csv="instance-pairs",
    fields=fields,
    figure=FigureSpec(
        id="instance-margin", caption="Differences of systems and the margin.", kind="margin"
    ),
)


MOST_SYSTEMS = 5
"""Number of systems with instances that are compared pair by pair, the best ones."""


def _why_not(material: Material) -> str:
    scores = material.scores
    systems = named_systems(scores)
    if not systems:
        return (
            "no runs are known to be instances of one system, such as seeds of a reranker: give "
            "--run-info with a column system, or --system-from"
        )
    if all(len(places) == 1 for places in systems.values()):
        return "every system has one run: instances are several runs of one system"
    if len(compared_systems(scores)) < 2:
        return "all runs are instances of one system: a comparison requires two systems"
    return ""


def compared_systems(scores: Scores) -> list[str]:
    """Return the best systems by the mean of their runs, best first."""
    means, systems = scores.mean()[0], systems_of(scores)
    by_mean = {name: float(mean_of_present(means[places])) for name, places in systems.items()}
    known = [name for name in systems if not math.isnan(by_mean[name])]
    return sorted(known, key=lambda name: -by_mean[name])[:MOST_SYSTEMS]


def _run(job: Job) -> InstancesTable:
    material, settings = job.material, job.material.settings
    groups = systems_of(material.scores)
    places = [place for name in compared_systems(material.scores) for place in groups[name]]
    scores = material.scores.select(runs=[material.scores.runs[place] for place in places])
    result = instances(
        scores,
        measure=material.measure,
        delta=settings.delta,
        alpha=settings.alpha,
        instance_factors=settings.instance_factors,
        n_samples=job.n_samples,
        samples_per_instance=min(1000, job.n_samples),
        # With gaps in the data the posterior has no closed form, and takes seconds per pair.
        posterior=not np.isnan(scores.matrix(material.measure)).any(),
        progress=job.machine.progress("pairs of systems"),
        **job.common,
    )
    if not isinstance(result, InstancesTable):
        raise InputError("a comparison of systems requires two of them")
    return result


def _front(result: InstancesTable, findings: Findings) -> Front:
    share = reversed_by_instances(findings.material.scores)
    if math.isnan(share):
        return Front()
    n = len(named_systems(findings.material.scores))
    text = f"With another instance of each, {swap_words(share, n, 'systems')}."
    return Front(swap=Finding("instances.swap", text, {"share": share}))


def reversed_by_instances(scores: Scores) -> float:
    """Return how often another instance of each system reverses the order of two systems.

    It is the mean over the pairs of systems of which one has several instances.
    """
    means = adjusted_means(scores.matrix(scores.measures[0]))
    groups = [means[list(places)] for places in named_systems(scores).values()]
    shares = [
        _contradicted(a, b) for a, b in itertools.combinations(groups, 2) if max(len(a), len(b)) > 1
    ]
    return float(mean_of_present(np.array(shares, float)))


def _contradicted(a: np.ndarray, b: np.ndarray) -> float:
    """Return how often two draws of an instance of each system order the systems differently.

    A system with one instance keeps it. With signs s[i, j] of the differences, this is the mean of
    (1 - s[i, j] s[k, l]) / 2 over i other than k and j other than l.
    """
    signs = signs_of(a[:, None] - b[None, :])
    if not signs.any():
        return math.nan
    again, n = signs.sum() ** 2, 1
    for axis, size in enumerate(signs.shape):
        if size > 1:
            n *= size * (size - 1)
            again -= (signs.sum(axis=1 - axis) ** 2).sum()
    if min(signs.shape) > 1:
        again += (signs**2).sum()  # taken off twice
    return float(0.5 - 0.5 * again / n)


PART = part_of(
    VIEW,
    run=_run,
    samples=Samples(noun="resamples", fast=200, full=5000),
    why_not=_why_not,
    front=_front,
    varies="Other instances",
    examine=lambda material: "--system-from",
)
