"""`planner_page`: from topics to certainty, on one page for whoever builds a collection.

For organisers with a plan, or without any data: the page needs no network and no steadyrank, and
every number on it is the planner's own (Sakai & Shang, EVIA 2016; Lin & Hauptmann, SIGIR 2005).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from steadyrank._version import __version__
from steadyrank.compute.files import write_whole
from steadyrank.data.read.sources import PathLike
from steadyrank.errors import InputError
from steadyrank.present.cells import table
from steadyrank.present.page import Page, Section
from steadyrank.present.page_html import page_html
from steadyrank.present.slider import PageSlider, Readout, shown
from steadyrank.present.table import Cell, Table
from steadyrank.stats.planning.demands import (
    Demands,
    Formula,
    Method,
    check_demands,
    check_positive,
    check_whole,
)
from steadyrank.studies.plan.result import PlanResult
from steadyrank.studies.plan.slider import (
    USUAL_SYSTEMS,
    Grid,
    plan_grid,
    plan_slider,
    standard_grid,
    tabulate,
)

TITLE = "How many topics?"
LEAD = "Move the slider and state what you expect; power, precision and cost follow."
ROWS = (10, 15, 20, 25, 30, 40, 50, 75, 100, 150, 200, 300, 400, 500, 750, 1000)
"""Numbers of topics of the table below the slider."""


def planner_page(
    plan: PlanResult | None = None,
    *,
    out: PathLike = "planner.html",
    method: Method = "ttest",
    formula: Formula = "exact",
    paired: bool | None = None,
    minimum_difference: float | None = None,
    systems: int | None = None,
    n_topics: int | None = None,
    alpha: float = 0.05,
    beta: float = 0.2,
    documents_per_topic: float | None = None,
    minutes_per_document: float | None = None,
    title: str | None = None,
    command: str = "",
) -> Path:
    """Write a page with a slider from topics to certainty, whole or not at all.

    The reader moves topics and chooses the difference that matters, how much scores vary, and how
    many systems are compared; the page shows power, the minimum detectable difference, the width of
    intervals, how often two experiments contradict each other, and the hours of judging.

    Parameters
    ----------
    plan : PlanResult, optional
        The result of `plan`: the page opens with it, and its design, error rates and variances
        are those of the page. Without one, standard deviations from 0.05 to 0.5 can be chosen.
    out : path
        The page.
    method, formula, paired, minimum_difference : optional
        As in `plan`; those of the plan where one is given. Without one, paired t tests.
    systems : int, optional
        A number of systems to choose beside 2, 3, 5, 10, 20, 50 and 100.
    n_topics : int, optional
        Topics that the page opens with, where no plan is given: 50 unless named.
    alpha, beta : float
        As in `plan`; those of the plan where one is given.
    documents_per_topic, minutes_per_document : float, optional
        What stands at first in the page's fields, from which it computes hours: those of the
        plan, else 50 and 1.
    title : str, optional
        Of the page.
    command : str
        What the page gives as the way to make it again.

    Returns
    -------
    Path
        Where the page is.

    Notes
    -----
    Numbers are tabulated, not interpolated: the page shows what `plan(n_topics=...)` gives and
    what `topics.error_rate` says of a true difference. Topics are taken for independent draws, and
    scores for normal. Without a plan, reversals assume what the page says about differences.

    Examples
    --------
    >>> import steadyrank as sr, tempfile, os
    >>> result = sr.plan(variance=0.114, minimum_difference=0.15, systems=10)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     page = sr.planner_page(result, out=os.path.join(folder, "planner.html"))
    ...     text = page.read_text("utf-8")
    >>> "160" in text, "How many topics?" in text
    (True, True)
    """
    target = Path(out)
    if target.is_dir():
        raise InputError(f"{target}: this is a folder: name a file, such as planner.html")
    for name, value in {
        "documents per topic": documents_per_topic,
        "minutes per document": minutes_per_document,
    }.items():
        if value is not None:
            check_positive(name, value)
    if plan is None:
        grid = _assumed_grid(
            systems,
            n_topics,
            method=method,
            formula=formula,
            paired=paired,
            minimum_difference=minimum_difference,
            alpha=alpha,
            beta=beta,
        )
    else:
        grid = plan_grid(plan)
        documents_per_topic = documents_per_topic or plan.plans[0].documents_per_topic
        minutes_per_document = minutes_per_document or plan.minutes_per_document
    slider = plan_slider(
        grid,
        tabulate(grid),
        documents_per_topic=documents_per_topic,
        minutes_per_document=minutes_per_document,
    )
    write_whole(target, page_html(_page(plan, grid, slider, title or TITLE, command)))
    return target


def _assumed_grid(
    systems: int | None, n_topics: int | None, *, method: Method, **asked: Any
) -> Grid:
    """The usual assumptions around what was requested."""
    if systems is not None:
        check_whole("systems", systems)
    of_anova = (systems or USUAL_SYSTEMS) if method == "anova" else None
    # Given topics, a minimum difference or a width may be left open.
    demands = check_demands(method=method, systems=of_anova, topics=n_topics or 2, **asked)
    return standard_grid(demands, systems=systems, n_topics=n_topics)


def _page(
    plan: PlanResult | None, grid: Grid, slider: PageSlider, title: str, command: str
) -> Page:
    subtitle = (
        "for organisers of an evaluation" if plan is None else plan.caption().partition(";")[0]
    )
    return Page(
        title=title,
        subtitle=f"{subtitle}; steadyrank {__version__}",
        lead=(LEAD,),
        sections=(
            Section(
                id="planner",
                title="From topics to certainty",
                question="What do more topics gain, and what do they cost?",
                sliders=(slider,),
                tables=(_table(slider),),
                means=_means(grid.demands),
                means_not=_means_not(grid.demands, plan),
            ),
        ),
        command=command,
        notes=NOTES,
    )


NOTES = {
    "power": "The probability that a test detects a true difference.",
    "reversals": (
        "The probability that two experiments, each on its own topics, order two systems "
        "differently."
    ),
}


def first_row(slider: PageSlider, readout: Readout) -> list[float | None]:
    """The numbers of a readout along the slider, for the choices that stand there at first."""
    chosen = {choice.key: choice.first for choice in slider.choices}
    shape = [
        len(choice.options) for key in readout.by for choice in slider.choices if choice.key == key
    ]
    place = np.ravel_multi_index([chosen[key] for key in readout.by], shape)
    row = readout.rows[readout.places[int(place)]]
    return [row[min(k, len(row) - 1)] for k in range(len(slider.values))]


def _table(slider: PageSlider) -> Table:
    """What stands on the page at first, for some numbers of topics: for print and for copying."""
    readouts = [readout for readout in slider.readouts if readout.key != "needed"]
    columns = {readout.key: first_row(slider, readout) for readout in readouts}
    first = slider.values[slider.first]
    rows = [
        [
            Cell(f"{n:,}", float(n)),
            *(
                Cell(shown(readout, columns[readout.key][k]), columns[readout.key][k])
                for readout in readouts
            ),
        ]
        for k, n in enumerate(slider.values)
        if n in ROWS or n == first
    ]
    chosen = ", ".join(
        f"{choice.label.lower()} {choice.options[choice.first]}" for choice in slider.choices
    )
    caption = f"What topics gain under the choices with which the page opens: {chosen}."
    header = [slider.label.lower(), *(readout.label.lower() for readout in readouts)]
    return table("planner-topics", caption, header, rows)


def _means(demands: Demands) -> str:
    compared = (
        "ANOVA assumes the worst case: one system at each end, and all others in the middle."
        if demands.method == "anova"
        else "Where several systems are compared together, alpha is controlled over all their "
        "pairs by Bonferroni's correction."
    )
    return (
        "Power is exact, by noncentral distributions. The minimum detectable difference is "
        "the smallest true difference that this number of topics detects with power "
        f"{1 - demands.beta:g}. {compared} Reversals are for two experiments with this number "
        "of topics each, in one of which the better system may score lower."
    )


def _means_not(demands: Demands, plan: PlanResult | None) -> str:
    has_pilot = plan is not None and plan.plans[0].pilot is not None
    source = (
        "The pilot's variance is an estimate: look at the upper end of its interval as well."
        if has_pilot
        else "Nothing here says how much the scores will vary: estimate that from a pilot or from "
        "a similar collection."
    )
    alone = (
        " Reversals are computed as if the scores of two systems were uncorrelated."
        if demands.method == "anova" and not has_pilot
        else ""
    )
    return (
        "This is a forecast for normally distributed scores and independent topics. "
        f"{source}{alone} The same difference does not mean the same on every measure."
    )
