"""The first screen of a page: what the studies have for it, put together.

The verdict with its line and board is the last study's that has one; shares of pairs that swap
stand largest first; what was not examined is named with the option that would.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

from steadyrank.present.page import Bar, FirstScreen
from steadyrank.present.view import Finding
from steadyrank.studies.material import Material
from steadyrank.studies.part import Findings, Front
from steadyrank.studies.registry import Study, studies_by_place, studies_by_turn

Fronts = Mapping[str, Front]
"""By study, in the order in which they ran."""


def fronts_of(findings: Findings) -> Fronts:
    """What every study that ran has for the first screen."""
    return {
        study.name: study.part.front(findings.results[study.name], findings)
        for study in studies_by_turn()
        if study.name in findings.results
    }


def first_screen(findings: Findings, fronts: Fronts) -> FirstScreen:
    """The offers as one screen."""
    leading = _leading(fronts)
    bars = _bars(fronts)
    n_rows = 0 if leading.board is None else leading.board.n_ranks
    return FirstScreen(
        verdict=leading.verdict.text if leading.verdict else "",
        line=leading.line.text if leading.line else "",
        cautions=tuple(caution.text for front in fronts.values() for caution in front.cautions),
        board=leading.board,
        bars=bars,
        bars_note="pairs of runs that swap" if n_rows > 2 else "probability that the two swap",
        not_examined=_not_examined(findings, {bar.link for bar in bars}),
        tiles=tuple(tile for front in fronts.values() for tile in front.tiles),
    )


def said_first(fronts: Fronts) -> list[Finding]:
    """All that the first screen says, the verdict first."""
    leading = _leading(fronts)
    swaps = [front.swap for front in fronts.values() if front.swap and _share(front) >= 0.0]
    swaps.sort(key=lambda swap: -swap.values["share"])
    tiles = [tile for front in fronts.values() for tile in front.tiles]
    return [
        *(one for one in (leading.verdict, leading.line) if one is not None),
        *(caution for front in fronts.values() for caution in front.cautions),
        *swaps,
        *(Finding(tile.id, f"{tile.figure} {tile.text}.", tile.values) for tile in tiles),
    ]


def _leading(fronts: Fronts) -> Front:
    return next((front for front in reversed([*fronts.values()]) if front.verdict), Front())


def _bars(fronts: Fronts) -> tuple[Bar, ...]:
    """The shares that are known, the largest first."""
    made = [
        Bar(about=study.part.varies, share=share, text=_percent(share), link=study.name)
        for study in studies_by_turn()
        if study.name in fronts
        for share in [_share(fronts[study.name])]
        if not math.isnan(share)
    ]
    return tuple(sorted(made, key=lambda bar: -bar.share))


def _percent(share: float) -> str:
    """As wide as the others, so that digits stand below digits."""
    if share >= 0.0995:
        return f"{share:.0%}"
    return f"{share:.1%}" if share >= 0.0005 else "< 0.1%"


def _share(front: Front) -> float:
    return math.nan if front.swap is None else float(front.swap.values["share"])


def _not_examined(findings: Findings, examined: Iterable[str]) -> str:
    """What could vary and has no bar, with the option that would vary it."""
    material = findings.material
    unknown = [
        study
        for study in studies_by_place()
        if study.part.varies and study.name not in examined and study.name in findings.why_not
    ]
    if material.leaderboard is not None:
        left = ", ".join(_lower(study) for study in unknown if study.is_command)
        return f"Not examined: {left} (report QRELS RUN... on one collection)."
    named = ", ".join(text for study in unknown for text in _how_to_examine(study, material))
    return f"Not examined: {named}." if named else ""


def _how_to_examine(study: Study, material: Material) -> list[str]:
    """A study that did not run, with its option if one would make it; none if nothing varies."""
    if not study.part.why_not(material):
        return [_lower(study)]  # the budget is short: no option of its own helps
    how = study.part.examine(material)
    return [f"{_lower(study)} ({how})"] if how else []


def _lower(study: Study) -> str:
    return study.part.varies[:1].lower() + study.part.varies[1:]
