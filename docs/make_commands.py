"""Write the reference of commands from their own help.

python docs/make_commands.py
"""

from __future__ import annotations

import inspect
from pathlib import Path

import click

from steadyrank.cli import COMMANDS, group

PAGE = Path(__file__).with_name("commands.md")

TUTORIALS = {
    "check": "reading.md",
    "evaluate": "measures.md",
    "compare": "compare.md",
    "simulate": "simulate.md",
    "topics": "topics.md",
    "agree": "agree.md",
    "components": "components.md",
    "instances": "instances.md",
    "plan": "plan.md",
    "pools": "pools.md",
    "stability": "stability.md",
    "grid": "grid.md",
    "shard": "grid.md#selective-search",
    "report": "report.md",
    "demo": "collection.md",
    "reproduce": "papers.md",
    "doctor": "installation.md#does-it-work",
}
"""Command to the page that explains it."""

HEAD = """\
# Commands

`steadyrank COMMAND --help` says what this page says; `python docs/make_commands.py` makes it from
there. Study commands take `QRELS RUN...` (files, globs, folders) or `--scores FILE`;
[files](reading.md) has the forms, and [JSON keys](json.md) what `--format json` gives.

Exit codes: 0 done; 2 bad input or usage; 1 the machine failed us; 130 interrupted. Whatever goes
wrong is told in one line on stderr, and no half-written file is left behind.
"""

Record = tuple[str, str]
HELP = ("--help", "Show this message and exit.")


def page() -> str:
    """The whole page."""
    commands = {name: _context(name) for name in COMMANDS}
    records = {name: _records(context) for name, context in commands.items()}
    shared = [each for each in records["evaluate"] if all(each in r for r in records.values())]
    parts = [HEAD, "## Options of every command\n\n" + _options([*shared, HELP])]
    for name, context in commands.items():
        own = [each for each in records[name] if each not in shared]
        parts.append(_section(name, context, own))
    return "\n".join(parts)


def _context(name: str) -> click.Context:
    command = group.get_command(click.Context(group), name)
    if command is None:
        raise LookupError(name)
    return click.Context(command, info_name=f"steadyrank {name}")


def _records(context: click.Context) -> list[Record]:
    """Option and help, as click would list them; arguments stand in the usage."""
    options = (
        each
        for each in context.command.get_params(context)
        # How --help is spelled depends on what else was asked for in the same process.
        if isinstance(each, click.Option) and "--help" not in each.opts
    )
    found = (option.get_help_record(context) for option in options)
    return [record for record in found if record is not None]


def _section(name: str, context: click.Context, own: list[Record]) -> str:
    usage = " ".join(context.command.collect_usage_pieces(context))
    text = inspect.cleandoc(context.command.help or "")
    links = f"[More]({TUTORIALS[name]}) · [JSON keys](json.md#{name})"
    options = f"\n{_options(own)}" if own else ""
    return (
        f"## {name}\n\n*{COMMANDS[name][0].upper()}{COMMANDS[name][1:]}*\n\n"
        f"```text\nsteadyrank {name} {usage}\n```\n\n{_plain(text)}\n{options}\n{links}\n"
    )


def _options(records: list[Record]) -> str:
    return "".join(f"- `{names}`: {_plain(' '.join(text.split()))}\n" for names, text in records)


def _plain(text: str) -> str:
    """Text in which Markdown finds nothing to mark up."""
    for special in "\\*<[]":
        text = text.replace(special, f"\\{special}")
    return text.replace("\b\n", "")


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
