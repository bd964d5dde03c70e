"""Seventeen ways to weigh a unit in a document, by name, with their parameters.

They are the models of the grid of points (Ferro & Silvello, 2016), as Terrier defines them:
divergence from randomness, language models, BM25 and its relatives. `model_kernels` holds the
formulas.
"""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from steadyrank.compute.kernels import specialised
from steadyrank.errors import InputError, unknown_name
from steadyrank_lab.retrieval.engine import model_kernels as k
from steadyrank_lab.retrieval.engine.search_kernels import fill_weights


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Model:
    """A weighting model: its formula as a scalar kernel, and its parameters.

    `kernel(tf, dl, df, cf, n_documents, tokens, avgdl, qtf, *parameters.values())` is for other
    kernels to call. Its dependence on qtf is a factor that is 1 for qtf = 1.
    """

    name: str
    kernel: Any
    parameters: Mapping[str, float]
    says: str

    @property
    def numbers(self) -> tuple[float, ...]:
        """The values of its parameters, as its kernel takes them."""
        return tuple(map(float, self.parameters.values()))

    def __str__(self) -> str:
        usual = MODELS[self.name].parameters
        other = [
            f"{key}={value:g}" for key, value in self.parameters.items() if usual[key] != value
        ]
        return f"{self.name}({','.join(other)})" if other else self.name


def _model(name: str, kernel: Any, says: str, **parameters: float) -> Model:
    return Model(name=name, kernel=kernel, parameters=MappingProxyType(parameters), says=says)


MODELS: Mapping[str, Model] = MappingProxyType(
    {
        model.name: model
        for model in (
            _model("BB2", k.bb2, "Bose-Einstein, Bernoulli after-effect", c=1.0),
            _model("BM25", k.bm25, "Okapi's probabilistic model", k1=1.2, b=0.75, k3=8.0),
            _model("DFIZ", k.dfiz, "divergence from independence, standardised"),
            _model("DFRee", k.dfree, "divergence from randomness, hypergeometric, no parameter"),
            _model("DirichletLM", k.dirichlet_lm, "language model, Dirichlet prior", mu=2500.0),
            _model("DLH", k.dlh, "divergence from randomness, hypergeometric"),
            _model("DPH", k.dph, "hypergeometric, Popper's normalisation"),
            _model("HiemstraLM", k.hiemstra_lm, "language model, linear mixture", share=0.15),
            _model("IFB2", k.ifb2, "inverse collection frequency, Bernoulli", c=1.0),
            _model("InB2", k.inb2, "inverse document frequency, Bernoulli", c=1.0),
            _model("InL2", k.inl2, "inverse document frequency, Laplace", c=1.0),
            _model("In_expB2", k.in_expb2, "inverse expected document frequency", c=1.0),
            _model("Js_KLs", k.js_kls, "product of two divergences"),
            _model("LemurTF_IDF", k.lemur_tf_idf, "Lemur's tf.idf", k1=1.2, b=0.75),
            _model("LGD", k.lgd, "log-logistic", c=1.0),
            _model("PL2", k.pl2, "Poisson, Laplace after-effect", c=1.0),
            _model("TF_IDF", k.tf_idf, "Robertson's tf, Spärck Jones's idf", k1=1.2, b=0.75),
        )
    }
)
"""The models by name, each with its usual parameters."""

_RANGES = {
    "c": (1e-6, 1e6),
    "k1": (0.0, 1e6),
    "b": (0.0, 1.0),
    "k3": (0.0, 1e9),
    "mu": (1e-3, 1e9),
    "share": (1e-6, 1.0 - 1e-6),
}
"""Within these, every formula is defined for every posting."""

_BY_LOWER = {name.lower(): name for name in MODELS}


def parse_model(text: str | Model) -> Model:
    """The model that a name stands for, with other parameters where the name gives them.

    >>> str(parse_model("bm25")), dict(parse_model("BM25(k1=0.9, b=0.4)").parameters)
    ('BM25', {'k1': 0.9, 'b': 0.4, 'k3': 8.0})
    >>> parse_model("BM52")
    Traceback (most recent call last):
        ...
    steadyrank.errors.UnknownNameError: unknown model 'BM52': did you mean 'BM25'?
    """
    if isinstance(text, Model):
        return text
    match = re.fullmatch(r"\s*(\w+)\s*(?:\((.*)\))?\s*", text) if isinstance(text, str) else None
    if match is None:
        raise InputError(
            f"{text!r} is not a model's name: write it like BM25 or BM25(k1=0.9,b=0.4)"
        )
    name, inside = match.groups()
    model = MODELS.get(_BY_LOWER.get(name.lower(), ""))
    if model is None:
        raise unknown_name("model", name, MODELS)
    given = dict(_parameter(model, item) for item in inside.split(",")) if inside else {}
    return replace(model, parameters=MappingProxyType({**model.parameters, **given}))


def _parameter(model: Model, item: str) -> tuple[str, float]:
    key, _, value = map(str.strip, item.partition("="))
    if key not in model.parameters:
        raise unknown_name("parameter", key, model.parameters, where=f"of {model.name}")
    low, high = _RANGES[key]
    try:
        number = float(value)
    except ValueError:
        number = math.nan
    if not low <= number <= high:
        raise InputError(f"{model.name}: {key} must be from {low:g} to {high:g}, got {value!r}")
    return key, number


def weigh(
    model: str | Model,
    postings: Mapping[str, ArrayLike],
    *,
    n_documents: int,
    tokens: float,
    qtf: ArrayLike = 1.0,
) -> np.ndarray:
    """What each of `postings` (columns tf, dl, df and cf) adds to its document's score.

    `tokens` is the length of the whole collection, and `qtf` how often the topic has the unit.

    >>> one = {"tf": [3], "dl": [100], "df": [10], "cf": [40]}
    >>> weigh("TF_IDF", one, n_documents=1000, tokens=120_000).round(4).tolist()
    [5.9184]
    """
    model = parse_model(model)
    columns = [np.asarray(postings[name], np.float64) for name in ("tf", "dl", "df", "cf")]
    together = np.broadcast_arrays(*columns, np.asarray(qtf, np.float64))
    columns = [np.array(column) for column in together]
    _check_postings(columns, n_documents, tokens)
    collection = (float(n_documents), float(tokens), tokens / n_documents)
    out = np.empty(columns[0].shape)
    tf, dl, df, cf, count = (column.ravel() for column in columns)
    unit, rows = np.arange(out.size), np.arange(out.size + 1)  # every posting is a unit's only one
    weights_kernel(model.name)(
        unit, rows, count, rows, tf, dl, df, cf, collection, model.numbers, out.ravel()
    )
    return out


def _check_postings(columns: list[np.ndarray], n_documents: int, tokens: float) -> None:
    tf, dl, df, cf, qtf = columns
    possible = (tf > 0) & (tf <= dl) & (tf <= cf) & (dl <= tokens) & (cf <= tokens)
    possible &= (df >= 1) & (df <= n_documents) & (df <= cf) & (qtf > 0)
    bad = np.argwhere(~possible)
    if len(bad):
        names = ("tf", "dl", "df", "cf", "qtf")
        got = ", ".join(
            f"{name} {column[tuple(bad[0])]:g}" for name, column in zip(names, columns, strict=True)
        )
        raise InputError(
            f"posting {tuple(bad[0].tolist())}: no collection of {n_documents} documents and "
            f"{tokens:g} tokens has {got}"
        )


@functools.cache
def weights_kernel(model: str) -> Any:
    """The compiled weights of one model; only models in use are ever compiled."""
    return specialised(fill_weights, f"weights_{model}", weight=MODELS[model].kernel)
