"""The class of all commands: help in sections, and errors that name options.

Help lists the options of the command first, then those of output and execution, then those of
reading files.
"""

from __future__ import annotations

import contextlib
import functools
import os
import re
import shlex
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from steadyrank.cli.output import tell
from steadyrank.compute.files import is_special, source_date
from steadyrank.compute.memory import check_address_space
from steadyrank.errors import InputError, Message, SteadyrankError, SteadyrankWarning
from steadyrank.guesses import WITHOUT_OPTION, in_our_words, removed

HelpRecord = tuple[str, str]

NOTES = "steadyrank.notes"
"""Key of the context's list of lines that are printed on stderr if the command succeeds."""

LEVEL = "steadyrank.rel"
"""Key of the context's grade of --rel, which becomes part of the measures' names."""


class OutputOption(click.Option):
    """An option about what is printed or written, or about execution."""


class OutputFile(click.Path):
    """A file that a command writes, which must not be one of those that it reads."""


class ReadingOption(click.Option):
    """An option about how files are read."""


SECTIONS = ("Options", "Output and execution", "Reading")


class Command(click.Command):
    """A command of `steadyrank`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the options; accept those of other tools, or name ours in the error."""
        own = {flag for option in self.params for flag in (*option.opts, *option.secondary_opts)}
        args, replaced = in_our_words(args, own)
        if replaced:
            told = ", ".join(f"{name} is called {ours}" for name, ours in replaced.items())
            ctx.meta.setdefault(NOTES, []).append(f"{told} here")
        answer = removed(str(self.name), args)
        if answer is not None:
            raise click.UsageError(answer, ctx)
        try:
            return super().parse_args(ctx, args)
        except BaseException as error:
            ctx.close()  # undoes what options have set
            if isinstance(error, SteadyrankError):
                error.args = (in_options(error, self),)
            if not isinstance(error, click.NoSuchOption):
                raise
            if error.option_name not in WITHOUT_OPTION:
                raise
            message = f"No such option: {error.option_name}: {WITHOUT_OPTION[error.option_name]}"
            raise click.NoSuchOption(error.option_name, message, ctx=ctx) from None

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; print warnings and errors as single lines that name its options."""
        check_address_space()
        ctx.call_on_close(_forget_streams)
        with told_on_stderr(ctx.params["quiet"], self):
            try:
                source_date()  # before libraries that read it
                self._check_standard_input(ctx)
                self._check_written(ctx)
                result = super().invoke(ctx)
                _tell_notes(ctx)
                return result
            except click.exceptions.Exit:
                _tell_notes(ctx)
                raise
            except SteadyrankError as error:
                error.args = (in_options(error, self),)
                raise

    def _check_standard_input(self, ctx: click.Context) -> None:
        """Refuse to read two inputs from stdin."""
        values = [
            text
            for parameter in self.params
            if not isinstance(parameter, OutputOption)
            for text in _texts(ctx.params.get(parameter.name or ""))
        ]
        # A value is FILE or NAME=FILE,FILE.
        parts = [part in ("-", "/dev/stdin") for text in values for part in re.split("[=,]", text)]
        if sum(parts) > 1:
            raise InputError("two inputs cannot both come from stdin: save one of them to a file")

    def _check_written(self, ctx: click.Context) -> None:
        """Refuse an output that would overwrite an input or another output, whatever its path."""
        given = [(param, _texts(ctx.params.get(param.name or ""))) for param in self.params]
        written: dict[str, str] = {}
        for writing, outputs in given:
            if not isinstance(writing.type, OutputFile):
                continue
            for text in outputs:
                if text != "-" and not is_special(Path(text)):
                    named = f"{writing.opts[0]} {text}"
                    other = written.setdefault(os.path.realpath(text), named)
                    if other != named:
                        raise InputError(f"{other} and {named} are the same file: name two files")
            for path in (Path(text) for text in outputs if Path(text).is_file()):
                for reading, texts in given:
                    is_read = not isinstance(reading.type, OutputFile)
                    if is_read and any(_names(text, path, reading) for text in texts):
                        raise InputError(
                            f"{writing.opts[0]} {path}: would overwrite an input: name another file"
                        )

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options, section by section."""
        for title, records in self.help_sections(ctx).items():
            with formatter.section(title):
                formatter.write_dl(records)

    def help_sections(self, ctx: click.Context) -> dict[str, list[HelpRecord]]:
        """Return each section's options with their help."""
        sections: dict[str, list[HelpRecord]] = {title: [] for title in SECTIONS}
        for parameter in self.get_params(ctx):
            # Newer versions of Click also have records of arguments, which the usage line shows.
            record = parameter.get_help_record(ctx)
            if record is not None and isinstance(parameter, click.Option):
                sections[_section_of(parameter)].append(record)
        return {title: records for title, records in sections.items() if records}


def note(text: str) -> None:
    """Print a line on stderr when the running command has succeeded."""
    click.get_current_context().meta.setdefault(NOTES, []).append(text)


def _tell_notes(ctx: click.Context) -> None:
    """Print the notes of a command that succeeded on stderr."""
    for note in [] if ctx.params["quiet"] else ctx.meta.get(NOTES, []):
        tell(note)


def _texts(value: Any) -> list[str]:
    if isinstance(value, (list, tuple)):
        return [text for one in value for text in _texts(one)]
    return [value] if isinstance(value, str) else []


def _names(text: str, path: Path, parameter: click.Parameter) -> bool:
    """Return whether a parameter's value names a file: as FILE, folder, pattern or NAME=FILE."""
    from steadyrank.data.read.sources import find_files

    files: list[Path] = []
    if isinstance(parameter.type, click.Path):
        with contextlib.suppress(InputError, OSError):
            files += find_files(text)
    files += map(Path, re.split("[=,]", text)[1:])
    return any(file.is_file() and file.samefile(path) for file in files)


def _forget_streams() -> None:
    """Free what was read from streams."""
    streams = sys.modules.get("steadyrank.data.read.streams")
    if streams is not None:
        streams.forget_streams()


def _section_of(option: click.Option) -> str:
    own, output, reading = SECTIONS
    if isinstance(option, ReadingOption):
        return reading
    # Click itself makes --help.
    return output if isinstance(option, OutputOption) or "--help" in option.opts else own


subcommand = functools.partial(click.command, cls=Command, context_settings={"show_default": True})


WITHOUT_EFFECT = ("form", "output", "jobs", "scheduler", "quiet", "store", "out")
"""Options that do not change the page."""


def same_command(*ending: str) -> str:
    """Return the running command, quoted for a shell, with another ending."""
    context = click.get_current_context()
    arguments: list[str] = []
    options: list[str] = []
    for parameter in context.command.params:
        value = context.params.get(parameter.name or "")
        if isinstance(parameter, click.Argument):
            arguments += [value] if isinstance(value, str) else list(value or ())
        elif parameter.name not in WITHOUT_EFFECT and _is_given(context, parameter):
            options += _spelled(parameter, value)
    if LEVEL in context.meta:
        options += ["--rel", str(context.meta[LEVEL])]
    command = ["steadyrank", str(context.info_name)]
    if any(argument.startswith("-") for argument in arguments):
        return shlex.join([*command, *options, *ending, "--", *arguments])
    return shlex.join([*command, *arguments, *options, *ending])


def _is_given(context: click.Context, parameter: click.Parameter) -> bool:
    if parameter.name is None or not parameter.expose_value:
        return False
    source = context.get_parameter_source(parameter.name)
    return source is not click.core.ParameterSource.DEFAULT


def _spelled(parameter: click.Parameter, value: Any) -> list[str]:
    option = max(parameter.opts, key=len)
    if getattr(parameter, "is_flag", False):
        return [option] if value else []
    if parameter.multiple and isinstance(value, tuple):
        return [word for part in value for word in (option, str(part))]
    return [option, str(value)]


def in_options(told: Message, command: click.Command) -> str:
    """Return the message of an error or a warning, with parameters shown as options.

    >>> from steadyrank.cli.evaluate import command
    >>> from steadyrank.errors import arg
    >>> in_options(InputError(f"use {arg('name_from', 'file')}, or {arg('run_info=')}"), command)
    'use --name-from file, or --run-info FILE'
    """
    options = {
        parameter.name: parameter
        for parameter in command.params
        if isinstance(parameter, click.Option)
    }

    def shown(parameter: str) -> str:
        name, given, value = parameter.partition("=")
        option = options.get(name)
        if option is None:
            return parameter
        what = value.strip('"') or option.metavar or ""
        flag = max(option.opts, key=len)
        return f"{flag} {what}".strip() if given else flag

    return told.shown(shown)


@contextlib.contextmanager
def told_on_stderr(quiet: bool, command: click.Command) -> Iterator[None]:
    """Print warnings as single lines on stderr that name a command's options, unless quiet."""

    def show(message: Warning | str, *rest: Any, **more: Any) -> None:
        text = in_options(message, command) if isinstance(message, Message) else message
        tell(f"warning: {text}")

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if not quiet:
            warnings.filterwarnings("always", category=SteadyrankWarning)
        warnings.showwarning = show
        yield
