"""Tables of options, and the options that several commands share.

Options are written as a table, much as `--help` shows them: how an option is typed, and what it
does (`options`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any

import click

from steadyrank._version import __version__
from steadyrank.cli.command import LEVEL, OutputFile, OutputOption, ReadingOption
from steadyrank.cli.output import FORMATS, SHORT_FORM, gathered_output
from steadyrank.errors import InputError, bad_value

SMALLEST_LEVEL = 1e-9

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]
Help = str | tuple[str, dict[str, Any]]
"""The help of an option, and further settings of Click."""


def together(*decorators: Decorator) -> Decorator:
    """Return several decorators as one, in the order of the help."""

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        for decorator in reversed(decorators):
            function = decorator(function)
        return function

    return decorate


def options(table: Mapping[str, Help], cls: type[click.Option] = click.Option) -> Decorator:
    """Make options from a table of how they are typed and their help, in the order of the help.

    A key has, separated by blanks: the names of an option; its name in Python if that differs; a
    placeholder for its value (`RUN`), a choice of words (`[a|b]`), or the numbers that it takes:
    `int`, `float`, integers of at least 1 (`1..`) or from 0 to 15 (`0..15`), or any number between
    0 and 1, exclusive (`(0,1)`); `...` if it can be repeated; and after a single `=` its default,
    which also gives its type. An option with names alone is a flag.

    >>> study_options = options(
    ...     {
    ...         "--mode [sound|paper] = sound": "Use sound defaults, or the paper's.",
    ...         "--samples n_samples N 1.. = 1000": "Draw this many samples.",
    ...         "--baseline RUN": "Compare every run with this one only.",
    ...         "--audit": "Check which tests hold their level.",
    ...     }
    ... )
    """
    return together(*(_option(typed, about, cls) for typed, about in table.items()))


def _option(typed: str, about: Help, cls: type[click.Option]) -> Decorator:
    text, settings = (about, {}) if isinstance(about, str) else about
    left, has_default, default = typed.partition(" = ")
    names: list[str] = []
    value: dict[str, Any] = {"default": _number_or_text(default)} if has_default else {}
    for word in left.split():
        if word not in NUMBERS and re.fullmatch(r"-[\w/-]+|[a-z]\w*", word):
            names.append(word)
        else:
            value |= _value(word)
    if not value and not settings:
        value = {"is_flag": True}
    return click.option(*names, help=text, cls=cls, **value, **settings)


NUMBERS: dict[str, Any] = {"int": click.INT, "float": click.FLOAT}


def _value(word: str) -> dict[str, Any]:
    """Return the settings of Click for a word of a key."""
    if re.fullmatch(r"\[[\w-]+(\|[\w-]+)+\]", word):
        return {"type": click.Choice(word[1:-1].split("|"))}
    if match := re.fullmatch(r"(\d+)\.\.(\d+)?", word):
        return {"type": click.IntRange(int(match[1]), int(match[2]) if match[2] else None)}
    if match := re.fullmatch(r"\((.+),(.+)\)", word):
        low, high = map(_number_or_text, match.groups())
        return {"type": click.FloatRange(low, high, min_open=True, max_open=True)}
    if word in NUMBERS:
        return {"type": NUMBERS[word]}
    return {"multiple": True} if word == "..." else {"metavar": word, **BY_METAVAR.get(word, {})}


def _number_or_text(text: str) -> Any:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


output_options_of = partial(options, cls=OutputOption)
reading_options_of = partial(options, cls=ReadingOption)
INPUT_FILE = {"type": click.Path(exists=True, dir_okay=False, allow_dash=True)}
ANY_FILE = {"type": click.Path()}
WRITTEN_FILE = {"type": OutputFile(dir_okay=False)}


def _only_one(ctx: click.Context, param: click.Parameter, values: tuple[Any, ...]) -> Any:
    if len(values) > 1:
        given = ", ".join(map(str, values))
        raise InputError(f"{param.opts[0]} takes one value, got {given}: give it once")
    return values[0] if values else None


ONCE = {"multiple": True, "callback": _only_one}
"""Settings of an option that is refused if it is given twice."""


def _columns(ctx: click.Context, param: click.Parameter, values: tuple[str, ...]) -> Any:
    """Split names at commas; an option that is given twice has the names of both."""
    names = (name.strip() for value in values for name in value.split(","))
    return tuple(name for name in names if name)


def _numbers(number: Callable[[str], float], kind: str) -> dict[str, Any]:
    def convert(ctx: click.Context, param: click.Parameter, value: str | None) -> Any:
        try:
            return None if value is None else [number(text) for text in value.split(",") if text]
        except ValueError:
            raise InputError(f"{param.opts[0]} {value}: give {kind} separated by commas") from None

    return {"callback": convert}


BY_METAVAR: Mapping[str, dict[str, Any]] = {
    "DIR": {"type": click.Path(file_okay=False)},
    "F,F,…": {"multiple": True, "callback": _columns},
    **dict.fromkeys(("N,N,…", "K,K,…", "10,20,…"), _numbers(int, "whole numbers")),
    "L,L,…": _numbers(float, "numbers"),
}
"""Settings that a placeholder implies: a folder; columns or numbers separated by commas."""


def plot_option(what: str = "a figure") -> Decorator:
    """Make the option --plot FILE, which draws `what`."""
    about = f"Draw {what} to FILE (.svg, .png or .pdf)."
    return output_options_of({"--plot FILE": (about, WRITTEN_FILE)})


def _allow_input(ctx: click.Context, param: click.Parameter, value: str | None) -> None:
    """Raise the limits on input until the command ends."""
    if value is not None:
        from steadyrank.data.read.streams import max_input

        max_input(value)
        ctx.call_on_close(lambda: max_input(None))


SHORT_FORMS = ("csv", "json", "latex", "markdown")


def _short_form(ctx: click.Context, param: click.Parameter, value: bool) -> None:
    """Store --csv and similar options until `gathered_output` chooses the format."""
    if value:
        ctx.meta.setdefault(SHORT_FORM, []).append(str(param.name))


HIDDEN_FORM = {"hidden": True, "is_flag": True, "expose_value": False, "callback": _short_form}


def output_options_with(*formats: str) -> Decorator:
    """Make the options about output, with additional formats.

    They come last, directly above the function, which is given an `Output`.
    """
    return together(
        output_options_of(
            {
                f"--format form [{'|'.join((*FORMATS, *formats))}]": "Print the result in this "
                "format; --csv, --json, --latex and --markdown are short for it [default: table, "
                "or by the extension of -o FILE].",
                "-o output FILE": (
                    "Write the result to FILE, whole or not at all (.txt, .csv, .json, .tex, .md, "
                    ".html).",
                    WRITTEN_FILE,
                ),
                "--seed = 0": "Seed the random numbers with this integer.",
                "--jobs 1..": "Use this many threads [default: all processors].",
                "--scheduler ADDRESS": "Use a Dask scheduler, such as tcp://host:8786.",
            }
        ),
        output_options_of({f"--{form}": ("", HIDDEN_FORM) for form in SHORT_FORMS}),
        reading_options_of(
            {
                "--max-input SIZE": (
                    "Read files of up to SIZE when unpacked, such as 20GB [default: an eighth of "
                    "the memory, and 100 times the size of a packed file].",
                    {"expose_value": False, "callback": _allow_input},
                )
            }
        ),
        output_options_of({"--quiet": "Hide progress and warnings, but not errors."}),
        click.version_option(__version__, prog_name="steadyrank", cls=OutputOption),
        gathered_output,
    )


output_options = output_options_with()

describe_option = output_options_of(
    {"--describe": "End with a paragraph for a paper: what was compared, how, and what was found."}
)
digits_option = output_options_of(
    {
        "--digits 0..15 = 4": "Print this many decimals in tables; by default more where different "
        "means would look equal."
    }
)

name_option = reading_options_of(
    {"--name-from [tag|file] = tag": "Name runs by their tag column or by their files."}
)
names_option = reading_options_of(
    {
        "--names FILE": (
            "Show runs under the names in FILE, which has two columns: the name of the run or its "
            "file, and the name to show; one run may also be given as NAME=FILE.",
            {"type": click.Path(exists=True, dir_okay=False)},
        )
    }
)
reading_options = together(
    name_option,
    reading_options_of(
        {
            "--duplicates [error|first|best] = error": "Refuse a document listed twice for a "
            "topic, or keep its first or its best line."
        }
    ),
)


def info_options(axis: str, columns: str, *named: str) -> Decorator:
    """Make the option --run-info or --topic-info, and --COLUMN-from for `named` columns."""
    table = f"Read information about the {axis}s from a CSV with a column {axis} and any of "
    name = f"Take a {axis}'s {{}} from its name, by the first group of REGEX."
    return reading_options_of(
        {
            f"--{axis}-info FILE": (f"{table}{columns}.", ONCE | INPUT_FILE),
            **{f"--{column}-from REGEX": (name.format(column), ONCE) for column in named},
        }
    )


RUN_COLUMNS = "team, system, factors"
team_options = info_options("run", RUN_COLUMNS, "team")
run_options = together(reading_options, info_options("run", RUN_COLUMNS, "team", "system"))
topic_options = info_options("topic", "cluster, weight, segments", "cluster")

ties_option = reading_options_of(
    {
        "--ties [trec_eval|float32|average] = trec_eval": "Break ties by document id, by id after "
        "rounding scores to 32 bits as pytrec_eval does, or average over all orders."
    }
)


def missing_option(*choices: str) -> Decorator:
    """Make the option --missing with these `choices`, of which the first is the default."""
    skip = ", skip them" if "skip" in choices else ""
    typed = f"--missing [{'|'.join(choices)}] = {choices[0]}"
    text = f"Score topics that a run lacks as 0{skip}, or stop with an error."
    return reading_options_of({typed: text})


def no_relevant_option(where: str = "") -> Decorator:
    """Make the option --no-relevant; `where` limits what it applies to."""
    text = f"Score topics without relevant documents as 0, or skip them{where}."
    return reading_options_of({"--no-relevant [zero|skip] = zero": text})


missing_options = together(missing_option("zero", "skip", "error"), no_relevant_option())


def complete_measure(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    """Return names of measures for shell completion."""
    from steadyrank.measures.names import KINDS

    names = [
        name + {"required": "@10", "one": "@1", "recall": "@0.1"}.get(kind.cutoff, "")
        for name, kind in KINDS.items()
    ]
    return [name for name in names if name.lower().startswith(incomplete.lower())]


measures_option = options(
    {
        "-m --measure measures M ...": (
            "Compute this measure, such as AP, nDCG@10 or AP(rel=2); repeat for more.",
            {"shell_complete": complete_measure},
        )
    }
)


def _keep_level(ctx: click.Context, param: click.Parameter, value: int | None) -> None:
    if value is not None:
        ctx.meta[LEVEL] = value


rel_option = options(
    {
        "--rel N 1..": (
            "Count grades of at least N as relevant in binary measures, as AP(rel=2) does in one "
            "[default: 1].",
            {"expose_value": False, "is_eager": True, "callback": _keep_level},
        )
    }
)


def given_level(ctx: click.Context | None = None) -> int | None:
    """Return the grade of --rel of the running command; None if it is not given."""
    level: int | None = (ctx or click.get_current_context()).meta.get(LEVEL)
    return level


def is_given(parameter: str) -> bool:
    """Return whether an option was typed rather than left at its default."""
    source = click.get_current_context().get_parameter_source(parameter)
    return source not in (None, click.core.ParameterSource.DEFAULT)


def at_given_level(measures: Iterable[str], ctx: click.Context | None = None) -> tuple[str, ...]:
    """Return the names of measures, with the level of --rel where they have none."""
    level = given_level(ctx)
    if level is None:
        return tuple(measures)
    from steadyrank.measures.names import at_level, parse_measures

    return tuple(map(str, at_level(parse_measures(measures), level)))


def _level(ctx: click.Context, param: click.Parameter, level: float) -> float:
    """Refuse levels too close to 0 or 1 for Tukey's critical values."""
    if not SMALLEST_LEVEL <= level <= 1 - SMALLEST_LEVEL:
        raise bad_value(
            str(param.name), f"lie between {SMALLEST_LEVEL} and 1 - {SMALLEST_LEVEL}", level
        )
    return level


IS_LEVEL = {"callback": _level}

qrels_argument = click.argument("qrels", type=click.Path(), metavar="QRELS")
runs_argument = click.argument("runs", type=click.Path(), nargs=-1, required=True, metavar="RUN...")

STORE = {"--store DIR": "Keep finished samples in DIR and resume from them."}
ALPHA = {"--alpha (0,1) = 0.05": ("Test at this level of significance.", IS_LEVEL)}
POOL_DEPTH = {"--pool-depth N = 10": "Assume that the first N documents of each run were pooled."}

PLANNING: Mapping[str, Help] = {
    "--minimum-difference D float": "Plan to show this difference between the best and the worst "
    "system, or between two.",
    "--systems M int": "Plan for an ANOVA of M systems.",
    "--paired/--unpaired": (
        "Plan a ttest or interval of systems on the same topics, or on different ones [default: "
        "paired].",
        {"default": None},
    ),
    "--width W float": "Plan an interval of this expected full width.",
    "--alpha = 0.05": "Test at this level of significance.",
    "--beta = 0.2": "Plan for this probability of missing the minimum difference: 1 - power.",
    "--confidence = 0.95": "Compute intervals of pilot data at this level of confidence.",
}
"""Options of the commands that plan topics."""
