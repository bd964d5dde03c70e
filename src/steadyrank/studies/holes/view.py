"""Sentences, tables and the section of `holes`."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from steadyrank.data.scores import mean_of_present
from steadyrank.errors import InputError
from steadyrank.measures.check import DEPTHS
from steadyrank.measures.holes.lists import parse_holed
from steadyrank.present.cells import whole
from steadyrank.present.json import picked
from steadyrank.present.pair_panel import PairPanel, signed_texts
from steadyrank.present.table import Cell
from steadyrank.present.view import Col, FigureSpec, Finding, TableSpec, View, Words
from steadyrank.stats.run_means import SAME_MEAN, other_first
from steadyrank.studies.holes.fragility import DECIDED
from steadyrank.studies.holes.study import HolesPair, HolesResult, holes
from steadyrank.studies.material import NO_RUNS, Material
from steadyrank.studies.part import Findings, Front, Job, Samples, part_of
from steadyrank.words import MISSING, by_number, counted, percent, swap_words


def findings(result: HolesResult) -> list[Finding]:
    """Say what complete judgments could change, and whether imputed scores were checked."""
    said = [_decided(result)] if result.pairs and result.n_holes else [_unjudged(result)]
    said += _leader(result)
    check, rehearsal = result.prior, result.rehearsal
    if result.interval_warning:
        text = f"T{result.interval_warning[1:]}."
        values = {"n_fully_judged": result.n_fully_judged}
        said.append(Finding("holes.unchecked", text, values))
    elif result.n_samples:
        widened = "" if rehearsal.scale == 1.0 else f"; all are widened {rehearsal.scale:.2f} times"
        text = (
            f"{percent(rehearsal.held)} of {rehearsal.n_scores:,} imputed intervals contained "
            f"the known score{widened}."
        )
        said.append(Finding("holes.checked", text, picked(rehearsal, "n_scores held scale")))
    elif check.failure and result.n_holes:
        text = f"No scores are imputed, since the prior fails: {check.failure}."
        said.append(Finding("holes.rejected", text, {"n_hidden": check.n_hidden}))
    said += _fragile(result)
    if result.n_samples:
        text = (
            f"The prior gave {check.n_hidden:,} hidden documents a probability of relevance of "
            f"{check.predicted:.3f}; {check.observed:.3f} were."
        )
        values = picked(check, "n_hidden predicted observed log_loss log_loss_run log_loss_pool")
        said.append(Finding("holes.prior", text, values))
    return said


def _unjudged(result: HolesResult) -> Finding:
    n_open = len(result.pairs) - result.n_decided
    values = picked(result, "n_holes n_decided") | {"n_pairs": len(result.pairs)}
    if result.n_holes:
        share = percent(max(row.unjudged_share for row in result.runs))
        documents = counted(result.n_holes, "document is", "documents are", form=",")
        text = f"{documents} unjudged within the depth of {result.measure}, {share} of the run's."
    else:
        tied = f"; {counted(n_open, 'pair is', 'pairs are', form=',')} tied" if n_open else ""
        text = f"Every document within the depth of {result.measure} is judged{tied}."
    return Finding("holes.unjudged", text, values)


def _decided(result: HolesResult) -> Finding:
    n, n_decided = len(result.pairs), result.n_decided
    n_open = n - n_decided
    is_exact = all(pair.bounds == "exact" for pair in result.pairs if not pair.decided)
    documents = counted(result.n_holes, "unjudged document", form=",")
    if n_decided:
        pairs = f"{n_decided:,} of {n:,} pairs keep" if n > 1 else "the two runs keep"
        rest = (
            f"{n_open:,} can be reversed or tied" if is_exact else f"bounds leave {n_open:,} open"
        )
        text = f"Whatever the grades of {documents}, {pairs} their order"
        text += f"; {rest}." if n_open else "."
    else:
        which = by_number(n, "the only pair", f"each of {n:,} pairs")
        text = f"No pair is decided: some grades of {documents} reverse or tie {which}."
        if not is_exact:
            text = f"No pair is decided: bounds over grades of {documents} leave {which} open."
    values = picked(result, "n_holes n_decided bounds") | {"n_pairs": n}
    return Finding("holes.decided", text, values)


def _leader(result: HolesResult) -> list[Finding]:
    best = max(row.score for row in result.runs)
    leaders = [row.run for row in result.runs if row.score == best]
    rivals = sum(leaders[0] in (pair.a, pair.b) and not pair.decided for pair in result.pairs)
    if len(leaders) > 1:
        text = f"{counted(len(leaders), 'run')} share the best score."
    elif result.n_holes and rivals:
        by_bounds = "" if result.bounds == "exact" else ", by these bounds"
        text = (
            f"Complete judgments could put {counted(rivals, 'run')} level with {leaders[0]} or "
            f"above it{by_bounds}."
        )
    else:
        return []
    return [Finding("holes.leader", text, {"leaders": leaders, "n_rivals": rivals})]


def _fragile(result: HolesResult) -> list[Finding]:
    pair = result.leader_pair
    if pair is None or pair.fragility is None:
        return []
    leader, rival = (pair.a, pair.b) if pair.difference > 0 else (pair.b, pair.a)
    most = "" if pair.fragility.kind == "exact" else "at most "
    text = (
        f"Changing {most}{pair.fragility.n:,} of {counted(result.n_judged, 'judgment', form=',')} "
        f"undoes the lead of {leader} over {rival}."
    )
    values = {"leader": leader, "rival": rival} | (_fragility(pair) or {})
    return [Finding("holes.fragility", text, values | picked(result, "n_judged"))]


def _fragility(pair: HolesPair) -> dict[str, Any] | None:
    if pair.fragility is None:
        return None
    documents = [
        {"topic": one.topic, "document": one.document, "from": one.before, "to": one.after}
        for one in pair.fragility.documents
    ]
    return picked(pair.fragility, "n kind") | {"documents": documents}


def _changes(row: Mapping[str, Any]) -> Cell:
    """Show the number of grade changes, with ≤ if fewer may suffice."""
    found = row["fragility"]
    cell = whole(found and found["n"])
    return replace(cell, text=f"≤ {cell.text}") if found and found["kind"] == "upper" else cell


def _open_pairs(result: HolesResult) -> list[dict[str, Any]]:
    undecided = (row for row in _pair_rows(result) if not row["decided"])
    return sorted(undecided, key=lambda row: -abs(row["difference"]))


def _pair_rows(result: HolesResult) -> list[dict[str, Any]]:
    keys = "a b difference lowest highest decided bounds pvalue difference_imputed sign_share"
    return [
        picked(pair, f"{keys} pvalue_imputed") | {"fragility": _fragility(pair)}
        for pair in result.pairs
    ]


RUNS = TableSpec(
    id="holes-runs",
    rows=HolesResult.rows,
    columns=(
        Col("run", form="name"),
        Col("unjudged_share", "unjudged", "percent"),
        Col("score", "{measure}"),
        Col("lowest"),
        Col("highest"),
        Col("judged_only", about="unjudged documents removed from the ranking"),
        Col("imputed", when="known", about="mean over completions drawn from the prior"),
        Col(("imputed_low", "imputed_high"), "{sure} interval", when="known"),
    ),
    caption=HolesResult.caption,
)
PAIRS = TableSpec(
    id="holes-pairs",
    rows=_open_pairs,
    columns=(
        Col("a", form="name"),
        Col("b", form="name"),
        Col("difference", "a - b", "change"),
        Col("lowest", form="change"),
        Col("highest", form="change"),
        Col("pvalue", "p", "pvalue", "known"),
        Col("difference_imputed", "imputed", "change", "known"),
        Col("pvalue_imputed", "p (imputed)", "pvalue", "known", "by Rubin's rules"),
        Col("fragility", "changes", _changes, "known", "grades that undo the lead if changed"),
        Col("bounds", form="name", when=lambda result: result.bounds != "exact"),
    ),
    caption="Undecided pairs, largest difference first; p of paired t tests, uncorrected.",
    n_names=2,
    printed=lambda result: 15,
    most=200,
)
ASK = TableSpec(
    id="holes-ask",
    rows=lambda result: [asked._asdict() for asked in result.ask],
    columns=(Col("topic", form="name"), Col("document", form="name"), Col("value", form=".3g")),
    caption="Documents to judge next, by their expected effect on differences of undecided pairs.",
    n_names=2,
)


def ask_text(result: HolesResult) -> str:
    """Return the documents to judge as tab-separated lines."""
    lines = [f"{asked.topic}\t{asked.document}\t{asked.value:.6g}\n" for asked in result.ask]
    return "".join(["topic\tdocument\tvalue\n", *lines])


def fields(result: HolesResult) -> dict[str, Any]:
    """Return the keys of the JSON output."""
    check, rehearsal = result.prior, result.rehearsal
    run_keys = "run unjudged_share score lowest highest judged_only imputed imputed_interval"
    return {
        **picked(result, "measure bounds run_bounds n_topics n_judged n_holes top_grade"),
        "runs": [picked(row, run_keys) for row in result.runs],
        "pairs": _pair_rows(result),
        "prior": {
            **picked(
                check,
                "n_hidden predicted observed standard_error log_loss log_loss_run log_loss_pool",
            ),
            "calibration": [part._asdict() for part in check.bins],
            **picked(check, "seen_share found_share"),
            "failure": check.failure or None,
        },
        "rehearsal": {
            "n_scores": rehearsal.n_scores,
            "held": rehearsal.held if rehearsal.n_scores else None,
            "scale": rehearsal.scale,
            "warning": result.interval_warning or None,
        },
        "ask": ASK.rows(result),
        **picked(result, "n_samples confidence seed"),
    }


VIEW = View(
    words=Words(
        title="Missing judgments",
        question="Would complete judgments change the table?",
        means=(
            "Unjudged documents count as not relevant in the scores. Lowest and highest are a "
            "run's worst and best scores over all grades that these documents could have. A pair "
            "is decided if no grades change its order."
        ),
        means_not=(
            "Documents that no run retrieved are assumed to be not relevant. Imputed scores depend "
            "on a prior that was checked on judged documents; unjudged ones may differ from these."
        ),
    ),
    findings=findings,
    tables=(RUNS, PAIRS, ASK),
    fields=fields,
    figure=FigureSpec(
        id="holes-bounds",
        caption="Scores, with the lowest and the highest over all completions of the judgments.",
        kind="bounds",
    ),
)


def _why_not(material: Material) -> str:
    if material.runs is None or material.qrels is None:
        return NO_RUNS
    if _measure(material) is None:
        return (
            f"none of the measures ({', '.join(material.scores.measures)}) has bounds over "
            "missing judgments: choose nDCG@k, P@k, AP or RBP with -m"
        )
    measure = parse_holed(_measure(material) or "", material.qrels.max_grade)
    depth = min((d for d in DEPTHS if d >= measure.depth), default=DEPTHS[-1])
    looked_over = () if material.check is None else material.check.runs
    if looked_over and all(row.judged[DEPTHS.index(depth)] >= 1.0 for row in looked_over):
        return f"every document in the top {depth} of every run is judged"
    return ""


def _measure(material: Material) -> str | None:
    for text in material.scores.measures:
        try:
            parse_holed(text, material.qrels.max_grade if material.qrels is not None else 1)
        except InputError:
            continue
        return text
    return None


def _run(job: Job) -> HolesResult:
    material, machine = job.material, job.machine
    return holes(
        material.compared_runs,
        material.qrels,
        measure=_measure(material) or "nDCG@10",
        n_samples=job.n_samples,
        scheduler=machine.scheduler,
        reading=machine.progress("runs read"),
        progress=machine.progress("completions of the judgments"),
        **job.common,
    )


def _front(result: HolesResult, findings: Findings) -> Front:
    share = float(mean_of_present(reversed_by_judgments(result)))
    if math.isnan(share):
        return Front()
    text = f"In a likely completion of the judgments {swap_words(share, len(result.runs))}."
    return Front(swap=Finding("holes.swap", text, {"share": share}))


def reversed_by_judgments(holes: HolesResult) -> np.ndarray:
    """Return the share of drawn completions that reverse each pair; NaN for pairs without order."""
    shares = [
        math.nan
        if pair.sign_share is None or abs(pair.difference) <= SAME_MEAN
        else (1.0 - pair.sign_share if pair.difference > 0 else pair.sign_share)
        for pair in holes.pairs
    ]
    return np.array(shares, float)


def _beside(result: HolesResult, findings: Findings) -> list[Finding]:
    if not result.n_samples or result.measure != findings.material.measure:
        return []
    scores = np.array([(row.score, row.imputed) for row in result.runs], float)
    run = other_first(*scores.T)
    if run is None:
        return []
    text = f"With imputed judgments {result.runs[run].run} is first."
    return [Finding("holes.other_first", text, {"run": result.runs[run].run})]


def _of_two(panel: PairPanel, result: HolesResult, findings: Findings) -> None:
    by_names = {frozenset((pair.a, pair.b)): pair for pair in result.pairs}
    chosen = [(by_names.get(frozenset(names)), names[0]) for names in panel.pairs]
    ends = [
        (math.nan, math.nan)
        if pair is None
        else (pair.lowest, pair.highest)
        if pair.a == first
        else (-pair.highest, -pair.lowest)
        for pair, first in chosen
    ]
    low, high = np.array(ends, float).reshape(-1, 2).T
    panel.add(
        f"Missing judgments (by {result.measure})",
        "the difference is between {least} and {most} over all completions: {turned}",
        least=signed_texts(low),
        most=signed_texts(high),
        turned=[MISSING if pair is None else _turned_words(pair) for pair, _ in chosen],
    )


def _turned_words(pair: HolesPair) -> str:
    if max(abs(pair.lowest), abs(pair.highest)) <= DECIDED:
        return "no completion separates the two"
    if pair.decided:
        return "no completion changes the order"
    return "missing judgments could change the order"


PART = part_of(
    VIEW,
    run=_run,
    samples=Samples(noun="completions", fast=50, full=500),
    why_not=_why_not,
    front=_front,
    beside=_beside,
    varies="Complete judgments",
    examine=lambda material: "" if material.runs else "runs instead of scores",
    of_two=_of_two,
)
