"""`steadyrank instances`: compare non-deterministic systems; equivalence."""

from __future__ import annotations

from typing import Any

from steadyrank.cli import options as opt
from steadyrank.cli.command import subcommand
from steadyrank.cli.inputs import Inputs, load_scores, scores_options
from steadyrank.cli.output import Output
from steadyrank.errors import InputError

pair_options = opt.options(
    {
        "--a SYSTEM": "Compare this system, whose runs are its instances.",
        "--b SYSTEM": "Compare --a with this system; without --a, every other system.",
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
            "Sample from the posterior, which takes seconds if instances lack topics.",
            {"default": True},
        ),
        "--draws n_draws 100.. = 4000": "Draw this many samples from the posterior.",
        "--samples n_samples 1.. = 10000": "Draw this many samples in the two-way bootstrap.",
        "--samples-per-instance 1.. = 1000": "Draw this many samples per instance in Algorithm 2 "
        "of Jayasinghe et al. 2015.",
    }
)

showing_options = opt.together(
    opt.plot_option(),
    opt.output_options_of(
        {
            "--plot-kind [margin|means|topics] = margin": "Draw differences and margin, means of "
            "instances, or spread by topic."
        }
    ),
    opt.describe_option,
    opt.digits_option,
)


@subcommand("instances")
@scores_options
@pair_options
@sampling_options
@showing_options
@opt.output_options
def command(inputs: Inputs, output: Output, plot_kind: str, **study: Any) -> None:
    """Compare systems whose runs are instances, such as seeds, samples or approximations.

    Takes QRELS RUN... or --scores FILE; --run-info or --system-from say which runs are instances of
    which system. Compares --a with --b, all systems with --b, or all pairs, corrected by Holm's
    method. The results are about other topics and other instances. CSV holds one row per
    comparison, JSON everything.
    """
    study |= {"jobs": output.jobs, "rng": output.seed}
    scores = load_scores(inputs, output)
    if len(scores.measures) > 1 and output.plot is not None:
        raise InputError("--plot takes one measure: name it with -m")
    from steadyrank.studies.instances.study import instances

    with output.progress("comparisons") as progress:
        study["progress"] = progress
        results = [instances(scores, measure=name, **study) for name in scores.measures]
    from steadyrank.studies.instances.view import VIEW

    output.show(VIEW.text, results)
    output.draw(results[0], kind=plot_kind)
