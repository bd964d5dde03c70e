"""`steadyrank holes`: would complete judgments change the table?"""

from __future__ import annotations

from typing import Any

from steadyrank.cli import options as opt
from steadyrank.cli.command import subcommand
from steadyrank.cli.inputs import one_measure_option, run_study, runs_only_options
from steadyrank.cli.output import Output, also_writes, emit, tell_if_compiling

NO_SCORES = (
    "holes looks for unjudged documents, so it requires the runs and the judgments "
    "themselves: give QRELS RUN... instead of scores"
)


study_options = opt.together(
    one_measure_option("holes", "nDCG@10", NO_SCORES, "Bound this measure [default: nDCG@10]."),
    opt.options(
        {
            "--more QRELS2": (
                "Add the judgments of a second file, such as those of the documents that --ask "
                "lists.",
                opt.INPUT_FILE,
            ),
            "--ask N = 0": "Print the N documents whose judgment would settle most, or write them "
            "to the file of -o.",
            "--samples n_samples N = 1000": "Draw N completions from the prior; 0 omits "
            "imputation.",
            "--confidence = 0.95": "Compute imputed intervals at this level of confidence.",
        }
    ),
)


@subcommand("holes")
@runs_only_options(NO_SCORES)
@study_options
@opt.plot_option("bounds and estimates of the scores")
@opt.digits_option
@opt.missing_option("zero", "error")
@opt.reading_options
@opt.output_options
@also_writes(".tsv")
def command(qrels: str, runs: tuple[str, ...], output: Output, **options: Any) -> None:
    """Bound and impute the effect of unjudged documents.

    Per run: the score that counts unjudged documents as not relevant, the lowest and the highest
    over all completions of the judgments, the score over judged documents only, and an imputed
    score. Per pair: whether any completion could change its order. Write the documents to judge
    with --ask N -o judge-me.tsv, and repeat the study with their judgments in --more. CSV holds one
    row per run, JSON everything.
    """
    tell_if_compiling(output.quiet)
    from steadyrank.studies.holes.study import holes
    from steadyrank.studies.holes.view import VIEW, ask_text

    result = run_study(holes, runs, qrels, output, "blocks of completions", **options)
    if options["ask"] and output.path is not None and output.format in ("table", "tsv"):
        emit(ask_text(result), output.path, exact=True)
    else:
        output.show(VIEW.text, result)
    output.draw(result)
