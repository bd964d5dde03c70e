"""`steadyrank stability`: how stable is this collection, by generalizability theory?"""

from __future__ import annotations

from typing import Any

from steadyrank.cli import options as opt
from steadyrank.cli.command import subcommand
from steadyrank.cli.inputs import (
    Inputs,
    assigned,
    judge_option,
    load_graded,
    note_judges,
    scores_options,
)
from steadyrank.cli.output import Output
from steadyrank.errors import InputError


def _costs(ctx: Any, param: Any, value: str | None) -> dict[str, float] | None:
    """Parse NAME=X,…."""
    if value is None:
        return None
    how = "NAME=COST separated by commas, such as topic=2,judge=.02"
    given = assigned("--cost", filter(None, value.split(",")), how)
    try:
        return {name.strip(): float(cost) for name, cost in given.items()}
    except ValueError:
        raise InputError(f"--cost {value}: write {how}") from None


study_options = opt.options(
    {
        "--topics n_topics N,N,…": "Estimate stability for these numbers of topics.",
        "--levels L,L,… = 0.8,0.9,0.95": "Find the topics that these levels of stability require.",
        "--instances n_instances K,K,…": "Estimate stability for these numbers of instances "
        "[default: 1,2,5,10].",
        "--facets F,F,…": "Estimate components of these facets: judge, answer or draw [default: "
        "those of which the scores have several].",
        "--answers n_answers K,K,…": "Estimate standard errors for these numbers of answers.",
        "--judges n_judges K,K,…": "Estimate standard errors for these numbers of judges.",
        "--cost NAME=X,…": (
            "Find the cheapest numbers, given the cost of one topic, of one answer of a system, "
            "and of one grade by a judge, such as topic=2,answer=.01,judge=.02.",
            {"callback": _costs},
        ),
        "--target E float": "Plan for this standard error of a difference of two systems.",
        "--confidence = 0.95": "Compute intervals at this level of confidence.",
    }
)


@subcommand("stability")
@scores_options
@judge_option("Count these judgments and QRELS, or two or more of these, as judges: a facet.")
@study_options
@opt.plot_option("coefficients against topics, or shares of a difference,")
@opt.describe_option
@opt.digits_option
@opt.output_options
def command(inputs: Inputs, output: Output, judge_files: tuple[str, ...], **options: Any) -> None:
    """Decompose the variance of scores into systems, topics and the rest.

    Takes QRELS RUN... or --scores FILE. E rho² is how reliably the topics order systems like these,
    and Phi how reliably they measure them. Both are shown for other numbers of topics, with the
    topics required for given levels. If --run-info or --system-from say that runs are instances of
    systems, instances are a third facet. If scores have judges or answers (columns of a long table,
    or --judge), the variance of a difference of two systems is split into topics, judges, answers
    and the rest. CSV holds the figures by number of topics and instances, or topics, answers and
    judges.
    """
    scores = load_graded(inputs, output, judge_files)
    if len(scores.measures) > 1 and output.plot is not None:
        raise InputError("--plot takes one measure: name it with -m")
    if len(set(scores.run_info.get("judge", ()))) == 1:
        note_judges(scores)
    from steadyrank.studies.stability import facets_view
    from steadyrank.studies.stability.facets import FacetsResult
    from steadyrank.studies.stability.study import stability
    from steadyrank.studies.stability.view import VIEW

    options |= {"n_topics": options["n_topics"] or [], "rng": output.seed, "jobs": output.jobs}
    options |= {name: options[name] or () for name in ("n_answers", "n_judges")}
    options |= {"facets": options["facets"] or None, "costs": options.pop("cost")}
    results = tuple(stability(scores, measure=name, **options) for name in scores.measures)
    is_graded = isinstance(results[0], FacetsResult)
    output.show((facets_view.VIEW if is_graded else VIEW).text, results)
    output.draw(results[0])
