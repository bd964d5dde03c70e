"""The `steadyrank` command: each subcommand in a file of its own, loaded when it is called.

Exit codes: 0 done; 2 bad input or usage; 1 the machine failed; 130 interrupted; `gate` has 3 for
a candidate that fails and 4 where it cannot tell. Whatever goes wrong is one line on
stderr, but that nobody reads what we print, as in `| head -1`: who stopped reading knows.
"""

from __future__ import annotations

import codecs
import functools
import gc
import importlib
import os
import signal
import sys
import tempfile
import threading
import traceback
from collections.abc import Iterator, Mapping
from typing import Any

import click

from steadyrank._version import __version__
from steadyrank.errors import InputError, MachineError, SteadyrankError
from steadyrank.guesses import SAME_COMMANDS
from steadyrank.studies.registry import STUDIES

OWN_COMMANDS = {
    **{study.name: study.question for study in STUDIES if study.is_command},
    "report": "all of it on one page",
    "demo": "a track and the report on it, without any data of your own",
    "doctor": "versions, threads, caches, self-test",
}


GROUPS = {
    "Look at data": ("check", "evaluate", "doctor"),
    "Compare": ("compare", "instances", "datasets", "battles", "agree", "components"),
    "Would it change?": ("topics", "simulate", "holes", "judges"),
    "Plan": ("plan", "stability", "pools"),
    "Ship": ("gate", "report"),
    "Make": ("demo", "grid", "shard"),
    "Papers": ("reproduce",),
}
"""The commands as `steadyrank --help` lists them; others come last, under "More"."""


class Commands(Mapping[str, str]):
    """Every command and its question: our own, then those that other packages bring."""

    def __getitem__(self, name: str) -> str:
        return OWN_COMMANDS[name] if name in OWN_COMMANDS else plugins()[name].COMMANDS[name]

    def __iter__(self) -> Iterator[str]:
        return iter({**OWN_COMMANDS, **plugins()})

    def __len__(self) -> int:
        return len(list(iter(self)))


COMMANDS = Commands()


@functools.cache
def plugins() -> dict[str, Any]:
    """Commands of other packages, and the module that lists each with its question.

    An entry point of the group `steadyrank.commands` names a module with `COMMANDS`, a question by
    command, beside which each command stands as `command` in a module of its name.
    """
    from importlib.metadata import entry_points

    found: dict[str, Any] = {}
    for entry in entry_points(group="steadyrank.commands"):
        try:
            home = entry.load()
            found |= dict.fromkeys(home.COMMANDS, home)
        except Exception as error:
            _warn(f"the commands of {entry.value} cannot be loaded: {_named(error)}")
    return found


OBJECTS_BETWEEN_LOOKS = 200_000
"""New objects after which Python looks for garbage; of its own accord it would after 700."""


class LazyGroup(click.Group):
    """A group that knows its commands by name and imports one only to run it."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The commands in the order in which people need them."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        """The command of that name, imported now."""
        if name not in COMMANDS:
            return None
        if name in OWN_COMMANDS:
            command: click.Command = importlib.import_module(f"steadyrank.cli.{name}").command
            return command
        home = plugins()[name].__name__
        try:
            command = importlib.import_module(f"{home}.{name}").command
        except Exception as error:
            raise MachineError(f"{name} of {home} cannot be loaded: {_named(error)}") from error
        return command

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        """Name the nearest command when there is none of that name."""
        name = click.utils.make_str(args[0])
        if name in SAME_COMMANDS:
            ours, *more = SAME_COMMANDS[name].split()
            ctx.meta["steadyrank.notes"] = [f"{name} is {SAME_COMMANDS[name]} here"]
            args = [ours, *args[1:], *more]
        elif name not in COMMANDS and not name.startswith("-"):
            from steadyrank.errors import unknown_name
            from steadyrank.guesses import COMMANDS as GUESSED

            raise click.UsageError(str(unknown_name("command", name, COMMANDS, GUESSED)), ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands by what they are for, without importing them."""
        grouped = {name for names in GROUPS.values() for name in names}
        more = {"More": tuple(name for name in COMMANDS if name not in grouped)}
        # One width for all groups, so that the questions stand in one column.
        width = max(map(len, COMMANDS))
        for title, names in (GROUPS | more).items():
            known = [(name.ljust(width), COMMANDS[name]) for name in names if name in COMMANDS]
            if known:
                formatter.write(f"\n{title}{'' if title.endswith('?') else ':'}\n")
                with formatter.indentation():
                    formatter.write_dl(known)


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="steadyrank")
def group() -> None:
    """How far can you trust this leaderboard?"""


def main(arguments: list[str] | None = None) -> None:
    """Run the command line and exit; every failure in one line."""
    if hasattr(signal, "pthread_kill"):
        sys.unraisablehook = _interrupt_again
    # Figures go to files, in a style of our own: neither a backend nor a style of others is needed.
    os.environ.pop("MPLBACKEND", None)
    os.environ["MATPLOTLIBRC"] = os.devnull
    # What is imported stays until the end: looking through it for garbage takes a tenth of the
    # time in which a small command is done.
    gc.set_threshold(OBJECTS_BETWEEN_LOOKS)
    code = run(arguments)
    gc.freeze()
    sys.exit(code)


def run(arguments: list[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    given = sys.argv[1:] if arguments is None else arguments
    _ready_streams()
    try:
        _invoke(given)
        if sys.stdout is not None:
            sys.stdout.flush()
        return 0
    except click.exceptions.Exit as leaving:
        return leaving.exit_code
    except click.exceptions.NoArgsIsHelpError as nothing:
        click.echo(nothing.format_message())
        return 0
    except (click.Abort, KeyboardInterrupt):
        return _fail(f"interrupted; {_after_interrupt(given)}", 130)
    except click.UsageError as error:
        return _fail(_usage_line(error), 2)
    except (InputError, click.ClickException) as error:
        message = error.format_message() if isinstance(error, click.ClickException) else error
        return _fail(str(message), 2)
    except SteadyrankError as error:
        return _fail(str(error), 1)
    except BrokenPipeError:
        _abandon_stdout()
        return 1
    except OSError as error:
        _check_stdout()
        where = f"{error.filename}: " if error.filename else ""
        return _fail(f"{where}{error.strerror or error}", 1)
    except MemoryError:
        return _fail("out of memory: give fewer runs at a time, or fewer --jobs", 1)
    except Exception as error:
        package = _REQUIRED.get(str(getattr(error, "name", "")).partition(".")[0])
        if package is not None and isinstance(error, ModuleNotFoundError):
            return _fail(
                f"this requires {package}, which is not installed: pip install {package}", 1
            )
        return _fail(f"an error in steadyrank itself: {_keep_traceback()}", 1)


_REQUIRED = {name: name for name in ("pandas", "pyarrow", "matplotlib", "jinja2")}
_REQUIRED |= {"Stemmer": "PyStemmer", "RAKE": "python-rake"}
"""Modules that a lean installation may lack, and the packages that have them."""


def _invoke(arguments: list[str]) -> None:
    if "_STEADYRANK_COMPLETE" in os.environ:
        group.main(prog_name="steadyrank")
    # Not through click's own `main`, which answers interrupts and closed pipes its own way.
    with group.make_context("steadyrank", list(arguments)) as context:
        group.invoke(context)


def _usage_line(error: click.UsageError) -> str:
    message = " ".join(error.format_message().split()).rstrip(".")
    command = error.ctx.command_path if error.ctx else "steadyrank"
    return f"{message} (see {command} --help)"


def _ready_streams() -> None:
    """Streams that take every name, and never what was meant for another one."""
    if sys.stderr is None:
        # `print` to a stderr that was closed would go to stdout, into the result.
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors=AS_FAR_AS_POSSIBLE)


def _as_far_as_possible(error: UnicodeError) -> tuple[str | bytes, int]:
    """One character that a stream's encoding lacks: its nearest likeness, or a question mark.

    Names may hold bytes that are not UTF-8; these leave as they came.
    """
    if not isinstance(error, UnicodeEncodeError):
        raise error
    character = error.object[error.start]
    if "\udc80" <= character <= "\udcff":
        return bytes([ord(character) - 0xDC00]), error.start + 1
    from steadyrank.visible import in_ascii

    return in_ascii(character), error.start + 1


AS_FAR_AS_POSSIBLE = "steadyrank.as-far-as-possible"
codecs.register_error(AS_FAR_AS_POSSIBLE, _as_far_as_possible)


def _abandon_stdout() -> None:
    """Let what stdout still holds go: Python would complain again when it closes it on exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _check_stdout() -> None:
    """Let what stdout holds go if it cannot get rid of it, as on a full disk."""
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except OSError:
        _abandon_stdout()


def _interrupt_again(unraisable: Any) -> None:
    """Ctrl-C in the middle of a destructor, where Python would print and forget it."""
    if unraisable.exc_type is KeyboardInterrupt:
        # Not at once: what is raised in here is forgotten as well.
        here = threading.main_thread().ident
        threading.Timer(0.05, signal.pthread_kill, (here, signal.SIGINT)).start()
    else:
        sys.__unraisablehook__(unraisable)


def _after_interrupt(arguments: list[str]) -> str:
    """What the same command will do."""
    keeping = ("--store", "--out") if arguments[:1] in (["grid"], ["shard"]) else ("--store",)
    words = [word for argument in arguments for word in argument.split("=", 1)]
    kept = [place for option, place in zip(words, words[1:], strict=False) if option in keeping]
    if not kept:
        return "the same command starts again"
    keep = "keeps" if len(kept) == 1 else "keep"
    return f"the same command takes up what {' and '.join(kept)} {keep}"


def _fail(message: str, code: int) -> int:
    from steadyrank.cli.output import tell

    tell(" ".join(message.split()))
    return code


def _warn(message: str) -> None:
    from steadyrank.cli.output import tell

    tell(f"warning: {message}")


def _named(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"


def _keep_traceback() -> str:
    details = traceback.format_exc()
    try:
        with tempfile.NamedTemporaryFile(
            "w",
            prefix="steadyrank-",
            suffix=".log",
            delete=False,
            encoding="utf-8",
            errors="replace",
        ) as log:
            log.write(f"steadyrank {__version__}, Python {sys.version}\n{sys.argv}\n{details}")
    except OSError:
        return details.splitlines()[-1]
    return f"details in {log.name}"
