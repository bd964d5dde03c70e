"""`reproduce`: a paper's tables and figures, with the published values.

For anyone who wants to know whether this package computes what the papers compute: every table and
figure that shows results, on built-in data, with what must agree and whether it does.
"""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from importlib import import_module

from steadyrank.compute.executors import Progress
from steadyrank.compute.random import Rng, seed_from
from steadyrank.data.read.sources import PathLike
from steadyrank.errors import SteadyrankWarning, check_choice, warn
from steadyrank.present.figures import own_style
from steadyrank_lab.papers.data import Kind, PaperData, builtin_data
from steadyrank_lab.papers.model import Reproduction, Work
from steadyrank_lab.papers.output import (
    check_folder,
    digest_of,
    reproduction_files,
    write_reproduction,
)

PAPERS: dict[str, Kind] = {
    "yang2018": "runs",
    "lin2005": "scores",
    "ferro2018": "grid",
    "jayasinghe2015": "instances",
    "sakai2016": "teams",
}
"""Papers, and the built-in data that their exhibits are made from."""


@own_style()
def reproduce(
    paper: str,
    *,
    out: PathLike | None = None,
    budget: str = "full",
    command: str = "",
    jobs: int | None = None,
    progress: Progress | None = None,
    rng: Rng = 0,
) -> Reproduction:
    """Make a paper's tables and figures again.

    Every exhibit has claims: what must agree with the paper, and whether it does. A claim that does
    not hold on the built-in data is a finding, not an error. What the data cannot support says so.

    Parameters
    ----------
    paper : str
        One of yang2018, lin2005, ferro2018, jayasinghe2015 and sakai2016.
    out : path, optional
        Folder for `index.html`, each table as CSV and LaTeX, each figure as SVG, and `claims.json`:
        all of them or none, and the same bytes for the same `rng` and any `jobs`.
    budget : str
        "full": a few minutes at most; or "small": fewer systems and samples.
    command : str
        What the page gives as the way to make it again.
    jobs : int, optional
        Threads.
    progress : callable, optional
        Is given (finished, total) of the work.
    rng : int, Generator or None
        Seed.

    Returns
    -------
    Reproduction
        Exhibits with their tables, figures and claims.

    Examples
    --------
    >>> import steadyrank as sr
    >>> made = sr.reproduce("lin2005", budget="small")
    >>> [exhibit.id for exhibit in made.exhibits]
    ['table-1', 'equation-8', 'equation-9', 'equation-13']
    >>> made.exhibits[0].claims[0].holds
    True
    """
    seed = seed_from(rng)
    check_choice("paper", paper, PAPERS)
    check_choice("budget", budget, ("small", "full"))
    if out is not None:
        check_folder(out)
    work = Work(budget=budget, seed=seed, jobs=jobs, progress=progress)
    with _warned_once():
        data = builtin_data(PAPERS[paper], budget=budget, **work.threads)
        reproduction = maker(paper)(data, work)
    settings = {**reproduction.settings, "budget": budget, "seed": seed, **data.settings}
    settings["digest"] = digest_of(reproduction.exhibits)
    reproduction = replace(reproduction, settings=settings)
    if out is not None:
        write_reproduction(reproduction_files(reproduction, command=command), out)
    return reproduction


def maker(paper: str) -> Callable[[PaperData, Work], Reproduction]:
    """Return the function that makes a paper's exhibits, imported now."""
    module = import_module(f"steadyrank_lab.papers.{paper}")
    make: Callable[[PaperData, Work], Reproduction] = getattr(module, paper)
    return make


@contextlib.contextmanager
def _warned_once() -> Iterator[None]:
    """Several studies look at the same data: each warning of theirs is given once."""
    with warnings.catch_warnings(record=True) as raised:
        warnings.simplefilter("always", SteadyrankWarning)
        yield
    for message in dict.fromkeys(str(warning.message) for warning in raised):
        warn(message, stacklevel=5)
