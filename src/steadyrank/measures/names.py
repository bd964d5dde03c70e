"""Measure names as an algebra: `nDCG@20`, `AP(rel=2)`, `RBP(p=0.8)`.

A measure consists of its name, its parameters and its cutoff; its `repr` identifies it and can be
parsed again. Names of trec_eval, ranx and ir_measures are synonyms.
"""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from steadyrank.errors import InputError, UnknownNameError, unknown_name
from steadyrank.measures.kinds import KINDS, NOT_COMPUTED, OTHER_NAMES, RULES, Kind, Value, is_whole

_OWN_KINDS: dict[str, Kind] = {}
"""Measures registered by the user."""

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
        if self.name not in KINDS and self.name not in _OWN_KINDS:
            raise unknown_name("measure", self.name, [*KINDS, *_OWN_KINDS])

    @property
    def kind(self) -> Kind:
        """The kind of measure that the name denotes."""
        return KINDS[self.name] if self.name in KINDS else _OWN_KINDS[self.name]

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
    name, inside, cutoff = _name_parts(text)
    base, rank = _base_measure(name)
    measure = base(**_parse_parameters(inside, text)) if inside else base
    if cutoff is not None:
        if rank is not None:
            raise InputError(f"{text!r} gives two cutoffs")
        rank = cutoff
    if rank is None:
        return measure.checked()
    is_recall = measure.kind.cutoff == "recall"
    return (measure @ (_parse_number if is_recall else _parse_cutoff)(rank, text)).checked()


def _name_parts(text: str) -> tuple[str, str | None, str | None]:
    match = re.fullmatch(r"\s*([^\s(@]+)\s*(?:\((.*)\))?\s*(?:@\s*([^\s@]+))?\s*", text, re.DOTALL)
    if match is None:
        raise InputError(f"{text!r} is not a measure's name: write it like nDCG@10 or AP(rel=2)")
    name, inside, cutoff = match.groups()
    return name, inside, cutoff


def split_parameter(text: str, key: str) -> tuple[str, Value | None]:
    """Return a measure's name without one of its parameters, and the value of the parameter.

    >>> split_parameter("nDCG(rel=2)@10", "rel"), split_parameter("AP", "rel")
    (('nDCG@10', 2), ('AP', None))
    """
    name, inside, cutoff = _name_parts(text)
    parameters = _parse_parameters(inside, text) if inside else {}
    if key not in parameters:
        return text, None
    value = check_parameter(name, key, parameters.pop(key))
    rest = ",".join(f"{other}={_show(given)}" for other, given in parameters.items())
    return name + (f"({rest})" if rest else "") + (f"@{cutoff}" if cutoff else ""), value


def _parse_cutoff(rank: str, text: str) -> int:
    if not re.fullmatch("[0-9]{1,9}", rank):
        raise InputError(f"{text[:60]!r}: {_CUTOFF}, got {rank[:20]!r}")
    return int(rank)


def parse_measures(texts: str | Measure | Iterable[str | Measure]) -> list[Measure]:
    """Return several measures; a list of trec_eval such as `ndcg_cut.10,20` gives one per cutoff.

    >>> parse_measures(["AP", "P.5,10", "RR, Q(beta=1, gains=(0, 1, 3)) nDCG@10"])
    [AP, P@5, P@10, RR, Q(beta=1,gains=(0,1,3)), nDCG@10]
    """
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
    """Return whether a measure distinguishes only relevant and non-relevant documents.

    >>> [is_binary(parse_measure(name)) for name in ("AP", "nDCG@10", "Q@10", "RBP(graded=True)")]
    [True, False, False, False]
    """
    kind = measure.kind.parameters
    return kind.get("rel") == 1 and "gains" not in kind and not measure.parameter("graded")


def says_level(measure: Measure) -> bool:
    """Return whether a measure names the lowest relevant grade."""
    return "rel" in dict(measure.parameters)


def at_level(measures: Iterable[Measure], rel: int | None) -> list[Measure]:
    """Return the measures, with this lowest relevant grade for binary ones that name none.

    >>> at_level(parse_measures(["AP", "P(rel=3)@5", "nDCG"]), 2)
    [AP(rel=2), P(rel=3)@5, nDCG]
    """
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
    if name in _OWN_KINDS:
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
        if lower in OTHER_NAMES:
            if lower.endswith("_cut") and rank is None:
                raise InputError(f"{name!r} needs its cutoff, such as {name}_10")
            target = OTHER_NAMES[lower]
            return (parse_measure(target) if "(" in target else Measure(target)), rank
        if lower in _BY_LOWER:
            return Measure(_BY_LOWER[lower]), rank
        if match := re.fullmatch(r"rbp[._]?([0-9]+)", lower):
            return Measure("RBP")(p=float("0." + match.group(1))), rank
    _refuse_if_left_out(name)
    raise unknown_name("measure", name, [*KINDS, *_OWN_KINDS, *OTHER_NAMES])


_APPENDED = re.compile(r"(?:set_(f)|iprec_at_recall)[._]([0-9]+(?:\.[0-9]*)?|\.[0-9]+)")
"""trec_eval appends a beta or a level of recall, as in iprec_at_recall_0.10."""


def _refuse_if_left_out(name: str) -> None:
    """Raise an error that says why a measure of another tool is not computed."""
    plain = name.lower().replace("α", "alpha").replace("-", "_")
    for candidate in (plain, _split_rank(plain)[0]):
        if candidate in NOT_COMPUTED:
            raise UnknownNameError(f"measure {name!r} is not computed: {NOT_COMPUTED[candidate]}")


def add_kind(name: str, kind: Kind) -> None:
    """Add a kind of measure that the user has registered."""
    _OWN_KINDS[name] = kind
    _parsed.cache_clear()


def is_taken(name: str) -> bool:
    """Return whether a name, in any spelling, already denotes a measure."""
    try:
        _base_measure(name)
    except UnknownNameError:
        return False
    return True


def counts_documents(label: str) -> bool:
    """Return whether a label, which may be any text, names a measure that counts documents.

    >>> counts_documents("NumRet"), counts_documents("AP"), counts_documents("my scores")
    (True, False, False)
    """
    try:
        return parse_measure(label).kind.is_count
    except InputError:
        return False


def largest_difference(label: str, scores: np.ndarray) -> float:
    """Return the largest possible difference of two scores; infinite if the scale is unknown.

    Scores outside [0, 1] are on another scale than the measure of this name.

    >>> largest_difference("AP", np.array([0.2])), largest_difference("AP", np.array([20.0]))
    (1.0, inf)
    """
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
    """Return the name of a measure of ir_measures in a spelling that `parse_measure` accepts.

    >>> from types import SimpleNamespace
    >>> foreign_text(SimpleNamespace(NAME="P", params={"rel": 2, "cutoff": 5}, AT_PARAM="cutoff"))
    'P(rel=2)@5'
    """
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
