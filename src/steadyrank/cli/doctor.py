"""`steadyrank doctor`: versions, threads, caches, and whether the numbers are right here."""

from __future__ import annotations

from steadyrank.cli.command import subcommand
from steadyrank.cli.options import output_options
from steadyrank.cli.output import Output, emit


@subcommand("doctor")
@output_options
def command(output: Output) -> None:
    """Show what is installed and check that it computes correctly."""
    from steadyrank.present.json import to_json
    from steadyrank.present.table import Table, render, text_rows
    from steadyrank.reporting.doctor import examine

    report = examine()
    if output.format == "json":
        emit(to_json(report), output.path)
        return
    table = Table(
        header=["what", "here"],
        rows=text_rows([key, str(value)] for key, value in report.items()),
        n_names=2,
    )
    output.show(render, table)
