"""The sentences and tables of `judges`: three rankings side by side, the audit, and the plan."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from operator import itemgetter
from typing import Any

import numpy as np

from steadyrank.data.scores import mean_of_present
from steadyrank.present.cells import number, percent, whole
from steadyrank.present.json import picked
from steadyrank.present.table import Cell
from steadyrank.present.view import Col, FigureSpec, Finding, TableSpec, View, Words, literal
from steadyrank.stats.judges.agreement import AgreementInterval
from steadyrank.stats.judges.corrected import RunRanking
from steadyrank.stats.ranks.correlation import TauInterval
from steadyrank.stats.run_means import share_turned
from steadyrank.studies.judge_scores import AuditSettings, JudgeInput
from steadyrank.studies.judges.result import JudgeResult, JudgesResult, PlanRow, names_of
from steadyrank.studies.judges.study import judge_scores
from steadyrank.studies.material import Material
from steadyrank.studies.part import Findings, Front, Job, part_of
from steadyrank.words import MISSING, by_number, counted, interval, pvalue_words, some, swap_words

MOST_PAIRS = 45
"""Largest number of pairs that a table lists; the frame and JSON have all."""

SMALLEST = 0.0005
"""Smallest bias that is not shown as 0.000."""

ENDLESS = 10**15
"""Number of further topics that counts as unlimited."""

Said = tuple[str, str, dict[str, Any]] | None
"""Id, text and values of a finding about one judge; None where there is nothing to say."""


def findings(result: JudgesResult) -> list[Finding]:
    """Return what is said of each judge; ids about others than the first end in their names."""
    said = []
    for make in MAKERS:
        for place, judge in enumerate(result.judges):
            made = make(result, judge)
            if made is not None:
                what, text, values = made
                ending = f".{judge.judge}" if place else ""
                values = {"judge": judge.judge, **values}
                said.append(Finding(f"judges.{what}{ending}", text, values))
    return said


def _answer(result: JudgesResult, judge: JudgeResult) -> Said:
    """Say whether the judge's scores may be used, for which pairs, and what they save."""
    n = int(judge.alone.significant.sum())
    lost = round(judge.lost_share * n) if n else 0
    name, more, saved = f'"{judge.judge}"', judge.n_judge_topics, saved_share(result, judge)
    pairs = counted(n, "significant pair")
    text = f"{name} finds no significant pair"
    if n and not lost:
        holds = (
            f"all its {pairs} remain after correction" if more else f"people confirm all {pairs}"
        )
        text = f"{name} is usable: {holds}"
    elif n and more:
        text = f"{name} requires correction: {_none(n - lost)} of its {pairs} remain"
    elif n:
        text = f"{name} is not usable alone: people confirm {_none(n - lost)} of its {pairs}"
    if saved < 0.005:
        text += "; it saves no human judgments."
    elif more:
        text += f"; it saves {saved:.0%} of human judgments."
    else:
        text += f"; with it, up to {saved:.0%} fewer topics need human judgments."
    values = {"usable_alone": bool(n and not lost), "n_usable": n - lost, "saved_share": saved}
    return "answer", text, values


def saved_share(result: JudgesResult, judge: JudgeResult) -> float:
    """Return the share of people's topics that the judge saves, or would with unlimited topics."""
    times = result.topics_like(judge) if judge.n_judge_topics else judge.worth.factor(1, ENDLESS)
    return max(0.0, 1.0 - 1.0 / times) if times > 0 else 0.0


def _corrected(result: JudgesResult, judge: JudgeResult) -> Said:
    """Say how many pairs are significant after correction, and by people's judgments alone."""
    n, total = int(judge.corrected.significant.sum()), len(result.pairs)
    by_people = int(result.human.significant.sum())
    if not judge.n_judge_topics:
        found = _different(by_people, total)
        text = f"People judged every topic, so nothing is corrected; they find {found}."
    elif judge.weight.value == 0.0:
        text = f"{judge.judge} adds nothing (lambda 0): people find {_different(by_people, total)}."
    else:
        text = (
            f"{judge.judge} corrected by people finds {_different(n, total)} on "
            f"{result.about_words()}; people alone find {_none(by_people)}."
        )
    values = {"about": result.about, "lambda": judge.weight.value, "n_pairs": total}
    values |= {"n_significant": n, "n_significant_by_people": by_people}
    return "corrected", text, values


def _different(n: int, total: int) -> str:
    if total == 1:
        return f"the two runs {'' if n else 'not '}significantly different"
    return f"{_none(n)} of {total:,} pairs significant"


def _none(n: int) -> str:
    return f"{n:,}" if n else "none"


def _kin(result: JudgesResult, judge: JudgeResult) -> Said:
    if judge.kin is None:
        return None
    kin, test = judge.kin, judge.kin.test
    others = "runs about as good" if kin.near else "others"
    text = (
        f"Bias of {judge.judge} for kin (/{kin.pattern}/) minus that for {others}: "
        f"{test.difference:+.3f} {interval(test.interval, '+.3f')}, {pvalue_words(test.pvalue)}."
    )
    values = {"n_runs": len(kin.runs), "n_others": len(kin.others), "near": kin.near}
    return "kin", text, values | picked(test, "difference interval pvalue")


def _first(result: JudgesResult, judge: JudgeResult) -> Said:
    """Say who could be first after correction, or by people, and whom the judge rules out."""
    ranking = judge.corrected if judge.n_judge_topics else result.human
    names = [result.runs[i] for i in ranking.order if ranking.could_be_first[i]]
    alone = names_of(result.runs, judge.alone.could_be_first)
    ruled_out = [run for run in names if run not in alone]
    after = "After correction" if judge.n_judge_topics else "By people"
    which = f"{len(names)} runs ({some(names, 2)})"
    says = f"leaves {counted(len(alone), 'run')}"
    if ruled_out:
        which, says = f"{len(names)} runs", f"would rule out {some(ruled_out, 2)}"
    which = f"only {names[0]}" if len(names) == 1 else which
    text = f"{after} {which} could be first; {judge.judge} alone {says}."
    return "first", text, {"first": names, "first_alone": alone, "ruled_out": ruled_out}


def _width(result: JudgesResult, judge: JudgeResult) -> Said:
    """Say how much narrower the intervals are, and how many topics that is worth."""
    if math.isnan(judge.width_ratio) or judge.weight.value == 0.0:
        return None
    times = result.topics_like(judge)
    as_with = f", as with {times:.2f} times their topics" if math.isfinite(times) else ""
    text = (
        f"With {judge.judge}, intervals are {abs(1.0 - judge.width_ratio):.0%} "
        f"{'narrower' if judge.width_ratio < 1 else 'wider'} than people's (median){as_with}."
    )
    return "width", text, {"width_ratio": judge.width_ratio, "topics_like": times}


def _bias(result: JudgesResult, judge: JudgeResult) -> Said:
    """Say how the judge's bias varies over runs, the part of it that changes ranks."""
    bias = judge.bias
    values = picked(bias, "mean spread spread_by_chance")
    if max(abs(bias.mean), bias.spread) < SMALLEST:
        return "bias", f"{judge.judge} scores every run as people do.", values
    text = (
        f"The bias of {judge.judge} has sd {bias.spread:.3f} over runs "
        f"({bias.spread_by_chance:.3f} by chance); its mean, {bias.mean:+.3f}, changes no rank."
    )
    return "bias", text, values


MAKERS = (_answer, _corrected, _kin, _first, _width, _bias)
"""Findings about each judge, the most important first."""


def paper_sentence(result: JudgesResult, judge: JudgeResult) -> str:
    """Return the sentences about judgments and decisions for a paper."""
    kappa = judge.confusion.coefficients["kappa_relevant"] if judge.confusion else None
    agreed = f" (Cohen's kappa with people {kappa.value:.2f}, relevant or not)" if kappa else ""
    n, more = counted(len(result.topics), "topic"), judge.n_judge_topics
    judged = f"these and {counted(more, 'further topic')}" if more else "the same topics"
    method = f"Means of {result.measure} are by people's judgments alone"
    if judge.weight.value > 0.0:
        method = (
            f"Mean {result.measure} by {judge.judge} is corrected by people's judgments "
            f"(prediction-powered inference, lambda = {judge.weight.value:.2f})"
        )
    significant, total = int(judge.corrected.significant.sum()), len(result.pairs)
    tests = f"studentized sign flips, alpha {result.alpha:g}"
    found = f"the two runs {'differ' if significant else 'do not differ'} significantly ({tests})"
    if total > 1:
        firsts = counted(int(judge.corrected.could_be_first.sum()), "run")
        found = (
            f"{_none(significant)} of all {total:,} pairs of runs "
            f"{by_number(significant, 'differs', 'differ')} significantly ({tests} for the family)"
            f", and {firsts} could be first"
        )
    return (
        f"People judged {n}, assumed to be a random sample; {judge.judge} judged {judged}{agreed}. "
        f"{method}. On {result.about_words()}, {found}."
    )


def _by_rank(result: JudgesResult, rows: Sequence[Any]) -> list[dict[str, Any]]:
    """Return the rows of each judge, the best corrected mean first."""
    n = len(result.runs)
    return [
        rows[place * n + i]
        for place, judge in enumerate(result.judges)
        for i in judge.corrected.order
    ]


def _rank(whose: str) -> Callable[[Any], Cell]:
    def cell(row: dict[str, Any]) -> Cell:
        rank, (low, high) = row[f"{whose}rank"], row[f"{whose}rank_set"]
        return Cell(f"{rank} [{low}–{high}]", rank)

    return cell


def _is_corrected(result: JudgesResult) -> bool:
    """Whether some judge has further topics; otherwise the corrected means are people's."""
    return any(judge.n_judge_topics for judge in result.judges)


JUDGE = Col("judge", form="name", when=lambda result: len(result.judges) > 1)
RANKING = TableSpec(
    id="judges-ranking",
    rows=JudgesResult.rows,
    shown=_by_rank,
    columns=(
        JUDGE,
        Col("run", form="name"),
        Col("corrected_mean", "corrected", when=_is_corrected),
        Col("human_mean", "people", when=lambda result: not _is_corrected(result)),
        Col("interval", "{sure} interval", about="of one mean at a time"),
        Col(
            "rank", form=_rank(""), about="in brackets, possible ranks by the run's own comparisons"
        ),
        Col(
            "group",
            form="name",
            when="known",
            about="runs that share a letter do not differ significantly",
        ),
        Col("human_mean", "people", when=_is_corrected),
        Col("human_rank", "rank (people)", _rank("human_"), _is_corrected),
        Col("judge_mean", "judge alone"),
        Col("judge_rank", "rank (judge)", _rank("judge_"), about="as if people had judged"),
    ),
    caption=JudgesResult.caption,
    best=lambda result: "corrected_mean" if len(result.judges) == 1 else "",
)


def _pair_rows(result: JudgesResult) -> list[dict[str, Any]]:
    """Return the pairs of each judge, the most significant first."""
    return [
        {"judge": judge.judge, **row}
        for judge in result.judges
        for row in sorted(result.pair_rows(judge), key=itemgetter("pvalue_adjusted"))
    ]


PAIRS = TableSpec(
    id="judges-pairs",
    rows=_pair_rows,
    when=lambda result: len(result.pairs) <= MOST_PAIRS,
    columns=(
        JUDGE,
        Col("a", form="name"),
        Col("b", form="name"),
        Col("difference", "a − b", "change", star="significant"),
        Col("interval", "{sure} interval", "change"),
        Col("pvalue", "p", "pvalue"),
        Col("pvalue_adjusted", "p adjusted", "pvalue"),
        Col("human_difference", "people", "change", star="human_significant"),
        Col("judge_difference", "judge alone", "change", star="judge_significant"),
    ),
    caption="Corrected differences with simultaneous intervals (max-t), and differences by people "
    "and by the judge alone; * significant, in three separate families of all pairs.",
)


def _audited(result: JudgesResult, judge: JudgeResult) -> dict[str, Cell]:
    """Return the figures about a judge by their titles."""
    agreed = judge.confusion.coefficients if judge.confusion else {}
    taus = {
        f"{symbol}, {'all runs' if row.runs == 'all' else row.runs}": _with_ends(
            tau.tau, (tau.low, tau.high)
        )
        for row in judge.taus
        for symbol, tau in (("tau", row.tau), ("tau_AP", row.tau_ap))
    }
    kin, worth = judge.kin, judge.worth
    # Nothing is corrected without further topics, or by a judge whose weight is 0.
    corrected = {
        "lambda": number(judge.weight.value, ".3f"),
        "its significant pairs, lost after correction": percent(judge.lost_share),
        "interval width, corrected / people's": number(judge.width_ratio, ".3f"),
        "people's topics for that width, times": number(result.topics_like(judge), ".2f"),
        "pairs with wider intervals": whole(judge.n_wider),
    }
    return {
        "further topics": whole(judge.n_judge_topics),
        "documents judged by both": whole(getattr(judge.confusion, "n_documents", None)),
        "Cohen's kappa, grades": _agreed(agreed.get("kappa")),
        "Cohen's kappa, quadratic weights": _agreed(agreed.get("kappa_weighted")),
        "Gwet's AC1, grades": _agreed(agreed.get("ac1")),
        "Cohen's kappa, relevant or not": _agreed(agreed.get("kappa_relevant")),
        **taus,
        "bias, mean over runs": number(judge.bias.mean, "+.4f"),
        "bias, sd over runs": number(judge.bias.spread),
        "bias, sd expected by chance": number(judge.bias.spread_by_chance),
        "bias for kin minus others": Cell(MISSING)
        if kin is None
        else _with_ends(kin.test.difference, kin.test.interval, "+.3f", "+.3f"),
        "its significant pairs, not confirmed by people": percent(judge.unconfirmed_share),
        "its significant pairs, reversed by people": percent(judge.opposite_share),
        "correlation of differences": _with_ends(worth.correlation, worth.interval),
        **(corrected if judge.n_judge_topics and judge.weight.value else {}),
    }


def _agreed(agreement: AgreementInterval | None) -> Cell:
    return _with_ends(agreement.value, agreement.interval) if agreement else Cell(MISSING)


def _with_ends(
    value: float, ends: Sequence[float], form: str = ".3f", of_ends: str = ".2f"
) -> Cell:
    if math.isnan(value):
        return Cell(MISSING)
    return Cell(f"{value:{form}} {interval(ends, of_ends)}", value)


def _audit_rows(result: JudgesResult) -> list[dict[str, Any]]:
    by_judge = [_audited(result, judge) for judge in result.judges]
    titles = dict.fromkeys(title for figures in by_judge for title in figures)
    rows: list[dict[str, Any]] = [
        {"figure": title}
        | {str(j): figures.get(title, Cell(MISSING)) for j, figures in enumerate(by_judge)}
        for title in titles
    ]
    return [row for row in rows if any(row[str(j)].text != MISSING for j in range(len(by_judge)))]


def _audit_columns(result: JudgesResult) -> tuple[Col, ...]:
    return (
        Col("figure", form="name"),
        *(
            Col(str(place), literal(one.judge), itemgetter(str(place)))
            for place, one in enumerate(result.judges)
        ),
    )


AUDIT = TableSpec(
    id="judges-audit",
    rows=_audit_rows,
    columns=_audit_columns,
    caption=lambda result: (
        f"Judges compared with people on the {counted(len(result.topics), 'topic')} that people "
        f"judged, with {1 - result.alpha:.0%} intervals over topics (docs/judges.md)."
    ),
    opened=50,
)

GOALS = {
    "width": "interval of a difference no wider than {value:g}",
    "difference": "difference of {value:g} found with power {power:g}",
}


def _plan_rows(result: JudgesResult) -> list[dict[str, Any]]:
    return [
        {
            "judge": judge.judge,
            "aim": GOALS[row.goal].format(value=row.value, power=result.power),
            **_plan_json(row),
        }
        for judge in result.judges
        for row in judge.plan
    ]


PLAN = TableSpec(
    id="judges-plan",
    rows=_plan_rows,
    columns=(
        JUDGE,
        Col("aim", form="name"),
        Col("topics_alone", "people alone", "count"),
        Col("topics_with_judge", "with the judge", "count", _is_corrected),
        Col("topics_with_endless_judge", "with unlimited topics", "count"),
    ),
    caption="Topics that people have to judge to compare an average pair at alpha {alpha:g}, "
    "uncorrected (docs/judges.md).",
)


def fields(result: JudgesResult) -> dict[str, Any]:
    """Return the fields of the JSON output."""
    return {
        **picked(result, "measure alpha about n_dropped power n_samples seed"),
        "n_human_topics": len(result.topics),
        "n_judge_topics": max(judge.n_judge_topics for judge in result.judges),
        "human": _ranking_json(result.human),
        "judges": [_judge_json(result, judge) for judge in result.judges],
    }


def _judge_json(result: JudgesResult, judge: JudgeResult) -> dict[str, Any]:
    n, n_more = len(result.topics), judge.n_judge_topics
    return {
        **picked(judge, "judge n_judge_topics n_dropped lambda=weight.value"),
        **_agreement_json(judge),
        **_tau_json("tau", judge.tau),
        **_tau_json("tau_top", judge.tau_top),
        "taus": [
            picked(row, "runs n_runs=tau.n")
            | _tau_json("tau", row.tau)
            | _tau_json("tau_ap", row.tau_ap)
            for row in judge.taus
        ],
        **picked(judge.bias, "bias_mean=mean bias_sd=spread bias_sd_by_chance=spread_by_chance"),
        **picked(judge, "unconfirmed_share opposite_share"),
        "alone": _ranking_json(judge.alone),
        "corrected": _ranking_json(judge.corrected),
        **picked(judge, "lost_share reversed_share width_ratio largest_width_ratio n_wider"),
        "topics_like": result.topics_like(judge),
        **picked(judge.worth, "correlation correlation_interval=interval"),
        "topics_factor": judge.worth.factor(n, n_more),
        "topics_factor_interval": judge.worth.factor_interval(n, n_more),
        "pvalue_of_sample": judge.pvalue_of_sample,
        "kin": judge.kin
        and picked(judge.kin, "pattern runs others near")
        | picked(judge.kin.test, "difference interval pvalue welch_over_runs"),
        "plan": [_plan_json(row) for row in judge.plan],
        "sentence": paper_sentence(result, judge),
        "runs": result.run_rows(judge),
        "pairs": result.pair_rows(judge),
    }


def _ranking_json(ranking: RunRanking) -> dict[str, Any]:
    return {
        "significant_share": ranking.significant_share,
        "n_could_be_first": int(ranking.could_be_first.sum()),
        "n_patterns": ranking.n_patterns,
    }


def _agreement_json(judge: JudgeResult) -> dict[str, Any]:
    """Return the coefficients of agreement, None where there are none, and the counts of grades."""
    confusion, shown = judge.confusion, {}
    for key in ("kappa", "kappa_weighted", "ac1", "kappa_relevant"):
        agreement = confusion.coefficients[key] if confusion else None
        shown[key] = getattr(agreement, "value", None)
        shown[f"{key}_interval"] = getattr(agreement, "interval", None)
    if confusion is None:
        return shown | {"confusion": None}
    counts = picked(confusion, "grades counts n_documents same_scale")
    return shown | {"confusion": counts | {"counts": confusion.counts.astype(int)}}


def _plan_json(row: PlanRow) -> dict[str, Any]:
    topics = (
        "topics_alone=alone topics_with_judge=with_judge topics_with_endless_judge=with_endless"
    )
    return picked(row, "goal value") | picked(row.topics, topics)


def _tau_json(key: str, tau: TauInterval) -> dict[str, Any]:
    return {key: tau.tau, f"{key}_interval": [tau.low, tau.high]}


def _figure(result: JudgesResult) -> FigureSpec:
    judge = result.judges[0].judge
    return FigureSpec(
        id="judge-ranks",
        caption=f"Ranks by people, by {judge} corrected, and by {judge} alone.",
        kind="ranks",
        options={"judge": judge},
    )


VIEW = View(
    words=Words(
        title="Judges",
        question="Would other judges change it?",
        means=(
            "A corrected mean uses the judge's scores as far as they agree with people's (lambda), "
            "and removes the error observed where both have judged. Its intervals and decisions "
            "are valid whatever the judge's errors are; those of the judge alone are not."
        ),
        means_not=(
            "The correction requires judgments by people, and assumes that their topics are a "
            "random sample of all topics. It does not repair the measure, and it says nothing "
            "about documents that nobody judged."
        ),
    ),
    findings=findings,
    describe=lambda result: " ".join(paper_sentence(result, own) for own in result.judges),
    tables=(RANKING, PAIRS, AUDIT, PLAN),
    fields=fields,
    figure=_figure,
)


def _remedy(material: Material) -> str:
    if material.runs is None:
        return "add a column judge with two more judges"
    return "name one with --judge NAME=QRELS"


def _run(job: Job) -> JudgesResult:
    material, settings = job.material, job.material.settings
    human = material.compared.select(measures=material.measure)
    inputs = [
        JudgeInput(
            name=name, scores=scores.select(runs=human.runs), qrels=material.judge_qrels.get(name)
        )
        for name, scores in material.judge_scores.items()
    ]
    asked = AuditSettings(alpha=settings.alpha, minimum_difference=settings.minimum_difference)
    return judge_scores(
        human,
        inputs,
        asked,
        people=material.qrels,
        n_samples=10_000,
        jobs=job.machine.jobs,
        seed=settings.seed,
    )


def _front(result: JudgesResult, findings: Findings) -> Front:
    share = swap_share(result)
    text = f"By another judge {swap_words(share, len(result.runs))}."
    return Front(swap=Finding("judges.swap", text, {"share": share}))


def swap_share(result: JudgesResult) -> float:
    """Return the share of pairs that a judge reverses on people's topics, mean over judges."""
    by_people = result.human.difference
    shares = [share_turned(by_people, judge.on_human_topics.difference) for judge in result.judges]
    return float(mean_of_present(np.array(shares)))


PART = part_of(
    VIEW,
    run=_run,
    why_not=lambda material: (
        "" if material.judge_scores else f"no other judge was given: {_remedy(material)}"
    ),
    front=_front,
    varies="Other judges",
    examine=lambda material: "" if material.n_levels("judge") > 1 else _remedy(material),
)
