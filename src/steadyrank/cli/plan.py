"""`steadyrank plan`: how many topics, for which power, and how safe is the pilot?"""

from __future__ import annotations

from typing import Any

from steadyrank.cli import options as opt
from steadyrank.cli.command import subcommand
from steadyrank.cli.inputs import Inputs, assigned, load_scores, scores_options, split_assignment
from steadyrank.cli.output import Output
from steadyrank.errors import InputError

design_options = opt.options(
    {
        "--variance variances [M=]V ...": "Give the variance of a system's scores over topics "
        "instead of pilot data; for several measures, give NAME=V once for each.",
        "--method [anova|ttest|interval]": "Plan for one-way ANOVA of M systems, a t test or an "
        "interval of two [default: ttest of a pilot without --systems, else anova].",
        **opt.PLANNING,
        "--formula [corrected|exact|nagata]": "Plan for the corrected t test of compare, for the "
        "published tests by exact distributions, or by the published approximations [default: "
        "corrected for paired t tests of pilot data, else exact].",
        "--difference-variance V|pilot|twice": "Use this variance of paired differences per "
        "topic: a number; the mean over the pilot's pairs of runs (pilot); or twice the variance "
        "(twice) [default: pilot if there are pairs].",
        "--topics n_topics N int": "Show the power and the smallest detectable difference with N "
        "topics.",
    }
)


@subcommand("plan")
@scores_options
@design_options
@opt.topic_options
@opt.plot_option("topics by difference and systems, and power by topics,")
@opt.describe_option
@opt.digits_option
@opt.output_options
def command(
    inputs: Inputs,
    output: Output,
    variances: tuple[str, ...],
    topic_info: str | None,
    cluster_from: str | None,
    **demands: Any,
) -> None:
    """Compute how many topics a collection requires.

    Takes a --variance, or pilot data: QRELS RUN... or --scores FILE, any number of measures. From
    pilot data alone, it computes the topics that a paired t test requires for the difference
    between the first two runs and for a grid of differences, an interval for the variance, and the
    topics at its ends. The variance of one-way ANOVA (--method anova) includes differences in
    difficulty between topics; an analysis that pairs by topic requires fewer topics.
    """
    demands["variance"] = _named_variances(variances, inputs.measures)
    of_differences = demands["difference_variance"]
    if of_differences not in (None, "pilot", "twice"):
        demands["difference_variance"] = _number("--difference-variance", of_differences)
    pilot = None
    if _has_pilot(inputs, demands):
        from steadyrank.data.read.run_info import describe_topics

        scores = load_scores(inputs, output)
        pilot = describe_topics(scores, topic_info=topic_info, cluster_from=cluster_from)
    from steadyrank.studies.plan.study import plan
    from steadyrank.studies.plan.view import VIEW

    result = plan(pilot, **demands)
    output.show(VIEW.text, result)
    output.draw(result)


def _has_pilot(inputs: Inputs, demands: dict[str, Any]) -> bool:
    """Return whether there are pilot data, which a variance can replace."""
    has_pilot = bool(inputs.files) or inputs.has_scores
    has_variance = demands["variance"] is not None
    if has_variance and has_pilot:
        raise InputError("give either --variance or pilot data, not both")
    is_known = isinstance(demands["difference_variance"], float)
    if not has_pilot and not has_variance and not is_known:
        raise InputError(
            "give --variance V, or pilot data to estimate it: QRELS RUN... or --scores FILE"
        )
    return has_pilot


def _named_variances(
    texts: tuple[str, ...], measures: tuple[str, ...]
) -> float | dict[str, float] | None:
    """Return the variances by measure; a single one may be named by -m."""
    if not texts:
        return None
    is_bare = len(texts) == 1 and split_assignment(texts[0])[1] is None
    if len(measures) > is_bare:
        raise InputError("write --variance NAME=V once for each measure, without -m")
    if is_bare:
        variance = _number("--variance", texts[0])
        return {measures[0]: variance} if measures else variance
    named = assigned("--variance", texts, "NAME=NUMBER for each of several measures")
    return {name: _number("--variance", value) for name, value in named.items()}


def _number(option: str, text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise InputError(f"{option}: {text!r} is not a number") from None
