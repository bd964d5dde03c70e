"""Figures as files, without dates: the same figure is the same bytes."""

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
"""Formats, and what files say about themselves: no date, so the same figure is the same bytes."""

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
    """The inches that it needs."""
    words: str | Callable[[Any], str]
    """What the figure shows, in a sentence with the main numbers, for those who do not see it; a
    text as `filled` takes it, or a function of the result."""
    height: Callable[[Any, float], float] | None = None
    """The inches of height that a result needs at a given width; else they are in proportion."""

    def alt(self, result: Any) -> str:
        """Its words about a result."""
        return filled(self.words, result) if isinstance(self.words, str) else self.words(result)


@contextlib.contextmanager
def own_style() -> Iterator[None]:
    """Matplotlib's defaults, whatever a `matplotlibrc` says: for pages and files of the command.

    Someone's `text.usetex` would ask for a LaTeX that is not there.
    """
    mpl = load_matplotlib()
    with mpl.rc_context():
        mpl.rcdefaults()
        yield


def load_matplotlib() -> Any:
    """The module matplotlib; an error of ours where the environment has a backend that is none."""
    give_matplotlib_a_cache()
    try:
        import matplotlib
    except ValueError as error:
        raise InputError(f"matplotlib cannot be loaded ({error}): unset MPLBACKEND") from None
    return matplotlib


def give_matplotlib_a_cache() -> None:
    """Name a folder for matplotlib's list of fonts where the home has no room for one.

    Matplotlib would make a list for this process alone, and log a warning about it each time.
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
    """A folder that lasts, or, where somebody else has its name, one for this process."""
    with contextlib.suppress(OSError, AttributeError):  # Windows has no numbers of users
        folder = Path(tempfile.gettempdir()) / f"steadyrank-{os.geteuid()}"
        folder.mkdir(mode=0o700, exist_ok=True)
        if _is_private(folder):
            return folder
    passing = tempfile.mkdtemp(prefix="steadyrank-")
    atexit.register(shutil.rmtree, passing, ignore_errors=True)
    return Path(passing)


def _is_private(folder: Path) -> bool:
    """Whether a folder, which is no link, belongs to this user and others cannot write to it."""
    place = folder.lstat()
    return (
        stat.S_ISDIR(place.st_mode)
        and place.st_uid == os.geteuid()
        and not place.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
    )


def save_figure(figure: Figure, path: str | os.PathLike[str]) -> None:
    """Write a figure as SVG, PNG or PDF, as the file's name says, whole or not at all.

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
    """The format that a file's name asks for.

    >>> figure_format("figures/ranks.SVG")
    'svg'
    """
    form = Path(path).suffix.lower().removeprefix(".")
    source_date()  # Matplotlib, which reads it for PDF, does not say what is wrong with it.
    if form not in SAVED:
        raise InputError(f"{path}: a figure's name ends in .svg, .png or .pdf")
    return form


def unplace(figure: Figure) -> None:
    """Move axes to where they were before anything was drawn.

    Layout starts from their present place, so a figure drawn before would differ by a hair.
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
