"""The command that makes the same page again, which the page shows."""

from __future__ import annotations

import shlex
from typing import Any

import click

WITHOUT_EFFECT = ("form", "output", "jobs", "scheduler", "quiet", "store", "out", "force", "page")
"""Options that do not change the page, or only where it goes."""


def same_command(*ending: str) -> str:
    """The command that is being run, quoted for a shell, with another ending."""
    context = click.get_current_context()
    arguments: list[str] = []
    options: list[str] = []
    for parameter in context.command.params:
        value = context.params.get(parameter.name or "")
        if isinstance(parameter, click.Argument):
            arguments += [value] if isinstance(value, str) else list(value or ())
        elif parameter.name not in WITHOUT_EFFECT and _is_given(context, parameter):
            options += _spelled(parameter, value)
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
    """An option as it would be typed."""
    option = max(parameter.opts, key=len)
    if getattr(parameter, "is_flag", False):
        return [option] if value else []
    if parameter.multiple and isinstance(value, tuple):
        return [word for part in value for word in (option, str(part))]
    return [option, str(value)]
