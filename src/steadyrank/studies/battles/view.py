"""How `battles` is shown: what it says, its tables and figures, and how a report runs it."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import Any

import numpy as np

from steadyrank.present.cells import name as name_cell
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
from steadyrank.stats.planning.needed_topics import MOST_SHOWN
from steadyrank.stats.planning.reversal import swap_share
from steadyrank.studies.battles.study import TIES, BattlesResult, battles
from steadyrank.studies.part import Findings, Front, Job, better_first, board_of, part_of
from steadyrank.words import (
    count_or_share,
    counted,
    pvalue_words,
    roughly,
    size,
    swap_words,
    typeset,
)

MOST_PAIRS, TOP = 45, 6
"""Largest number of pairs that a command lists, and of models whose strengths it shows by judge."""

ANOTHER_LEADS = 1.5
"""Weight of an assumption under which another model would lead."""

NOTICEABLE = 1.15
"""Ratio of standard errors from which on shared prompts are worth a sentence."""


def findings(result: BattlesResult) -> list[Finding]:
    """Return the verdict, the lead, the price of shared prompts, and what else there is."""
    first = [verdict(result), *_lead(result), *_other_leaders(result), *_next(result)]
    return [*first, *_effects(result), *_fit(result)]


def _other_leaders(result: BattlesResult) -> Iterator[Finding]:
    """Say by which other way of fitting another model would be the strongest."""
    for name, (plain, other) in result.other_leaders.items():
        is_done = result.ties != "half" if name == "ties" else bool(result.controls)
        if plain != other and result.baseline is None and not is_done:
            id, how = "controls", f"Controlled for {name}"
            if name == "ties":
                id, how = "ties", "With Davidson's model of ties"
            text = f"{how}, {other} leads; otherwise {plain} does."
            yield Finding(f"battles.{id}_leader", text, {"leader": other, "otherwise": plain})


def verdict(result: BattlesResult) -> Finding:
    """Return who leads, how many could be first, and by whose judgment."""
    total, by = len(result.runs), result.by_judges
    if result.baseline is not None:
        signs = np.where(result.significant, np.sign(result.difference), 0.0)
        won, lost = (int((signs == sign).sum()) for sign in (1.0, -1.0))
        text = (
            f"{won:,} of {counted(len(result.pairs), 'model')} significantly beat "
            f"{result.baseline} and {lost:,} lose to it{by}."
        )
        values = {"baseline": result.baseline, "better": won, "worse": lost}
        return Finding("battles.verdict", text, values)
    leader, n = result.runs[result.order[0]], int(result.could_be_first.sum())
    first = f"leads, but {n:,} of {total:,} models could be first"
    if n == 1:
        other = f"no other of {total:,} models" if total > 2 else result.runs[result.order[1]]
        first = f"leads; {other} could {'' if total > 2 else 'not '}be first"
    elif n == total:
        first = f"leads, but {'any' if n > 2 else 'either'} of the {n:,} models could be first"
    values = {"leaders": [leader], "could_be_first": n, "n_rows": total}
    if result.other_judges is not None:
        also = int(result.other_judges.could_be_first.sum())
        by = f"{by} or by others" if also == n else f"{by}; by other judges: {also:,}"
        values["could_be_first_other_judges"] = also
    return Finding("battles.verdict", f"{leader} {first}{by}.", values)


def _lead(result: BattlesResult) -> Iterator[Finding]:
    """Return the strengths of the first two, their difference and its interval."""
    if result.lead is None:
        return
    first, second, difference, limits, significant = result.lead
    (pair,) = np.flatnonzero((np.sort(result.pairs) == sorted((first, second))).all(axis=1))
    chance = float(result.win_probability[pair])
    chance = chance if result.pairs[pair, 0] == first else 1.0 - chance
    (a, b), ends = (result.runs[first], result.runs[second]), limits.tolist()
    text = (
        f"{a} {result.strength[first]:+.3f}, {b} {result.strength[second]:+.3f}: {difference:+.3f} "
        f"{signed_interval(ends, '+.3f').text}; {a} wins {chance:.0%} of their battles."
    )
    values = {"a": a, "b": b, "difference": difference, "interval": ends}
    values |= {"significant": significant, "win_probability": chance}
    yield Finding("battles.lead", text, values)


def _effects(result: BattlesResult) -> Iterator[Finding]:
    """Return what controls, shared prompts and the first place are worth."""
    for own in result.controls:
        text = (
            f"Control for {own.name} moves {own.run} most, by {own.moved:+.3f}: one sd more is "
            f"worth {own.worth}."
        )
        yield Finding(f"battles.{own.name}", text, asdict(own))
    ratio, first = result.design_ratio, result.position
    if NOTICEABLE < ratio < math.inf:
        text = (
            f"Battles that share {result.units} are alike: standard errors are {ratio:.1f} times "
            "those of independent battles."
        )
        yield Finding("battles.shared", text, {"ratio": ratio})
    if first is None:
        return
    wins = f"{1.0 / (1.0 + math.exp(-first.estimate)):.0%}"
    text = f"The first place is worth {first.worth}: it wins {wins} of even battles."
    yield Finding("battles.position", text, asdict(first))
    known = [(float(one.coefficient[0]), one.judge) for one in result.by_judge]
    if len(known) > 1:
        (low, lowest), (high, highest) = min(known), max(known)
        text = f"By judge the first place is worth {low:+.2f} ({lowest}) to {high:+.2f} ({highest})"
        values = {"lowest": [lowest, low], "highest": [highest, high]}
        yield Finding("battles.judges", f"{text}.", values)


def _fit(result: BattlesResult) -> Iterator[Finding]:
    """Return how many pairs differ, what would separate the first two, and circles of models."""
    n, total, own = int(result.significant.sum()), len(result.pairs), result.fit
    text = f"{n:,} of {counted(total, 'pair')} of models differ significantly."
    yield Finding("battles.pairs", text, {"n_significant": n, "n_pairs": total})
    if result.lead is not None and not result.lead.significant:
        (a, b), number = (result.runs[i] for i in result.lead[:2]), result.topics_assured
        text = f"No number of {result.units} would separate {a} from {b}."
        if number < MOST_SHOWN:
            text = (
                f"{size(number)} {result.units} would separate {a} from {b} (80% assurance); there "
                f"are {result.drawn}."
            )
        yield Finding("battles.needed", text, picked(result, "topics_needed topics_assured"))
    if own.pvalue <= result.alpha:
        text = (
            f"{counted(own.intransitive_triples, 'triple')} of models beat each other in a circle; "
            f"{own.expected:.1f} are expected ({pvalue_words(own.pvalue)}): one scale does not fit."
        )
        yield Finding("battles.circles", text, own._asdict())


def _next(result: BattlesResult) -> Iterator[Finding]:
    """Return between which models the next battles are, and how many need new prompts."""
    if not result.next_battles:
        return
    met = Counter(" and ".join(sorted(pair)) for *pair, _ in result.next_battles)
    ((most, times),) = met.most_common(1)
    new = sum(not prompt for *_, prompt in result.next_battles) if result.n_prompts else 0
    text = (
        f"Next: {counted(len(result.next_battles), 'battle')} of {counted(len(met), 'pair')}, most "
        f"of {most} ({times}){f'; {new:,} of them on new prompts' if new else ''}."
    )
    yield Finding("battles.next", text, {"pairs": dict(met), "new_prompts": new})


def describe(result: BattlesResult) -> str:
    """Return the paragraph for a paper."""
    leader = result.order[0]
    strongest = f"{result.runs[leader]} has the highest strength ({result.strength[leader]:+.3f}). "
    return (
        f"We fitted a Bradley–Terry model with strengths of {len(result.runs):,} models"
        f"{result.controlled(' and effects of ')} to {result.n_battles:,} battles "
        f"({TIES[result.ties]}). Standard errors are those over {result.drawn}. Pairs were "
        "compared by corrected t tests of the influences of these, with max-t correction by sign "
        f"flips (stepdown, family-wise alpha {result.alpha:g}). {next(_fit(result)).text} "
        f"{strongest if result.baseline is None else ''}{verdict(result).text}"
    )


MODELS = TableSpec(
    id="battles-models",
    rows=lambda result: result.run_rows(),
    columns=(
        Col("run", "model", "name"),
        Col("strength", form="change", about="log odds; they sum to 0"),
        Col("standard_error", "s.e.", ".3f"),
        Col("win_rate", "win rate", ".1%", about="against an average opponent"),
        Col("rank", form="count"),
        Col("rank_set", "{sure} ranks", ",.0f", "known", "those that its own comparisons allow"),
        Col(
            "rank_set_simultaneous", "all ranks at once", ",.0f", lambda result: result.simultaneous
        ),
        Col("could_be_first", form="yes", when=lambda result: result.baseline is None),
        Col("could_be_first_other_judges", "by other judges", "yes", "known", "judges like these"),
        Col("tier", form="count", when="known"),
        Col("battles", form="count"),
    ),
    best="strength",
    caption=lambda result: f"{result.caption()} See docs/battles.md.",
)
PAIRS = TableSpec(
    id="battles-pairs",
    rows=lambda result: result.rows(),
    shown=lambda result, rows: (
        rows
        if result.baseline
        else better_first(
            [result.runs[i] for i in result.order],
            rows,
            signed=("difference", "residual"),
            shares=("win_probability", "win_share"),
        )
    ),
    columns=(
        Col("a", "stronger", "name"),
        Col("b", "other", "name"),
        Col("n", "battles", "count"),
        Col("difference", form="change"),
        Col("standard_error", "s.e.", ".3f"),
        Col("standard_error_independent", "s.e. indep.", ".3f", about="of independent battles"),
        Col("interval", "{sure} interval", "change"),
        Col("pvalue_adjusted", "p adjusted", "pvalue"),
        Col("win_probability", "wins", ".1%", about="share of battles that it is expected to win"),
        Col("win_share", "won", ".1%", about="share of their battles that it won"),
        Col("residual", form="+z.1f", about="standardised: observed less expected wins"),
        Col("standard_error_other_judges", "s.e. judges", ".3f", "known", "judges random"),
    ),
    marks=lambda result, row: "*" if row["significant"] else "",
    marked="difference",
    n_names=2,
    printed=lambda result: None if len(result.pairs) <= MOST_PAIRS else 0,
    caption="* significant. Intervals: simultaneous, max-t; errors over {drawn}.",
)


def _judge_rows(result: BattlesResult) -> Iterator[dict[str, Any]]:
    """Return one row per judge: its battles, its coefficients and the strengths by it alone."""
    for one in result.by_judge:
        row: dict[str, Any] = {"judge": one.judge, "battles": one.n_battles}
        for k, own in enumerate(result.effects):
            row[own.name] = float(one.coefficient[k])
            row[f"{own.name}_standard_error"] = float(one.standard_error[k])
        yield row | {f"strength {result.runs[i]}": float(one.strength[i]) for i in result.order}


JUDGES = TableSpec(
    id="battles-judges",
    rows=_judge_rows,
    when=lambda result: len(result.by_judge) > 1,
    columns=lambda result: (
        Col("judge", form="name"),
        Col("battles", form="count"),
        *(
            Col(own.name, literal(own.name), "z.3f", spread=f"{own.name}_standard_error")
            for own in result.effects
        ),
        *(
            Col(f"strength {result.runs[i]}", literal(result.runs[i]), "+z.3f")
            for i in result.order[:TOP]
        ),
    ),
    caption="Coefficients and strengths, fitted to the battles of each judge.",
)
NEXT = TableSpec(
    id="battles-next",
    rows=lambda result: (
        dict(zip(("model_a", "model_b", "prompt"), own, strict=True)) for own in result.next_battles
    ),
    columns=(
        Col("model_a", "first", "name"),
        Col("model_b", "second", "name"),
        Col("prompt", form=lambda row: name_cell(row["prompt"] or "–")),
    ),
    n_names=3,
    caption="Battles that lower the variance of the undecided differences most; – is a new prompt.",
)


def fields(result: BattlesResult) -> dict[str, Any]:
    """Return the promised keys, and what else there is."""
    position, *controls = ([] if result.position else [None]) + [*map(asdict, result.effects)]
    return {
        **picked(result, "n_battles n_prompts"),
        "n_judges": len(result.judges),
        "position": position,
        "controls": controls,
        "runs": list(result.run_rows()),
        "pairs": result.rows(),
        "fit": result.fit._asdict(),
        "connected": not result.others,
        **picked(result, "topics_needed topics_assured ties alpha baseline judging judges drawn"),
        **picked(result, "n_ties is_penalised"),
        "left_out": list(map(list, result.others)),
        "by_judge": list(_judge_rows(result)),
        "next": list(NEXT.rows(result)),
        "turned": result.turned,
        "method": result.method_words(),
        **picked(result, "comparison_alpha n_patterns exact seed"),
    }


VIEW = View(
    words=Words(
        title="Battles",
        question="Who wins pairwise comparisons, and would other prompts or judges change it?",
        means=(
            "Strengths are those of the Bradley–Terry model: the log odds that a model beats "
            "another one are the difference of their strengths. Errors are those over other "
            "prompts; battles on one prompt are not independent. Pairs that differ significantly "
            "come from one family of all pairs, and a model's ranks from its own comparisons."
        ),
        means_not=(
            "The section is about the judges of these battles unless it says otherwise. Control "
            "for length removes what length explains, whether judges were right or not."
        ),
    ),
    findings=findings,
    describe=describe,
    tables=(MODELS, PAIRS, JUDGES, NEXT),
    fields=fields,
    csv=lambda result: NEXT.id if result.next_battles else MODELS.id,
    options=("simultaneous",),
    figure=FigureSpec(
        id="battles-matrix", caption="Expected share of wins of each pair.", kind="matrix"
    ),
)


def _run(job: Job) -> BattlesResult:
    given = job.material.settings
    return battles(
        job.material.battles,
        baseline=given.baseline,
        alpha=given.alpha,
        progress=job.machine.progress("blocks of sign patterns"),
        **job.common,
    )


def _front(result: BattlesResult, others: Findings) -> Front:
    said, (first, *more) = {one.id: one for one in findings(result)}, _swaps(result)
    board = board_of(
        result,
        lambda run: typeset(f"{result.strength[run]:+.3f}"),
        measure="strength (log odds)",
        link="battles",
        rows="models",
    )
    return Front(
        verdict=said["battles.verdict"],
        line=said.get("battles.lead"),
        board=None if result.own is None else board,
        assumption=next((Assumption(own, ANOTHER_LEADS) for own in _other_leaders(result)), None),
        cautions=tuple(own for id, own in said.items() if id == "battles.circles"),
        swap=first[1],
        more_swaps=tuple(more),
        tiles=tuple(_tiles(result, said)),
    )


def _swaps(result: BattlesResult) -> Iterator[tuple[str, Finding]]:
    """Return the share of pairs that change their order, by what is varied."""

    def swap(id: str, before: str, share: float, **how: Any) -> Finding:
        words = swap_words(share, len(result.runs), "models", **how)
        return Finding(f"battles.{id}", f"{before} {words}.", {"share": share})

    share = swap_share(result.values)
    yield "Other prompts", swap("swap", f"On other {result.units}", share, said=roughly)
    if result.other_judges is not None:
        before = f"By {len(result.judges)} other judges"
        yield "Other judges", swap("swap_judges", before, result.other_judges.swap, said=roughly)
    for name, share in result.turned.items():
        if name == "ties":
            yield "Ties otherwise", swap("swap_ties", "By Davidson's model of ties", share)
        else:
            yield f"Without {name}", swap("swap_controls", f"Controlled for {name}", share)


def _tiles(result: BattlesResult, said: Mapping[str, Finding]) -> Iterator[Tile]:
    figures = {
        "battles.pairs": (
            count_or_share(int(result.significant.sum()), len(result.pairs)),
            f"of {len(result.pairs):,} pairs differ significantly",
        ),
        "battles.shared": (
            f"{result.design_ratio:.1f}×",
            f"the standard errors of independent battles, as battles share {result.units}",
        ),
        "battles.needed": (
            size(result.topics_assured),
            f"{result.units} to separate first from second (80% assurance); there are "
            f"{result.drawn}",
        ),
    }
    for id, (figure, text) in figures.items():
        if id in said and (id != "battles.needed" or result.topics_assured < MOST_SHOWN):
            yield Tile(id=id, figure=figure, text=text, values=said[id].values)


PART = part_of(
    VIEW,
    run=_run,
    why_not=lambda material: "" if material.battles else "requires battles, such as battles.csv",
    works_on="prompts",
    is_required=True,
    is_open=True,
    front=_front,
    varies="Other prompts",
)
