"""`steadyrank demo`: the main job on data that need no download."""

from __future__ import annotations

from typing import Any

import click

from steadyrank.cli.options import measures_option, output_options
from steadyrank.cli.output import (
    choose_format,
    emit,
    tell_if_compiling,
    terminal_looks,
    told_on_stderr,
)


@click.command("demo")
@measures_option
@click.option("--out", metavar="DIR", type=click.Path(file_okay=False),
              help="Keep the simulated track in DIR: qrels.txt, runs/, run-info.csv.")  # fmt: skip
@click.option("--data-only", is_flag=True, help="Make the files, evaluate nothing.")
@output_options
def command(
    measures: tuple[str, ...],
    out: str | None,
    data_only: bool,
    form: str | None,
    output: str | None,
    seed: int,
    quiet: bool,
    jobs: int | None,
    **unused: Any,
) -> None:
    """Simulate a track of 20 teams, evaluate its runs and print the table."""
    if data_only and out is None:
        raise click.UsageError("--data-only needs --out DIR", click.get_current_context())
    with told_on_stderr(quiet):
        from steadyrank.workflows.demo import demo

        tell_if_compiling(quiet)
        scores = demo(out=out, measures=measures, data_only=data_only, jobs=jobs, rng=seed)
    if scores is None:
        return
    from steadyrank.render.jsons import scores_json, to_json
    from steadyrank.render.tables import means_table, render

    kind = choose_format(form, output)
    if kind == "json":
        emit(to_json(scores_json(scores)), output)
        return
    caption = f"A simulated track, seed {seed}: means over {len(scores.topics)} topics."
    table = means_table(scores, caption=caption)
    emit(render(table, kind, **terminal_looks(output)), output)  # type: ignore[arg-type]
