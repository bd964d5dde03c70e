"""Seventeen models: golden figures, a second reading of the formulas, and their corners."""

from __future__ import annotations

import math

import numpy as np
import pytest
from golden_cases import golden
from hypothesis import given, settings
from hypothesis import strategies as st
from plain_search import weigh, weight

from steadyrank.errors import InputError, UnknownNameError
from steadyrank_lab.retrieval.engine.models import _RANGES, MODELS, parse_model

GOLDEN = golden("retrieval_models")


@pytest.mark.parametrize("name", GOLDEN["expected"])
def test_golden_postings(name):
    inputs = GOLDEN["inputs"]
    columns = {key: [p[key] for p in inputs["postings"]] for key in ("tf", "dl", "df", "cf")}
    got = weigh(name, columns, n_documents=inputs["N"], tokens=inputs["T"])
    np.testing.assert_allclose(got, GOLDEN["expected"][name], rtol=0, atol=GOLDEN["tolerance"])


def test_the_golden_file_has_every_model():
    assert list(GOLDEN["expected"]) == list(MODELS)
    assert len(MODELS) == 17


@st.composite
def postings(draw):
    """A posting that some collection could have: (tf, dl, df, cf, N, T)."""
    n_documents = draw(st.integers(1, 5000))
    df = draw(st.integers(1, n_documents))
    tf = draw(st.integers(1, 200))
    cf = tf + df - 1 + draw(st.integers(0, 50) if df > 1 else st.just(0))
    dl = tf + draw(st.integers(0, 1000))
    # Every other document with the unit holds it, and may hold more.
    tokens = dl + (cf - tf) + draw(st.integers(0, 100_000) if n_documents > 1 else st.just(0))
    return tf, dl, df, cf, n_documents, tokens


def parameters_of(name):
    ranges = [(key, *_RANGES[key]) for key in MODELS[name].parameters]
    return st.fixed_dictionaries({key: st.floats(low, high) for key, low, high in ranges})


@pytest.mark.parametrize("name", MODELS)
@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_every_possible_posting_has_its_formulas_weight(name, data):
    tf, dl, df, cf, n_documents, tokens = data.draw(postings())
    given_parameters = data.draw(st.one_of(st.just({}), parameters_of(name)))
    qtf = data.draw(st.integers(1, 5))
    inside = ",".join(f"{key}={value!r}" for key, value in given_parameters.items())
    model = parse_model(f"{name}({inside})")
    got = weigh(
        model,
        {"tf": tf, "dl": dl, "df": df, "cf": cf},
        n_documents=n_documents,
        tokens=tokens,
        qtf=qtf,
    )
    expected = weight(name, tf, dl, df, cf, n_documents, tokens, qtf, **model.parameters)
    assert math.isfinite(got)
    # BB2 takes large numbers from each other: its digits are lost in either reading.
    scale = (n_documents + cf) * 40 * (cf + 1) * qtf if name == "BB2" else 1 + abs(expected)
    assert got == pytest.approx(expected, rel=1e-11, abs=1e-13 * scale)


def test_bb2_is_zero_where_its_normalised_tf_reaches_cf():
    one = {"tf": [2, 2], "dl": [10, 100], "df": [1, 1], "cf": [2, 2]}
    weights = weigh("BB2", one, n_documents=100, tokens=10_000)
    # tfn is 2 log2(1 + 100 / dl), which reaches cf = 2 for dl up to 100.
    assert weights.tolist() == [0.0, 0.0]
    longer = {**one, "dl": [101, 300]}
    assert (weigh("BB2", longer, n_documents=100, tokens=10_000) > 0).all()


def test_a_document_of_one_unit_has_a_finite_weight_in_every_model():
    one = {"tf": [4], "dl": [4], "df": [3], "cf": [12]}
    for name in MODELS:
        assert np.isfinite(weigh(name, one, n_documents=9, tokens=100)).all(), name


@pytest.mark.parametrize("name", MODELS)
def test_the_topics_count_is_a_factor_of_its_own(name):
    columns = {"tf": [1, 3, 9], "dl": [10, 40, 90], "df": [5, 5, 9], "cf": [11, 20, 30]}
    once = weigh(name, columns, n_documents=50, tokens=5000)
    thrice = weigh(name, columns, n_documents=50, tokens=5000, qtf=3.0)
    factor = {"BM25": 9 * 3 / (8 + 3), "DirichletLM": 1.0}.get(name, 3.0)
    np.testing.assert_allclose(thrice, factor * once, rtol=1e-13)


def test_names_with_parameters():
    assert parse_model("pl2").name == "PL2"
    tuned = parse_model(" BM25( k1 = 0.9 , b=.4)")
    assert dict(tuned.parameters) == {"k1": 0.9, "b": 0.4, "k3": 8.0}
    assert str(tuned) == "BM25(k1=0.9,b=0.4)"
    assert parse_model(str(tuned)).parameters == tuned.parameters
    assert parse_model(tuned) is tuned
    assert [str(parse_model(name)) for name in MODELS] == list(MODELS)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("BM52", "unknown model 'BM52': did you mean 'BM25'?"),
        ("BM25(k=1)", "unknown parameter 'k' of BM25: did you mean"),
        ("PL2(c=0)", "PL2: c must be from 1e-06 to 1e\\+06, got '0'"),
        ("PL2(c=nan)", "got 'nan'"),
        ("PL2(c=one)", "got 'one'"),
        ("PL2(c)", "got ''"),
        ("DPH(c=1)", "unknown parameter 'c' of DPH"),
        ("BM25 k1=1", "is not a model's name: write it like BM25"),
        (7, "7 is not a model's name"),
    ],
)
def test_bad_names(text, message):
    with pytest.raises((InputError, UnknownNameError), match=message):
        parse_model(text)
