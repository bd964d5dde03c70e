"""What `judges` found, as tables: three rankings side by side, judges side by side, the plan."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from steadyrank.present.cells import interval, name, number, percent, pvalue, whole
from steadyrank.present.json import picked, to_json
from steadyrank.present.table import Cell, Table, with_words
from steadyrank.stats.judges.agreement import Agreement
from steadyrank.stats.judges.ranking import Ranking
from steadyrank.stats.ranks.intervals import TauInterval
from steadyrank.studies.judges.result import JudgeResult, JudgesResult, PlanRow
from steadyrank.studies.judges.sentences import (
    NO_REPAIR,
    PEOPLE_NEEDED,
    RANDOM_SAMPLE,
    judge_sentences,
    paper_sentence,
)
from steadyrank.words import MISSING, counted
from steadyrank.words import interval as interval_text

MOST_PAIRS = 45
"""Pairs that a terminal, LaTeX or Markdown table lists."""


def judges_json(result: JudgesResult) -> dict[str, Any]:
    """The promised keys, and what else there is."""
    return {
        "measure": result.measure,
        "alpha": result.alpha,
        "about": result.about,
        "n_human_topics": len(result.topics),
        "n_judge_topics": max(judge.n_judge_topics for judge in result.judges),
        "n_dropped": result.n_dropped,
        "human": _ranking_json(result.human),
        "judges": [_judge_json(result, judge) for judge in result.judges],
        "power": result.power,
        "n_samples": result.n_samples,
        "seed": result.seed,
    }


def _judge_json(result: JudgesResult, judge: JudgeResult) -> dict[str, Any]:
    n, n_more = len(result.topics), judge.n_judge_topics
    return {
        "judge": judge.judge,
        "n_judge_topics": n_more,
        "n_dropped": judge.n_dropped,
        "lambda": judge.weight.value,
        **_agreement_json(judge),
        "tau": judge.tau.tau,
        "tau_interval": _tau_ends(judge.tau),
        "tau_top": judge.tau_top.tau,
        "tau_top_interval": _tau_ends(judge.tau_top),
        "taus": [
            {
                "runs": row.runs,
                "n_runs": row.tau.n,
                "tau": row.tau.tau,
                "tau_interval": _tau_ends(row.tau),
                "tau_ap": row.tau_ap.tau,
                "tau_ap_interval": _tau_ends(row.tau_ap),
            }
            for row in judge.taus
        ],
        "bias_mean": judge.bias.mean,
        "bias_sd": judge.bias.spread,
        "bias_sd_by_chance": judge.bias.spread_by_chance,
        "unconfirmed_share": judge.unconfirmed_share,
        "opposite_share": judge.opposite_share,
        "alone": _ranking_json(judge.alone),
        "corrected": _ranking_json(judge.corrected),
        "lost_share": judge.lost_share,
        "reversed_share": judge.reversed_share,
        "width_ratio": judge.width_ratio,
        "largest_width_ratio": judge.largest_width_ratio,
        "n_wider": judge.n_wider,
        "topics_like": result.topics_like(judge),
        "correlation": judge.worth.correlation,
        "correlation_interval": judge.worth.interval,
        "topics_factor": judge.worth.factor(n, n_more),
        "topics_factor_interval": judge.worth.factor_interval(n, n_more),
        "pvalue_of_sample": judge.pvalue_of_sample,
        "kin": _kin_json(judge),
        "plan": [_plan_json(row) for row in judge.plan],
        "sentence": paper_sentence(result, judge),
        "runs": result.run_rows(judge),
        "pairs": result.pair_rows(judge),
    }


def _ranking_json(ranking: Ranking) -> dict[str, Any]:
    return {
        "significant_share": ranking.significant_share,
        "n_could_be_first": int(ranking.could_be_first.sum()),
        "n_patterns": ranking.n_patterns,
    }


def _agreement_json(judge: JudgeResult) -> dict[str, Any]:
    """The coefficients of agreement, null where there are none; and the counts behind them."""
    keys = ("kappa", "kappa_weighted", "ac1", "kappa_relevant")
    confusion = judge.confusion
    known = {key: confusion.coefficients[key] if confusion else None for key in keys}
    shown: dict[str, Any] = {}
    for key, agreement in known.items():
        shown[key] = agreement.value if agreement else None
        shown[f"{key}_interval"] = agreement.interval if agreement else None
    shown["confusion"] = None
    if confusion is not None:
        shown["confusion"] = {
            "grades": confusion.grades,
            "counts": confusion.counts.astype(int),
            "n_documents": confusion.n_documents,
            "same_scale": confusion.same_scale,
        }
    return shown


def _kin_json(judge: JudgeResult) -> dict[str, Any] | None:
    if judge.kin is None:
        return None
    test = judge.kin.test
    return {
        **picked(judge.kin, "pattern runs others near"),
        **picked(test, "difference interval pvalue welch_over_runs"),
    }


def _plan_json(row: PlanRow) -> dict[str, Any]:
    return {
        "goal": row.goal,
        "value": row.value,
        "topics_alone": row.topics.alone,
        "topics_with_judge": row.topics.with_judge,
        "topics_with_endless_judge": row.topics.with_endless,
    }


def _tau_ends(tau: TauInterval) -> list[float]:
    return [tau.low, tau.high]


def judges_text(result: JudgesResult, form: str, *, digits: int = 4, **looks: Any) -> str:
    """The result in one of the output formats; CSV holds the runs of every judge."""
    if form == "json":
        return to_json(judges_json(result))
    if form == "csv":
        from steadyrank.present.table import exact_table, render

        rows = result.to_frame().to_dict("records")
        return render(exact_table(rows), form)  # type: ignore[arg-type]
    sentences, tables = [], []
    for judge in result.judges:
        sentences += judge_sentences(result, judge)
        tables.append(ranking_table(result, judge, digits))
        # What `print` shows is to fit on a screen or two: pairs are in the frame and in JSON.
        if len(result.pairs) <= MOST_PAIRS and "most_rows" not in looks:
            tables.append(pairs_table(result, judge, digits))
    tables += [audit_table(result), plan_table(result)]
    papers = [f"For a paper: {paper_sentence(result, judge)}" for judge in result.judges]
    notes = [PEOPLE_NEEDED, RANDOM_SAMPLE, NO_REPAIR, *papers]
    return with_words(sentences, tables, notes, form, **looks)


def ranking_table(result: JudgesResult, judge: JudgeResult, digits: int = 4) -> Table:
    """Runs by corrected mean, with people's own ranking and the judge's beside it."""
    corrected = judge.corrected
    rows = []
    for i in corrected.order:
        rows.append(
            [
                name(result.runs[i]),
                number(float(corrected.mean[i]), f".{digits}f"),
                interval(corrected.mean_interval[i].tolist(), f".{digits}f"),
                _rank(corrected, i),
                *map(name, corrected.letters[i : i + 1]),
                number(float(result.human.mean[i]), f".{digits}f"),
                _rank(result.human, i),
                number(float(judge.alone.mean[i]), f".{digits}f"),
                _rank(judge.alone, i),
            ]
        )
    letters = ["group"] if corrected.letters else []
    header = ["run", "corrected", f"{1 - result.alpha:.0%} interval", "rank", *letters]
    header += ["people", "rank", f"{judge.judge} alone", "rank"]
    return Table(
        header=header, rows=rows, best=frozenset({(0, 1)}), caption=ranking_caption(result, judge)
    )


def ranking_caption(result: JudgesResult, judge: JudgeResult) -> str:
    """How the three rankings were made."""
    paid = f"lambda {judge.weight.value:.3f}" if judge.n_judge_topics else "nothing to correct"
    letters = (
        " Runs that share a letter are statistically indistinguishable after correction."
        if judge.corrected.letters
        else ""
    )
    return (
        f"{result.caption()} {judge.judge} judged {counted(judge.n_judge_topics, 'topic')} "
        f"more ({paid}). Intervals are of one mean at a time. Ranks in brackets: the ranks "
        f"that a run may have, simultaneously with {1 - result.alpha:.0%} confidence; those of "
        f"{judge.judge} alone would hold only if it judged as people do.{letters}"
    )


def _rank(ranking: Ranking, run: int) -> Cell:
    low, high = ranking.rank_set[run]
    return Cell(f"{ranking.rank[run]} [{low}–{high}]", int(ranking.rank[run]))


def pairs_table(result: JudgesResult, judge: JudgeResult, digits: int = 4) -> Table:
    """Corrected differences of pairs, the most significant first."""
    rows = sorted(result.pair_rows(judge), key=lambda row: row["pvalue_adjusted"])
    header = ["a", "b", "a − b", f"{1 - result.alpha:.0%} interval", "p", "p adjusted"]
    return Table(
        header=[*header, "people", f"{judge.judge} alone"],
        rows=[_pair_cells(row, digits) for row in rows],
        n_names=2,
        caption=(
            f"Differences corrected by people's judgments, with {judge.judge}. * significant, "
            f"within the family of all {counted(len(rows), 'pair', form=',')}; intervals are "
            "simultaneous (max-t). Beside them the differences by people alone and by "
            f"{judge.judge} alone, each with its own family."
        ),
    )


def _pair_cells(row: dict[str, Any], digits: int) -> list[Cell]:
    return [
        name(row["a"]),
        name(row["b"]),
        _difference(row, "", digits),
        interval(row["interval"], f"+.{digits}f"),
        pvalue(row["pvalue"]),
        pvalue(row["pvalue_adjusted"]),
        _difference(row, "human_", digits),
        _difference(row, "judge_", digits),
    ]


def _difference(row: dict[str, Any], whose: str, digits: int) -> Cell:
    value = row[f"{whose}difference"]
    mark = "*" if row[f"{whose}significant"] else ""
    return Cell(f"{value:+.{digits}f}{mark}", value)


Figure = Callable[[JudgesResult, JudgeResult], Cell]


def _agreed(key: str) -> Figure:
    def figure(result: JudgesResult, judge: JudgeResult) -> Cell:
        agreement = judge.confusion.coefficients[key] if judge.confusion else None
        return Cell(MISSING) if agreement is None else _with_ends(agreement)

    return figure


def _with_ends(agreement: Agreement) -> Cell:
    ends = interval_text(agreement.interval, ".2f")
    return Cell(f"{agreement.value:.3f} {ends}", agreement.value)


def _tau_cell(tau: TauInterval) -> Cell:
    if math.isnan(tau.tau):
        return Cell(MISSING)
    return Cell(f"{tau.tau:.3f} {interval_text((tau.low, tau.high), '.2f')}", tau.tau)


def _kin_cell(result: JudgesResult, judge: JudgeResult) -> Cell:
    if judge.kin is None:
        return Cell(MISSING)
    test = judge.kin.test
    ends = interval_text(test.interval, "+.3f")
    return Cell(f"{test.difference:+.3f} {ends}", test.difference)


FIGURES: dict[str, Figure] = {
    "further topics": lambda result, judge: whole(judge.n_judge_topics),
    "documents judged by both": lambda result, judge: whole(
        judge.confusion.n_documents if judge.confusion else None
    ),
    "Cohen's kappa, grades": _agreed("kappa"),
    "Cohen's kappa, quadratic weights": _agreed("kappa_weighted"),
    "Gwet's AC1, grades": _agreed("ac1"),
    "Cohen's kappa, relevant or not": _agreed("kappa_relevant"),
    "tau, all runs": lambda result, judge: _tau_cell(judge.taus[0].tau),
    "tau_AP, all runs": lambda result, judge: _tau_cell(judge.taus[0].tau_ap),
    "tau, best half": lambda result, judge: _tau_cell(judge.taus[1].tau),
    "tau_AP, best half": lambda result, judge: _tau_cell(judge.taus[1].tau_ap),
    "bias, mean over runs": lambda result, judge: number(judge.bias.mean, "+.4f"),
    "bias, sd over runs": lambda result, judge: number(judge.bias.spread),
    "the same by chance": lambda result, judge: number(judge.bias.spread_by_chance),
    "bias for kin less others": _kin_cell,
    "unconfirmed by people": lambda result, judge: percent(judge.unconfirmed_share),
    "opposite by people": lambda result, judge: percent(judge.opposite_share),
    "significant alone, lost after correction": lambda result, judge: percent(judge.lost_share),
    "correlation of differences": lambda result, judge: _with_ends(
        Agreement(value=judge.worth.correlation, interval=judge.worth.interval)
    ),
    "lambda": lambda result, judge: number(judge.weight.value, ".3f"),
    "width, corrected to people's": lambda result, judge: number(judge.width_ratio, ".3f"),
    "as many times people's topics": lambda result, judge: number(result.topics_like(judge), ".2f"),
    "pairs with wider intervals": lambda result, judge: whole(judge.n_wider),
}
"""Rows of the audit: what each is called, and its cell for a judge."""


def audit_table(result: JudgesResult) -> Table:
    """The judges side by side: agreement, tau, bias, decisions, worth."""
    rows = [
        [name(words), *(figure(result, judge) for judge in result.judges)]
        for words, figure in _figures(result).items()
    ]
    caption = (
        f"The judges beside people, on the {counted(len(result.topics), 'topic')} that people "
        f"judged; in brackets {1 - result.alpha:.0%} intervals over topics. Bias: the judge's mean "
        f"{result.measure} less people's. Unconfirmed, opposite: of the pairs that the judge calls "
        "significant on these topics, those that people do not, and those that people's means "
        "order the other way round. Lost: of the pairs that it calls significant on all its "
        "topics, those that are not after correction. Corrections are about "
        f"{result.about_words()}, and so are people's own intervals; a narrower one is as of that "
        "many times people's topics."
    )
    return Table(header=["", *(judge.judge for judge in result.judges)], rows=rows, caption=caption)


def _figures(result: JudgesResult) -> dict[str, Figure]:
    """The rows; those of the best so many only where these were asked for."""
    rows = dict(FIGURES)
    if len(result.judges[0].taus) > 2:
        words = result.judges[0].taus[-1].runs
        added: dict[str, Figure] = {
            f"tau, {words}": lambda result, judge: _tau_cell(judge.taus[-1].tau),
            f"tau_AP, {words}": lambda result, judge: _tau_cell(judge.taus[-1].tau_ap),
        }
        keys = list(rows)
        place = keys.index("bias, mean over runs")
        rows = {key: rows[key] for key in keys[:place]} | added | rows
    return rows


GOALS = {
    "width": "interval of a difference no wider than {value:g}",
    "difference": "difference of {value:g} found with power {power:g}",
}


def plan_table(result: JudgesResult) -> Table:
    """How many topics people have to judge, without and with each judge."""
    rows = []
    for judge in result.judges:
        for row in judge.plan:
            topics = row.topics
            goal = GOALS[row.goal].format(value=row.value, power=result.power)
            cells = [whole(n) for n in (topics.alone, topics.with_judge, topics.with_endless)]
            rows.append([name(judge.judge), name(goal), *cells])
    caption = (
        f"Topics that people have to judge, for one comparison at alpha {result.alpha:g} of "
        "two runs whose differences vary as those of all pairs do on average: without the "
        "judge, with the topics that it has judged (people's are drawn from these), and had "
        "it judged infinitely many. About other topics like these. No correction for several "
        "comparisons."
    )
    header = ["judge", "aim", "people alone", "with the judge", "with unlimited topics"]
    return Table(header=header, rows=rows, n_names=2, caption=caption)
