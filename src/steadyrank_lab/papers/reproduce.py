"""`reproduce`: a paper's tables and figures, with the published values.

For anyone who wants to know whether a finding holds on other data, or whether this package computes
what the papers compute: every table and figure that shows results, on built-in data or one's own,
with what must agree and whether it does.
"""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from importlib import import_module
from typing import Any, Unpack

from steadyrank.compute.executors import Progress
from steadyrank.compute.random import Rng, seed_from
from steadyrank.data.read.runs import ReadingOptions
from steadyrank.data.read.sources import PathLike
from steadyrank.data.scores import Scores
from steadyrank.errors import SteadyrankWarning, bad_value, check_choice, warn
from steadyrank.measures.evaluate import Missing, NoRelevant, Ties
from steadyrank.present.figures import own_style
from steadyrank_lab.papers.data import Kind, PaperData, builtin_data, paper_data, with_measures
from steadyrank_lab.papers.model import Reproduction, Work

PAPERS: dict[str, Kind] = {
    "yang2018": "runs",
    "lin2005": "scores",
    "ferro2018": "grid",
    "jayasinghe2015": "instances",
    "sakai2016": "teams",
}
"""Papers, and the built-in data that their exhibits are made from unless others are given."""


@own_style()
def reproduce(
    paper: str,
    *,
    out: PathLike | None = None,
    runs: Any = None,
    qrels: Any = None,
    scores: Scores | PathLike | Sequence[PathLike] | None = None,
    measures: str | Iterable[str] = (),
    n_samples: int | None = None,
    budget: str = "full",
    missing: Missing = "zero",
    no_relevant: NoRelevant = "zero",
    ties: Ties = "trec_eval",
    score_source: str = "score",
    command: str = "",
    jobs: int | None = None,
    progress: Progress | None = None,
    rng: Rng = 0,
    **reading_options: Unpack[ReadingOptions],
) -> Reproduction:
    """Make a paper's tables and figures again.

    Every exhibit has claims: what must agree with the paper, and whether it does. A claim that does
    not hold on other data is a finding, not an error. What the data cannot support says so.

    Parameters
    ----------
    paper : str
        One of yang2018, lin2005, ferro2018, jayasinghe2015 and sakai2016.
    out : path, optional
        Folder for `index.html`, each table as CSV and LaTeX, each figure as SVG, and `claims.json`:
        all of them or none, and the same bytes for the same `rng` and any `jobs`.
    runs, qrels, scores : optional
        As in `report`; built-in data if nothing is given.
    measures : str or iterable of str
        Instead of the paper's.
    n_samples : int, optional
        Samples or trials, instead of the budget's.
    budget : str
        "full": on the built-in collection, a few minutes at most; or "small": a look at simulated
        data.
    missing, no_relevant, ties : str
        As in `evaluate`.
    score_source : str
        Of yang2018: simulate the runs' "score", or their "rank" where scores say little.
    command : str
        What the page gives as the way to make it again.
    jobs : int, optional
        Threads.
    progress : callable, optional
        Is given (finished, total) of the work.
    rng : int, Generator or None
        Seed.
    **reading_options : optional
        `name_from`, `duplicates`, `run_info`, `team_from` and `system_from`, as in `read_runs`.

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
    _check(n_samples, budget)
    check_choice("score source", score_source, ("score", "rank"))
    if score_source == "rank" and paper != "yang2018":
        raise bad_value("score_source", f"be left out for {paper}", score_source)
    from steadyrank_lab.papers.output import (
        check_folder,
        digest_of,
        reproduction_files,
        write_reproduction,
    )

    if out is not None:
        check_folder(out)
    names = [measures] if isinstance(measures, str) else list(measures)
    work = Work(
        budget=n_samples or budget,
        seed=seed,
        jobs=jobs,
        progress=progress,
        score_source=score_source,
    )
    data = paper_data(
        runs,
        qrels,
        scores=scores,
        measures=names,
        scoring={"missing": missing, "no_relevant": no_relevant, "ties": ties},
        **work.threads,
        **reading_options,
    )
    with _warned_once():
        if data is None:
            data = with_measures(builtin_data(PAPERS[paper], budget=budget, **work.threads), names)
        reproduction = maker(paper)(data, work)
    settings = {**reproduction.settings, "budget": work.budget, "seed": seed, **data.settings}
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


def _check(n_samples: Any, budget: Any) -> None:
    check_choice("budget", budget, ("small", "full"))
    whole = isinstance(n_samples, int) and not isinstance(n_samples, bool)
    if n_samples is not None and not (whole and n_samples >= 2):
        raise bad_value("samples", "be a whole number of at least 2", n_samples)
