"""How a report runs `holes`."""

from __future__ import annotations

import math

import numpy as np

from steadyrank.data.scores import mean_of_present
from steadyrank.errors import InputError
from steadyrank.measures.check import DEPTHS
from steadyrank.measures.holes.measures import parse_holed
from steadyrank.present.view import Finding
from steadyrank.stats.run_means import SAME_MEAN, other_first
from steadyrank.studies.holes.result import DECIDED, HolesPair, HolesResult
from steadyrank.studies.holes.study import holes
from steadyrank.studies.holes.view import VIEW
from steadyrank.studies.material import NO_RUNS, Material
from steadyrank.studies.part import Findings, Front, Job, Samples, part_of
from steadyrank.studies.two_runs import TwoRuns, signed_texts
from steadyrank.words import MISSING, swap_words


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
    """Per pair, the share of drawn completions that reverse it; NaN where there is no order."""
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


def _of_two(panel: TwoRuns, result: HolesResult, findings: Findings) -> None:
    by_names = {frozenset((pair.a, pair.b)): pair for pair in result.pairs}
    chosen = [(by_names.get(frozenset(names)), names[0]) for names in panel.names]
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
        "the difference lies between {least} and {most} over all completions: {turned}",
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
