"""`reproduce`: a paper's tables and figures made again, beside the published ones.

For whoever wants to know whether a finding holds on other data, or whether this package computes
what the papers compute: every table and figure that shows results, on built-in data or one's own,
with what must agree and whether it does.
"""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any

from steadyrank.compute.executors import Progress
from steadyrank.compute.random import Rng, seed_from
from steadyrank.data.read.run_files import NameFrom
from steadyrank.data.read.sources import PathLike
from steadyrank.data.run import Duplicates
from steadyrank.data.scores import Scores
from steadyrank.errors import InputError, SteadyrankWarning, unknown_name
from steadyrank.measures.evaluate import Missing, NoRelevant, Ties
from steadyrank.papers.builtin import Kind, builtin_data
from steadyrank.papers.data import paper_data, with_measures
from steadyrank.papers.model import Reproduction
from steadyrank.present.figures import own_style


@dataclass(frozen=True, slots=True)
class Paper:
    """A paper, and the built-in data that its exhibits are made from unless others are given."""

    title: str
    kind: Kind

    def maker(self, name: str) -> Callable[..., Reproduction]:
        """The function that makes its exhibits, imported now."""
        maker: Callable[..., Reproduction] = getattr(
            import_module(f"steadyrank.papers.{name}.exhibits"), name
        )
        return maker


PAPERS = {
    "yang2018": Paper("per-topic variance by simulated scores", "runs"),
    "lin2005": Paper("topic set size and retrieval error", "scores"),
    "ferro2018": Paper("topic and system size and the correlation of measures", "grid"),
    "jayasinghe2015": Paper("comparing non-deterministic systems", "instances"),
    "sakai2016": Paper("estimating variances for topic set size design", "teams"),
}


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
    name_from: NameFrom = "tag",
    duplicates: Duplicates = "error",
    run_info: PathLike | None = None,
    team_from: str | None = None,
    system_from: str | None = None,
    command: str = "",
    jobs: int | None = None,
    progress: Progress | None = None,
    rng: Rng = 0,
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
    missing, no_relevant, ties, name_from, duplicates, run_info, team_from, system_from : optional
        As in `evaluate`.
    command : str
        What the page gives as the way to make it again.
    jobs : int, optional
        Threads.
    progress : callable, optional
        Is given (finished, total) of the work.
    rng : int, Generator or None
        Seed.

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
    if paper not in PAPERS:
        raise unknown_name("paper", str(paper), PAPERS)
    _check(n_samples, budget)
    if out is not None:
        from steadyrank.papers.output import check_folder

        check_folder(out)
    asked = [measures] if isinstance(measures, str) else list(measures)
    working: dict[str, Any] = {"jobs": jobs, "progress": progress}
    data = paper_data(
        runs,
        qrels,
        scores=scores,
        measures=asked,
        run_info=run_info,
        team_from=team_from,
        system_from=system_from,
        name_from=name_from,
        duplicates=duplicates,
        missing=missing,
        no_relevant=no_relevant,
        ties=ties,
        **working,
    )
    with _told_once():
        if data is None:
            data = with_measures(builtin_data(PAPERS[paper].kind, budget=budget, **working), asked)
        made = PAPERS[paper].maker(paper)(data, budget=n_samples or budget, rng=seed, **working)
    settings = {**made.settings, "budget": n_samples or budget, "seed": seed, **data.settings}
    made = replace(made, settings=settings)
    if out is not None:
        from steadyrank.papers.output import reproduction_files, write_reproduction

        write_reproduction(reproduction_files(made, command=command), out)
    return made


@contextlib.contextmanager
def _told_once() -> Iterator[None]:
    """Several studies look at the same data: what they warn of is told once."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always", SteadyrankWarning)
        yield
    for message in dict.fromkeys(str(warning.message) for warning in told):
        warnings.warn(message, SteadyrankWarning, stacklevel=4)


def _check(n_samples: Any, budget: Any) -> None:
    if budget not in ("small", "full"):
        raise unknown_name("budget", str(budget), ("small", "full"))
    whole = isinstance(n_samples, int) and not isinstance(n_samples, bool)
    if n_samples is not None and not (whole and n_samples >= 2):
        raise InputError(f"samples must be a whole number from 2 on, got {n_samples!r}")
