"""How far can you trust this leaderboard?

    >>> import steadyrank as sr
    >>> track = sr.simulated_track(n_teams=3, runs_per_team=1, n_topics=20, depth=50, pool_depth=25)
    >>> scores = sr.evaluate(track.runs, track.qrels, ["nDCG@10", "AP"])
    >>> result = sr.compare(scores, measure="nDCG@10")
    >>> print(result.summary().splitlines()[0])
    team1-s1 leads; with 95% confidence no other of the 3 runs could be first.

`sr.read_run`, `sr.read_qrels` and `sr.read_scores` read files. Each question is one function:

=======================================================  ===============
Which runs are significantly better, and by how much?    `sr.compare`
Are systems with several runs equivalent?                `sr.instances`
Is a leaderboard over several datasets reliable?         `sr.datasets`
Which models win pairwise comparisons?                   `sr.battles`
Do the measures agree?                                   `sr.agree`
Which component of a grid of runs matters?               `sr.components`
Would other topics change the order?                     `sr.topics`
Would another document collection change it?             `sr.simulate`
Would complete judgments change it?                      `sr.holes`
Would other judges change it?                            `sr.judges`
How many topics are required?                            `sr.plan`
How stable is the collection?                            `sr.stability`
Is the pilot of a plan reliable?                         `sr.pools`
May this change ship?                                    `sr.gate`
All of these on one page                                 `sr.report`
=======================================================  ===============

`help(sr.compare)` documents one function. Results have `summary`, `to_frame`, `to_latex`, `plot`
and `describe`. `__init__.pyi` lists all public names, which are imported when first used.
"""

from __future__ import annotations

import difflib
import re
from pathlib import Path
from typing import Any

_IMPORT = re.compile(r"^from (\S+) import (\w+) as", re.MULTILINE)
_STUB = Path(__file__).with_suffix(".pyi").read_text("utf-8")
_HOMES = {name: home for home, name in _IMPORT.findall(_STUB)}
"""The module of each public name."""

__all__ = sorted(_HOMES)

_REMOVED = {"planner_page": "plot", "plan_instances": "stability", "rbo": "tau_ap"}
"""Removed names, and the nearest that there is."""


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        near = [_REMOVED[name]] if name in _REMOVED else difflib.get_close_matches(name, __all__, 1)
        meant = f": did you mean `sr.{near[0]}`?" if near else ""
        raise AttributeError(f"module 'steadyrank' has no attribute {name!r}{meant}")
    from importlib import import_module

    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
