"""Sliders of pages: tables that hold what is shown, and refusals of those that lack some."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from steadyrank.errors import InputError
from steadyrank.present.page import Page, Section
from steadyrank.present.page_html import page_html
from steadyrank.present.slider import (
    Chart,
    Choice,
    PageSlider,
    Product,
    Quantity,
    Readout,
    distinct_rows,
    shown,
)

NASTY = "</script><b>&\"'"


def make_slider(**changes):
    places, rows = distinct_rows(np.array([[0.12345, 0.5, 0.5], [1.0, 2.0, 1234.5]]), digits=2)
    slider = PageSlider(
        id="one-slider",
        caption=NASTY,
        label=NASTY,
        axis="topics",
        values=(5, 10, 1000),
        first=1,
        choices=(Choice(key="kind", label=NASTY, options=(NASTY, "b")),),
        readouts=(
            Readout(
                key="score",
                label="Score",
                note="n",
                by=("kind",),
                places=places,
                rows=rows,
                digits=2,
            ),
        ),
        charts=(Chart(y="score", readouts=("score",)),),
        sentence="{value} {kind} {score}",
        product=Product(
            label="Judging",
            divisor=60.0,
            unit=" hours",
            quantities=(Quantity(key="documents", label="Documents", first=50, step=1),),
            counted="judgments",
        ),
    )
    return replace(slider, **changes)


def page_with(*sliders):
    section = Section(id="part", title="Part", question="", sliders=sliders)
    return page_html(Page(title="t", subtitle="", lead=(), sections=(section,)))


def test_rows_hold_what_is_shown_and_end_where_nothing_changes():
    places, rows = distinct_rows(np.array([[[0.12345, 0.5, 0.5]], [[0.12345, 0.5, 0.5]]]), digits=2)
    assert (places, rows) == ((0, 0), ((0.12, 0.5),))
    (readout,) = make_slider().readouts
    assert [shown(readout, value) for value in (0.5, 1234.5)] == ["0.50", "1,234.50"]
    assert shown(replace(readout, beyond="more than 9"), None) == "more than 9"


def test_texts_are_escaped_everywhere():
    text = page_with(make_slider())
    assert NASTY not in text
    assert "&lt;/script&gt;" in text
    assert r"\u003c/script\u003e" in text


def test_a_page_without_sliders_carries_none_of_it():
    text = page_html(Page(title="t", subtitle="", lead=(), sections=()))
    assert "slider" not in text
    assert page_with(make_slider()) == page_with(make_slider())


def test_what_lacks_numbers_is_refused():
    slider = make_slider()
    (readout,) = slider.readouts
    with pytest.raises(InputError, match="score must have 2 rows"):
        page_with(replace(slider, readouts=(replace(readout, places=(0,)),)))
    with pytest.raises(InputError, match="at most 2 numbers"):
        page_with(replace(slider, values=(5, 10)))
    with pytest.raises(InputError, match="must occur once"):
        page_with(slider, slider)
