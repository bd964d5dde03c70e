"""Seventeen ways to weigh a unit in a document, and two models of term dependence, by name.

The seventeen are the models of the grid of points (Ferro & Silvello, 2016), as Terrier defines
them: divergence from randomness, language models, BM25 and its relatives. Their formulas take
`Occurrences` with tf >= 1, 1 <= tf <= dl, tf <= cf <= tokens and 1 <= df <= n_documents; with
these, no logarithm meets a number that is not positive. Logarithms are to base 2.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType

import numpy as np

from steadyrank.errors import InputError, unknown_name

LOG2_E = 1.0 / math.log(2.0)
TWO_PI = 2.0 * math.pi
ALMOST_ALL = 0.99999
"""The share tf / dl of a document that consists of one unit, where log(1 - share) has no value."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Occurrences:
    """Units in documents: tf, dl, df, cf and the topic's count qtf of each, and the collection."""

    tf: np.ndarray
    dl: np.ndarray
    df: np.ndarray
    cf: np.ndarray
    qtf: np.ndarray
    n_documents: float
    tokens: float
    known: dict[float, np.ndarray] = field(default_factory=dict)
    """Normalised tf by c, which several models use."""

    @property
    def avgdl(self) -> float:
        """The mean length of a document."""
        return self.tokens / max(self.n_documents, 1.0)

    @property
    def share(self) -> np.ndarray:
        """The share of the document that the unit makes up, below 1."""
        return np.where(self.tf < self.dl, self.tf / self.dl, ALMOST_ALL)

    def normalised(self, c: float) -> np.ndarray:
        """Return tf by normalisation 2: as in a document of average length."""
        if c not in self.known:
            self.known[c] = self.tf * np.log2(1.0 + c * self.avgdl / self.dl)
        return self.known[c]

    def idf(self, frequency: np.ndarray) -> np.ndarray:
        """Return the inverse of a document frequency, or of what replaces it."""
        return np.log2((self.n_documents + 1.0) / (frequency + 0.5))

    def bernoulli(self, tfn: np.ndarray) -> np.ndarray:
        """Return the after-effect B, a ratio of two Bernoulli processes."""
        return (self.cf + 1.0) / (self.df * (tfn + 1.0))

    def robertson(self, k1: float, b: float) -> np.ndarray:
        """Return Robertson's tf."""
        return k1 * self.tf / (self.tf + k1 * (1.0 - b + b * self.dl / self.avgdl))


def _stirling(a: np.ndarray | float, b: np.ndarray) -> np.ndarray:
    return (b + 0.5) * np.log2(a / b) + (a - b) * np.log2(a)


def _bb2(o: Occurrences, c: float) -> np.ndarray:
    """Return 0 where cf <= tfn, and in a collection of one document: Stirling's formula ends."""
    tfn = o.normalised(c)
    fits = (tfn < o.cf) & (o.n_documents >= 2.0)
    n, tfn = max(o.n_documents, 2.0), np.where(fits, tfn, 0.0)
    gain = _stirling(n + o.cf - 1.0, n + o.cf - tfn - 2.0) - _stirling(o.cf, o.cf - tfn)
    weight = o.qtf * o.bernoulli(tfn) * (gain - math.log2(n - 1.0) - LOG2_E)
    return np.where(fits, weight, 0.0)


def _bm25(o: Occurrences, k1: float, b: float, k3: float) -> np.ndarray:
    """Robertson & Walker; idf is negative for units of more than half of the documents."""
    idf = np.log2((o.n_documents - o.df + 0.5) / (o.df + 0.5))
    weight = (k1 + 1.0) * o.tf / (k1 * (1.0 - b + b * o.dl / o.avgdl) + o.tf)
    return (k3 + 1.0) * o.qtf / (k3 + o.qtf) * idf * weight


def _dfiz(o: Occurrences) -> np.ndarray:
    """Kocabas, Dincer & Karaoglan: how far tf is above its expectation; 0 at or below it."""
    expected = o.cf * o.dl / o.tokens
    excess = np.maximum(o.tf - expected, 0.0)
    return o.qtf * np.log2(excess / np.sqrt(expected) + 1.0)


def _dfree(o: Occurrences) -> np.ndarray:
    """Amati: the work of one more occurrence in a document of one more token."""
    prior, posterior = o.tf / o.dl, (o.tf + 1.0) / (o.dl + 1.0)
    ratio, inverse = np.log2(posterior / prior), o.tokens / o.cf
    gain = (o.tf + 1.0) * np.log2(posterior * inverse) - o.tf * np.log2(prior * inverse)
    return o.qtf * o.tf * ratio * (gain + 0.5 * ratio)


def _dirichlet(o: Occurrences, mu: float) -> np.ndarray:
    """Zhai & Lafferty; the topic's weight is 1 however often it has the unit."""
    return np.log2(1.0 + o.tf / (mu * (o.cf / o.tokens))) + np.log2(mu / (o.dl + mu))


def _hypergeometric(o: Occurrences) -> np.ndarray:
    return o.tf * np.log2(o.tf * o.avgdl / o.dl * (o.n_documents / o.cf))


def _dlh(o: Occurrences) -> np.ndarray:
    """Amati: hypergeometric, normalised by tf + 1/2."""
    rest = 1.0 - o.share
    gain = _hypergeometric(o) + (o.dl - o.tf) * np.log2(rest)
    return o.qtf * (gain + 0.5 * np.log2(TWO_PI * o.tf * rest)) / (o.tf + 0.5)


def _dph(o: Occurrences) -> np.ndarray:
    """Amati: hypergeometric, Popper's normalisation."""
    rest = 1.0 - o.share
    gain = _hypergeometric(o) + 0.5 * np.log2(TWO_PI * o.tf * rest)
    return o.qtf * (rest * rest / (o.tf + 1.0)) * gain


def _hiemstra(o: Occurrences, share: float) -> np.ndarray:
    """Hiemstra: a mixture, `share` the document's part and the collection's the rest."""
    return o.qtf * np.log2(1.0 + share * o.tf * o.tokens / ((1.0 - share) * o.cf * o.dl))


def _ifb2(o: Occurrences, c: float) -> np.ndarray:
    """Amati & van Rijsbergen: inverse cf."""
    tfn = o.normalised(c)
    return o.qtf * tfn * o.idf(o.cf) * o.bernoulli(tfn)


def _inb2(o: Occurrences, c: float) -> np.ndarray:
    """Amati & van Rijsbergen: inverse df."""
    tfn = o.normalised(c)
    return o.qtf * tfn * o.idf(o.df) * o.bernoulli(tfn)


def _inl2(o: Occurrences, c: float) -> np.ndarray:
    """Inverse df with the after-effect of Laplace."""
    tfn = o.normalised(c)
    return o.qtf * tfn * o.idf(o.df) / (tfn + 1.0)


def _in_expb2(o: Occurrences, c: float) -> np.ndarray:
    """Like InB2, with the df that cf occurrences thrown at random would have."""
    tfn, n = o.normalised(c), o.n_documents
    return o.qtf * tfn * o.idf(n * (1.0 - np.exp(-o.cf / n))) * o.bernoulli(tfn)


def _js_kls(o: Occurrences) -> np.ndarray:
    """Amati: product of Jeffreys' and Kullback-Leibler's divergence."""
    rise = np.log2((o.tf + 1.0) / o.tf)
    j = o.dl / (o.dl + 1.0) * (1.0 - o.tf / o.dl) * rise
    gain = np.log2((o.tf + 1.0) / (o.dl + 1.0) * (o.tokens / o.cf)) + o.tf * rise
    return o.qtf * o.tf * j * gain


def _lemur_tf_idf(o: Occurrences, k1: float, b: float) -> np.ndarray:
    """Zhai's tf.idf: idf counts in the document and in the topic."""
    return o.qtf * o.robertson(k1, b) * np.log2(o.n_documents / o.df) ** 2


def _lgd(o: Occurrences, c: float) -> np.ndarray:
    """Clinchant & Gaussier: log-logistic."""
    share = o.df / o.n_documents
    return o.qtf * np.log2((share + o.normalised(c)) / share)


def _pl2(o: Occurrences, c: float) -> np.ndarray:
    """Poisson with mean cf / N, after-effect of Laplace."""
    tfn, mean = o.normalised(c), o.cf / o.n_documents
    gain = mean * LOG2_E - tfn * np.log2(mean) + 0.5 * np.log2(TWO_PI * tfn)
    return o.qtf * (gain + tfn * (np.log2(tfn) - LOG2_E)) / (tfn + 1.0)


def _tf_idf(o: Occurrences, k1: float, b: float) -> np.ndarray:
    """Robertson's tf and Spärck Jones's idf."""
    return o.qtf * o.robertson(k1, b) * np.log2(o.n_documents / o.df + 1.0)


def _dependence(o: Occurrences, terms: float, mu: float, **others: float) -> np.ndarray:
    """Single terms; `dependence` adds windows, and what the length of the document takes away."""
    return terms * o.qtf * np.log2(1.0 + o.tf / (mu * (o.cf / o.tokens)))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Model:
    """A weighting model: its formula, and its parameters."""

    name: str
    formula: Callable[..., np.ndarray]
    parameters: Mapping[str, float]

    def weights(self, occurrences: Occurrences) -> np.ndarray:
        """Return what each unit adds to its document's score, the topic's weight included."""
        return self.formula(occurrences, **self.parameters)

    def __str__(self) -> str:
        usual = ALL_MODELS[self.name].parameters
        other = [
            f"{key}={value:g}" for key, value in self.parameters.items() if usual[key] != value
        ]
        return f"{self.name}({','.join(other)})" if other else self.name


def _named(**models: tuple[Callable[..., np.ndarray], dict[str, float]]) -> Mapping[str, Model]:
    return {
        name: Model(name=name, formula=formula, parameters=MappingProxyType(parameters))
        for name, (formula, parameters) in models.items()
    }


MODELS = _named(
    BB2=(_bb2, {"c": 1.0}),
    BM25=(_bm25, {"k1": 1.2, "b": 0.75, "k3": 8.0}),
    DFIZ=(_dfiz, {}),
    DFRee=(_dfree, {}),
    DirichletLM=(_dirichlet, {"mu": 2500.0}),
    DLH=(_dlh, {}),
    DPH=(_dph, {}),
    HiemstraLM=(_hiemstra, {"share": 0.15}),
    IFB2=(_ifb2, {"c": 1.0}),
    InB2=(_inb2, {"c": 1.0}),
    InL2=(_inl2, {"c": 1.0}),
    In_expB2=(_in_expb2, {"c": 1.0}),
    Js_KLs=(_js_kls, {}),
    LemurTF_IDF=(_lemur_tf_idf, {"k1": 1.2, "b": 0.75}),
    LGD=(_lgd, {"c": 1.0}),
    PL2=(_pl2, {"c": 1.0}),
    TF_IDF=(_tf_idf, {"k1": 1.2, "b": 0.75}),
)
"""The models of a grid of points by name, each with its usual parameters."""

_WEIGHTS = {"terms": 0.8, "ordered": 0.1, "unordered": 0.1, "mu": 2500.0, "window": 4.0}

DEPENDENCE = _named(SDM=(_dependence, _WEIGHTS), FDM=(_dependence, _WEIGHTS | {"most": 5.0}))
"""Models of term dependence (Metzler & Croft, 2005), which require positions."""

ALL_MODELS = {**MODELS, **DEPENDENCE}

_RANGES = {
    "c": (1e-6, 1e6),
    "k1": (0.0, 1e6),
    "b": (0.0, 1.0),
    "k3": (0.0, 1e9),
    "mu": (1e-3, 1e9),
    "share": (1e-6, 1.0 - 1e-6),
    "terms": (0.0, 1.0),
    "ordered": (0.0, 1.0),
    "unordered": (0.0, 1.0),
    "window": (1.0, 1000.0),
    "most": (2.0, 8.0),
}
"""Within these, every formula is defined for every posting."""

_BY_LOWER = {name.lower(): name for name in ALL_MODELS}


def parse_model(text: str | Model) -> Model:
    """Return the model of a name, with other parameters where the name gives them.

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
    model = ALL_MODELS.get(_BY_LOWER.get(name.lower(), ""))
    if model is None:
        raise unknown_name("model", name, ALL_MODELS)
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


def spelled_model(model: Model) -> str:
    """Return a model as text that `parse_model` reads back to the last bit.

    >>> spelled_model(parse_model("LGD(c=0.1)"))
    'LGD(c=0.1)'
    """
    given = ",".join(f"{key}={value!r}" for key, value in model.parameters.items())
    return f"{model.name}({given})" if given else model.name


def needs_positions(models: Iterable[str | Model]) -> bool:
    """Return whether one of the models requires an index with positions."""
    return any(parse_model(model).name in DEPENDENCE for model in models)
