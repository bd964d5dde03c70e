"""Write the reference of commands from their own help.

python docs/make_commands.py
"""

from __future__ import annotations

import inspect
import re
from collections import Counter
from itertools import chain
from pathlib import Path

import click

from steadyrank.cli import commands, group
from steadyrank.cli.command import HelpRecord

PAGE = Path(__file__).with_name("commands.md")

TUTORIALS = {
    "battles": "battles.md",
    "datasets": "datasets.md",
    "check": "reading.md",
    "evaluate": "measures.md",
    "compare": "compare.md",
    "simulate": "simulate.md",
    "topics": "topics.md",
    "agree": "agree.md",
    "components": "components.md",
    "instances": "instances.md",
    "plan": "plan.md",
    "holes": "holes.md",
    "pools": "pools.md",
    "judges": "judges.md",
    "stability": "stability.md",
    "gate": "gate.md",
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

*For users of the command line.*

This page has the options that `steadyrank COMMAND --help` prints.
Study commands take `QRELS RUN...` (files, globs, folders) or `--scores FILE`. [Files](reading.md)
has the forms, and [JSON keys](json.md) the keys of `--format json`. `docs/make_commands.py` makes
this page.

Exit codes: 0 done; 2 bad input or usage; 1 the machine failed (disk, memory, a missing package);
130 interrupted; of `gate` also 3 if a candidate fails and 4 if the data are insufficient. Errors
are one line on stderr, and files are complete or absent.
"""

HELP = ("--help", "Show this message and exit.")


def page() -> str:
    """Return the page."""
    contexts = {name: _context(name) for name in commands()}
    options = {name: _options_of(context) for name, context in contexts.items()}
    shared = _shared(options)
    several = [option for option in _several(options) if option not in shared]
    parts = [HEAD, "## Options of every command\n\n" + _listed([*shared, HELP])]
    parts.append("## Options of several commands\n\n" + _listed(several))
    for name, context in contexts.items():
        parts.append(_section(name, context, options[name], shared, several))
    return "\n".join(parts)


def _several(options: dict[str, dict[str, list[HelpRecord]]]) -> list[HelpRecord]:
    """Return options of three commands, or of two if no other command has another such option."""
    listed = chain.from_iterable(chain(*sections.values()) for sections in options.values())
    counts = Counter(listed)
    n_meanings = Counter(names.split()[0] for names, _ in counts)
    return [
        option
        for option, n_commands in counts.items()
        if n_commands >= 3 or (n_commands == 2 and n_meanings[option[0].split()[0]] == 1)
    ]


def _shared(options: dict[str, dict[str, list[HelpRecord]]]) -> list[HelpRecord]:
    """Return the options that every command has, but for one command with other help."""
    listed = {name: [*chain(*sections.values())] for name, sections in options.items()}
    alike = Counter(option for records in listed.values() for option in set(records))
    flags = [{names.split()[0] for names, _ in records} for records in listed.values()]
    known = set.intersection(*flags)
    return [
        option
        for option in listed["check"]
        if option[0].split()[0] in known and alike[option] >= len(options) - 1
    ]


def _context(name: str) -> click.Context:
    command = group.get_command(click.Context(group), name)
    if command is None:
        raise LookupError(name)
    return command.make_context(f"steadyrank {name}", [], resilient_parsing=True)


def _options_of(context: click.Context) -> dict[str, list[HelpRecord]]:
    """Return options and help by the sections of --help."""
    # The spelling of --help depends on earlier calls in the same process.
    return {
        title: [option for option in options if "--help" not in option[0]]
        for title, options in context.command.help_sections(context).items()
    }


def _section(
    name: str,
    context: click.Context,
    options: dict[str, list[HelpRecord]],
    everywhere: list[HelpRecord],
    several: list[HelpRecord],
) -> str:
    usage = " ".join(context.command.collect_usage_pieces(context))
    text = inspect.cleandoc(context.command.help or "")
    links = f"[More]({TUTORIALS[name]}) · [JSON keys](json.md#{name})"
    lists, also = "", []
    for title, listed in options.items():
        own = [option for option in listed if option not in everywhere]
        also += [f"`{re.findall('--[a-z-]+', o[0])[-1]}`" for o in own if o in several]
        own = [option for option in own if option not in several]
        lists += f"\n{title}:\n\n{_listed(own)}" if own else ""
    if also:
        lists += (
            f"\n[Options of several commands](#options-of-several-commands): {', '.join(also)}\n"
        )
    head = f"## {name}\n\n```text\nsteadyrank {name} {usage}\n```\n"
    return f"{head}\n{_plain(text)}\n{lists}\n{links}\n"


def _listed(options: list[HelpRecord]) -> str:
    return "".join(f"- `{names}`: {_plain(' '.join(text.split()))}\n" for names, text in options)


def _plain(text: str) -> str:
    """Return text without Markdown."""
    for special in "\\*<[]":
        text = text.replace(special, f"\\{special}")
    return text.replace("\b\n", "")


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
