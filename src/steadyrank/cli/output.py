"""What a command shows: the result on stdout or in a file, the rest on stderr."""

from __future__ import annotations

import contextlib
import functools
import io
import logging
import os
import shutil
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import click

from steadyrank.compute.executors import Progress
from steadyrank.errors import InputError, MachineError
from steadyrank.visible import for_terminal, one_line

FORMATS = ("table", "csv", "json", "latex", "markdown", "html")

TEXT = ".txt"
"""Says nothing about a format: whatever is written is text."""

BY_SUFFIX = {
    TEXT: "table",
    ".csv": "csv",
    ".json": "json",
    ".tex": "latex",
    ".md": "markdown",
    ".html": "html",
    ".htm": "html",
    ".parquet": "parquet",
    ".tsv": "tsv",
}
OF_SOME = (".parquet", ".tsv")
"""Suffixes that a command must say it has (`also_writes`)."""
FIGURES = (".svg", ".png", ".pdf", ".eps", ".jpg", ".jpeg")

_Function = TypeVar("_Function", bound=Callable[..., Any])


def also_writes(*suffixes: str) -> Callable[[_Function], _Function]:
    """Let a command write files that not every command writes; stands below its output options."""

    def decorate(function: _Function) -> _Function:
        function.__dict__["suffixes"] = suffixes
        return function

    return decorate


def suffixes_of(function: Callable[..., Any]) -> list[str]:
    """The suffixes of the files that a command writes its result to."""
    own = getattr(function, "suffixes", ())
    return [suffix for suffix in BY_SUFFIX if suffix in own or suffix not in OF_SOME]


def choose_format(
    form: str | None, output: str | None, suffixes: Sequence[str], *, draws: bool
) -> str:
    """The format asked for, or the one that the name of the output file says.

    `draws` is whether the command has --plot.

    >>> choose_format(None, "table.tex", [".tex"], draws=False)
    'latex'
    """
    suffix = Path(output).suffix.lower() if output else ""
    by_name = BY_SUFFIX[suffix] if suffix in suffixes else None
    if suffix in FIGURES or (suffix and by_name is None and (form is None or suffix in OF_SOME)):
        figures = ", and draw figures with --plot FILE" if draws else ""
        raise InputError(
            f"-o {output}: name a file that ends in {_listed(suffixes)} for the result{figures}"
        )
    if form and by_name and suffix != TEXT and form != by_name:
        raise InputError(
            f"-o {output}: the name says {by_name}, but --format says {form}: omit --format, "
            "or name another file"
        )
    return form or by_name or "table"


def _listed(suffixes: Sequence[str]) -> str:
    names = [suffix for suffix in suffixes if suffix != ".htm"]
    return f"{', '.join(names[:-1])} or {names[-1]}"


PATIENCE = 2.0
"""Seconds of silence before progress is shown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Output:
    """Where a command's result and figure go, in which format; with which seed, and who works."""

    format: str
    path: str | None
    plot: str | None
    quiet: bool
    figure_width: float | None = None
    """Inches."""
    describe: bool = False
    """Whether a paragraph for a paper ends the text."""
    digits: int | None = None
    """Decimals in tables; None unless they were chosen."""
    seed: int
    jobs: int | None
    scheduler: str | None

    @property
    def machine(self) -> dict[str, Any]:
        """Who does the work, for functions that take both."""
        return {"jobs": self.jobs, "scheduler": self.scheduler}

    def progress(self, what: str) -> AbstractContextManager[Progress | None]:
        """A callback that shows how far the work is, unless --quiet."""
        return progress_bar(what, self.quiet)

    def show(self, text_of: Callable[..., str], result: Any, **how: Any) -> None:
        """Emit the text of a result in the format that was chosen."""
        how |= {"describe": True} if self.describe else {}
        how |= {} if self.digits is None else {"digits": self.digits}
        from steadyrank.data.read.run_names import read_names
        from steadyrank.present.run_names import names_of, shown_as

        chosen = click.get_current_context().params.get("names")
        own = () if chosen is None else read_names(chosen).values()
        with shown_as(names_of(result, own)):
            emit(text_of(result, self.format, **how, **self._looks()), self.path)

    def _looks(self) -> dict[str, Any]:
        if self.path is not None or sys.stdout is None or not sys.stdout.isatty():
            return {"width": None, "colour": False}
        return {"width": shutil.get_terminal_size().columns, "colour": True}

    def draw(self, result: Any, **options: Any) -> None:
        """Draw a result into a file, if there is to be one."""
        if self.plot is None:
            return
        from steadyrank.compute.files import check_still_there
        from steadyrank.present.figures import own_style, save_figure
        from steadyrank.studies.plotting import plot

        check_still_there(Path(self.plot).parent)
        hush_matplotlib(self.quiet)
        with own_style():
            save_figure(plot(result, figsize=self.figure_width, **options), self.plot)


def gathered_output(function: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command its options of output and execution as one `Output`, checked."""
    suffixes = suffixes_of(function)
    names = ("quiet", "figure_width", "describe", "digits", "seed", "jobs", "scheduler")

    @functools.wraps(function)
    def command(*, form: str | None, output: str | None, **options: Any) -> Any:
        output = None if output == "-" else output
        draws = "plot" in options
        plot = options.pop("plot", None)
        check_files(output, plot)
        given: Any = {name: options.pop(name) for name in names if name in options}
        source = click.get_current_context().get_parameter_source
        if source("digits") is click.core.ParameterSource.DEFAULT:
            given["digits"] = None
        if given.get("figure_width") is not None and plot is None:
            raise InputError("--figure-width is that of --plot FILE: give that as well")
        chosen = choose_format(_one_form(form), output, suffixes, draws=draws)
        if given.get("describe") and chosen == "csv":
            raise InputError("--describe ends a text in words, which CSV has none of: omit it")
        about = Output(format=chosen, path=output, plot=plot, **given)
        return function(output=about, **options)

    return command


SHORT_FORM = "steadyrank.short_form"
"""Where a context has the formats of --csv, --json, --latex and --markdown."""


def _one_form(form: str | None) -> str | None:
    """What --format or one of its short forms says."""
    short = click.get_current_context().meta.get(SHORT_FORM, [])
    asked = [f"--{each}" for each in short] + ([f"--format {form}"] if form else [])
    if len({*short, form or short[0]} if short else ()) > 1:
        raise InputError(f"{' and '.join(asked)} name different formats: keep one")
    return short[0] if short else form


def check_folders(*paths: str | None) -> None:
    """Refuse at once files that could not be written when everything is computed."""
    for path in paths:
        if path is not None:
            _check_place(Path(path))


def _check_place(path: Path) -> None:
    if path.is_dir():
        raise InputError(f"{path}: this is a folder: name a file")
    folder = Path(os.path.realpath(path)).parent
    if not folder.is_dir():
        raise InputError(f"{path}: the folder {path.parent} does not exist: make it first")
    # What is no plain file is written to as it is, whatever its folder allows.
    if not os.access(folder if path.is_file() or not path.exists() else path, os.W_OK):
        raise MachineError(f"{path}: nothing can be written into the folder {path.parent}")
    from steadyrank.compute.files import check_writable, sweep

    check_writable(path)
    sweep(folder)


def check_files(output: str | None, plot: str | None) -> None:
    """Refuse at once a result or a figure that could not be written."""
    check_folders(output, plot)
    if plot is None:
        return
    from steadyrank.present.figures import figure_format

    figure_format(plot)


def emit(text: str | Iterable[str], path: str | None, *, exact: bool = False) -> None:
    """The result, to stdout or whole into a file; in pieces, where it may be large.

    No name in it acts on a terminal, unless the text is `exact`: TREC text for programs.
    """
    pieces = [text] if isinstance(text, str) else text
    is_shown = path is None and sys.stdout is not None and sys.stdout.isatty()
    if is_shown or not exact:
        pieces = (for_terminal(piece, styled=is_shown) for piece in pieces)
    if path is not None:
        from steadyrank.compute.files import check_still_there, write_whole

        check_still_there(Path(path).parent)
        write_whole(path, pieces)
    elif sys.stdout is None:
        raise MachineError("stdout is closed: name a file for the result with -o")
    else:
        try:
            for piece in pieces:
                _print_whole(piece)
        except BrokenPipeError:
            raise
        except OSError as error:
            raise OSError(error.errno, error.strerror, "stdout") from None


def _print_whole(text: str) -> None:
    raw = getattr(sys.stdout, "buffer", None)
    if not isinstance(raw, io.RawIOBase):
        sys.stdout.write(text)
        sys.stdout.flush()
        return
    # With PYTHONUNBUFFERED, Python drops without a word what the system does not take at once.
    encoding, errors = sys.stdout.encoding, sys.stdout.errors or "strict"
    rest = memoryview(text.replace("\n", os.linesep).encode(encoding, errors))
    while rest:
        rest = rest[raw.write(rest) or 0 :]


def tell(line: str) -> None:
    """A line on stderr; if nobody can read it, that is no reason to stop the work."""
    with contextlib.suppress(OSError, ValueError):
        print(f"steadyrank: {one_line(line)}", file=sys.stderr, flush=True)


def hush_matplotlib(quiet: bool) -> None:
    """Hide what matplotlib has to say about its caches: it goes through logging, not warnings."""
    if quiet:
        logging.getLogger("matplotlib").setLevel(logging.ERROR)


def tell_if_compiling(quiet: bool, kernel: Any = None) -> None:
    """Explain the wait of the first command after an installation, if somebody watches.

    `kernel` is one that few other commands have, where it is not the one that ranks documents.
    """
    from steadyrank.compute.kernel_cache import is_kept
    from steadyrank.data.order import n_ranked

    if not quiet and sys.stderr.isatty() and not is_kept(kernel or n_ranked):
        how_long = "up to a minute" if kernel else "some seconds"
        tell(f"compiling kernels, which happens once and takes {how_long}")


@contextlib.contextmanager
def progress_bar(
    what: str, quiet: bool, *, since: float | None = None
) -> Iterator[Progress | None]:
    """A callback that shows, once there was patience enough, how far the work is.

    Patience is counted from `since`, where other work came before.
    """
    if quiet:
        yield None
        return
    shown = _Bar(what, since) if sys.stderr.isatty() else _Lines(what)
    try:
        yield shown
    finally:
        shown.close()


@contextlib.contextmanager
def bars(quiet: bool) -> Iterator[Callable[[str, int, int], None] | None]:
    """One bar at a time, a new one whenever something else is being done."""
    if quiet:
        yield None
        return
    with contextlib.ExitStack() as alive:
        now: dict[str, Any] = {"what": None, "bar": None}
        began = time.monotonic()

        def show(what: str, finished: int, total: int) -> None:
            if what != now["what"]:
                alive.close()
                now["bar"] = alive.enter_context(progress_bar(what, quiet, since=began))
                now["what"] = what
            now["bar"](finished, total)

        yield show


class _Bar:
    """rich's progress bar, imported and drawn only if the work takes its time."""

    def __init__(self, what: str, since: float | None = None):
        self.what = what
        self.started = time.monotonic() if since is None else since
        self.progress: Any = None
        self.task: Any = None

    def __call__(self, finished: int, total: int) -> None:
        if self.progress is None:
            if time.monotonic() - self.started < PATIENCE or finished == total:
                return
            from rich.console import Console
            from rich.markup import escape
            from rich.progress import Progress as RichProgress

            self.progress = RichProgress(console=Console(stderr=True), transient=True)
            self.progress.start()
            self.task = self.progress.add_task(escape(one_line(self.what)), total=total)
        self.progress.update(self.task, completed=finished, total=total)
        if finished == total:
            self.close()  # Only one bar at a time may be alive, and the next may be due.

    def close(self) -> None:
        """Clear the bar."""
        if self.progress is not None:
            self.progress.stop()
            self.progress = None


class _Lines:
    """For logs: one line every ten seconds at most."""

    def __init__(self, what: str):
        self.what = what
        self.due = time.monotonic() + PATIENCE

    def __call__(self, finished: int, total: int) -> None:
        if time.monotonic() >= self.due and finished < total:
            tell(f"{self.what}: {finished} of {total}")
            self.due = time.monotonic() + 10.0

    def close(self) -> None:
        """Nothing to clear."""
