"""Options that several commands share, and what they stand for."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import click

from steadyrank._version import __version__
from steadyrank.cli.command import OutputFile, OutputOption, ReadingOption
from steadyrank.cli.formats import FORMATS
from steadyrank.cli.output import gathered_output
from steadyrank.errors import InputError

SMALLEST_LEVEL = 1e-9
STRICTLY_BETWEEN_0_AND_1 = click.FloatRange(0, 1, min_open=True, max_open=True)

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


def choice_option(flag: str, choices: Sequence[str], help: str, **settings: Any) -> Decorator:
    """An option that takes one of a few words."""
    return click.option(flag, type=click.Choice(choices), help=help, **settings)


def reading_choice(flag: str, choices: Sequence[str], help: str) -> Decorator:
    """A choice of how files are read, the first unless given."""
    return choice_option(flag, choices, help, default=choices[0], cls=ReadingOption)


def count_option(flag: str, name: str, default: int, help: str, *, least: int = 1) -> Decorator:
    """An option that takes a number of samples, trials or draws."""
    return click.option(flag, name, type=click.IntRange(min=least), default=default, help=help)


def number_option(
    flag: str, metavar: str | None, help: str, *names: str, type: Any = int, **settings: Any
) -> Decorator:
    """An option that takes a number, which the library checks."""
    return click.option(flag, *names, metavar=metavar, type=type, help=help, **settings)


def columns_option(flag: str, help: str, *, required: bool = False) -> Decorator:
    """Names of run-info columns between commas; given twice, those of both."""

    def collect(ctx: click.Context, param: click.Parameter, values: tuple[str, ...]) -> Any:
        names = (name.strip() for value in values for name in value.split(","))
        return tuple(name for name in names if name)

    return click.option(
        flag, multiple=True, required=required, callback=collect, metavar="F,F,…", help=help
    )


def numbers_option(
    flag: str,
    *names: str,
    help: str,
    metavar: str,
    number: type[int] | type[float] = int,
    **settings: Any,
) -> Decorator:
    """An option that takes numbers between commas."""
    kind = "whole numbers" if number is int else "numbers"

    def convert(ctx: click.Context, param: click.Parameter, value: str | None) -> Any:
        try:
            return None if value is None else [number(text) for text in value.split(",") if text]
        except ValueError:
            raise InputError(f"{flag} {value}: give {kind} with commas between") from None

    return click.option(flag, *names, metavar=metavar, callback=convert, help=help, **settings)


def plot_option(what: str = "a figure") -> Decorator:
    """--plot FILE, where `what` is drawn, and how wide."""
    return together(
        output_option(
            "--plot",
            metavar="FILE",
            type=OutputFile(dir_okay=False),
            help=f"Draw {what} to FILE (.svg, .png or .pdf).",
        ),
        output_option(
            "--figure-width",
            metavar="WIDTH",
            callback=_inches,
            help="Make the figure this wide, such as 3.3in, 84mm, 8.4cm or 240pt [default: as wide "
            "as necessary].",
        ),
    )


INCHES = {"in": 1.0, "cm": 1 / 2.54, "mm": 1 / 25.4, "pt": 1 / 72.27}
"""Of one unit; a point is TeX's, as \\the\\columnwidth prints it."""

WIDTHS = (1.0, 60.0)
"""Inches between which a figure can be drawn."""


def _inches(ctx: click.Context, param: click.Parameter, value: str | None) -> float | None:
    """A width with its unit, in inches."""
    if value is None:
        return None
    match = re.fullmatch(r"\s*([0-9]*\.?[0-9]+)\s*(in|cm|mm|pt)\s*", value)
    if match is None:
        raise InputError(
            f"--figure-width {value}: give a number and in, cm, mm or pt, such as 3.3in"
        )
    width = float(match[1]) * INCHES[match[2]]
    if not WIDTHS[0] <= width <= WIDTHS[1]:
        raise InputError(
            f"--figure-width {value}: give between {WIDTHS[0]:g}in and {WIDTHS[1]:g}in"
        )
    return width


input_file = click.Path(exists=True, dir_okay=False, allow_dash=True)
output_option = partial(click.option, cls=OutputOption)
reading_option = partial(click.option, cls=ReadingOption)
folder_option = partial(click.option, metavar="DIR", type=click.Path(file_okay=False))
mode_option = partial(choice_option, "--mode", ["sound", "paper"], default="sound")
alpha_option = partial(
    click.option, "--alpha", type=float, default=0.05, help="Test at this level of significance."
)
beta_option = partial(number_option, "--beta", None, type=float, default=0.2)
confidence_option = partial(number_option, "--confidence", None, type=float, default=0.95)
level_option = partial(number_option, "--level", None, type=STRICTLY_BETWEEN_0_AND_1, default=0.95)
power_option = partial(choice_option, "--power", ["observed", "omega"])
store_option = folder_option("--store", help="Keep finished samples in DIR and resume from them.")
pool_depth_option = number_option(
    "--pool-depth", "N", "Assume that the first N documents of each run were pooled.", default=10
)
minimum_difference_option = partial(number_option, "--minimum-difference", "D", type=float)
samples_option = partial(number_option, "--samples", "N", type=click.IntRange(min=2))


def _allow_input(ctx: click.Context, param: click.Parameter, value: str | None) -> None:
    """Raise the limits on what is read, for as long as the command lasts."""
    if value is not None:
        from steadyrank.data.read.limits import max_input

        max_input(value)
        ctx.call_on_close(lambda: max_input(None))


def output_options_with(*formats: str) -> Decorator:
    """The options about output, with more formats than every command has.

    They come last, next to the function that is given its `Output`.
    """
    return together(
        output_option(
            "--format",
            "form",
            type=click.Choice((*FORMATS, *formats)),
            help="Print the result in this format [default: table, or by the extension of -o "
            "FILE].",
        ),
        output_option(
            "-o",
            "output",
            metavar="FILE",
            type=OutputFile(dir_okay=False),
            help="Write the result to FILE, whole or not at all (.txt, .csv, .json, .tex, .md, "
            ".html).",
        ),
        output_option(
            "--seed", type=int, default=0, help="Seed the random numbers with this integer."
        ),
        output_option(
            "--jobs",
            type=click.IntRange(min=1),
            help="Use this many threads [default: all processors].",
        ),
        output_option(
            "--scheduler", metavar="ADDRESS", help="Use a Dask scheduler, such as tcp://host:8786."
        ),
        reading_option(
            "--max-input",
            metavar="SIZE",
            expose_value=False,
            callback=_allow_input,
            help="Read files of up to SIZE when unpacked, such as 20GB [default: an eighth of the "
            "memory, and 100 times the size of a packed file].",
        ),
        output_option("--quiet", is_flag=True, help="Hide progress and warnings, but not errors."),
        click.version_option(__version__, prog_name="steadyrank", cls=OutputOption),
        gathered_output,
    )


output_options = output_options_with()

describe_option = output_option(
    "--describe",
    is_flag=True,
    help="End with a paragraph for a paper: what was compared, how, and what was found.",
)

digits_option = output_option(
    "--digits", type=click.IntRange(0, 15), default=4, help="Print this many decimals in tables."
)

name_option = reading_choice(
    "--name-from", ["tag", "file"], "Name runs by their tag column or by their files."
)

reading_options = together(
    name_option,
    reading_choice(
        "--duplicates",
        ["error", "first", "best"],
        "Refuse a document listed twice for a topic, or keep its first or its best line.",
    ),
)


def info_option(axis: str, columns: str) -> Decorator:
    """--run-info or --topic-info: a table with a row for each of them."""
    return once(
        f"--{axis}-info",
        cls=ReadingOption,
        metavar="FILE",
        type=input_file,
        help=f"Read information about the {axis}s from a CSV with a column {axis} and any of "
        f"{columns}.",
    )


def from_option(column: str, axis: str) -> Decorator:
    """--COLUMN-from: what is known of a run or a topic by its name."""
    return once(
        f"--{column}-from",
        cls=ReadingOption,
        metavar="REGEX",
        help=f"Take a {axis}'s {column} from its name, by the first group of REGEX.",
    )


team_options = together(info_option("run", "team, system, factors"), from_option("team", "run"))

run_options = together(reading_options, team_options, from_option("system", "run"))

topic_options = together(
    info_option("topic", "cluster, weight, segments"), from_option("cluster", "topic")
)

ties_option = reading_choice(
    "--ties",
    ["trec_eval", "float32", "average"],
    "Break ties by document id, by id after rounding scores to 32 bits as pytrec_eval does, "
    "or average over all orders.",
)


def missing_option(*choices: str) -> Decorator:
    """--missing, of those `choices` that a command has."""
    skip = ", skip them" if "skip" in choices else ""
    return reading_choice(
        "--missing",
        choices,
        f"Score judged topics that a run lacks as 0{skip}, or stop with an error.",
    )


def no_relevant_option(where: str = "") -> Decorator:
    """--no-relevant, in all that a command does or only `where` it says."""
    return reading_choice(
        "--no-relevant",
        ["zero", "skip"],
        f"Score topics without relevant documents as 0, or skip them{where}.",
    )


missing_options = together(missing_option("zero", "skip", "error"), no_relevant_option())


def complete_measure(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    """Names of measures for the shell's completion."""
    from steadyrank.measures.kinds import KINDS

    names = [
        name + {"required": "@10", "one": "@1", "recall": "@0.1"}.get(kind.cutoff, "")
        for name, kind in KINDS.items()
    ]
    return [name for name in names if name.lower().startswith(incomplete.lower())]


measures_option = click.option(
    "-m",
    "--measure",
    "measures",
    multiple=True,
    metavar="M",
    shell_complete=complete_measure,
    help="Compute this measure, such as AP, nDCG@10 or AP(rel=2); repeat for more.",
)


def check_level(option: str, level: float) -> None:
    """Refuse levels so close to 0 or 1 that Tukey's critical values cannot be found."""
    if not SMALLEST_LEVEL <= level <= 1 - SMALLEST_LEVEL:
        raise InputError(
            f"{option} must lie between {SMALLEST_LEVEL} and 1 - {SMALLEST_LEVEL}, got {level!r}"
        )


qrels_argument = click.argument("qrels", type=click.Path(), metavar="QRELS")
runs_argument = click.argument("runs", type=click.Path(), nargs=-1, required=True, metavar="RUN...")

planning_options = together(
    minimum_difference_option(
        "Plan to show this difference between the best and the worst system, or between two."
    ),
    number_option("--systems", "M", "Plan for an ANOVA of M systems."),
    choice_option(
        "--method",
        ["anova", "ttest", "interval"],
        "Plan for one-way ANOVA of M systems, a t test or an interval of two.",
        default="anova",
    ),
    choice_option(
        "--formula",
        ["exact", "nagata"],
        "Use exact distributions, or the published approximations.",
        default="exact",
    ),
    click.option(
        "--paired/--unpaired",
        default=None,
        help="Plan a ttest or interval of systems on the same topics, or on different ones "
        "[default: paired].",
    ),
    number_option("--width", "W", "Plan an interval of this expected full width.", type=float),
    alpha_option(),
    beta_option("Plan for this probability of missing the minimum difference: 1 - power."),
    confidence_option("Compute intervals of pilot data at this level of confidence."),
)
"""Of the commands that plan topics: what is to be shown, by which test, how surely."""
