"""The sections of a report that rank runs, and systems with several runs; its first screen.

The first screen says who leads and by how much, and lists the best rows. With a baseline the
verdict is about it. A panel compares any two runs.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any, cast

import numpy as np

from steadyrank.compute.random import seed_from
from steadyrank.data.scores import Scores
from steadyrank.present.cells import most_columns, name, number, span, table, whole
from steadyrank.present.page import Board, Tile
from steadyrank.present.pair_panel import (
    PairPanel,
    count_texts,
    decided,
    pvalue_texts,
    signed_texts,
    values_at,
)
from steadyrank.present.table import Cell, Table, escape_latex
from steadyrank.present.view import Finding, View, Words
from steadyrank.stats.instances.mixed_tests import has_instances
from steadyrank.stats.pairs.decisions import turned
from steadyrank.stats.pairs.result import TOO_FEW
from steadyrank.stats.run_means import (
    SAME_MEAN,
    adjusted_means,
    expected_means,
    intervals_as_picked,
    ranks_of,
)
from steadyrank.studies.compare import findings as say
from steadyrank.studies.compare.audit import audited
from steadyrank.studies.compare.correcting import CompareSettings
from steadyrank.studies.compare.findings import Results
from steadyrank.studies.compare.result import CompareResult, Correction, Test
from steadyrank.studies.compare.study import compare_each
from steadyrank.studies.compare.view import AGAINST, RUNS, VIEW
from steadyrank.studies.compare.wording import rank_words, tested_words
from steadyrank.studies.material import MOST_COMPARED, Material, named_systems
from steadyrank.studies.part import (
    ROWS,
    Body,
    Drawing,
    Findings,
    Front,
    Job,
    Part,
    board_of,
    fragility_tile,
    part_of,
    significance_tile,
)
from steadyrank.words import counted, enough_digits

BASELINE = {0: "not different", 1: "better", -1: "worse"}
"""Sign of a significant difference to the baseline, in words."""

NOT_COMPARED = Cell("–")
FILTERS = ("team", "type")
"""Columns of the run information by which rows can be filtered."""

MOST_NAMED = 3
"""Number of possible firsts that a section names."""


def front(result: CompareResult, *, n_runs: int, study: str, link: str) -> Front:
    """Return the first screen; `result` may compare only the best of `n_runs` runs."""
    return Front(
        verdict=say.verdict(result, n_runs, study),
        line=say.lead(result, study),
        board=_board(result, link, n_runs),
        cautions=_cautions(result, "gaps", "audit"),
        tiles=tuple(_tiles(result, study)),
    )


def _cautions(result: CompareResult, *names: str) -> tuple[Finding, ...]:
    ids = {f"compare.{name}" for name in names}
    return tuple(caution for caution in say.cautions(result) if caution.id in ids)


def _board(result: CompareResult, link: str, n_rows: int) -> Board:
    order = say.ranked(result)
    shown = order[:ROWS]
    if result.baseline is not None and (own := result.runs.index(result.baseline)) not in shown:
        shown = [*shown[: ROWS - 1], own]
    digits = enough_digits(result.mean[shown], 3)
    return board_of(
        result,
        lambda run: f"{result.mean[run]:.{digits}f}",
        measure=result.measure,
        link=link,
        rows=f"{result.row_word}s",
        shown=shown,
        n_rows=n_rows,
        sure=rank_words(result),
        against=None if result.baseline is None else against_baseline(result),
    )


def against_baseline(result: CompareResult) -> dict[int, str]:
    """Return for each run how it compares with the baseline, the second run of each pair."""
    signs = np.where(result.significant, np.sign(result.difference), 0).astype(int)
    decided = {int(a): BASELINE[sign] for a, sign in zip(result.pairs[:, 0], signs, strict=True)}
    return decided | {result.runs.index(str(result.baseline)): "baseline"}


def _tiles(result: CompareResult, study: str) -> list[Tile]:
    found, made = say.significant(result), []
    if result.baseline is None and len(result.pairs) > 1:
        made.append(significance_tile(f"{study}.significant", result.significant, **found.values))
    carried = result.leader_fragility()
    if carried is not None:
        made.append(fragility_tile(study, carried, result.units[:-1]))
    smallest = say.detectable(result)
    if 0.0 < smallest < math.inf:
        pair = ", mean pair" if len(result.pairs) > 1 else ""
        made.append(
            Tile(
                id=f"{study}.detectable",
                figure=f"{smallest:.3f}",
                text=f"smallest difference that these topics can show (power 0.8{pair})",
                values={"difference": smallest, "power": 0.8},
            )
        )
    return made


MOST_PICKED = 150
"""Largest number of runs from which two can be picked."""

DECISIONS = {
    "better": "{a} is significantly better than {b} by mean {measure}",
    "worse": "{b} is significantly better than {a} by mean {measure}",
    "open": "{a} is not significantly different from {b} by mean {measure}",
    "equal": "{a} and {b} have the same mean {measure}",
    "unknown": "{a} and {b} share too few topics to be compared by mean {measure}",
    "untested": "{a} and {b} were not compared with each other, only with the baseline",
}


def two_runs(results: Results, findings: Findings) -> PairPanel:
    """Return the panel with the tests of any two runs, on all measures."""
    main, n_runs = results[0], len(findings.material.scores.runs)
    order, omitted = _picked(main, n_runs)
    sure, tested, clusters = f"{1 - main.alpha:.0%}", tested_words(main), main.design.clusters
    panel = PairPanel(
        names=tuple(order),
        omitted=omitted,
        measure=main.measure,
        topics=main.topics,
        scores=main.scores[[main.runs.index(run) for run in order]],
        units=() if clusters is None else clusters.tolist(),
        sentence=(
            "{decision}: difference {difference}, "
            f"{sure} interval {{low}} to {{high}}, {{corrected}} ({tested}, {{n}} topics)."
        ),
        latex=(
            "{decision}: difference ${difference}$, "
            f"{escape_latex(sure)} interval $[{{low}}, {{high}}]$, "
            f"${{corrected}}$ ({tested}, {{n}} topics)."
        ),
    )
    _add_comparison(panel, main)
    for i, result in enumerate(results[1:], start=2):
        place, sign = panel.aligned(result.runs, result.pairs)
        panel.add(
            f"By {result.measure}",
            f"{{difference{i}}}, {{decided{i}}}",
            **{
                f"difference{i}": signed_texts(sign * values_at(result.difference, place), "+.3f"),
                f"decided{i}": decided(result.significant, result.pvalue_adjusted, place),
            },
        )
    return panel


def _picked(result: CompareResult, n_runs: int) -> tuple[list[str], str]:
    """Return the runs that can be picked, best first, and a sentence about those omitted."""
    order = [result.runs[run] for run in result.order]
    n_best = min(MOST_PICKED, most_columns(len(result.topics)))
    rest = [run for run in order[n_best:] if run == result.baseline]
    picked = order[:n_best] + rest
    if len(picked) == n_runs:
        return picked, ""
    best = f"the best {n_best:,}{' and the baseline' if rest else ''}"
    return picked, f"Of {n_runs:,} runs, {best} can be picked."


def _add_comparison(panel: PairPanel, result: CompareResult) -> None:
    place, sign = panel.aligned(result.runs, result.pairs)
    ends = turned(values_at(result.interval, place), sign)
    wins, losses = (
        values_at(counts, place) for counts in (result.effects.wins, result.effects.losses)
    )
    decisions = [_decision(result, p, s) for p, s in zip(place, sign, strict=True)]
    panel.fields["measure"] = [result.measure] * len(place)
    panel.fields["decision"] = [DECISIONS[decision] for decision in decisions]
    sure = f"{1 - result.alpha:.0%} interval"
    panel.add(
        f"Difference in mean {result.measure}",
        f"{{difference}} ({sure} {{low}} to {{high}}: {result.interval_kind})",
        difference=signed_texts(sign * values_at(result.difference, place)),
        low=signed_texts(ends[:, 0]),
        high=signed_texts(ends[:, 1]),
    )
    panel.add(
        "Test",
        f"{{corrected}} ({tested_words(result)}, alpha {result.alpha:g}); "
        "{uncorrected} for this pair alone",
        corrected=pvalue_texts(values_at(result.pvalue_adjusted, place)),
        uncorrected=pvalue_texts(values_at(result.pvalue, place)),
    )
    panel.add(
        "Effect size",
        "d = {effect}: the mean difference in standard deviations of the topics’ differences",
        effect=signed_texts(sign * values_at(result.effects.paired_d, place), "+.2f"),
    )
    panel.add(
        "By topic",
        "{a} is better on {wins}, {b} on {losses}, equal on {ties} of {n} topics",
        wins=count_texts(np.where(sign > 0, wins, losses)),
        losses=count_texts(np.where(sign > 0, losses, wins)),
        ties=count_texts(values_at(result.effects.ties, place)),
        n=count_texts(values_at(result.n, place)),
    )
    carried = values_at(np.where(result.fragility > 0, result.fragility, np.nan), place)
    panel.add(
        "Carried by",
        f"{{carry}} {result.units}: without them the lead is gone",
        carry=count_texts(carried),
    )


def _decision(result: CompareResult, place: int, sign: float) -> str:
    if place < 0:
        return "untested"
    ahead = sign * result.gain[place]
    if result.flag[place] == TOO_FEW:
        return "unknown"
    if result.significant[place]:
        return "better" if ahead > 0 else "worse"
    return "equal" if abs(ahead) <= SAME_MEAN else "open"


def _body(scores: Scores, findings: Findings) -> Body:
    """Return the section: all runs by their mean, with intervals, possible ranks and groups."""
    result: CompareResult = findings.results["compare"][0]
    made = (_leaderboard_table(scores, result),)
    if result.baseline is not None:  # comparisons with a baseline are not about the first place
        what = "Every run compared with the baseline."
        return Body(figures=(Drawing("baseline", what, result, "intervals"),), tables=made)
    drawing = Drawing("ranks", "Possible ranks of each run.", result, "ranks")
    return Body(answer=(say.first(result, MOST_NAMED),), figures=(drawing,), tables=made)


def _leaderboard_table(scores: Scores, result: CompareResult) -> Table:
    measure = scores.measures[0]
    matrix = scores.matrix(measure)
    means = np.stack([adjusted_means(values) for values in scores.values])
    ranks = ranks_of(means[0])
    known = expected_means(matrix)
    intervals, expected = intervals_as_picked(matrix, 1 - result.alpha, known), known.mean
    compared = {run: i for i, run in enumerate(result.runs)}
    info = {key: [str(value) for value in scores.run_info.get(key, [])] for key in FILTERS}
    info = {key: values for key, values in info.items() if any(values)}
    against = {i: whole(n) for i, n in enumerate(result.n_better.tolist())}
    if result.baseline is not None:
        against = {i: name(word) for i, word in against_baseline(result).items()}
    rows: list[dict[str, Any]] = []
    for run in np.argsort(ranks, kind="stable").tolist():
        i = compared.get(scores.runs[run], -1)
        row = {"": whole(ranks[run]), "run": name(scores.runs[run])}
        row |= {key: name(values[run]) for key, values in info.items()}
        row |= {measure: number(means[0, run])}
        row |= {f"{1 - result.alpha:.0%} interval": span(intervals[run])}
        row |= {"expected": number(expected[run])}
        if result.baseline is None:
            ends = "{} to {}".format(*result.rank_set[i])
            row["ranks"] = Cell(ends, ends) if i >= 0 else NOT_COMPARED
            row["tier"] = whole(result.tier[i]) if i >= 0 else NOT_COMPARED
        title = "better than" if result.baseline is None else "against the baseline"
        row |= {title: against.get(i, NOT_COMPARED)}
        if result.letters:
            row["group"] = name(result.letters[i]) if i >= 0 else NOT_COMPARED
        others = zip(scores.measures[1:], means[1:, run], strict=True)
        rows.append(row | {other: number(mean) for other, mean in others})
    caption = f"Runs by mean {measure} over {counted(matrix.shape[1], 'topic', form=',')}."
    if result.baseline is None:
        caption += f" Ranks and tiers: each run's own comparisons, {rank_words(result)}."
    if len(result.runs) < len(scores.runs):
        caption += f" Compared pair by pair: the best {len(result.runs):,}."
    header, cells = list(rows[0]), [list(row.values()) for row in rows]
    made = table("leaderboard", caption, header, cells)
    return replace(made, picks=1, filter_by=tuple(range(2, 2 + len(info))))


LEADERBOARD = Part(
    title="Leaderboard",
    question="Who leads, and who might?",
    means=(
        "Runs are ordered by their mean over topics. Letters, marks and intervals of differences "
        "follow from paired tests of all pairs, or of all runs and the baseline, corrected "
        "together. The ranks of a run, its tier and whether it could be first follow from its own "
        "comparisons with all others, corrected for these alone."
    ),
    means_not=(
        "Runs whose intervals overlap may differ significantly: paired tests take into account "
        "that topics are hard or easy for all runs. Runs that share a letter are not necessarily "
        "equal. The leader's mean on new topics is expected to be lower, as these selected it."
    ),
    body=_body,
    run=lambda job: job.material.scores,
    is_read=True,
    is_required=True,
)


def _run(job: Job) -> tuple[CompareResult, ...]:
    """Return one result per measure, beginning with the measure that ranks the runs."""
    scores, progress = job.material.compared_graded, job.machine.progress("measures compared")
    given, has_judges = job.material.settings, job.material.n_levels("judge") > 1
    settings = CompareSettings(
        test=cast(Test, given.test),
        correction=cast("Correction | None", given.correction),
        baseline=given.baseline,
        alpha=given.alpha,
        # The model with judges random has no clusters of topics.
        fixed=("judge",) if has_judges and "cluster" in scores.topic_info else (),
        jobs=job.machine.jobs,
        seed=seed_from(given.seed),
    )
    results: list[CompareResult] = []
    for measure in scores.measures:
        # Segments are those of the measure that ranks the runs.
        by = given.by if given.by is not None and not results else "run"
        rows = by if job.material.graded is None or by != "run" else None
        results += compare_each(scores.select(measures=measure), settings, by=rows)
        if len(results) == 1:
            results = [audited(results[0], settings)]
        if progress is not None:
            progress(len(results), len(scores.measures))
    return tuple(results)


def _front(results: Results, findings: Findings) -> Front:
    result, n_runs = results[0], len(findings.material.scores.runs)
    if "systems" in findings.results:  # the verdict is about systems
        tiles = [tile for tile in _tiles(result, "compare") if tile.id == "compare.detectable"]
        return Front(cautions=_cautions(result, "gaps"), tiles=tuple(tiles))
    made = front(result, n_runs=n_runs, study="compare", link="evaluate")
    return replace(made, assumption=say.assumption(results))


def _tests(results: Results, findings: Findings) -> list[Finding]:
    result = results[0]
    text = f"{tested_words(result)}; alpha {result.alpha:g}."
    text = f"{text[0].upper()}{text[1:]}"
    values = {"test": result.test, "correction": result.correction, "alpha": result.alpha}
    return [Finding("compare.tests", text, values)]


PART = part_of(
    VIEW,
    run=_run,
    said=lambda findings, found: [  # where the page's verdict is about systems, it has their lead
        one
        for one in findings
        if "systems" not in found.results or one.id not in ("compare.verdict", "compare.lead")
    ],
    # The leaderboard has the table of runs.
    tables=[spec.id for spec in VIEW.tables if spec is not RUNS],
    beside=_tests,
    is_required=True,
    front=_front,
    decides=lambda results: results[0],
    two_runs=two_runs,
)


def _why_not(material: Material) -> str:
    if not has_instances(material.scores):
        return "no system has several runs: name systems with --system-from or --run-info"
    n = len(named_systems(material.scores))
    if n < 2:
        return "all runs are instances of one system: a comparison requires two systems"
    return "" if n <= MOST_COMPARED else f"{n:,} systems are more than {MOST_COMPARED}"


def _run_systems(job: Job) -> CompareResult:
    given, scores = job.material.settings, job.material.scores
    systems = named_systems(scores)
    settings = CompareSettings(
        test="mixed",
        baseline=given.baseline if given.baseline in systems else None,
        alpha=given.alpha,
        jobs=job.machine.jobs,
        seed=seed_from(given.seed),
    )
    (result,) = compare_each(scores.select(measures=job.material.measure), settings, by="system")
    return result


def _front_of_systems(result: CompareResult, findings: Findings) -> Front:
    # The cautions about the scores are those of the comparison of runs.
    made = front(result, n_runs=len(result.runs), study="systems", link="systems")
    return replace(made, cautions=(), assumption=say.assumption([result]))


SYSTEMS = View(
    words=Words(
        title="Systems",
        question="Which system leads, over its runs?",
        means=(
            "Runs of one system are instances of it, such as seeds, and its score is the mean over "
            "them. A mixed model treats topics and instances as random, so decisions are about "
            "other topics and other instances."
        ),
        means_not="The best single run may be of another system: it is partly the luckiest.",
    ),
    findings=lambda results: [replace(say.first(results[0], MOST_NAMED), id="systems.first")],
    tables=(replace(RUNS, id="systems-board"), replace(AGAINST, id="systems-against")),
    fields=lambda results: {},
)

SYSTEMS_PART = part_of(
    SYSTEMS,
    run=_run_systems,
    why_not=_why_not,
    subject_of=lambda result: [result],
    front=_front_of_systems,
)
