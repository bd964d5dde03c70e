"""What a command shows: the result on stdout or in a file, the rest on stderr."""

from __future__ import annotations

import contextlib
import logging
import shutil
import sys
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from steadyrank.compute.executors import Progress
from steadyrank.errors import InputError, SteadyrankWarning

PATIENCE = 2.0
"""Seconds of silence before progress is shown."""

_BY_SUFFIX = {".csv": "csv", ".json": "json", ".tex": "latex", ".md": "markdown"}


def choose_format(form: str | None, output: str | None) -> str:
    """The format asked for, or the one that the output file's name says."""
    if form is not None:
        return form
    return _BY_SUFFIX.get(Path(output).suffix.lower(), "table") if output else "table"


def check_folders(*paths: str | None) -> None:
    """Refuse at once files that could not be written when everything is computed."""
    for path in paths:
        if path is not None and not Path(path).parent.is_dir():
            folder = Path(path).parent
            raise InputError(f"{path}: the folder {folder} does not exist: make it first")


def check_files(output: str | None, plot: str | None) -> None:
    """Refuse at once a result or a figure that could not be written."""
    check_folders(output, plot)
    if plot is None:
        return
    from steadyrank.render.plots import figure_format

    figure_format(plot)
    if output is not None and Path(plot).absolute() == Path(output).absolute():
        raise InputError(f"{plot}: the figure would overwrite the result: name two files")


def emit(text: str, output: str | None) -> None:
    """The result, to stdout or whole into a file."""
    if output is None:
        sys.stdout.write(text)
        sys.stdout.flush()
    else:
        from steadyrank.compute.files import write_whole

        write_whole(output, text)


def draw(result: Any, path: str | None, quiet: bool, **options: Any) -> None:
    """Draw a result into a file, if there is to be one."""
    if path is None:
        return
    from steadyrank.render.plots import plot, save_figure

    if quiet:
        # What matplotlib has to say about its caches goes through logging, not warnings.
        logging.getLogger("matplotlib").setLevel(logging.ERROR)
    with told_on_stderr(quiet):
        save_figure(plot(result, **options), path)


def terminal_looks(output: str | None) -> dict[str, Any]:
    """Width and colour for a table: plain unless a person is looking."""
    if output is not None or not sys.stdout.isatty():
        return {"width": None, "colour": False}
    return {"width": shutil.get_terminal_size().columns, "colour": True}


@contextlib.contextmanager
def told_on_stderr(quiet: bool) -> Iterator[None]:
    """Warnings as single lines on stderr, or none at all."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if not quiet:
            warnings.filterwarnings("always", category=SteadyrankWarning)
        warnings.showwarning = _show_warning
        yield


def tell_if_compiling(quiet: bool, kernel: Any = None) -> None:
    """Explain the wait of the first command after an installation to whoever is watching.

    `kernel` is the one that takes longest, where it is not the one that ranks documents.
    """
    from steadyrank.compute.kernels import is_kept
    from steadyrank.data.blocks import rank_blocks

    if not quiet and sys.stderr.isatty() and not is_kept(kernel or rank_blocks):
        how_long = "up to a minute" if kernel else "some seconds"
        print(f"steadyrank: compiling kernels, once; this takes {how_long}", file=sys.stderr)


def _show_warning(message: Warning | str, *rest: Any, **more: Any) -> None:
    print(f"steadyrank: warning: {message}", file=sys.stderr)


@contextlib.contextmanager
def progress_bar(what: str, quiet: bool) -> Iterator[Progress | None]:
    """A callback that shows, once there was patience enough, how far the work is."""
    if quiet:
        yield None
        return
    shown = _Bar(what) if sys.stderr.isatty() else _Lines(what)
    try:
        yield shown
    finally:
        shown.close()


class _Bar:
    """rich's progress bar, imported and drawn only if the work takes its time."""

    def __init__(self, what: str):
        self.what = what
        self.started = time.monotonic()
        self.progress: Any = None
        self.task: Any = None

    def __call__(self, finished: int, total: int) -> None:
        if self.progress is None:
            if time.monotonic() - self.started < PATIENCE or finished == total:
                return
            from rich.console import Console
            from rich.progress import Progress as RichProgress

            self.progress = RichProgress(console=Console(stderr=True), transient=True)
            self.progress.start()
            self.task = self.progress.add_task(self.what, total=total)
        self.progress.update(self.task, completed=finished)
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
            print(f"steadyrank: {self.what}: {finished} of {total}", file=sys.stderr)
            self.due = time.monotonic() + 10.0

    def close(self) -> None:
        """Nothing to clear."""
