"""`steadyrank instances`: compare non-deterministic systems; equivalence."""

from __future__ import annotations

import math
from typing import Any

from steadyrank.cli import options as opt
from steadyrank.cli.command import subcommand
from steadyrank.cli.inputs import Inputs, load_scores, scores_options
from steadyrank.cli.output import Output
from steadyrank.errors import InputError

pair_options = opt.options(
    {
        "--a SYSTEM": "Compare this system, whose runs are its instances.",
        "--b SYSTEM": "Compare with this system: --a, or else every other system.",
        "--delta = 0.01": "Set the smallest difference that matters.",
        "--alpha = 0.05": "Test at this level of significance.",
        "--sweep FACTOR": "Compare each setting of a run-info column with b, and find the smallest "
        "that is not worse by delta.",
        "--instance-factors F,F,…": "Nest instances in these run-info columns, largest first.",
        "--mode [sound|paper] = sound": "Decide by the sound mixed model, or by that of Jayasinghe "
        "et al. 2015.",
    }
)

sampling_options = opt.options(
    {
        "--posterior/--no-posterior": (
            "Sample from the posterior; takes seconds where instances lack topics.",
            {"default": True},
        ),
        "--draws n_draws 100.. = 4000": "Draw this often from the posterior.",
        "--samples n_samples 1.. = 10000": "Draw this many samples in the two-way bootstrap.",
        "--samples-per-instance 1.. = 1000": "Draw this many samples per instance in Algorithm 2 "
        "of Jayasinghe et al. 2015.",
    }
)

showing_options = opt.together(
    opt.plot_option(),
    opt.output_options_of(
        {
            "--plot-kind [margin|means|topics|contradictions|pools|sorted|agreement] = margin": (
                "Draw differences and margin, means of instances, spread by topic; or, against a "
                "single run, what each instance says alone, p-values by number of instances, "
                "sorted p-values, or those of two tests against each other.",
                {},
            )
        }
    ),
    opt.describe_option,
    opt.digits_option,
)

plan_options = opt.options(
    {
        "--plan": "Plan how many topics and instances are required, by the variances of a and b.",
        "--claim [equivalent|non_inferior|different]": "Plan to show this [default: equivalence "
        "within delta].",
        "--difference D float": "Plan for this true difference [default: 0; required to plan for "
        "different].",
        "--power float": "Plan for this power [default: 0.8].",
        "--cost-per-topic C float": "Count this cost per topic [default: 1].",
        "--cost-per-instance C float": "Count this cost per instance [default: 1].",
        "--topics n_topics N int": "Plan instances alone, with N topics.",
        "--instances n_instances M int": "Plan topics alone, with M instances.",
    }
)

COSTS = ("cost_per_topic", "cost_per_instance")
PLAN = ("claim", "difference", "power", *COSTS, "n_topics", "n_instances")


@subcommand("instances")
@scores_options
@pair_options
@sampling_options
@plan_options
@showing_options
@opt.output_options
def command(inputs: Inputs, output: Output, plan: bool, plot_kind: str, **study: Any) -> None:
    """Compare systems whose runs are instances, such as seeds, samples or approximations.

    Takes QRELS RUN... or --scores FILE; --run-info or --system-from say which runs are instances of
    which system. With --a and --b, compares that pair; otherwise all systems with --b, or all
    pairs, corrected by Holm's method. The results are about other topics and other instances. CSV
    holds one row per comparison, JSON everything.
    """
    asked = {name: value for name in PLAN if (value := study.pop(name)) is not None}
    _check_plan(plan, output.plot, study, asked)
    study |= {"jobs": output.jobs, "rng": output.seed}
    scores = load_scores(inputs, output)
    if len(scores.measures) > 1 and (plan or output.plot is not None):
        raise InputError("--plan and --plot take one measure: name it with -m")
    from steadyrank.studies.instances.study import instances

    with output.progress("comparisons") as progress:
        study["progress"] = progress
        results = [instances(scores, measure=name, **study) for name in scores.measures]
    from steadyrank.studies.instances.view import PLAN_VIEW, VIEW

    if plan:
        output.show(PLAN_VIEW.text, _planned(results[0], asked))
    else:
        output.show(VIEW.text, results)
    output.draw(results[0], kind=plot_kind)


def _check_plan(plan: bool, plot: str | None, study: dict[str, Any], asked: dict[str, Any]) -> None:
    """Refuse what a plan cannot use, and options that only a plan does; plan without sampling."""
    if not plan:
        if asked:
            option = "--" + next(iter(asked)).removeprefix("n_").replace("_", "-")
            raise InputError(f"{option} belongs to --plan: give that as well")
        return
    if study["a"] is None or study["b"] is None or study["sweep"] is not None:
        raise InputError("--plan is based on the variances of one pair: name it with --a and --b")
    if plot is not None:
        raise InputError("--plan has no plot: omit --plot")
    study |= {"posterior": False, "n_samples": 1, "samples_per_instance": 1}


def _planned(result: Any, asked: dict[str, Any]) -> Any:
    """The plan by the variances found, and by the largest variance of instances if it has one."""
    from steadyrank.studies.instances.view import Planned

    plans = [result.plan(**asked)]
    span = result.variance_interval.get("instance")
    if span is not None and math.isfinite(span[1]):
        plans.append(result.plan(cautious=True, **asked))
    return Planned(plans, result)
