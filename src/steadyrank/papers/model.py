"""What a reproduction is made of: a paper's tables and figures, made again, and claims about them.

An exhibit says what must agree with the paper and whether it does; a figure that depends on the
paper's own data is drawn from the data at hand, and only its shape or its order can agree.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

from steadyrank.compute.executors import Progress
from steadyrank.errors import InputError
from steadyrank.notebook import Framed, shown_by
from steadyrank.present.page import PageFigure
from steadyrank.present.table import Table
from steadyrank.words import by_number, counted


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """How much of a paper to make again, by which random numbers, and who does it."""

    budget: str | int = "full"
    """"small", "full", or a number of samples."""
    seed: int = 0
    jobs: int | None = None
    progress: Progress | None = None

    @property
    def threads(self) -> dict[str, Any]:
        """What studies take to do it."""
        return {"jobs": self.jobs, "progress": self.progress}

    def number(self, *, small: int, full: int) -> int:
        """How many samples the budget stands for.

        >>> Work(budget="small").number(small=20, full=100), Work(budget=50).number(small=2, full=9)
        (20, 50)
        """
        budget = self.budget
        if isinstance(budget, int) and not isinstance(budget, bool) and budget >= 2:
            return budget
        if budget not in ("small", "full"):
            raise InputError(
                f"budget is 'small', 'full' or a number of samples of at least 2: {budget!r}"
            )
        return small if budget == "small" else full


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """One thing that must agree with the paper, and whether it does.

    `holds` is None where the data at hand cannot tell. `detail` gives the figures compared.
    """

    text: str
    holds: bool | None
    detail: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Exhibit:
    """A table or figure of a paper, made again."""

    id: str
    """As the paper calls it: "table-3", "figure-1"."""
    title: str
    tables: tuple[Table, ...] = ()
    """What the data at hand give, beside what is printed where the two are comparable."""
    figures: tuple[PageFigure, ...] = ()
    claims: tuple[Claim, ...] = ()
    explanation: str = ""
    """What differs from the paper's text, and why."""
    results: Mapping[str, Any] = field(default_factory=dict)

    def __repr__(self) -> str:
        return f"<Exhibit {self.id}: {self.title}; claims: {summary(self.claims)}>"


@dataclass(frozen=True, slots=True, kw_only=True)
@shown_by("papers.output:reproduction_text")
class Reproduction(Framed):
    """All exhibits of one paper, with the claims that must hold.

    Examples
    --------
    >>> import steadyrank as sr
    >>> made = sr.reproduce("lin2005", budget="small")
    >>> len(made.exhibits), all(claim.holds for claim in made.exhibits[0].claims)
    (4, True)
    """

    paper: str
    reference: str
    data: str
    """Which data the exhibits were made from, in words."""
    exhibits: tuple[Exhibit, ...]
    settings: Mapping[str, Any] = field(default_factory=dict)

    @property
    def claims(self) -> tuple[Claim, ...]:
        """Those of all exhibits, in their order."""
        return tuple(chain.from_iterable(exhibit.claims for exhibit in self.exhibits))

    def rows(self) -> list[dict[str, Any]]:
        """One dictionary per claim; `holds` is None where the data cannot tell."""
        return [
            {
                "exhibit": exhibit.id,
                "claim": claim.text,
                "holds": claim.holds,
                "figures": claim.detail,
            }
            for exhibit in self.exhibits
            for claim in exhibit.claims
        ]

    def __repr__(self) -> str:
        number = counted(len(self.exhibits), "exhibit")
        return f"<Reproduction of {self.paper}: {number}; claims: {summary(self.claims)}>"


def summary(claims: Sequence[Claim]) -> str:
    """How many claims hold, in words.

    >>> summary((Claim(text="a", holds=True), Claim(text="b", holds=None)))
    '1 of 2 holds; 1 cannot be decided from these data'
    """
    held, open_ = (sum(claim.holds is value for claim in claims) for value in (True, None))
    words = f"{held} of {len(claims)} {by_number(held, 'holds', 'hold')}"
    return f"{words}; {open_} cannot be decided from these data" if open_ else words
