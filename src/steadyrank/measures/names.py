"""The measures, and their names as an algebra: `nDCG@20`, `AP(rel=2)`, `RBP(p=0.8)`.

A measure consists of its name, its parameters and its cutoff; its `repr` identifies it and can be
parsed again. Names of trec_eval, ranx and ir_measures are synonyms. The kernels contain the
formulas.
"""

from __future__ import annotations

import contextlib
import functools
import math
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np

from steadyrank.errors import InputError, UnknownNameError, unknown_name

Cutoff = Literal["required", "optional", "none", "one", "recall"]
Value = int | float | bool | str | tuple[float, ...]


_CONDENSED: dict[str, Value | None] = {"judged_only": False}
_REL: dict[str, Value | None] = {"rel": 1, **_CONDENSED}
_GAINS: dict[str, Value | None] = {"gains": None, **_CONDENSED}
_SAKAI: dict[str, Value | None] = {"beta": 1.0, "rel": 1, **_GAINS}
_RBP: dict[str, Value | None] = {"p": 0.8, "rel": 1, "graded": False, "max_rel": None}
_RBP |= {"residual": False, **_CONDENSED}


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of measure, such as nDCG: its parameters and its cutoff."""

    cutoff: Cutoff = "optional"
    """What may follow the @: a rank, nothing, only rank 1, or a level of recall."""
    parameters: Mapping[str, Value | None] = field(default_factory=lambda: _REL)
    is_count: bool = False
    """Whether it counts documents, so that scores may exceed 1."""


KINDS: Mapping[str, Kind] = {
    "AP": Kind(),
    "nDCG": Kind(parameters={"dcg": "log2", **_GAINS}),
    **dict.fromkeys(("P", "R"), Kind("required")),
    "Rprec": Kind("none"),
    "RR": Kind(),
    "RBP": Kind(parameters=_RBP),
    **dict.fromkeys(("ERR", "nERR"), Kind(parameters={"max_rel": None, **_CONDENSED})),
    **dict.fromkeys(("Q", "Pplus"), Kind(parameters=_SAKAI)),
    "nG": Kind("one", _GAINS),
    "Twist": Kind("none"),
    "Success": Kind("required"),
    "Judged": Kind(parameters={}),
    **dict.fromkeys(("Bpref", "infAP"), Kind("none")),
    "IPrec": Kind("recall", {"recall": None, **_REL}),
    "SetP": Kind("none", {"rel": 1, "relative": False, **_CONDENSED}),
    "SetR": Kind("none"),
    "SetF": Kind("none", {"rel": 1, "beta": 1.0, **_CONDENSED}),
    "SetAP": Kind("none"),
    "NumRet": Kind("none", {"rel": None, **_CONDENSED}, is_count=True),
    **dict.fromkeys(("NumRel", "NumRelRet"), Kind("none", {"rel": 1}, is_count=True)),
    "Compat": Kind("none", {"p": 0.95, **_CONDENSED}),
}

_SPELLINGS = {
    "AP": "map map_cut average_precision",
    "nDCG": "ndcg_cut",
    "nDCG(dcg='exp-log2')": "ndcg_burges",
    "P": "precision",
    "R": "recall",
    "Rprec": "r_precision r-precision r-prec r_prec",
    "RR": "recip_rank mrr reciprocal_rank",
    "Success": "success hit_rate",
    "IPrec": "iprec_at_recall",
    "SetP": "set_p",
    "SetP(relative=True)": "set_relative_p setrelp",
    "SetR": "set_recall",
    "SetF": "set_f f1",
    "SetAP": "set_map",
    "NumRet": "num_ret",
    "NumRel": "num_rel",
    "NumRelRet": "num_rel_ret",
    "Pplus": "p+ p_plus",
    "Compat": "compatibility",
}
_OTHER_NAMES = {name: ours for ours, names in _SPELLINGS.items() for name in names.split()}
"""Names of trec_eval, ranx and ir_measures, in small letters."""


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and value == value


def is_whole(value: object) -> bool:
    """Return whether a value is an integer, and not True or False."""
    return isinstance(value, int) and not isinstance(value, bool)


RULES: Mapping[str, tuple[str, Callable[[Any], bool]]] = {
    **dict.fromkeys(
        ("rel", "max_rel"), ("a grade of at least 1", lambda v: is_whole(v) and 1 <= v <= 1000)
    ),
    "p": ("a number between 0 and 1", lambda v: _is_number(v) and 0 < v < 1),
    "beta": ("a number of at least 0", lambda v: _is_number(v) and 0 <= v < float("inf")),
    "recall": ("a number from 0 to 1", lambda v: _is_number(v) and 0 <= v <= 1),
    **dict.fromkeys(
        ("graded", "judged_only", "relative", "residual"),
        ("True or False", lambda v: isinstance(v, bool)),
    ),
    "dcg": ("'log2' or 'exp-log2'", lambda v: v in ("log2", "exp-log2")),
    "gains": (
        "one gain per grade from grade 0, worth 0, upward, such as (0,1,3)",
        lambda v: (
            isinstance(v, tuple)
            and len(v) >= 2
            and v[0] == 0
            and all(_is_number(g) and 0 <= g < float("inf") for g in v)
            and all(a <= b for a, b in zip(v, v[1:], strict=False))
        ),
    ),
}
"""Parameter to a description of its values, and a function that checks them."""


Function = Callable[[np.ndarray, np.ndarray], float]

OWN_FUNCTIONS: dict[str, Function] = {}

_OWN_KIND = Kind(parameters={})

_CUTOFF = "a cutoff must be a whole number from 1 to 999,999,999"

_BY_LOWER = {name.lower(): name for name in KINDS}


@dataclass(frozen=True, slots=True)
class Measure:
    """One measure: `Measure("nDCG") @ 10`, `Measure("AP")(rel=2)`.

    Examples
    --------
    >>> import steadyrank as sr
    >>> str(sr.Measure("nDCG") @ 10), str(sr.Measure("AP")(rel=2))
    ('nDCG@10', 'AP(rel=2)')
    """

    name: str
    parameters: tuple[tuple[str, Value], ...] = ()
    cutoff: int | None = None

    def __post_init__(self) -> None:
        if self.name not in KINDS and self.name not in OWN_FUNCTIONS:
            raise unknown_name("measure", self.name, [*KINDS, *OWN_FUNCTIONS])

    @property
    def kind(self) -> Kind:
        """The kind of measure that the name denotes."""
        return KINDS.get(self.name, _OWN_KIND)

    def __call__(self, **parameters: Value) -> Measure:
        """Return the measure with these parameters."""
        kind = self.kind
        merged = dict(self.parameters)
        for key, value in parameters.items():
            if key == "cutoff":
                raise InputError(f"a cutoff follows an @: write {self.name}@{value}")
            if key not in kind.parameters:
                raise unknown_name("parameter", key, kind.parameters, where=f"of {self.name}")
            merged[key] = check_parameter(self.name, key, value)
        ordered = tuple((key, merged[key]) for key in kind.parameters if key in merged)
        return Measure(self.name, ordered, self.cutoff)

    def __matmul__(self, cutoff: float) -> Measure:
        """Return the measure of the top `cutoff` documents (IPrec: at this level of recall)."""
        rule = self.kind.cutoff
        if rule == "recall":
            return self(recall=cutoff)
        if rule == "none":
            raise InputError(f"{self.name} takes no cutoff: write {self.name} without @{cutoff}")
        rank = _plain(cutoff)
        if not is_whole(rank) or not 1 <= rank < 10**9:
            raise InputError(f"{self.name}: {_CUTOFF}, got {rank!r}")
        if rule == "one" and rank != 1:
            raise InputError(f"{self.name} is defined only at rank 1: write {self.name}@1")
        return Measure(self.name, self.parameters, rank)

    def __repr__(self) -> str:
        shown = dict(self.parameters)
        at = shown.pop("recall", self.cutoff)
        inside = ",".join(f"{key}={_show(value)}" for key, value in shown.items())
        text = self.name + (f"({inside})" if inside else "")
        return text if at is None else f"{text}@{at}"

    def __str__(self) -> str:
        return repr(self)

    def parameter(self, key: str) -> Value | None:
        """Return the value of a parameter, given or by default."""
        return dict(self.parameters).get(key, self.kind.parameters.get(key))

    def checked(self) -> Measure:
        """Return the measure itself, or raise an error if it lacks a required cutoff."""
        rule = self.kind.cutoff
        if rule in ("required", "one") and self.cutoff is None:
            what, example = "a cutoff", "1" if rule == "one" else "10"
        elif rule == "recall" and self.parameter("recall") is None:
            what, example = "a level of recall", "0.1"
        else:
            return self
        raise InputError(f"{self.name} needs {what}, such as {self.name}@{example}")


def parse_measure(text: str | Measure) -> Measure:
    """Return the measure of a name.

    Parameters
    ----------
    text : str or Measure
        A name, also of trec_eval or ranx, or a measure of ir_measures.

    Returns
    -------
    Measure
        `str` gives its name, which parses to the same measure.

    Examples
    --------
    >>> parse_measure("ndcg_cut_10"), parse_measure("RBP(p=.8)"), parse_measure("mrr")
    (nDCG@10, RBP(p=0.8), RR)
    """
    if isinstance(text, Measure):
        return text.checked()
    if is_foreign(text):
        text = foreign_text(text)
    if not isinstance(text, str):
        raise InputError(f"expected a measure's name, got {text!r}")
    return _parsed(text)


@functools.lru_cache(maxsize=1024)
def _parsed(text: str) -> Measure:
    match = re.fullmatch(r"\s*([^\s(@]+)\s*(?:\((.*)\))?\s*(?:@\s*([^\s@]+))?\s*", text, re.DOTALL)
    if match is None:
        raise InputError(f"{text!r} is not a measure's name: write it like nDCG@10 or AP(rel=2)")
    name, inside, cutoff = match.groups()
    base, rank = _base_measure(name)
    measure = base(**_parse_parameters(inside, text)) if inside else base
    if cutoff is not None:
        if rank is not None:
            raise InputError(f"{text!r} gives two cutoffs")
        rank = cutoff
    if rank is None:
        return measure.checked()
    if measure.kind.cutoff != "recall" and not re.fullmatch("[0-9]{1,9}", rank):
        raise InputError(f"{text[:60]!r}: {_CUTOFF}, got {rank[:20]!r}")
    return (measure @ _parse_number(rank, text)).checked()


def parse_measures(texts: str | Measure | Iterable[str | Measure]) -> list[Measure]:
    """Return several measures; trec_eval's list `ndcg_cut.10,20` gives one per cutoff."""
    if isinstance(texts, (str, Measure)) or not isinstance(texts, Iterable):
        texts = [texts]
    given = [[text] if not isinstance(text, str) else _BETWEEN.split(text) for text in texts]
    texts = [text for several in given for text in several]
    measures: dict[Measure, None] = {}
    for text in texts:
        listed = isinstance(text, str) and _LISTED.fullmatch(text.strip())
        if listed:
            ranks = listed.group(2).split(",")
            measures.update(dict.fromkeys(parse_measure(f"{listed.group(1)}_{k}") for k in ranks))
        else:
            measures[parse_measure(text)] = None
    if not measures:
        raise InputError("no measure was named: try AP, nDCG@10 or P@10")
    return list(measures)


def is_binary(measure: Measure) -> bool:
    """Return whether a measure distinguishes only relevant and non-relevant documents."""
    kind = measure.kind.parameters
    return kind.get("rel") == 1 and "gains" not in kind and not measure.parameter("graded")


def says_level(measure: Measure) -> bool:
    """Return whether a measure names the lowest relevant grade."""
    return "rel" in dict(measure.parameters)


def at_level(measures: Iterable[Measure], rel: int | None) -> list[Measure]:
    """Return the measures, with this lowest relevant grade for binary ones that name none."""
    if rel is None or check_parameter("binary measures", "rel", rel) == 1:
        return list(measures)
    return [m(rel=rel) if is_binary(m) and not says_level(m) else m for m in measures]


def without_level(name: str) -> str:
    """Return the name of a measure without its relevance level, as `trec_eval -l 2` prints it."""
    measure = parse_measure(name)
    kept = tuple(given for given in measure.parameters if given[0] != "rel")
    return str(replace(measure, parameters=kept))


def _base_measure(name: str) -> tuple[Measure, str | None]:
    """Return the measure of a name without parameters, and the cutoff in trec_eval's names."""
    if name in OWN_FUNCTIONS:
        return Measure(name), None
    if match := re.fullmatch(_APPENDED, name.lower()):
        number = float(match.group(2))
        return (
            Measure("SetF")(beta=number) if match[1] == "f" else Measure("IPrec") @ number
        ), None
    for candidate, rank in (_split_rank(name), (name, None)):
        lower = candidate.lower()
        if candidate in KINDS:
            return Measure(candidate), rank
        if lower in _OTHER_NAMES:
            if lower.endswith("_cut") and rank is None:
                raise InputError(f"{name!r} needs its cutoff, such as {name}_10")
            target = _OTHER_NAMES[lower]
            return (parse_measure(target) if "(" in target else Measure(target)), rank
        if lower in _BY_LOWER:
            return Measure(_BY_LOWER[lower]), rank
        if match := re.fullmatch(r"rbp[._]?([0-9]+)", lower):
            return Measure("RBP")(p=float("0." + match.group(1))), rank
    raise unknown_name("measure", name, [*KINDS, *OWN_FUNCTIONS, *_OTHER_NAMES])


_APPENDED = re.compile(r"(?:set_(f)|iprec_at_recall)[._]([0-9]+(?:\.[0-9]*)?|\.[0-9]+)")
"""trec_eval appends a beta or a level of recall, as in iprec_at_recall_0.10."""


def register_measure(name: str, function: Function) -> Measure:
    """Register a function of grades as a measure, and return the measure.

    Parameters
    ----------
    name : str
        `name@k` passes only the top k documents. Registering a name again replaces the function.
    function : callable
        Takes `ranked`, the grades of the returned documents in rank order, 0 for unjudged ones, and
        `judged`, the grades of all judged documents of the topic, best first. It is not called for
        topics that a run lacks or that have no relevant document.

    Returns
    -------
    Measure
        Accepted wherever the name of a measure is.

    Examples
    --------
    >>> import steadyrank as sr
    >>> def first_is_best(ranked, judged):
    ...     return 1.0 if len(ranked) > 0 and ranked[0] == judged[0] else 0.0
    >>> sr.register_measure("FirstIsBest", first_is_best)
    FirstIsBest
    >>> qrels = sr.qrels_from_dict({"1": {"a": 1, "b": 2}})
    >>> run = sr.run_from_dict({"1": {"a": 0.5, "b": 0.7}}, name="mine")
    >>> sr.evaluate(run, qrels, "FirstIsBest").values.item()
    1.0
    """
    if not isinstance(name, str) or not re.fullmatch(r"[A-Za-z]\w*", name):
        raise InputError(f"a measure's name is a letter, then letters and digits, got {name!r}")
    with contextlib.suppress(UnknownNameError):
        if name not in OWN_FUNCTIONS and _base_measure(name):
            raise InputError(f"{name!r} is a measure of steadyrank: choose another name")
    if not callable(function):
        raise InputError(f"{name}: expected a function of (ranked, judged), got {function!r}")
    OWN_FUNCTIONS[name] = function
    _parsed.cache_clear()
    return Measure(name)


def largest_difference(label: str, scores: np.ndarray) -> float:
    """Return the largest possible difference of two scores; infinite if the scale is unknown."""
    try:
        is_share = not parse_measure(label).kind.is_count
    except InputError:
        is_share = False
    known = scores[~np.isnan(scores)]
    return 1.0 if is_share and ((known >= 0.0) & (known <= 1.0)).all() else math.inf


_BETWEEN = re.compile(r"(?:\s*,\s*|\s+)(?=[A-Za-z][^\s,(=@)]*(?:[\s,(@]|$))")
"""Separator of two measures in one text; a word before = or ) belongs to a parameter."""

_LISTED = re.compile(r"(?!rbp)([A-Za-z_]+)\.([0-9.]+(?:,[0-9.]+)+)", re.IGNORECASE)


def _split_rank(name: str) -> tuple[str, str | None]:
    match = re.fullmatch(r"([A-Za-z_]+?)[._]([0-9]+)", name)
    if match is None or match.group(1).lower() == "rbp":
        return name, None
    return match.group(1), match.group(2)


def _parse_parameters(inside: str, text: str) -> dict[str, Value]:
    """Return the `key=value` pairs in parentheses; lists of numbers may lack theirs."""
    written: dict[str, str] = {}
    for piece in re.split(r",(?![^()]*\))", inside):
        key, equals, value = (part.strip() for part in piece.partition("="))
        if equals and key.isidentifier() and key not in written:
            written[key] = value
        elif written and not equals:
            last = next(reversed(written))
            written[last] += f",{piece}"
        else:
            raise InputError(f"{text!r}: parameters are written key=value, such as AP(rel=2)")
    return {key: _parse_value(value, text) for key, value in written.items()}


def _parse_value(value: str, text: str) -> Value:
    if re.fullmatch(r"\((.*)\)|.*,.*", value):
        items = [item for item in value.strip("()").split(",") if item.strip()]
        return tuple(_parse_number(item, text) for item in items)
    if len(value) >= 2 and value[0] == value[-1] and value[0] in "'\"":
        return value[1:-1]
    if value in ("True", "true", "False", "false"):
        return value in ("True", "true")
    if re.fullmatch(r"[A-Za-z][\w-]*", value) and value.lower() not in ("nan", "inf"):
        return value
    return _parse_number(value, text)


def _parse_number(value: str, text: str) -> int | float:
    value = value.strip()
    if re.fullmatch(r"[+-]?[0-9]{1,18}", value):
        return int(value)
    if re.fullmatch(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)(e[+-]?[0-9]+)?", value, re.IGNORECASE):
        return float(value)
    raise InputError(f"{text[:60]!r}: expected a number, got {value[:20]!r}")


def _show(value: Value) -> str:
    return repr(value).replace(", ", ",") if isinstance(value, tuple) else repr(value)


def check_parameter(name: str, key: str, value: Value) -> Value:
    """Return the value in its type, or raise an error that says which values are valid."""
    takes, valid = RULES[key]
    value = _plain(value)
    if not valid(value):
        raise InputError(f"{name}: {key} takes {takes}, got {value!r}")
    return float(value) if key == "recall" else value  # type: ignore[arg-type]


def _plain(value: Any) -> Any:
    """Return Numpy's numbers and lists as Python's numbers and tuples, whose repr can be parsed."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    return tuple(_plain(item) for item in value) if isinstance(value, (list, tuple)) else value


def is_foreign(measure: object) -> bool:
    """Return whether an object looks like a measure of ir_measures, without importing it."""
    return all(hasattr(measure, name) for name in ("NAME", "params", "AT_PARAM"))


def foreign_text(measure: Any) -> str:
    """Return the name of a measure of ir_measures in a spelling that `parse_measure` accepts."""
    if measure.NAME is None:
        raise InputError(f"{measure!r} is a function of ir_measures: register_measure takes it")
    parameters = dict(measure.params)
    at = parameters.pop(measure.AT_PARAM, None)
    if "gains" in parameters:
        parameters["gains"] = _gains(parameters["gains"], measure)
    inside = ",".join(f"{key}={value!r}" for key, value in parameters.items())
    name = f"{measure.NAME}({inside})" if inside else str(measure.NAME)
    return name if at is None else f"{name}@{at}"


def _gains(gains: dict[int, float], measure: Any) -> tuple[float, ...]:
    """Return one gain per grade from 0 on; the gain of a grade that is not named is the grade."""
    if min(gains, default=0) < 0:
        raise InputError(f"{measure!r}: negative grades are worth 0: omit them from gains")
    return tuple(gains.get(grade, grade) for grade in range(max(gains, default=0) + 1))
