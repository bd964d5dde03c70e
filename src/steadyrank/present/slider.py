"""A slider on a page: numbers that were computed beforehand, shown for what a reader sets.

The page looks every number up and rounds nothing: tables hold them as they are shown. Only a
product of what stands on the page (`Product`) is multiplied there.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from steadyrank.errors import InputError
from steadyrank.present.json import picked


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """A list that the reader chooses from."""

    key: str
    label: str
    options: tuple[str, ...]
    first: int = 0
    """Place of the option that stands there at first."""
    phrases: tuple[str, ...] = ()
    """The options as the sentence puts them; as they are unless given."""
    numbers: tuple[float, ...] = ()
    """The options as numbers, where a chart draws a line at the chosen one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Readout:
    """A number that depends on some choices, and as a rule on the slider.

    `rows[places[i]]` has the numbers along the slider for the i-th combination of the choices
    named in `by`, the last varying fastest. A row that ends early stays at its last number.
    """

    key: str
    label: str
    note: str
    by: tuple[str, ...]
    places: tuple[int, ...]
    rows: tuple[tuple[float | None, ...], ...]
    """As shown; None for what lies beyond the table, which `beyond` puts into words."""
    digits: int = 0
    unit: str = ""
    """After the number; shares in "%" never read as 0 or 100."""
    beyond: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Quantity:
    """A number that the reader types."""

    key: str
    label: str
    first: float
    step: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Product:
    """The slider's number times all quantities, over a divisor."""

    label: str
    divisor: float
    unit: str
    quantities: tuple[Quantity, ...]
    counted: str
    """What the slider's number times the first quantity counts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Chart:
    """Readouts along the slider, as lines with a dot where the slider stands."""

    y: str
    readouts: tuple[str, ...]
    goal: float | None = None
    """Where a dotted line is drawn."""
    goal_choice: str = ""
    """Or the choice whose number says where."""
    top: float | None = None
    """Of the axis; what the lines need unless given."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PageSlider:
    """Slider, choices, readouts and charts that belong together. `id` is unique on the page."""

    id: str
    caption: str
    label: str
    """Of the slider."""
    axis: str
    """Of the charts' horizontal axis, which is logarithmic."""
    values: tuple[int, ...]
    first: int
    choices: tuple[Choice, ...]
    readouts: tuple[Readout, ...]
    charts: tuple[Chart, ...]
    sentence: str
    """With {key} for the phrases of choices, {key} of readouts, and {value} of the slider."""
    product: Product | None = None


def share_rows(shares: np.ndarray) -> tuple[tuple[int, ...], tuple[tuple[float, ...], ...]]:
    """Places and rows of shares [..., slider] in percent with one decimal, equal rows once.

    >>> share_rows(np.array([[0.5, 0.99999, 1.0], [0.25, 0.5, 0.75]]))
    ((0, 1), ((50.0, 100.0), (25.0, 50.0, 75.0)))
    """
    return distinct_rows(100.0 * shares, digits=1)


def distinct_rows(
    values: np.ndarray, *, digits: int
) -> tuple[tuple[int, ...], tuple[tuple[float, ...], ...]]:
    """Places and rows of numbers [..., slider], rounded as they are shown; equal rows once."""
    rows: dict[tuple[float, ...], int] = {}
    places = []
    for row in values.reshape(-1, values.shape[-1]).round(digits).tolist():
        while len(row) > 1 and row[-1] == row[-2]:
            row.pop()
        places.append(rows.setdefault(tuple(row), len(rows)))
    return tuple(places), tuple(rows)


def shown(readout: Readout, value: float | None) -> str:
    """A number of a readout as the page shows it.

    >>> tables = {"by": (), "places": (), "rows": ()}
    >>> power = Readout(key="power", label="", note="", digits=1, unit="%", **tables)
    >>> shown(power, 3.1), shown(power, 0.0), shown(power, 100.0)
    ('3.1%', 'less than 0.1%', 'more than 99.9%')
    """
    if value is None:
        return readout.beyond
    if readout.unit == "%" and value in (0.0, 100.0):
        return "less than 0.1%" if value == 0.0 else "more than 99.9%"
    return f"{value:,.{readout.digits}f}{readout.unit}"


def slider_data(slider: PageSlider) -> dict[str, Any]:
    """What the page's script reads."""
    return {
        "values": slider.values,
        "axis": slider.axis,
        "sentence": slider.sentence,
        "choices": [
            {
                "key": choice.key,
                "size": len(choice.options),
                "phrases": choice.phrases or choice.options,
                "numbers": choice.numbers,
            }
            for choice in slider.choices
        ],
        "readouts": [
            picked(readout, "key label by places rows digits unit beyond")
            for readout in slider.readouts
        ],
        "charts": [
            picked(chart, "y readouts goal goalChoice=goal_choice top") for chart in slider.charts
        ],
        "product": slider.product and picked(slider.product, "divisor unit counted"),
    }


def check_slider(slider: PageSlider) -> None:
    """Refuse tables that lack numbers for what can be chosen."""
    sizes = {choice.key: len(choice.options) for choice in slider.choices}
    for readout in slider.readouts:
        wanted = math.prod(sizes[key] for key in readout.by)
        if len(readout.places) != wanted or not _fits(readout, len(slider.values)):
            raise InputError(
                f"slider {slider.id!r}: {readout.key} must have {wanted} rows of at most "
                f"{len(slider.values)} numbers"
            )


def _fits(readout: Readout, n_values: int) -> bool:
    lengths = [len(readout.rows[place]) for place in readout.places]
    return all(1 <= length <= n_values for length in lengths)


def sliders_of(sections: Sequence[Any]) -> Iterator[PageSlider]:
    """The sliders of all sections, in their order."""
    for section in sections:
        yield from section.sliders


def data_of(sections: Sequence[Any]) -> Mapping[str, Any]:
    """The data of all sliders, by their ids."""
    return {slider.id: slider_data(slider) for slider in sliders_of(sections)}
