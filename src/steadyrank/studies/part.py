"""A study's part of a report: its words, the data it needs, its samples, how it is run and shown.

Each study describes its part once, as `PART` in `view.py` of its folder, and knows no other study.
What it has for the first screen (`Front`) and for the panel of two runs it offers; the report puts
the offers of all studies together and names none of them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from steadyrank.present.view import Assumption, Finding, View, resolved
from steadyrank.words import counted

if TYPE_CHECKING:  # a command that shows one study waits for none of these
    from steadyrank.present.page import Board, Tile
    from steadyrank.present.pair_panel import PairPanel
    from steadyrank.present.table import Table
    from steadyrank.stats.pairs.decisions import Decided
    from steadyrank.studies.material import Machine, Material


@dataclass(frozen=True, slots=True, kw_only=True)
class Samples:
    """What a study draws, and how many of them."""

    noun: str
    """Such as collections or trials."""
    fast: int
    """Where there is little time, or much data."""
    full: int


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Job:
    """What a study of a report works on, and with how many samples."""

    material: Material
    machine: Machine
    n_samples: int = 0
    decided: Decided | None = None
    """The decisions about pairs that the page shows; numbers of topics are for their level."""

    @property
    def common(self) -> dict[str, Any]:
        """What most studies take."""
        return {"jobs": self.machine.jobs, "rng": self.material.settings.seed}

    @property
    def n_comparisons(self) -> int:
        """Those that the tests correct for."""
        settings, n_runs = self.material.settings, len(self.material.compared.runs)
        if settings.correction == "none":
            return 1
        return math.comb(n_runs, 2) if settings.baseline is None else n_runs - 1


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Findings:
    """What the studies of a report found, by the names of the studies."""

    material: Material
    results: Mapping[str, Any]
    why_not: Mapping[str, str]
    """Studies that are left out, and why."""
    warnings: Mapping[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True, eq=False)
class Drawing:
    """A figure of a section: a result, drawn as `plot` draws it."""

    id: str
    caption: str
    result: Any
    kind: str
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Body:
    """What a section says and shows of the data at hand."""

    answer: tuple[Finding, ...] = ()
    """What the first screen has said is left out of the section."""
    figures: tuple[Drawing, ...] = ()
    tables: tuple[Table, ...] = ()
    notes: tuple[str, ...] = ()
    """Sentences that say more about what the answer means."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Front:
    """What a study has for the first screen of a page.

    Of several verdicts the last study's counts, with its line and its board: who runs later knows
    more about what a row is.
    """

    verdict: Finding | None = None
    """At most 80 characters besides names."""
    line: Finding | None = None
    """The lead, its interval, and whether it is significant."""
    board: Board | None = None
    cautions: tuple[Finding, ...] = ()
    """What must be known before anything is believed."""
    swap: Finding | None = None
    """Its value `share`: the pairs of runs to expect in another order in one fresh draw of what
    the study varies, everything else staying as it is."""
    more_swaps: tuple[tuple[str, Finding], ...] = ()
    """The same of other things that it varies, each with its name."""
    assumption: Assumption | None = None
    """What another assumption would change about the verdict, at most."""
    tiles: tuple[Tile, ...] = ()

    @property
    def swaps(self) -> list[Finding]:
        """All of them."""
        return [one for one in (self.swap, *(own for _, own in self.more_swaps)) if one is not None]

    @property
    def ids(self) -> set[str]:
        """Of all that it says."""
        said = (self.verdict, self.line, *self.swaps, *self.cautions, *self.tiles)
        return {one.id for one in said if one is not None}


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
    """The part of a study that is shown by its view; `more` are fields of `Part`.

    `subject_of` makes the view's subject of what `run` returns; `notes` say what depends on all
    data of the report; `said` leaves out what another study says; `beside` are findings that follow
    from the rest of the page, and stand after the first. `tables` are the ids of those that its
    section shows, all unless given.
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
    """What its section shows of its result; the findings hold what stands beside it."""
    run: Callable[[Job], Any]
    why_not: Callable[[Material], str] = lambda material: ""
    """What the data lack for it, in words; nothing where they suffice."""
    samples: Samples | None = None
    """None where it draws none."""
    works_on: str = "topics"
    """What the scores that it takes are by: topics of one collection, or "datasets"."""
    is_read: bool = False
    """Whether reading the data makes its result."""
    is_required: bool = False
    """Whether there is no page without it: its errors are the report's."""
    is_open: bool = False
    """Whether its section is unfolded at first."""
    front: Callable[[Any, Findings], Front] = lambda result, findings: Front()
    varies: str = ""
    """What it varies, as the first screen names it, such as "Other topics"."""
    examine: Callable[[Material], str] = lambda material: ""
    """Where it did not run, what would make it: an option, in a few words."""
    decides: Callable[[Any], Decided] | None = None
    """The decisions about pairs that later studies plan for."""
    two_runs: Callable[[Any, Findings], PairPanel] | None = None
    """Opens the panel of two runs."""
    of_two: Callable[[PairPanel, Any, Findings], None] = lambda panel, result, findings: None
    """Adds to the panel what the study knows of every two runs."""
