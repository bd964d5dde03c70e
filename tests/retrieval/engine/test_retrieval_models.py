"""Seventeen models: golden figures, a second reading of the formulas, and their corners."""

from __future__ import annotations

import math
from math import e, exp, log2, pi, sqrt

import numpy as np
import pytest
from golden_cases import golden
from hypothesis import given, settings
from hypothesis import strategies as st

from steadyrank.errors import InputError, UnknownNameError
from steadyrank_lab.retrieval.engine.models import _RANGES, MODELS, parse_model, weigh

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


def reference(name, tf, dl, n, F, N, T, qtf, **p):
    """The formulas once more, one expression each, in plain Python."""
    avgdl = T / N
    tfn = tf * log2(1 + p.get("c", 1) * avgdl / dl)
    f = tf / dl if tf < dl else 0.99999
    B = (F + 1) / (n * (tfn + 1))
    length = 1 - p.get("b", 0) + p.get("b", 0) * dl / avgdl
    rob = p.get("k1", 0) * tf / (tf + p.get("k1", 0) * length)
    if name == "BB2":
        if tfn >= F or N == 1:
            return 0.0
        S = lambda a, b: (b + 0.5) * log2(a / b) + (a - b) * log2(a)  # noqa: E731
        inner = S(N + F - 1, N + F - tfn - 2) - S(F, F - tfn)
        return qtf * B * (-log2(N - 1) - log2(e) + inner)
    if name == "BM25":
        idf = log2((N - n + 0.5) / (n + 0.5))
        query = (p["k3"] + 1) * qtf / (p["k3"] + qtf)
        return idf * (p["k1"] + 1) * tf / (p["k1"] * length + tf) * query
    if name == "DFIZ":
        mean = F * dl / T
        return qtf * log2((tf - mean) / sqrt(mean) + 1) if tf > mean else 0.0
    if name == "DFRee":
        a, b = tf / dl, (tf + 1) / (dl + 1)
        sums = -tf * log2(a * T / F) + (tf + 1) * log2(b * T / F) + 0.5 * log2(b / a)
        return qtf * tf * log2(b / a) * sums
    if name == "DirichletLM":
        return log2(1 + tf / (p["mu"] * F / T)) + log2(p["mu"] / (dl + p["mu"]))
    if name == "DLH":
        sums = tf * log2(tf * avgdl / dl * N / F) + (dl - tf) * log2(1 - f)
        return qtf * (sums + 0.5 * log2(2 * pi * tf * (1 - f))) / (tf + 0.5)
    if name == "DPH":
        sums = tf * log2(tf * avgdl / dl * N / F) + 0.5 * log2(2 * pi * tf * (1 - f))
        return qtf * (1 - f) ** 2 / (tf + 1) * sums
    if name == "HiemstraLM":
        return qtf * log2(1 + p["share"] * tf * T / ((1 - p["share"]) * F * dl))
    if name in ("IFB2", "InB2", "In_expB2", "InL2"):
        x = {"IFB2": F, "InB2": n, "InL2": n, "In_expB2": N * (1 - exp(-F / N))}[name]
        after = 1 / (tfn + 1) if name == "InL2" else B
        return qtf * tfn * log2((N + 1) / (x + 0.5)) * after
    if name == "Js_KLs":
        j = dl / (dl + 1) * (1 - tf / dl) * log2((tf + 1) / tf)
        return qtf * tf * j * (log2((tf + 1) / (dl + 1) * T / F) + tf * log2(1 + 1 / tf))
    if name == "LemurTF_IDF":
        return qtf * rob * log2(N / n) ** 2
    if name == "LGD":
        return qtf * log2((n / N + tfn) / (n / N))
    if name == "PL2":
        mean = F / N
        sums = tfn * log2(1 / mean) + mean * log2(e) + 0.5 * log2(2 * pi * tfn)
        return qtf * (sums + tfn * (log2(tfn) - log2(e))) / (tfn + 1)
    assert name == "TF_IDF"
    return qtf * rob * log2(N / n + 1)


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
    expected = reference(name, tf, dl, df, cf, n_documents, tokens, qtf, **model.parameters)
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
