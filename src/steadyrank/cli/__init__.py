"""The `steadyrank` command: each subcommand in a file of its own, loaded when it is called.

Exit codes: 0 done; 2 bad input or usage; 1 the machine failed us; 130 interrupted.
Whatever goes wrong is told in one line on stderr.
"""

from __future__ import annotations

import importlib
import os
import sys
import tempfile
import traceback
from typing import Any

import click

from steadyrank._version import __version__
from steadyrank.errors import InputError, SteadyrankError

COMMANDS = {
    "check": "what is wrong or odd with these files",
    "evaluate": "scores of every run on every topic",
    "compare": "who beats whom, how surely, by how much",
    "simulate": "would another document collection change it?",
    "topics": "would other topics change it? error rate against topic set size",
    "agree": "do the measures agree, at which numbers of topics and systems?",
    "components": "which component of a grid matters, by how much",
    "instances": "compare non-deterministic systems; equivalence",
    "plan": "how many topics, for which power; how safe is the pilot?",
    "pools": "leave teams out, leave topics out: would the pilot say the same?",
    "stability": "generalizability theory: how stable is this collection",
    "grid": "make runs from every combination of components",
    "shard": "make instances of a selective-search system",
    "report": "all of it on one page",
    "demo": "evaluate a simulated track, without any data of your own",
    "reproduce": "a paper's tables and figures, beside the published ones",
    "doctor": "versions, threads, caches, self-test",
}


class LazyGroup(click.Group):
    """A group that knows its commands by name and imports one only to run it."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The commands in the order in which people need them."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        """The command of that name, imported now."""
        if name not in COMMANDS:
            return None
        command: click.Command = importlib.import_module(f"steadyrank.cli.{name}").command
        return command

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        """Name the nearest command when there is none of that name."""
        name = click.utils.make_str(args[0])
        if name not in COMMANDS and not name.startswith("-"):
            from steadyrank.errors import unknown_name

            raise click.UsageError(str(unknown_name("command", name, COMMANDS)), ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="steadyrank")
def group() -> None:
    """How far can you trust this leaderboard?"""


def main(arguments: list[str] | None = None) -> None:
    """Run the command line and exit; every failure in one line."""
    sys.exit(run(arguments))


def run(arguments: list[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            # Names may hold bytes that are not UTF-8; they leave as they came.
            stream.reconfigure(errors="surrogateescape")
    try:
        _invoke(sys.argv[1:] if arguments is None else arguments)
        sys.stdout.flush()
        return 0
    except click.exceptions.Exit as leaving:
        return leaving.exit_code
    except click.exceptions.NoArgsIsHelpError as nothing:
        click.echo(nothing.format_message())
        return 0
    except (click.Abort, KeyboardInterrupt):
        return _fail("interrupted", 130)
    except click.UsageError as error:
        return _fail(_usage_line(error), 2)
    except (InputError, click.ClickException) as error:
        message = error.format_message() if isinstance(error, click.ClickException) else error
        return _fail(str(message), 2)
    except SteadyrankError as error:
        return _fail(str(error), 1)
    except BrokenPipeError:
        # Python would complain again when it closes stdout on exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return _fail("stdout was closed before the whole result was written", 1)
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        return _fail(f"{where}{error.strerror or error}", 1)
    except MemoryError:
        return _fail("out of memory: give fewer runs at a time, or a smaller --jobs", 1)
    except Exception:
        return _fail(f"an error in steadyrank itself: details in {_keep_traceback()}", 1)


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


def _fail(message: str, code: int) -> int:
    line = " ".join(message.split())
    print(f"steadyrank: {line}", file=sys.stderr)
    return code


def _keep_traceback() -> str:
    with tempfile.NamedTemporaryFile(
        "w", prefix="steadyrank-", suffix=".log", delete=False, encoding="utf-8", errors="replace"
    ) as log:
        log.write(f"steadyrank {__version__}, Python {sys.version}\n{sys.argv}\n")
        log.write(traceback.format_exc())
    return log.name
