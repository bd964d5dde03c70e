"""What every command is: its help in sections, and errors that name options.

Help lists what a command alone has first, then what it prints and how it works, then how it
reads files, which is the same for all.
"""

from __future__ import annotations

import contextlib
import functools
import re
import sys
from pathlib import Path
from typing import Any

import click

from steadyrank.cli.output import told_on_stderr
from steadyrank.cli.wording import in_options, option_meant
from steadyrank.compute.memory import check_address_space
from steadyrank.errors import InputError

HelpRecord = tuple[str, str]


class OutputOption(click.Option):
    """An option about what is printed or written, or about how the work is done."""


class OutputFile(click.Path):
    """A file that a command writes: none of those that it reads."""


class ReadingOption(click.Option):
    """An option about how files are read."""


SECTIONS = ("Options", "Output and execution", "Reading")


class Command(click.Command):
    """A command of `steadyrank`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the options; who writes those of other tools is answered with ours."""
        try:
            return super().parse_args(ctx, args)
        except BaseException as error:
            # What an option has set ends with the command, also if that never begins.
            ctx.close()
            if not isinstance(error, click.NoSuchOption):
                raise
            meant = option_meant(error.option_name, self)
            if meant is None:
                raise
            message = f"No such option: {error.option_name}: {meant}"
            raise click.NoSuchOption(error.option_name, message, ctx=ctx) from None

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command: warnings and errors are single lines that name its options."""
        check_address_space()
        ctx.call_on_close(_forget_streams)
        with told_on_stderr(ctx.params["quiet"], self):
            try:
                self._check_standard_input(ctx)
                self._check_written(ctx)
                return super().invoke(ctx)
            except InputError as error:
                error.args = (in_options(str(error), self),)
                raise

    def _check_standard_input(self, ctx: click.Context) -> None:
        """Refuse two inputs from stdin, of which each would be the other as well."""
        values = [
            text
            for parameter in self.params
            if not isinstance(parameter, OutputOption)
            for text in _texts(ctx.params.get(parameter.name or ""))
        ]
        if sum(map(_is_standard_input, values)) > 1:
            raise InputError("two inputs cannot both come from stdin: save one of them to a file")

    def _check_written(self, ctx: click.Context) -> None:
        """Refuse an output that would take the place of an input, by whatever name."""
        given = [(param, _texts(ctx.params.get(param.name or ""))) for param in self.params]
        for writing, outputs in given:
            if not isinstance(writing.type, OutputFile):
                continue
            for path in (Path(text) for text in outputs if Path(text).is_file()):
                for reading, texts in given:
                    is_read = not isinstance(reading.type, OutputFile)
                    if is_read and any(_stands_for(text, path, reading) for text in texts):
                        raise InputError(
                            f"{writing.opts[0]} {path}: would overwrite an input: name another file"
                        )

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options, section by section."""
        for title, records in self.help_sections(ctx).items():
            with formatter.section(title):
                formatter.write_dl(records)

    def help_sections(self, ctx: click.Context) -> dict[str, list[HelpRecord]]:
        """Options and what they do, by the sections that have any."""
        sections: dict[str, list[HelpRecord]] = {title: [] for title in SECTIONS}
        for parameter in self.get_params(ctx):
            # Newer versions of Click have records of arguments, too; these stand in the usage.
            record = parameter.get_help_record(ctx)
            if record is not None and isinstance(parameter, click.Option):
                sections[_section_of(parameter)].append(record)
        return {title: records for title, records in sections.items() if records}


def _texts(value: Any) -> list[str]:
    """The texts that a parameter was given."""
    if isinstance(value, (list, tuple)):
        return [text for one in value for text in _texts(one)]
    return [value] if isinstance(value, str) else []


def _is_standard_input(text: str) -> bool:
    """Whether FILE is stdin, or one of NAME=FILE,FILE."""
    return any(part in ("-", "/dev/stdin") for part in re.split("[=,]", text))


def _stands_for(text: str, path: Path, parameter: click.Parameter) -> bool:
    """Whether what a parameter was given names a file: by itself, a folder, a glob or NAME=FILE."""
    from steadyrank.data.read.sources import find_files

    files: list[Path] = []
    if isinstance(parameter.type, click.Path):
        with contextlib.suppress(InputError, OSError):
            files += find_files(text)
    files += map(Path, re.split("[=,]", text)[1:])
    return any(file.is_file() and file.samefile(path) for file in files)


def _forget_streams() -> None:
    """Let go of what was read from streams; nothing was if this module was never needed."""
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
