"""The first screen of a page as a picture, for link previews."""

from __future__ import annotations

import io
import textwrap
import warnings
from typing import TYPE_CHECKING, Any

from steadyrank.present.figures import load_matplotlib, own_style
from steadyrank.present.page import Board, FirstScreen, Page
from steadyrank.visible import visible

if TYPE_CHECKING:
    from matplotlib.axes import Axes

WIDTH, HEIGHT = 1200, 630
"""Size of a link preview, in pixels."""

INK, MUTED, ACCENT, WARM = "#1b1f24", "#59626c", "#0a5c8c", "#c8553d"
ROWS, BARS, COLOURS = 8, 6, 24
"""Number of rows of the board, of bars, and of colours of the file."""


@own_style()
def card_png(page: Page) -> bytes:
    """Return a picture of the page's first screen as a PNG."""
    if page.first is None:
        return b""
    load_matplotlib()
    from matplotlib.figure import Figure
    from PIL import Image

    figure = Figure(figsize=(WIDTH / 100, HEIGHT / 100), dpi=100)
    axes = figure.add_axes((0.0, 0.0, 1.0, 1.0))
    axes.set(xlim=(0, WIDTH), ylim=(HEIGHT, 0))
    axes.axis("off")
    _draw(axes, page, page.first)
    drawn = io.BytesIO()
    with warnings.catch_warnings():  # names may be in any script
        warnings.filterwarnings("ignore", "Glyph .* missing from font", UserWarning)
        figure.savefig(drawn, format="png", dpi=100)
    picture = Image.open(drawn)
    kept = io.BytesIO()
    picture.convert("RGB").quantize(COLOURS).save(kept, "PNG", optimize=True)
    return kept.getvalue()


def _draw(axes: Axes, page: Page, first: FirstScreen) -> None:
    _text(axes, 60, 55, f"{page.title}  {page.subtitle}"[:110], 13, color=MUTED)
    verdict = textwrap.wrap(page.names.text(first.verdict), 54)[:2]
    for place, line in enumerate(verdict):
        _text(axes, 60, 115 + 48 * place, line, 25, weight="bold")
    top = 85 + 48 * len(verdict)
    for place, line in enumerate(textwrap.wrap(page.names.text(first.line), 116)[:2]):
        _text(axes, 60, top + 40 + 24 * place, line, 12.5, color=MUTED)
    top += 100
    if first.board is not None:
        _draw_board(axes, page, first.board, top)
    for place, bar in enumerate(first.bars[:BARS]):
        y, share = top + 36 * place, bar.share / max(first.bars[0].share, 1e-9)
        _text(axes, 740, y, bar.about, 13)
        colour = WARM if place == 0 else ACCENT
        axes.barh(y, 150 * share, height=16, left=930, color=colour)
        _text(axes, 1140, y, bar.text, 13, ha="right")


def _draw_board(axes: Axes, page: Page, board: Board, top: float) -> None:
    for place, row in enumerate(board.rows[:ROWS]):
        y, scale = top + 36 * place, 240 / board.n_ranks
        _text(axes, 85, y, str(row.rank), 13, ha="right", color=MUTED)
        _text(axes, 100, y, page.names.cell(row.name)[:24], 13, weight="bold")
        _text(axes, 400, y, row.score, 13, ha="right", color=MUTED)
        left, width = 430 + scale * (row.low - 1), scale * (row.high - row.low + 1)
        axes.barh(y, width, height=8, left=left, color=ACCENT, alpha=0.35)
        axes.plot(430 + scale * (row.rank - 0.5), y, "o", color=ACCENT, markersize=8)


def _text(axes: Axes, x: float, y: float, text: str, size: float, **looks: Any) -> None:
    looks.setdefault("color", INK)
    axes.text(x, y, visible(text), fontsize=size, va="center", parse_math=False, **looks)
