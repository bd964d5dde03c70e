"""`steadyrank judges`: would other judges change it?"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from steadyrank.cli import options as opt
from steadyrank.cli.command import subcommand
from steadyrank.cli.inputs import (
    Inputs,
    judge_option,
    named_files,
    qrels_and_runs,
    read_score_files,
    score_files,
    scores_options,
)
from steadyrank.cli.output import Output, tell_if_compiling
from steadyrank.errors import InputError

if TYPE_CHECKING:
    from steadyrank.studies.judges.result import JudgesResult


study_options = opt.together(
    judge_option(
        "Correct and audit the judge with this name [default: that of the file] and these "
        "judgments; repeat for more."
    ),
    opt.options(
        {
            "--judge-scores [NAME=]FILE ...": "Read a judge's scores instead of judgments; "
            "people's scores are in --scores FILE.",
            "--about [these|other] = other": "Rank the runs on these topics, of which people "
            "judged a sample, or on other topics like these.",
            "--kin REGEX": "Test whether the judges favour runs whose names match.",
            "--kin-near": "Compare kin only with runs whose mean is within the range of theirs.",
            "--top N int": "Also show tau of the best N runs.",
            "--width = 0.1": "Plan topics for intervals of a difference of this width.",
            "--minimum-difference D = 0.05": "Plan topics to find this difference.",
            "--power (0,1) = 0.8": "Plan topics for this power.",
            **opt.ALPHA,
            "--samples n_samples 1.. = 10000": "Draw this many sign flips.",
        }
    ),
)


@subcommand("judges")
@scores_options
@study_options
@opt.plot_option("the three rankings of the first judge")
@opt.describe_option
@opt.digits_option
@opt.output_options
def command(
    inputs: Inputs,
    output: Output,
    judge_files: tuple[str, ...],
    judge_scores: tuple[str, ...],
    **options: Any,
) -> None:
    """Correct judgments by language models, or by any other judge, using judgments by people.

    Takes QRELS by people and RUN..., and a judge who judged the same topics and more, or the scores
    by both; and one measure [default: nDCG@10]. People's topics are assumed to be a random sample.
    Shows the corrected ranking next to that by people alone and that by the judge alone, and how
    well the judge agrees with people. CSV holds the runs, JSON everything.
    """
    tell_if_compiling(output.quiet)
    options |= {"rng": output.seed, "jobs": output.jobs}
    if inputs.has_scores:
        result = _from_scores(inputs, judge_files, judge_scores, options)
    else:
        if judge_scores:
            raise InputError(
                "--judge-scores requires --scores FILE; for runs give --judge NAME=QRELS"
            )
        result = _from_runs(inputs, judge_files, output, options)
    from steadyrank.studies.judges.view import VIEW

    output.show(VIEW.text, result)
    output.draw(result)


def _from_runs(
    inputs: Inputs, judge_files: tuple[str, ...], output: Output, options: dict[str, Any]
) -> JudgesResult:
    from steadyrank.studies.judges.study import judges

    if not judge_files:
        raise InputError("no judge was given: give --judge NAME=QRELS")
    if len(inputs.measures) > 1:
        raise InputError("judges takes one measure: give -m once")
    qrels, runs = qrels_and_runs(inputs.files, "two RUNs")
    files = named_files("--judge", judge_files)
    measure = inputs.measures[0] if inputs.measures else None
    options |= {"measure": measure, "scheduler": output.scheduler, **inputs.reading}
    with output.progress("runs") as progress:
        return judges(runs, qrels, files, progress=progress, **options)


def _from_scores(
    inputs: Inputs,
    judge_files: tuple[str, ...],
    judge_scores: tuple[str, ...],
    options: dict[str, Any],
) -> JudgesResult:
    from steadyrank.data.read.run_info import with_chosen_names
    from steadyrank.studies.judges.study import judges

    files = score_files(inputs)
    assert files is not None  # scores were given
    if judge_files or not judge_scores:
        raise InputError("with --scores, give each judge's scores by --judge-scores NAME=FILE")
    # -m NAME=FILE names the measure and people's scores of it.
    measures = tuple(files) if isinstance(files, dict) else inputs.measures
    if len(measures) > 1:
        raise InputError("judges takes one measure: give -m once")
    named, shown = replace(inputs, measures=measures), inputs.reading["names"]
    of_judges = {
        name: with_chosen_names(read_score_files((path,), named), shown)
        for name, path in named_files("--judge-scores", judge_scores).items()
    }
    measure = measures[0] if measures else None
    scores = with_chosen_names(read_score_files(files, inputs), shown)
    return judges(scores, of_judges, measure=measure, **options)
