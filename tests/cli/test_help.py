"""What --help says: a command's own options first, in phrases that say what to do."""

from __future__ import annotations

import click
import pytest

from steadyrank.cli import GROUPS, commands, group

READING = {
    *("--scores", "--max-input", "--form", "--runs-in-rows", "--missing", "--no-relevant"),
    *("--ties", "--name-from", "--names", "--duplicates", "--run-info", "--team-from"),
    *("--system-from", "--lower-is-better", "--higher-is-better", "--collection"),
    *("--datasets", "--column", "--topic-info", "--cluster-from"),
}
OUTPUT = {"--format", "-o", "--seed", "--jobs", "--scheduler", "--quiet", "--version", "--help"}
OUTPUT |= {"--digits", "--plot", "--summary", "--junit"}
WRITES_SCORES = ("grid", "shard")
OWN = {"battles": ("--ties",)}


def context_of(name):
    command = group.get_command(click.Context(group), name)
    return command.make_context(name, [], resilient_parsing=True)


def place_of(name, option):
    """0 for options of the command's own, 1 for those of output, 2 for those of reading."""
    flags = {option.split()[0].strip(","), *option.replace(",", " ").split()}
    is_own = ("--scores" in flags and name in WRITES_SCORES) or flags & {*OWN.get(name, ())}
    if flags & READING and not is_own:
        return 2
    return 1 if flags & OUTPUT else 0


def test_commands_are_listed_by_what_they_are_for():
    shown = group.get_help(click.Context(group))
    titles = [line for line in shown.splitlines() if line in (*(f"{g}:" for g in GROUPS), *GROUPS)]
    assert titles == [title if title.endswith("?") else f"{title}:" for title in GROUPS]
    lines = shown.split("Look at data:")[1].splitlines()
    listed = [line.split()[0] for line in lines if line.startswith("  ")]
    assert sorted(listed) == sorted(commands()), "each is listed once, in one line"
    assert max(map(len, shown.splitlines())) <= 80


@pytest.mark.parametrize("name", commands())
def test_own_options_come_before_output_and_reading_comes_last(name):
    context = context_of(name)
    sections = context.command.help_sections(context)
    listed = [option for options in sections.values() for option, _ in options]
    known = [place_of(name, option) for option in listed]
    assert sorted(sections, key=["Options", "Output and execution", "Reading"].index) == [*sections]
    assert "Reading" not in sections or {place_of(name, o) for o, _ in sections["Reading"]} == {2}
    own = [option for option, _ in sections.get("Options", [])]
    assert not any(place_of(name, option) for option in own)
    assert known.index(1) > len(own) - 1
    assert 2 not in known or known.index(2) > max(i for i, place in enumerate(known) if place == 1)
    shown = context.command.get_help(context)
    titles = [shown.index(f"\n{title}:\n") for title in sections]
    assert titles == sorted(titles)
