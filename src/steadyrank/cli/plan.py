"""`steadyrank plan`: how many topics, for which power, and how safe is the pilot?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from steadyrank.cli.inputs import load_scores, scores_options, split_assignment
from steadyrank.cli.options import (
    digits_option,
    measures_option,
    output_options,
    plot_option,
    together,
)
from steadyrank.cli.output import (
    check_files,
    choose_format,
    draw,
    emit,
    progress_bar,
    tell_if_compiling,
    terminal_looks,
    told_on_stderr,
)
from steadyrank.errors import InputError

if TYPE_CHECKING:
    from steadyrank.data.scores import Scores

design_options = together(
    click.option(
        "--variance",
        "variances",
        multiple=True,
        metavar="[M=]V",
        help="Of a system's scores over topics, instead of pilot data; "
        "NAME=V once for each of several measures.",
    ),
    click.option(
        "--minimum-difference",
        type=float,
        metavar="D",
        help="To show: between the best and the worst system, or between two.",
    ),
    click.option("--systems", type=int, metavar="M", help="Systems that ANOVA will compare."),
    click.option(
        "--method",
        type=click.Choice(["anova", "ttest", "interval"]),
        default="anova",
        show_default=True,
        help="One-way ANOVA of M systems, a t test or an interval of two.",
    ),
    click.option(
        "--formula",
        type=click.Choice(["exact", "nagata"]),
        default="exact",
        show_default=True,
        help="Exact distributions, or the published approximations.",
    ),
    click.option(
        "--paired/--unpaired",
        default=None,
        help="ttest, interval: do both systems have the same topics? [default: paired]",
    ),
    click.option(
        "--difference-variance",
        metavar="V|pilot|twice",
        help="Paired: variance of differences by topic; pilot: mean over the pilot's "
        "pairs of runs; twice: two times the variance "
        "[default: pilot where it has pairs].",
    ),
    click.option("--width", type=float, metavar="W", help="interval: its expected full width."),
    click.option(
        "--alpha", type=float, default=0.05, show_default=True, help="Level of significance."
    ),
    click.option(
        "--beta",
        type=float,
        default=0.2,
        show_default=True,
        help="Chance to miss the minimum difference: 1 - power.",
    ),
    click.option(
        "--comparisons",
        type=int,
        default=1,
        show_default=True,
        metavar="K",
        help="ttest, interval: keep alpha over K comparisons.",
    ),
    click.option(
        "--topics",
        type=int,
        metavar="N",
        help="Show the power and the smallest difference that N topics buy.",
    ),
    click.option(
        "--confidence",
        type=float,
        default=0.95,
        show_default=True,
        help="Of the intervals that pilot data give.",
    ),
)

budget_options = together(
    click.option(
        "--minutes-per-document",
        type=float,
        metavar="T",
        help="An assessor's time; gives hours and the cheapest measure.",
    ),
    click.option(
        "--documents-per-topic",
        multiple=True,
        metavar="[M=]K",
        help="To judge; M=K for one measure.",
    ),
    click.option(
        "--pool-depth",
        multiple=True,
        metavar="[M=]K",
        help="Instead: at most systems × K documents a topic.",
    ),
)


@click.command("plan")
@scores_options
@measures_option
@design_options
@budget_options
@plot_option("topics by difference and systems, and power by topics,")
@digits_option
@output_options
def command(
    files: tuple[str, ...],
    scores_files: tuple[str, ...],
    measures: tuple[str, ...],
    variances: tuple[str, ...],
    minimum_difference: float | None,
    systems: int | None,
    method: Any,
    formula: Any,
    paired: bool | None,
    difference_variance: str | None,
    width: float | None,
    alpha: float,
    beta: float,
    topics: int | None,
    comparisons: int,
    confidence: float,
    minutes_per_document: float | None,
    documents_per_topic: tuple[str, ...],
    pool_depth: tuple[str, ...],
    plot: str | None,
    digits: int,
    form: str | None,
    output: str | None,
    seed: int,
    quiet: bool,
    **options: Any,
) -> None:
    """Find how many topics a collection needs.

    From a --variance, or from pilot data: QRELS RUN... or --scores FILE, any number of
    measures. Pilot data also give the interval of the variance and the topics at its ends.
    The variance is that of one-way ANOVA and contains the topics' difficulty; an analysis
    that pairs by topic needs fewer topics, which the table shows beside it.
    """
    kind = choose_format(form, output)
    check_files(output, plot)
    with told_on_stderr(quiet), progress_bar("runs", quiet) as progress:
        wanted: dict[str, Any] = {
            "variance": _named_variances(variances, measures),
            "difference_variance": _number_or_pilot(difference_variance),
            "documents_per_topic": _by_name("--documents-per-topic", documents_per_topic),
            "pool_depth": _by_name("--pool-depth", pool_depth),
        }
        scores = _pilot(files, scores_files, measures, wanted, progress=progress, **options)
        from steadyrank.studies.plan.study import plan
        from steadyrank.studies.plan.tables import plan_text

        result = plan(
            scores,
            **wanted,
            minimum_difference=minimum_difference,
            systems=systems,
            method=method,
            formula=formula,
            paired=paired,
            width=width,
            alpha=alpha,
            beta=beta,
            n_topics=topics,
            comparisons=comparisons,
            confidence=confidence,
            minutes_per_document=minutes_per_document,
        )
        text = plan_text(result, kind, digits=digits, **terminal_looks(output))
    emit(text, output)
    draw(result, plot, quiet)


def _pilot(
    files: tuple[str, ...],
    scores_files: tuple[str, ...],
    measures: tuple[str, ...],
    wanted: dict[str, Any],
    **options: Any,
) -> Scores | None:
    """The pilot data, unless a variance is given instead."""
    has_pilot = bool(files or scores_files) or any(
        path for _, path in map(split_assignment, measures)
    )
    has_variance = wanted["variance"] is not None
    if has_variance and has_pilot:
        raise InputError("give either --variance or pilot data, not both")
    is_known = isinstance(wanted["difference_variance"], float)
    if not has_pilot and not has_variance and not is_known:
        raise InputError(
            "give --variance V, or pilot data to estimate it: QRELS RUN... or --scores FILE"
        )
    if not has_pilot:
        return None
    tell_if_compiling(quiet=options.get("progress") is None)
    return load_scores(files, scores_files, measures, **options)


def _named_variances(
    texts: tuple[str, ...], measures: tuple[str, ...]
) -> float | dict[str, float] | None:
    """As `_by_name`; a single measure may also stand after -m."""
    found = _by_name("--variance", texts)
    if found is None or not measures:
        return found
    if isinstance(found, dict) or len(measures) > 1:
        raise InputError("write --variance NAME=V once for each measure, without -m")
    return {measures[0]: found}


def _by_name(option: str, texts: tuple[str, ...]) -> float | dict[str, float] | None:
    """One number for all measures, or one for each NAME=NUMBER."""
    if not texts:
        return None
    if len(texts) == 1 and split_assignment(texts[0])[1] is None:
        return _number(option, texts[0])
    named: dict[str, float] = {}
    for text in texts:
        name, value = split_assignment(text)
        if value is None:
            raise InputError(f"{option} {text}: write NAME=NUMBER for each of several measures")
        if name in named:
            raise InputError(f"{option}: {name} is given twice")
        named[name] = _number(option, value)
    return named


def _number_or_pilot(text: str | None) -> Any:
    if text in (None, "pilot", "twice"):
        return text
    return _number("--difference-variance", text)


def _number(option: str, text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise InputError(f"{option}: {text!r} is not a number") from None
