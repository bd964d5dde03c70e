"""Figures as files; the same figure gives the same bytes."""

from __future__ import annotations

import atexit
import contextlib
import io
import os
import shutil
import stat
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from steadyrank.compute.files import source_date, write_whole
from steadyrank.errors import InputError
from steadyrank.words import filled

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SAVED = {
    "svg": {"Date": None, "Creator": "steadyrank"},
    "png": {"Software": "steadyrank"},
    "pdf": {"CreationDate": None, "Creator": "steadyrank"},
}
"""Formats with their metadata: no date, so that the same figure gives the same bytes."""

SETTINGS: dict[Any, Any] = {
    "svg.hashsalt": "steadyrank",
    "svg.fonttype": "none",  # text stays text: it can be searched, read aloud and restyled
    "pdf.fonttype": 42,  # publishers refuse matplotlib's Type 3 fonts
    "savefig.dpi": 200,
}


@dataclass(frozen=True, slots=True)
class Plot:
    """One way to draw a result."""

    draw: Callable[..., None]
    size: Callable[[Any], tuple[float, float]]
    """Width and height in inches."""
    words: str | Callable[[Any], str]
    """The alternative text with the main numbers, for `filled`, or a function of the result."""
    height: Callable[[Any, float], float] | None = None
    """Height in inches at a given width; by default in proportion."""

    def alt(self, result: Any) -> str:
        """Return the alternative text."""
        return filled(self.words, result) if isinstance(self.words, str) else self.words(result)


@contextlib.contextmanager
def own_style() -> Iterator[None]:
    """Use matplotlib's defaults whatever a `matplotlibrc` says, for pages and files of commands."""
    mpl = load_matplotlib()
    with mpl.rc_context():
        mpl.rcdefaults()
        yield


def load_matplotlib() -> Any:
    """Import matplotlib; raise our error if the environment names an unknown backend."""
    give_matplotlib_a_cache()
    try:
        import matplotlib
    except ValueError as error:
        raise InputError(f"matplotlib cannot be loaded ({error}): unset MPLBACKEND") from None
    return matplotlib


def give_matplotlib_a_cache() -> None:
    """Name a folder for matplotlib's list of fonts if that in the home cannot be written.

    Otherwise matplotlib would make the list in each process, and log a warning.
    """
    if "matplotlib" in sys.modules or "MPLCONFIGDIR" in os.environ:
        return
    try:
        places = [_folder_of("XDG_CONFIG_HOME", ".config"), _folder_of("XDG_CACHE_HOME", ".cache")]
    except RuntimeError:  # there is no home
        places = []
    if not places or not all(map(_can_be_written, places)):
        os.environ["MPLCONFIGDIR"] = str(_own_folder())


def _folder_of(variable: str, below_home: str) -> Path:
    return Path(os.environ.get(variable) or Path.home() / below_home) / "matplotlib"


def _can_be_written(folder: Path) -> bool:
    there = next((place for place in (folder, *folder.parents) if place.exists()), folder)
    return there.is_dir() and os.access(there, os.W_OK)


def _own_folder() -> Path:
    """Return a permanent folder, or one for this process if that belongs to somebody else."""
    with contextlib.suppress(OSError, AttributeError):  # Windows has no numbers of users
        folder = Path(tempfile.gettempdir()) / f"steadyrank-{os.geteuid()}"
        folder.mkdir(mode=0o700, exist_ok=True)
        if _is_private(folder):
            return folder
    passing = tempfile.mkdtemp(prefix="steadyrank-")
    atexit.register(shutil.rmtree, passing, ignore_errors=True)
    return Path(passing)


def _is_private(folder: Path) -> bool:
    """Return whether a folder, not a link, belongs to this user and is not writable by others."""
    place = folder.lstat()
    return (
        stat.S_ISDIR(place.st_mode)
        and place.st_uid == os.geteuid()
        and not place.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
    )


def save_figure(figure: Figure, path: str | os.PathLike[str]) -> None:
    """Write a figure as SVG, PNG or PDF, by the file's suffix; replace the file as a whole.

    The same figure gives the same bytes.
    """
    import matplotlib as mpl

    form = figure_format(path)
    buffer = io.BytesIO()
    unplace(figure)
    with mpl.rc_context(SETTINGS):
        figure.savefig(buffer, format=form, metadata=SAVED[form])
    write_whole(path, buffer.getvalue())


def figure_format(path: str | os.PathLike[str]) -> str:
    """Return the format of a file's suffix.

    >>> figure_format("figures/ranks.SVG")
    'svg'
    """
    form = Path(path).suffix.lower().removeprefix(".")
    source_date()  # Matplotlib reads it for PDF, without a clear error.
    if form not in SAVED:
        raise InputError(f"{path}: the name of a figure must end in .svg, .png or .pdf")
    return form


def unplace(figure: Figure) -> None:
    """Move axes to where they were before anything was drawn.

    Layout starts from their current place, so a figure that was drawn before would differ slightly.
    """
    for ax in figure.axes:
        cell = ax.get_subplotspec()
        if cell is not None and ax.get_in_layout():
            ax.set_position(cell.get_position(figure))
            ax.set_in_layout(True)
    shaded: Any
    for shaded in [artist for ax in figure.axes for artist in (*ax.collections, *ax.images)]:
        if not hasattr(getattr(shaded, "colorbar", None), "ax"):
            continue
        bar, place = shaded.colorbar.ax, shaded.axes.get_position()
        bar.set_position((place.x1, place.y0, 0.05, place.height))
        bar.set_in_layout(True)
