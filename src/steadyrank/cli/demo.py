"""`steadyrank demo`: example data that need no download, and a report on them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from steadyrank.cli import options as opt
from steadyrank.cli.command import subcommand
from steadyrank.cli.output import Output, bars, emit, tell, tell_if_compiling

if TYPE_CHECKING:
    from steadyrank.reporting.run import ReportResult


@subcommand("demo")
@opt.options(
    {
        "--out DIR = steadyrank-demo": "Write the track and its report to DIR.",
        "--data [builtin|simulated] = builtin": "Use real text, or a simulated track whose truth "
        "is known.",
        "--data-only": "Write only the track, without a report.",
        "--budget TIME = 45s": "Plan for this much time, such as 45s or 2m; below a minute, "
        "studies draw fewer samples.",
    }
)
@opt.measures_option
@opt.output_options
def command(out: str, measures: tuple[str, ...], output: Output, **options: Any) -> None:
    """Write an example track and a report on it, and print the main findings.

    The track is eighteen runs of six teams and eight instances of selective search on the
    built-in collection: docstrings of Python's libraries, sixty topics, and judgments by two
    judges. You can try all other commands on these files.
    """
    from steadyrank.reporting.demo import demo

    with bars(output.quiet) as progress:
        tell_if_compiling(output.quiet)
        result = demo(
            out=out,
            measures=measures,
            jobs=output.jobs,
            announce=None if output.quiet else tell,
            progress=progress,
            rng=output.seed,
            **options,
        )
    if result is None:
        emit(f"The track: {Path(out) / 'qrels.txt'}, {Path(out) / 'runs'}\n", output.path)
    else:
        emit(_text(result, output.format), output.path)


def _text(result: ReportResult, form: str) -> str:
    from steadyrank.reporting.run import report_text

    again = f"Again: {result.command}\n" if form == "table" else ""
    return f"{report_text(result, form)}{again}"
