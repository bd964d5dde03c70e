"""The `steadyrank` command. Each subcommand is a module, which is imported when it is called.

Exit codes: 0 done; 2 bad input or usage; 1 the machine failed; 130 interrupted; `gate` also has 3
for a candidate that fails and 4 if it cannot tell. Every error is one line on stderr. A closed
pipe, as in `| head -1`, is no error.
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
from typing import Any

import click

from steadyrank._version import __version__
from steadyrank.errors import InputError, MachineError, SteadyrankError, unknown_name
from steadyrank.guesses import SAME_COMMANDS
from steadyrank.studies.registry import STUDIES

OWN_COMMANDS = {
    **{study.name: study.question for study in STUDIES if study.is_command},
    "report": "run every study that the data support; one page",
    "demo": "write example data and a report on it",
    "doctor": "show versions, threads and caches; run a self-test",
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


def commands() -> dict[str, str]:
    """Return the help line of each command: ours first, then those of other packages."""
    others = {name: home.COMMANDS[name] for name, home in plugins().items()}
    return {**OWN_COMMANDS, **others, **OWN_COMMANDS}


@functools.cache
def plugins() -> dict[str, Any]:
    """Return the commands of other packages, each with the package that lists it.

    An entry point of the group `steadyrank.commands` names a package with `COMMANDS`, the help line
    of each command. Its submodule of that name has the Click command as `command`.
    """
    from importlib.metadata import entry_points

    found: dict[str, Any] = {}
    for entry in entry_points(group="steadyrank.commands"):
        try:
            home = entry.load()
            found |= dict.fromkeys(home.COMMANDS, home)
        except Exception as error:
            why = f"{type(error).__name__}: {error}"
            _fail(f"warning: the commands of {entry.value} cannot be loaded: {why}", 1)
    return found


OBJECTS_BETWEEN_COLLECTIONS = 200_000
"""New objects between garbage collections; Python's default is 700."""


class LazyGroup(click.Group):
    """A group that imports a command only to run it."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of all commands."""
        return list(commands())

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        """Import a command; return None if there is none of this name."""
        command: click.Command
        if name in OWN_COMMANDS:
            command = importlib.import_module(f"steadyrank.cli.{name}").command
            return command
        if name not in plugins():
            return None
        home = plugins()[name].__name__
        try:
            command = importlib.import_module(f"{home}.{name}").command
        except Exception as error:
            why = f"{type(error).__name__}: {error}"
            raise MachineError(f"{name} of {home} cannot be loaded: {why}") from error
        return command

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        """Find a command, also by the name that another tool has for it."""
        name = click.utils.make_str(args[0])
        if name in SAME_COMMANDS:
            ours, *more = SAME_COMMANDS[name].split()
            ctx.meta["steadyrank.notes"] = [f"{name} is called {SAME_COMMANDS[name]} here"]
            args = [ours, *args[1:], *more]
        elif name not in OWN_COMMANDS and name not in commands() and not name.startswith("-"):
            raise click.UsageError(str(unknown_name("command", name, commands())), ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands by purpose, without importing them."""
        listed = commands()
        grouped = {name for names in GROUPS.values() for name in names}
        more = {"More": tuple(name for name in listed if name not in grouped)}
        width = max(map(len, listed))  # one for all groups, so that the help lines align
        for title, names in (GROUPS | more).items():
            known = [(name.ljust(width), listed[name]) for name in names if name in listed]
            if known:
                formatter.write(f"\n{title}{'' if title.endswith('?') else ':'}\n")
                with formatter.indentation():
                    formatter.write_dl(known)


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="steadyrank")
def group() -> None:
    """How far can you trust this leaderboard?"""


def main(arguments: list[str] | None = None) -> None:
    """Run the command line and exit."""
    if hasattr(signal, "pthread_kill"):
        sys.unraisablehook = _interrupt_again
    # Figures are files in our style: the user's backend and style do not apply.
    os.environ.pop("MPLBACKEND", None)
    os.environ["MATPLOTLIBRC"] = os.devnull
    # Frequent garbage collections would take a tenth of a small command's time.
    gc.set_threshold(OBJECTS_BETWEEN_COLLECTIONS)
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
        usage = " ".join(error.format_message().split()).rstrip(".")
        command = error.ctx.command_path if error.ctx else "steadyrank"
        return _fail(f"{usage} (see {command} --help)", 2)
    except click.ClickException as error:
        return _fail(error.format_message(), 2)
    except InputError as error:
        return _fail(str(error), 2)
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
        return _fail("out of memory: give fewer runs at a time, or use fewer --jobs", 1)
    except Exception as error:
        package = _REQUIRED.get(str(getattr(error, "name", "")).partition(".")[0])
        if package is not None and isinstance(error, ModuleNotFoundError):
            return _fail(
                f"this requires {package}, which is not installed: pip install {package}", 1
            )
        return _fail(f"an error in steadyrank itself: {_keep_traceback()}", 1)


_REQUIRED = {name: name for name in ("pandas", "pyarrow", "matplotlib", "jinja2")}
_REQUIRED |= {"Stemmer": "PyStemmer", "RAKE": "python-rake"}
"""Modules that a lean installation may lack, and their packages."""


def _invoke(arguments: list[str]) -> None:
    if "_STEADYRANK_COMPLETE" in os.environ:
        group.main(prog_name="steadyrank")
    # Click's `main` handles interrupts and closed pipes differently.
    with group.make_context("steadyrank", list(arguments)) as context:
        group.invoke(context)


def _ready_streams() -> None:
    """Let stdout and stderr take any character; open stderr if it was closed."""
    if sys.stderr is None:
        # `print` to a stderr that was closed would go to stdout, into the result.
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors=AS_FAR_AS_POSSIBLE)


def _as_far_as_possible(error: UnicodeError) -> tuple[str | bytes, int]:
    """Replace a character that a stream's encoding lacks by a similar one or a question mark.

    Bytes of a name that are not UTF-8 are written unchanged.
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
    """Discard the buffer of stdout; Python would fail again when it closes stdout on exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _check_stdout() -> None:
    """Discard the buffer of stdout if it cannot be written, as on a full disk."""
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except OSError:
        _abandon_stdout()


def _interrupt_again(unraisable: Any) -> None:
    """Repeat a Ctrl-C that came during a destructor, where Python prints and ignores it."""
    if unraisable.exc_type is KeyboardInterrupt:
        # Not immediately: Python also ignores what is raised here.
        here = threading.main_thread().ident
        threading.Timer(0.05, signal.pthread_kill, (here, signal.SIGINT)).start()
    else:
        sys.__unraisablehook__(unraisable)


def _after_interrupt(arguments: list[str]) -> str:
    """Say what happens if the interrupted command is repeated."""
    keeping = ("--store", "--out") if arguments[:1] in (["grid"], ["shard"]) else ("--store",)
    words = [word for argument in arguments for word in argument.split("=", 1)]
    kept = [place for option, place in zip(words, words[1:], strict=False) if option in keeping]
    if not kept:
        return "the same command starts from the beginning"
    return f"the same command continues from what is in {' and '.join(kept)}"


def _fail(message: str, code: int) -> int:
    from steadyrank.cli.output import tell

    tell(" ".join(message.split()))
    return code


def _keep_traceback() -> str:
    details = traceback.format_exc()
    try:
        handle, path = tempfile.mkstemp(".log", "steadyrank-")
        with open(handle, "w", encoding="utf-8", errors="replace") as log:
            log.write(f"steadyrank {__version__}, Python {sys.version}\n{sys.argv}\n{details}")
    except OSError:
        return details.splitlines()[-1]
    return f"details in {path}"
