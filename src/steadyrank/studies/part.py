"""A study's part of a report: its words, the data it needs, its samples, how it is run and shown.

Each study describes its part once, as `PART` in `view.py` of its folder, and knows no other study.
It may add to the first screen (`Front`) and to the panel of two runs; the report combines the parts
of all studies and names none of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from steadyrank.present.view import Assumption, Finding, View, resolved
from steadyrank.words import count_or_share, counted

if TYPE_CHECKING:  # a command that shows one study waits for none of these
    import numpy as np

    from steadyrank.present.page import Board, Tile
    from steadyrank.present.pair_panel import PairPanel
    from steadyrank.present.table import Table
    from steadyrank.stats.pairs.decisions import Decided
    from steadyrank.studies.material import Machine, Material


ROWS = 10
"""Rows of a board."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Samples:
    """The samples that a study draws."""

    noun: str
    """What is drawn, such as collections or trials."""
    fast: int
    """Number of samples with little time, or much data."""
    full: int


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Job:
    """The data and the number of samples of a study in a report."""

    material: Material
    machine: Machine
    n_samples: int = 0
    decided: Decided | None = None
    """The decisions about pairs that the page shows; numbers of topics are for their level."""

    @property
    def common(self) -> dict[str, Any]:
        """Return the options that most studies take."""
        return {"jobs": self.machine.jobs, "rng": self.material.settings.seed}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Findings:
    """The results of the studies of a report, by the names of the studies."""

    material: Material
    results: Mapping[str, Any]
    why_not: Mapping[str, str]
    """Why studies are left out, by name."""
    warnings: Mapping[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True, eq=False)
class Drawing:
    """A figure of a section: a result and its kind of plot."""

    id: str
    caption: str
    result: Any
    kind: str
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Body:
    """The content of a section."""

    answer: tuple[Finding, ...] = ()
    """The section omits findings that the first screen has."""
    figures: tuple[Drawing, ...] = ()
    tables: tuple[Table, ...] = ()
    notes: tuple[str, ...] = ()
    """Sentences about the meaning of the answer."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Front:
    """What a study adds to the first screen, which has verdict, line and board of the last."""

    verdict: Finding | None = None
    """At most 80 characters in addition to names."""
    line: Finding | None = None
    """The lead, its interval, and whether it is significant."""
    board: Board | None = None
    cautions: tuple[Finding, ...] = ()
    """What a reader must know about the data first."""
    swap: Finding | None = None
    """Its value `share` is the expected share of pairs of runs that a new sample of what the study
    varies would reverse, other things being equal."""
    more_swaps: tuple[tuple[str, Finding], ...] = ()
    """Names and shares of other things that the study varies."""
    assumption: Assumption | None = None
    """The assumption that would change the verdict most."""
    tiles: tuple[Tile, ...] = ()

    @property
    def swaps(self) -> list[Finding]:
        """Return `swap` and `more_swaps` without their names."""
        return [one for one in (self.swap, *(own for _, own in self.more_swaps)) if one is not None]

    @property
    def ids(self) -> set[str]:
        """Return the ids of all findings and tiles."""
        said = (self.verdict, self.line, *self.swaps, *self.cautions, *self.tiles)
        return {one.id for one in said if one is not None}


def significance_tile(id: str, significant: np.ndarray, **values: Any) -> Tile:
    """Return the tile that says how many of all pairs differ significantly."""
    from steadyrank.present.page import Tile

    n, total = int(significant.sum()), len(significant)
    figure = count_or_share(n, total)
    text = f"of {total:,} pairs {'differs' if figure == '1' else 'differ'} significantly"
    return Tile(id=id, figure=figure, text=text, values=values)


def fragility_tile(study: str, found: Any, noun: str) -> Tile:
    """Return the tile that says how few topics, clusters or datasets decide who is first."""
    from steadyrank.present.page import Tile

    text = (
        "decides who is first: without it" if found.n == 1 else "decide who is first: without them"
    )
    return Tile(
        id=f"{study}.fragility",
        figure=counted(found.n, noun),
        text=f"{text} {found.rival} would catch up",
        values=found._asdict(),
    )


def board_of(
    result: Any,
    score: Callable[[int], str],
    *,
    measure: str,
    link: str,
    rows: str = "runs",
    shown: Sequence[int] = (),
    n_rows: int = 0,
    sure: str = "",
    against: Mapping[int, str] | None = None,
) -> Board:
    """Return the board of a result whose rows have an order, ranks, rank sets and tiers.

    `score` shows the value of the row at a place; `shown` are the places, by default of the best.
    `against` says of each row how it compares with a baseline, in place of tiers.
    """
    from steadyrank.present.page import Board, BoardRow

    sure = sure or f"{1 - result.alpha:.0%} confidence for each {rows.removesuffix('s')}"
    return Board(
        title="Leaderboard",
        note=f"dot: rank; bar: possible ranks, {sure}" if against is None else "",
        measure=measure,
        rows=tuple(
            BoardRow(
                rank=int(result.rank[run]),
                name=result.runs[run],
                score=score(run),
                low=int(result.rank_set[run, 0] or result.rank[run]),
                high=int(result.rank_set[run, 1] or result.rank[run]),
                group=str(result.tier[run]) if against is None else against.get(run, "0"),
            )
            for run in shown or result.order[:ROWS]
        ),
        n_ranks=len(result.runs),
        group="tier" if against is None else "against the baseline",
        link=link,
        more=f"All {n_rows or len(result.runs):,} {rows}",
    )


def better_first(
    order: Iterable[str],
    rows: Iterable[dict[str, Any]],
    *,
    signed: Sequence[str],
    shares: Sequence[str] = (),
    swapped: Mapping[str, str] = MappingProxyType({}),
) -> list[dict[str, Any]]:
    """Return rows of pairs in the order of the ranking, each with the better row as a.

    Values of the keys `signed` change their sign with the order, the interval also its ends; those
    of `shares` become the rest to 1; keys that are `swapped` exchange their values.
    """
    place, made = {name: k for k, name in enumerate(order)}, []
    swapped = {"a": "b", **swapped}
    swapped |= {b: a for a, b in swapped.items()}
    for row in rows:
        if place[row["a"]] > place[row["b"]]:
            row = {swapped.get(key, key): value for key, value in row.items()}
            row |= {key: -row[key] for key in signed} | {key: 1.0 - row[key] for key in shares}
            row["interval"] = [-row["interval"][1], -row["interval"][0]]
        made.append(row)
    return sorted(made, key=lambda row: (place[row["a"]], place[row["b"]]))


def part_of(
    view: View,
    *,
    run: Callable[[Job], Any],
    subject_of: Callable[[Any], Any] = lambda result: result,
    notes: Callable[[Any, Findings], Sequence[str]] = lambda result, findings: (),
    beside: Callable[[Any, Findings], Sequence[Finding]] = lambda subject, findings: (),
    said: Callable[[Sequence[Finding], Findings], list[Finding]] = lambda said, findings: [*said],
    tables: Sequence[str] = (),
    **more: Any,
) -> Part:
    """Return the part of a study that its view shows; `more` are fields of `Part`.

    `subject_of` makes the view's subject of what `run` returns; `notes` are sentences that depend
    on all data of the report; `said` leaves out what another study says; `beside` are further
    findings, placed after the first. `tables` are the ids of the section's tables, by default all.
    """

    def body(result: Any, findings: Findings) -> Body:
        subject = subject_of(result)
        found = said(view.findings(subject), findings)
        found[1:1] = beside(subject, findings)
        spec = resolved(view.figure, subject)
        return Body(
            answer=tuple(found),
            figures=()
            if spec is None
            else (Drawing(spec.id, spec.caption, spec.of(subject), spec.kind, spec.options),),
            tables=tuple(view.made(subject, page=True, only=tables)),
            notes=tuple(notes(result, findings)),
        )

    words = {key: getattr(view.words, key) for key in ("title", "question", "means", "means_not")}
    return Part(**words, body=body, run=run, **more)


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """The part of a study: words that do not depend on the data, and functions that do the rest."""

    title: str
    question: str
    means: str
    means_not: str
    body: Callable[[Any, Findings], Body]
    """Makes the content of its section from its result and the findings of all studies."""
    run: Callable[[Job], Any]
    why_not: Callable[[Material], str] = lambda material: ""
    """Says what the data lack for it; returns "" where they suffice."""
    samples: Samples | None = None
    """None where it draws no samples."""
    works_on: str = "topics"
    """Whether its scores are by "topics" of one collection, or by "datasets"."""
    is_read: bool = False
    """Whether reading the data makes its result."""
    is_required: bool = False
    """Whether its errors end the report."""
    is_open: bool = False
    """Whether its section is open at first."""
    front: Callable[[Any, Findings], Front] = lambda result, findings: Front()
    varies: str = ""
    """What it varies, as on the first screen, such as "Other topics"."""
    examine: Callable[[Material], str] = lambda material: ""
    """Names the option that would let it run, where it did not."""
    decides: Callable[[Any], Decided] | None = None
    """Returns the decisions about pairs that later studies plan for."""
    two_runs: Callable[[Any, Findings], PairPanel] | None = None
    """Makes the panel of two runs."""
    of_two: Callable[[PairPanel, Any, Findings], None] = lambda panel, result, findings: None
    """Adds the study's figures about any two runs to the panel."""
