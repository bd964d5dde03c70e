"""`steadyrank components`: which component of a grid matters, by how much?"""

from __future__ import annotations

from typing import Any

from steadyrank.cli import options as opt
from steadyrank.cli.command import subcommand
from steadyrank.cli.inputs import Inputs, load_scores, scores_options
from steadyrank.cli.output import Output
from steadyrank.errors import InputError

study_options = opt.options(
    {
        "--factors F,F,…": "Take the components from these run-info columns.",
        "--factors-from PATTERN": "Take the components from the runs' names, by a pattern such as "
        "'stop_stemmer_model_…' (… is any text) or a regular expression with named groups.",
        "--mode [sound|paper] = sound": "Choose the default of --strata: topic (sound), or none as "
        "published (paper).",
        "--strata [none|topic]": "Test against one residual, as published, or against interactions "
        "with topics [default: topic; none in mode paper].",
        "--level confidence (0,1) = 0.95": (
            "Compute Tukey's tests and intervals at this level of confidence.",
            opt.IS_LEVEL,
        ),
    }
)

showing_options = opt.together(opt.plot_option("means with HSD intervals"), opt.digits_option)


@subcommand("components")
@scores_options
@study_options
@showing_options
@opt.output_options
def command(inputs: Inputs, output: Output, **options: Any) -> None:
    """Analyse the variance of a grid of runs by component, with topics as blocks.

    Takes QRELS RUN... or scores (--scores FILE, -m NAME=FILE). Columns of --run-info FILE, or the
    runs' names, give the components of each run. Every combination must occur equally often. CSV
    holds the ANOVA table.
    """
    scores = load_scores(inputs, output)
    if output.plot is not None and len(scores.measures) > 1:
        raise InputError("--plot takes one measure: name it with -m")
    from steadyrank.studies.components.study import components
    from steadyrank.studies.components.view import VIEW

    results = [components(scores, measure=name, **options) for name in scores.measures]
    output.show(VIEW.text, results)
    output.draw(results[0])
