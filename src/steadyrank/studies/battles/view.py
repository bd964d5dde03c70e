"""How `battles` is shown: what it says, its tables and figures, and how a report runs it."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from steadyrank.errors import InputError
from steadyrank.present.cells import name as name_cell
from steadyrank.present.cells import signed_interval
from steadyrank.present.json import picked
from steadyrank.present.page import Board, BoardRow, Tile
from steadyrank.present.view import Assumption, Col, FigureSpec, Finding, TableSpec, View, Words
from steadyrank.stats.planning.needed_topics import MOST_SHOWN
from steadyrank.stats.planning.swaps import swap_share
from steadyrank.studies.battles.result import BattlesResult, Effect
from steadyrank.studies.battles.study import battles
from steadyrank.studies.material import Material
from steadyrank.studies.part import Findings, Front, Job, part_of
from steadyrank.words import (
    count_or_share,
    counted,
    listed,
    pvalue_words,
    roughly,
    size,
    swap_words,
    typeset,
)

SEE = "See docs/battles.md."

MOST_PAIRS = 45
"""Largest number of pairs that a command lists."""

NOTICEABLE = 1.15
"""Ratio of standard errors from which on repeated prompts are worth a sentence."""


def findings(result: BattlesResult) -> list[Finding]:
    """Return the verdict, the lead, the price of repeated prompts, and what else there is."""
    said = [verdict(result), lead(result), _next(result), *_controls(result), _repeated(result)]
    said += [_position(result), _judges(result), _needed(result), _circles(result), _pairs(result)]
    return [one for one in said if one is not None]


def verdict(result: BattlesResult) -> Finding:
    """Return who leads, how many could be first, and by whose judgment."""
    total, by = len(result.runs), result.by_judges
    if result.baseline is not None:
        return _against(result)
    leader, n = result.runs[result.order[0]], int(result.could_be_first.sum())
    first = f"leads, but {n:,} of {total:,} models could be first"
    if n == 1:
        first = f"leads; no other of {total:,} models could be first"
    elif n == total:
        first = f"leads, but any of the {total:,} models could be first"
    values = {"leaders": [leader], "could_be_first": n, "n_rows": total}
    others = result.other_judges
    if others is not None:
        also = int(others.own.could_be_first.sum())
        by = f"{by} or by others" if also == n else f"{by}; by other judges: {also:,}"
        values["could_be_first_other_judges"] = also
    return Finding("battles.verdict", f"{leader} {first}{by}.", values)


def _against(result: BattlesResult) -> Finding:
    """Return how many models differ from the baseline, the second model of each pair."""
    signs = np.where(result.significant, np.sign(result.difference), 0.0)
    better, worse = (int((signs == sign).sum()) for sign in (1.0, -1.0))
    text = (
        f"{better:,} of {counted(len(result.pairs), 'model')} significantly beat "
        f"{result.baseline} and {worse:,} lose to it{result.by_judges}."
    )
    values = {"baseline": result.baseline, "better": better, "worse": worse}
    return Finding("battles.verdict", text, values)


def lead(result: BattlesResult) -> Finding | None:
    """Return the strengths of the first two, their difference and its interval."""
    if result.lead is None:
        return None
    first, second, difference, limits, is_significant, chance = result.lead
    a, b = result.runs[first], result.runs[second]
    ends = limits.tolist()
    text = (
        f"{a} {result.strength[first]:+.3f}, {b} {result.strength[second]:+.3f}: "
        f"{difference:+.3f} {signed_interval(ends, '+.3f').text}; {a} wins {chance:.0%} of their "
        "battles."
    )
    values = {"a": a, "b": b, "difference": difference, "interval": ends}
    values |= {"significant": is_significant, "win_probability": chance}
    return Finding("battles.lead", text, values)


def _repeated(result: BattlesResult) -> Finding | None:
    """Return how much wider errors are than those of independent battles."""
    ratio = result.design_ratio
    if not NOTICEABLE < ratio < math.inf:
        return None
    text = (
        f"Battles that share {_nouns(result)} are alike: standard errors are {ratio:.1f} times "
        "those of independent battles."
    )
    return Finding("battles.repeated", text, {"ratio": ratio})


def _nouns(result: BattlesResult) -> str:
    """What was drawn: "prompts", "prompts or voters", "voters", "battles"."""
    return " or ".join(f"{noun}s" for noun in ("prompt", "voter", "battle") if noun in result.drawn)


def _position(result: BattlesResult) -> Finding | None:
    """Return what the first place is worth."""
    own = result.position
    if own is None:
        return None
    wins = f"{1.0 / (1.0 + math.exp(-own.estimate)):.0%}"
    text = f"The first place is worth {_worth(own)}: it wins {wins} of even battles."
    return Finding("battles.position", text, picked(own, "estimate standard_error pvalue"))


def _controls(result: BattlesResult) -> Iterator[Finding]:
    """Return what the controls are worth, and whom each of them moves most."""
    for own in result.controls:
        text = (
            f"Control for {own.name} moves {own.run} most, by {own.moved:+.3f}: one sd more is "
            f"worth {_worth(own)}."
        )
        keys = "name estimate standard_error pvalue run moved"
        yield Finding(f"battles.control.{own.name}", text, picked(own, keys))


def _worth(own: Effect) -> str:
    return f"{own.estimate:+.3f} (s.e. {own.standard_error:.3f})"


def _judges(result: BattlesResult) -> Finding | None:
    """Return which judges prefer the first and the second place most."""
    if result.position is None:
        return None
    known = [(float(one.coefficient[0]), one.judge) for one in result.by_judge]
    known = [own for own in known if not math.isnan(own[0])]
    if len(known) < 2:
        return None
    (low, lowest), (high, highest) = min(known), max(known)
    text = f"By judge the first place is worth {low:+.2f} ({lowest}) to {high:+.2f} ({highest})."
    values = {"lowest": [lowest, low], "highest": [highest, high]}
    return Finding("battles.judges", text, values)


def _needed(result: BattlesResult) -> Finding | None:
    """Return how many prompts would separate the first two."""
    if result.lead is None or result.lead.significant:
        return None
    a, b = (result.runs[i] for i in result.lead[:2])
    text = f"No number of {_nouns(result)} would separate {a} from {b}."
    if result.topics_assured < MOST_SHOWN:
        text = (
            f"{size(result.topics_assured)} {_nouns(result)} would separate {a} from {b} (80% "
            f"assurance); there are {result.drawn}."
        )
    return Finding("battles.needed", text, picked(result, "topics_needed topics_assured"))


def _circles(result: BattlesResult) -> Finding | None:
    """Return whether models beat each other in circles more often than expected."""
    own = result.fit
    if not own.pvalue <= result.alpha:
        return None
    text = (
        f"{counted(own.triples, 'triple')} of models beat each other in a circle, where "
        f"{own.expected:.1f} are expected ({pvalue_words(own.pvalue)}): one scale of strength does "
        "not fit."
    )
    return Finding("battles.circles", text, own._asdict())


def _next(result: BattlesResult) -> Finding | None:
    """Return between which models the next battles are, and how many need new prompts."""
    if not result.next_battles:
        return None
    met: dict[str, int] = {}
    for a, b, _ in result.next_battles:
        pair = " and ".join(sorted((a, b)))
        met[pair] = met.get(pair, 0) + 1
    most = max(met, key=lambda pair: met[pair])
    new = sum(not prompt for _, _, prompt in result.next_battles)
    on = f"; {new:,} of them on new prompts" if new and result.n_prompts else ""
    text = (
        f"Next: {counted(len(result.next_battles), 'battle')} of {counted(len(met), 'pair')}, most "
        f"of {most} ({met[most]}){on}."
    )
    return Finding("battles.next", text, {"pairs": met, "new_prompts": new})


def _pairs(result: BattlesResult) -> Finding | None:
    if len(result.pairs) < 2:
        return None
    n, total = int(result.significant.sum()), len(result.pairs)
    text = f"{n:,} of {total:,} pairs of models differ significantly."
    return Finding("battles.pairs", text, {"n_significant": n, "n_pairs": total})


def describe(result: BattlesResult) -> str:
    """Return the paragraph for a paper."""
    controls = [*(["position"] if result.position else []), *(own.name for own in result.controls)]
    controlled = f" and effects of {listed(controls)}" if controls else ""
    ties = {"half": "ties counted as half wins", "davidson": "Davidson's (1970) model of ties"}
    sure, n = f"{1 - result.alpha:.0%}", int(result.could_be_first.sum())
    best = "no other model could be first" if n == 1 else f"{n} models could be first"
    leader = result.runs[result.order[0]]
    ending = (
        f"{leader} is the strongest model ({result.strength[result.order[0]]:+.3f}); with {sure} "
        f"confidence {best}{result.by_judges}."
        if result.baseline is None
        else verdict(result).text
    )
    return (
        f"We fitted a Bradley–Terry model with strengths of {len(result.runs):,} models"
        f"{controlled} to {result.n_battles:,} battles ({ties[result.ties]}). Standard errors are "
        f"those over {result.drawn}. Pairs were compared by corrected t tests of the prompts' "
        f"influences, with max-t correction by sign flips (stepdown, family-wise alpha "
        f"{result.alpha:g}). {int(result.significant.sum()):,} of {len(result.pairs):,} pairs "
        f"differ significantly. {ending}"
    )


def _shown_runs(result: BattlesResult) -> list[dict[str, Any]]:
    return result.run_rows()


def _better_first(result: BattlesResult, rows: Any) -> list[dict[str, Any]]:
    """Return the rows of the pairs in the order of the ranking, the stronger model first."""
    place = {result.runs[i]: k for k, i in enumerate(result.order)}
    made = []
    for row in rows:
        if result.baseline is None and place[row["a"]] > place[row["b"]]:
            low, high = row["interval"]
            row = row | {
                "a": row["b"],
                "b": row["a"],
                "difference": -row["difference"],
                "interval": [-high, -low],
                "win_probability": 1.0 - row["win_probability"],
                "win_share": 1.0 - row["win_share"],
                "residual": -row["residual"],
            }
        made.append(row)
    return sorted(made, key=lambda row: (place[row["a"]], place[row["b"]]))


MODELS = TableSpec(
    id="battles-models",
    rows=_shown_runs,
    columns=(
        Col("run", "model", "name"),
        Col("strength", form="change", about="log odds; they sum to 0"),
        Col("standard_error", "s.e.", ".3f"),
        Col("win_rate", "win rate", ".1%", about="against an average opponent"),
        Col("rank", form="count"),
        Col("rank_set", "{sure} ranks", ",.0f", "known", "those that its own comparisons allow"),
        Col(
            "rank_set_simultaneous",
            "all ranks at once",
            ",.0f",
            when=lambda result: result.simultaneous,
        ),
        Col("could_be_first", form="yes", when=lambda result: result.baseline is None),
        Col(
            "could_be_first_other_judges",
            "by other judges",
            "yes",
            "known",
            "whether it could be first by other judges like these",
        ),
        Col("tier", form="count", when="known"),
        Col("battles", form="count"),
    ),
    best="strength",
    caption=lambda result: f"{result.caption()} {SEE}",
)
PAIRS = TableSpec(
    id="battles-pairs",
    rows=lambda result: result.rows(),
    shown=_better_first,
    columns=(
        Col("a", "stronger", "name"),
        Col("b", "other", "name"),
        Col("n", "battles", "count"),
        Col("difference", form="change"),
        Col("standard_error", "s.e.", ".3f"),
        Col(
            "standard_error_independent", "s.e. independent", ".3f", about="of independent battles"
        ),
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
    caption=lambda result: (
        f"* significant. Intervals: simultaneous, max-t; errors over {result.drawn}."
    ),
)


def _judge_rows(result: BattlesResult) -> list[dict[str, Any]]:
    """Return one row per judge: its battles, its coefficients and the strengths by it alone."""
    names = [*(["position"] if result.position else []), *(own.name for own in result.controls)]
    rows = []
    for one in result.by_judge:
        row: dict[str, Any] = {"judge": one.judge, "battles": one.n_battles}
        for k, name in enumerate(names):
            row[name] = float(one.coefficient[k])
            row[f"{name}_standard_error"] = float(one.standard_error[k])
        rows.append(row | {f"strength {run}": float(one.strength[i]) for i, run in _ranked(result)})
    return rows


def _ranked(result: BattlesResult) -> list[tuple[int, str]]:
    return [(i, result.runs[i]) for i in result.order]


def _judge_columns(result: BattlesResult) -> tuple[Col, ...]:
    names = [*(["position"] if result.position else []), *(own.name for own in result.controls)]
    return (
        Col("judge", form="name"),
        Col("battles", form="count"),
        *(Col(name, name, "z.3f", spread=f"{name}_standard_error") for name in names),
        *(Col(f"strength {run}", _braced(run), "+z.3f") for _, run in _ranked(result)[:TOP]),
    )


def _braced(name: str) -> str:
    return name.replace("{", "{{").replace("}", "}}")


TOP = 6
"""Models whose strengths are shown by judge."""

JUDGES = TableSpec(
    id="battles-judges",
    rows=_judge_rows,
    when=lambda result: len(result.by_judge) > 1,
    columns=_judge_columns,
    caption="The same model, fitted to the battles of each judge.",
)
NEXT = TableSpec(
    id="battles-next",
    rows=lambda result: [
        {"model_a": a, "model_b": b, "prompt": prompt} for a, b, prompt in result.next_battles
    ],
    when=lambda result: bool(result.next_battles),
    columns=(
        Col("model_a", "first", "name"),
        Col("model_b", "second", "name"),
        Col("prompt", form=lambda row: name_cell(row["prompt"] or "–")),
    ),
    n_names=3,
    caption="Battles that lower the variance of the undecided differences most; – is a new prompt.",
)


def _effect_fields(own: Effect) -> dict[str, Any]:
    keys = "name estimate standard_error pvalue"
    return picked(own, keys) | {"moved": picked(own, "run moved")}


def fields(result: BattlesResult) -> dict[str, Any]:
    """Return the promised keys, and what else there is."""
    position = None if result.position is None else _effect_fields(result.position)
    return {
        "n_battles": result.n_battles,
        "n_prompts": result.n_prompts,
        "n_judges": len(result.judges),
        "position": position,
        "controls": [_effect_fields(own) for own in result.controls],
        "runs": result.run_rows(),
        "pairs": result.rows(),
        "fit": {
            "intransitive_triples": result.fit.triples,
            "expected": result.fit.expected,
            "pvalue": result.fit.pvalue,
        },
        "connected": not result.others,
        "topics_needed": result.topics_needed,
        "topics_assured": result.topics_assured,
        **picked(result, "ties alpha baseline judging judges drawn n_ties is_penalised"),
        "left_out": [list(group) for group in result.others],
        "by_judge": [
            {
                "judge": one.judge,
                "battles": one.n_battles,
                "coefficients": one.coefficient.tolist(),
                "standard_errors": one.standard_error.tolist(),
                "strengths": {run: float(one.strength[i]) for i, run in _ranked(result)},
            }
            for one in result.by_judge
        ],
        "next": NEXT.rows(result),
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
            "come from one family of all pairs, and the ranks of a model from its own comparisons."
        ),
        means_not=(
            "The section is about the judges of these battles unless it says otherwise, and about "
            "prompts like these. Control for length removes what length explains, whether judges "
            "were right to prefer it or not."
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
    material, given = job.material, job.material.settings
    if material.battles is None:
        raise InputError(_why_not(material))
    return battles(
        material.battles,
        baseline=given.baseline,
        alpha=given.alpha,
        progress=job.machine.progress("blocks of sign patterns"),
        **job.common,
    )


def _why_not(material: Material) -> str:
    return "requires battles: rows of two models and the winner" if material.battles is None else ""


ROWS = 10
"""Rows of the board."""


def _front(result: BattlesResult, others: Findings) -> Front:
    first, *more = _swaps(result)
    return Front(
        verdict=verdict(result),
        line=lead(result),
        assumption=_assumption(result),
        board=None if result.own is None else _board(result),
        cautions=tuple(one for one in [_circles(result)] if one is not None),
        swap=first[1],
        more_swaps=tuple(more),
        tiles=tuple(_tiles(result)),
    )


def _board(result: BattlesResult) -> Board:
    rows = []
    for run in result.order[:ROWS]:
        low, high = result.rank_set[run].tolist()
        rows.append(
            BoardRow(
                rank=int(result.rank[run]),
                name=result.runs[run],
                score=typeset(f"{result.strength[run]:+.3f}"),
                low=low,
                high=high,
                group=str(result.tier[run]),
            )
        )
    return Board(
        title="Leaderboard",
        note=f"dot: rank; bar: ranks that it may have, {1 - result.alpha:.0%} confidence for each",
        measure="strength (log odds)",
        rows=tuple(rows),
        n_ranks=len(result.runs),
        group="tier",
        link="battles",
        more=f"All {len(result.runs):,} models",
    )


def _swaps(result: BattlesResult) -> Iterator[tuple[str, Finding]]:
    """Return the share of pairs that change their order, by what is varied."""
    m = len(result.runs)
    share = swap_share(result.values)
    text = f"On as many other {_nouns(result)} {swap_words(share, m, 'models', roughly)}."
    yield "Other prompts", Finding("battles.swap", text, {"share": share})
    if result.other_judges is not None:
        share = result.other_judges.swap
        text = f"By {len(result.judges)} other judges {swap_words(share, m, 'models', roughly)}."
        yield "Other judges", Finding("battles.swap_judges", text, {"share": share})
    for name, share in result.turned.items():
        if name == "ties":
            text = f"By Davidson's model of ties {swap_words(share, m, 'models')}."
            yield "Ties otherwise", Finding("battles.swap_ties", text, {"share": share})
        else:
            text = f"Controlled for {name} {swap_words(share, m, 'models')}."
            yield f"Without {name}", Finding("battles.swap_controls", text, {"share": share})


def _assumption(result: BattlesResult) -> Assumption | None:
    """Return what other judges would change about the verdict."""
    others, total = result.other_judges, len(result.runs)
    if others is None or result.own is None:
        return None
    here, there = (int(own.could_be_first.sum()) for own in (result.own, others.own))
    if here == there:
        return None
    text = f"By other judges, {counted(there, 'model')} could be first."
    values = {"could_be_first": there, "n_rows": total}
    return Assumption(Finding("battles.other_judges", text, values), abs(there - here) / total)


def _tiles(result: BattlesResult) -> Iterator[Tile]:
    n, total = int(result.significant.sum()), len(result.pairs)
    if total > 1:
        yield Tile(
            id="battles.significant",
            figure=count_or_share(n, total),
            text=f"of {total:,} pairs differ significantly",
            values={"n_significant": n, "n_pairs": total},
        )
    if result.design_ratio > NOTICEABLE:
        yield Tile(
            id="battles.ratio",
            figure=f"{result.design_ratio:.1f}×",
            text=f"the standard errors of independent battles, as battles share {_nouns(result)}",
            values={"ratio": result.design_ratio},
        )
    if result.lead and not result.lead.significant and result.topics_assured < MOST_SHOWN:
        yield Tile(
            id="battles.prompts",
            figure=size(result.topics_assured),
            text=f"{_nouns(result)} to separate first from second (80% assurance); there are "
            f"{result.drawn}",
            values={"topics_assured": result.topics_assured},
        )


PART = part_of(
    VIEW,
    run=_run,
    why_not=_why_not,
    works_on="prompts",
    is_required=True,
    is_open=True,
    front=_front,
    varies="Other prompts",
)
