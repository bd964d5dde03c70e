"""Options that several commands share, and what they stand for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from steadyrank._version import __version__
from steadyrank.errors import InputError

SMALLEST_LEVEL = 1e-9
FORMATS = ("table", "csv", "json", "latex", "markdown")

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]


def together(*decorators: Decorator) -> Decorator:
    """Several decorators as one, in the order in which help should list them."""

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        for decorator in reversed(decorators):
            function = decorator(function)
        return function

    return decorate


def once(*names: str, **settings: Any) -> Decorator:
    """An option that says what the data are: a second one is refused, not put in its place."""

    def only_one(ctx: click.Context, param: click.Parameter, values: tuple[Any, ...]) -> Any:
        if len(values) > 1:
            given = ", ".join(map(str, values))
            raise InputError(f"{param.opts[0]} takes one value, got {given}: give it once")
        return values[0] if values else None

    return click.option(*names, multiple=True, callback=only_one, **settings)


def columns_option(flag: str, help: str, *, required: bool = False) -> Decorator:
    """Names of run-info columns between commas; given twice, those of both."""

    def collect(ctx: click.Context, param: click.Parameter, values: tuple[str, ...]) -> Any:
        names = (name.strip() for value in values for name in value.split(","))
        return tuple(name for name in names if name)

    return click.option(
        flag, multiple=True, required=required, callback=collect, metavar="F,F,…", help=help
    )


def _check_output(ctx: click.Context, param: click.Parameter, value: str | None) -> str | None:
    """Refuse at once a place that cannot be written to when everything is computed."""
    from steadyrank.cli.output import check_folders

    check_folders(value)
    return value


output_options = together(
    click.option(
        "--format",
        "form",
        type=click.Choice(FORMATS),
        help="How to print the result [default: table, or what the name after -o says].",
    ),
    click.option(
        "-o",
        "output",
        metavar="FILE",
        type=click.Path(dir_okay=False),
        callback=_check_output,
        help="Write the result into FILE, whole or not at all.",
    ),
    click.option("--seed", type=int, default=0, show_default=True, help="Seed of random numbers."),
    click.option("--jobs", type=click.IntRange(min=1), help="Threads [default: all processors]."),
    click.option("--scheduler", metavar="ADDRESS", help="A Dask scheduler, tcp://host:8786."),
    click.option("--quiet", is_flag=True, help="No progress and no warnings; errors stay."),
    click.version_option(__version__, prog_name="steadyrank"),
)

reading_options = together(
    click.option(
        "--name-from",
        type=click.Choice(["tag", "file"]),
        default="tag",
        show_default=True,
        help="Name runs by their tag column or by their files.",
    ),
    click.option(
        "--duplicates",
        type=click.Choice(["error", "first", "best"]),
        default="error",
        show_default=True,
        help="A document twice in a topic: which line to keep.",
    ),
)

run_options = together(
    reading_options,
    once(
        "--run-info",
        metavar="FILE",
        type=click.Path(exists=True, dir_okay=False),
        help="CSV with a column run and any of team, system, factors.",
    ),
    once("--team-from", metavar="REGEX", help="Team: first group, searched in the name."),
    once("--system-from", metavar="REGEX", help="System: likewise."),
)

missing_options = together(
    click.option(
        "--missing",
        type=click.Choice(["zero", "skip", "error"]),
        default="zero",
        show_default=True,
        help="A judged topic that a run lacks.",
    ),
    click.option(
        "--no-relevant",
        type=click.Choice(["zero", "skip"]),
        default="zero",
        show_default=True,
        help="A topic without relevant documents.",
    ),
    click.option(
        "--ties",
        type=click.Choice(["trec_eval", "float32", "average"]),
        default="trec_eval",
        show_default=True,
        help="Equal scores: order by id, compare in 32 bits as pytrec_eval, or mean over orders.",
    ),
)


def complete_measure(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    """Names of measures for the shell's completion."""
    from steadyrank.measures.names import KINDS

    shown = [
        f"{name}@{1 if kind.cutoff == 'one' else 10}"
        if kind.cutoff in ("required", "one")
        else name
        for name, kind in KINDS.items()
    ]
    return [name for name in shown if name.lower().startswith(incomplete.lower())]


measures_option = click.option(
    "-m",
    "--measure",
    "measures",
    multiple=True,
    metavar="M",
    shell_complete=complete_measure,
    help="A measure, such as AP, nDCG@10 or AP(rel=2); repeat for more.",
)

digits_option = click.option(
    "--digits", type=click.IntRange(0, 15), default=4, show_default=True, help="Decimals in tables."
)


def plot_option(what: str = "") -> Decorator:
    """--plot FILE, where `what` is drawn."""
    drawn = f"{what} " if what else ""
    return click.option(
        "--plot",
        metavar="FILE",
        type=click.Path(dir_okay=False),
        help=f"Draw {drawn}into FILE (.svg, .png or .pdf).",
    )


def check_level(option: str, level: float) -> None:
    """Refuse levels so close to 0 or 1 that Tukey's critical values cannot be found."""
    if not SMALLEST_LEVEL <= level <= 1 - SMALLEST_LEVEL:
        raise InputError(f"{option} {level!r}: give a level from {SMALLEST_LEVEL} on, up to 1 - it")


qrels_argument = click.argument("qrels", type=click.Path(), metavar="QRELS")
runs_argument = click.argument("runs", type=click.Path(), nargs=-1, required=True, metavar="RUN...")
