"""The list of studies, which the report, `plot` and the command line read.

A new study is a folder and a line here. The folder has `view.py` with `VIEW`, its sentences and
tables, and `PART`, its part of a report (`steadyrank.studies.part`; a study that no report can run
has none), and `plots.py` with `PLOTS` where its results can be drawn. They are imported when they
are first used, so that `--help` does not wait for them.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from steadyrank.present.figures import Plot
    from steadyrank.studies.part import Part

    Plots = Mapping[str, Mapping[str, Plot]]

LAST = 99


@dataclass(frozen=True, slots=True)
class Study:
    """A question that data can answer, and where its modules are."""

    name: str
    question: str
    """The question in `steadyrank --help`."""
    turn: int = LAST
    """Order in which a report runs the studies."""
    place: int = 0
    """Order of the sections on the page; studies of equal place are in the order of this list."""
    folder: str = ""
    """The study's package, by default `steadyrank.studies.<name>`."""
    section: str = "view"
    """The module with `PART`, in the package or, with dots, in `steadyrank.studies`; `module:NAME`
    where `PART` has another name; "" for a study that no report can run."""
    is_command: bool = True

    @property
    def home(self) -> str:
        """The package with its parts."""
        return self.folder or f"steadyrank.studies.{self.name}"

    @property
    def part(self) -> Part:
        """Its part of a report."""
        section, _, name = self.section.partition(":")
        home = "steadyrank.studies" if "." in section else self.home
        part: Part = getattr(import_module(f"{home}.{section}"), name or "PART")
        return part

    @property
    def plots(self) -> Plots:
        """Class of a result to its kinds of plot, the default first."""
        return plots_of(self.home)


STUDIES: tuple[Study, ...] = (
    Study("check", "find what is wrong or odd with files", turn=2, place=1),
    Study(
        "systems",
        "which system leads, over its runs?",
        turn=4,
        folder="steadyrank.studies.compare",
        section="page:SYSTEMS_PART",
        is_command=False,
    ),
    Study("evaluate", "score every run on every topic", turn=1, section="compare.page:LEADERBOARD"),
    Study("compare", "which runs differ significantly, and by how much?", turn=3, section="page"),
    Study("simulate", "would another document collection change it?", turn=8),
    Study("topics", "would other topics change the order of runs?", turn=7),
    Study("agree", "do the measures rank systems alike?", turn=11),
    Study("instances", "are systems with several runs each different, or equivalent?", turn=9),
    Study("components", "which component of a grid matters, and by how much?", turn=10),
    Study("datasets", "would other datasets change a leaderboard?", turn=13),
    Study("battles", "which models win pairwise comparisons?", turn=18),
    Study("plan", "how many topics are required, for which power?", turn=6),
    Study("stability", "how stable is this collection? generalizability theory", turn=5),
    Study("holes", "would complete judgments change it? what to judge next", turn=15),
    Study("pools", "would a pilot with fewer teams or topics say the same?", turn=12),
    Study("judges", "would other judges change it?", turn=14),
    Study(
        "graders",
        "how much of a difference is due to the judges?",
        turn=16,
        folder="steadyrank.studies.stability",
        section="facets_view:JUDGES_PART",
        is_command=False,
    ),
    Study(
        "answers",
        "how much of a difference is due to single answers?",
        turn=17,
        folder="steadyrank.studies.stability",
        section="facets_view:ANSWERS_PART",
        is_command=False,
    ),
    Study("gate", "may this change ship? tests a candidate against a baseline", section=""),
)
"""The studies in the order in which users need them."""


def studies_by_turn() -> list[Study]:
    """Return the studies of a report in the order in which they run."""
    return sorted(_on_the_page(), key=lambda study: study.turn)


def studies_by_place() -> list[Study]:
    """Return the studies of a report in the order of the page."""
    return sorted(_on_the_page(), key=lambda study: study.place)


def _on_the_page() -> list[Study]:
    return [study for study in STUDIES if study.section]


@functools.cache
def plots_of(package: str) -> Plots:
    """Return the plots of a package: class of a result to its kinds, the default first."""
    if find_spec(f"{package}.plots") is None:
        return {}
    plots: Plots = import_module(f"{package}.plots").PLOTS
    return plots


def all_plots() -> Plots:
    """Return the plots of all studies."""
    plots: dict[str, Mapping[str, Plot]] = {}
    for study in STUDIES:
        plots |= study.plots
    return dict(sorted(plots.items()))
