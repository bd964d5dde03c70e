"""`steadyrank doctor`: versions, threads, caches, and whether the numbers are right here."""

from __future__ import annotations

import click

from steadyrank.cli.options import output_options
from steadyrank.cli.output import choose_format, emit, terminal_looks, told_on_stderr


@click.command("doctor")
@output_options
def command(form: str | None, output: str | None, quiet: bool, **unused: object) -> None:
    """Say what this installation has and check that it computes what it should."""
    with told_on_stderr(quiet):
        from steadyrank.reporting.doctor import examine

        report = examine()
    from steadyrank.present.json import to_json
    from steadyrank.present.table import Table, render, text_rows

    kind = choose_format(form, output)
    if kind == "json":
        emit(to_json(report), output)
        return
    table = Table(
        header=["what", "here"],
        rows=text_rows([key, str(value)] for key, value in report.items()),
        n_names=2,
    )
    emit(render(table, kind, **terminal_looks(output)), output)
