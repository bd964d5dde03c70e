"""Output of commands: the result on stdout or in a file, everything else on stderr."""

from __future__ import annotations

import contextlib
import functools
import io
import os
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
"""A suffix that any format may have."""

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
"""Suffixes that only some commands write (`also_writes`)."""
FIGURES = (".svg", ".png", ".pdf", ".eps", ".jpg", ".jpeg")

_Function = TypeVar("_Function", bound=Callable[..., Any])


def also_writes(*suffixes: str) -> Callable[[_Function], _Function]:
    """Let a command write files with these suffixes; comes directly below its output options."""

    def decorate(function: _Function) -> _Function:
        function.__dict__["suffixes"] = suffixes
        return function

    return decorate


def choose_format(
    form: str | None, output: str | None, suffixes: Sequence[str], *, draws: bool
) -> str:
    """Return the format of --format, or else the one that the output file's suffix implies.

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
            f"-o {output}: the suffix means {by_name}, but --format is {form}: omit --format, or "
            "name another file"
        )
    return form or by_name or "table"


def _listed(suffixes: Sequence[str]) -> str:
    names = [suffix for suffix in suffixes if suffix != ".htm"]
    return f"{', '.join(names[:-1])} or {names[-1]}"


PATIENCE = 2.0
"""Seconds before progress is shown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Output:
    """The options of output and execution of a command."""

    format: str
    path: str | None
    plot: str | None
    quiet: bool
    describe: bool = False
    """Whether the text ends with a paragraph for a paper."""
    digits: int | None = None
    """Number of decimals in tables; None if it was not given."""
    seed: int
    jobs: int | None
    scheduler: str | None

    @property
    def machine(self) -> dict[str, Any]:
        """The keywords of functions that take both."""
        return {"jobs": self.jobs, "scheduler": self.scheduler}

    def progress(self, what: str) -> AbstractContextManager[Progress | None]:
        """Return a callback that shows progress, unless --quiet."""
        return progress_bar(what, self.quiet)

    def show(self, text_of: Callable[..., str], result: Any, **how: Any) -> None:
        """Print or write the text of a result in the chosen format."""
        how |= {"describe": True} if self.describe else {}
        how |= {} if self.digits is None else {"digits": self.digits}
        from steadyrank.data.read.run_info import read_names
        from steadyrank.present.run_names import names_of, shown_as

        chosen = click.get_current_context().params.get("names")
        own = () if chosen is None else read_names(chosen).values()
        is_shown = self.path is None and sys.stdout is not None and sys.stdout.isatty()
        with shown_as(names_of(result, own)):
            emit(text_of(result, self.format, **how, colour=is_shown), self.path)

    def draw(self, result: Any, **options: Any) -> None:
        """Draw a result into the file of --plot, if that is given."""
        if self.plot is None:
            return
        from steadyrank.compute.files import check_still_there
        from steadyrank.present.figures import own_style, save_figure
        from steadyrank.studies.plotting import plot

        check_still_there(Path(self.plot).parent)
        with own_style():
            save_figure(plot(result, **options), self.plot)


def gathered_output(function: Callable[..., Any]) -> Callable[..., Any]:
    """Check the options of output and execution, and give them to a command as one `Output`."""
    own = getattr(function, "suffixes", ())
    suffixes = [suffix for suffix in BY_SUFFIX if suffix in own or suffix not in OF_SOME]
    names = ("quiet", "describe", "digits", "seed", "jobs", "scheduler")

    @functools.wraps(function)
    def command(*, form: str | None, output: str | None, **options: Any) -> Any:
        output = None if output == "-" else output
        draws = "plot" in options
        plot = options.pop("plot", None)
        check_folders(output, plot)
        if plot is not None:
            from steadyrank.present.figures import figure_format

            figure_format(plot)
        given: Any = {name: options.pop(name) for name in names if name in options}
        source = click.get_current_context().get_parameter_source
        if source("digits") is click.core.ParameterSource.DEFAULT:
            given["digits"] = None
        chosen = choose_format(_one_form(form), output, suffixes, draws=draws)
        if given.get("describe") and chosen == "csv":
            raise InputError("--describe has no place in CSV: omit it, or choose another format")
        about = Output(format=chosen, path=output, plot=plot, **given)
        return function(output=about, **options)

    return command


SHORT_FORM = "steadyrank.short_form"
"""Key of the context's formats of --csv, --json, --latex and --markdown."""


def _one_form(form: str | None) -> str | None:
    """Return the format of --format or of its short forms."""
    short = click.get_current_context().meta.get(SHORT_FORM, [])
    given = [f"--{each}" for each in short] + ([f"--format {form}"] if form else [])
    if len({*short, form or short[0]} if short else ()) > 1:
        raise InputError(f"{' and '.join(given)} name different formats: keep one")
    return short[0] if short else form


def check_folders(*paths: str | None) -> None:
    """Refuse files that cannot be written, before anything is computed."""
    for path in paths:
        if path is not None:
            _check_place(Path(path))


def _check_place(path: Path) -> None:
    if path.is_dir():
        raise InputError(f"{path}: this is a folder: name a file")
    folder = Path(os.path.realpath(path)).parent
    if not folder.is_dir():
        raise InputError(f"{path}: the folder {path.parent} does not exist: create it first")
    # A device or pipe can be written to whatever its folder allows.
    if not os.access(folder if path.is_file() or not path.exists() else path, os.W_OK):
        raise MachineError(f"{path}: nothing can be written into the folder {path.parent}")
    from steadyrank.compute.files import check_writable, sweep

    check_writable(path)
    sweep(folder)


def emit(text: str | Iterable[str], path: str | None, *, exact: bool = False) -> None:
    """Print the result, or write it to a file as a whole; large results come in pieces.

    Control characters in names are escaped, except in a file or pipe if the text is `exact`: TREC
    text for programs.
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
    # With PYTHONUNBUFFERED, Python silently drops what the system does not accept in one write.
    encoding, errors = sys.stdout.encoding, sys.stdout.errors or "strict"
    rest = memoryview(text.replace("\n", os.linesep).encode(encoding, errors))
    while rest:
        rest = rest[raw.write(rest) or 0 :]


def tell(line: str) -> None:
    """Print a line on stderr; the work continues if that fails."""
    with contextlib.suppress(OSError, ValueError):
        print(f"steadyrank: {one_line(line)}", file=sys.stderr, flush=True)


def tell_if_compiling(quiet: bool, kernel: Any = None) -> None:
    """Explain why the first command after an installation takes longer, on a terminal.

    `kernel` is one that few other commands use; by default the one that ranks documents.
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
    """Yield a callback that shows progress once the work has taken `PATIENCE` seconds.

    The time is counted from `since`, by default from now.
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
    """Yield a callback that shows one progress bar at a time, a new one for each kind of work."""
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
    """A progress bar of rich, which is imported only if the work takes long."""

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
            self.close()  # rich allows one bar at a time

    def close(self) -> None:
        """Clear the bar."""
        if self.progress is not None:
            self.progress.stop()
            self.progress = None


class _Lines:
    """Progress for logs: at most one line every ten seconds."""

    def __init__(self, what: str):
        self.what = what
        self.due = time.monotonic() + PATIENCE

    def __call__(self, finished: int, total: int) -> None:
        if time.monotonic() >= self.due and finished < total:
            tell(f"{self.what}: {finished} of {total}")
            self.due = time.monotonic() + 10.0

    def close(self) -> None:
        """Do nothing: lines remain."""
