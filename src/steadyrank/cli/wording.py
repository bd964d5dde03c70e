"""The library's messages in the words of a command.

Errors of the library speak Python, `name_from="file"`; the user of a command needs to read
`--name-from file`.
"""

from __future__ import annotations

import re

import click

from steadyrank.guesses import OPTIONS, WITHOUT_OPTION

# With a quoted value or none: anything else may be a factor and its level.
KEYWORD = re.compile(r'\b([a-z]\w*)=("[^"]*"|(?=[\s,;:.)]|$))')
# Names with an underscore are no English; in paths and quotations they are the user's own.
PARAMETER = re.compile(r"(?<![\w/.'\"`-])[a-z]+(?:_[a-z]+)+(?![\w/'\"`-]|\.\w)")
# Other names may be plain words, but not where something must hold of them.
SUBJECT = re.compile(r"^[a-z]+(?= must\b|: expected\b)")


def in_options(message: str, command: click.Command) -> str:
    """The message with the parameters of a command as its options.

    >>> from steadyrank.cli.evaluate import command
    >>> in_options('name them with name_from="file", or give run_info=', command)
    'name them with --name-from file, or give --run-info FILE'
    """
    options = {
        parameter.name: parameter
        for parameter in command.params
        if isinstance(parameter, click.Option)
    }

    def keyword(match: re.Match[str]) -> str:
        option = options.get(match[1])
        if option is None:
            return match[0]
        value = match[2].strip('"') or option.metavar or ""
        return f"{_flag(option)} {value}".strip()

    def name(match: re.Match[str]) -> str:
        return _flag(options[match[0]]) if match[0] in options else match[0]

    return SUBJECT.sub(name, PARAMETER.sub(name, KEYWORD.sub(keyword, message)))


def option_meant(name: str, command: click.Command) -> str | None:
    """What to write in place of an option that other tools have; None for any other name.

    >>> from steadyrank.cli.evaluate import command
    >>> option_meant("--metrics", command)
    'did you mean -m, --measure?'
    """
    if name in WITHOUT_OPTION:
        return WITHOUT_OPTION[name]
    meant = OPTIONS.get(name)
    own = {flag for parameter in command.params for flag in parameter.opts}
    if meant is None or not own & set(meant.split(", ")):
        return None
    return f"did you mean {meant}?"


def _flag(option: click.Option) -> str:
    return max(option.opts, key=len)
