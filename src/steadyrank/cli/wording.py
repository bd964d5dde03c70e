"""The library's messages in the words of a command.

Errors of the library speak Python, `name_from="file"`; whoever typed a command needs to read
`--name-from file`.
"""

from __future__ import annotations

import re

import click

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


def _flag(option: click.Option) -> str:
    return max(option.opts, key=len)
