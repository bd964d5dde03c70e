"""`steadyrank evaluate`: scores of every run on every topic."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from steadyrank.cli import options as opt
from steadyrank.cli.command import subcommand
from steadyrank.cli.inputs import (
    Inputs,
    load_scores,
    qrels_and_measures,
    qrels_and_runs,
    scores_options,
    tell_of_default,
)
from steadyrank.cli.output import Output, also_writes, emit, tell_if_compiling
from steadyrank.errors import InputError

if TYPE_CHECKING:
    from steadyrank.data.scores import Scores


@subcommand("evaluate")
@scores_options
@opt.output_options_of(
    {
        "--per-topic -q": "Show every topic instead of means in tables, LaTeX and Markdown; in "
        "trec_eval's format, show them before the summary.",
        "--wide": "Write CSV of one measure with topics down and runs across.",
    }
)
@opt.digits_option
@opt.topic_options
@opt.output_options_with("trec_eval")
@also_writes(".parquet")
def command(inputs: Inputs, per_topic: bool, wide: bool, output: Output, **options: Any) -> None:
    """Score runs against judgments, with trec_eval's ordering and tie breaking.

    QRELS is a file of judgments; each RUN is a run, or a pattern or folder of runs (TREC text,
    three columns, JSON, JSON lines or Parquet; compressed or not). A table shows means, best first;
    CSV and JSON hold every topic; -o FILE.parquet also keeps the files' hashes and the settings.
    --format trec_eval [-q] prints what trec_eval -c prints; with --missing skip, what it prints
    without -c. Scores of another tool (--scores FILE) are shown in the same way.
    """
    scores = _scores(inputs, output, **options)
    if output.path is not None and output.format == "parquet":
        from steadyrank.compute.files import check_still_there
        from steadyrank.data.write import write_scores

        check_still_there(Path(output.path).parent)
        write_scores(scores, output.path)
        return
    if output.format == "trec_eval":
        from steadyrank.measures.names import without_level
        from steadyrank.present.trec_eval import trec_eval_text

        if opt.given_level() is not None:
            scores = replace(scores, measures=tuple(map(without_level, scores.measures)))
        text = trec_eval_text(scores, per_topic=per_topic, official=not inputs.measures)
        emit(text, output.path, exact=True)
        return
    from steadyrank.studies.evaluate.view import scores_text

    output.show(scores_text, scores, per_topic=per_topic, wide=wide)


def _scores(inputs: Inputs, output: Output, **topics: Any) -> Scores:
    """Read or compute the scores; `topics` are the options about topics."""
    if inputs.has_scores:
        if output.format == "trec_eval":
            raise InputError("--format trec_eval counts documents: give QRELS RUN..., not scores")
        from steadyrank.data.facets import averaged_facets
        from steadyrank.data.read.run_info import describe_topics

        return describe_topics(averaged_facets(load_scores(inputs, output), shown=True), **topics)
    if output.format == "trec_eval" and inputs.reading["no_relevant"] == "skip":
        raise InputError("trec_eval skips no judged topics: omit --no-relevant skip")
    qrels, runs = qrels_and_runs(inputs.files)
    with output.progress("runs") as progress:
        from steadyrank.measures.evaluate import evaluate
        from steadyrank.present.trec_eval import OFFICIAL_MEASURES

        tell_if_compiling(output.quiet)
        named = inputs.measures or (OFFICIAL_MEASURES if output.format == "trec_eval" else ())
        judged, by_measures = qrels_and_measures(qrels, named, 3)
        scores = evaluate(
            runs,
            judged,
            by_measures,
            rel=opt.given_level(),
            progress=progress,
            **output.machine,
            **inputs.reading,
            **topics,
        )
    if not named:
        tell_of_default(scores)
    return scores
