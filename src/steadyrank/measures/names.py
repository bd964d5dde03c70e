"""Measure names as an algebra: `nDCG@20`, `AP(rel=2)`, `RBP(p=0.8)`.

A measure is its name, its parameters and its cutoff; its `repr` is its identity
and can be parsed again. trec_eval's and ranx's names are understood too.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from steadyrank.errors import InputError, UnknownNameError, unknown_name

Value = int | float | bool | str | tuple[float, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """What a measure's name stands for: which parameters it takes, and of which cutoff."""

    parameters: Mapping[str, Value | None]
    cutoff: Literal["required", "optional", "none", "one"] = "optional"
    says: str


_REL = {"rel": 1}
_GAINS: dict[str, Value | None] = {"gains": None}

KINDS: Mapping[str, Kind] = {
    "AP": Kind(parameters=_REL, says="average precision"),
    "nDCG": Kind(
        parameters={"dcg": "log2", **_GAINS}, says="normalized discounted cumulative gain"
    ),
    "P": Kind(parameters=_REL, cutoff="required", says="precision"),
    "R": Kind(parameters=_REL, cutoff="required", says="recall"),
    "Rprec": Kind(parameters=_REL, cutoff="none", says="precision at rank R"),
    "RR": Kind(parameters=_REL, says="reciprocal rank"),
    "RBP": Kind(
        parameters={"p": 0.8, "rel": 1, "graded": False, "max_rel": None},
        says="rank-biased precision",
    ),
    "ERR": Kind(parameters={"max_rel": None}, says="expected reciprocal rank"),
    "nERR": Kind(parameters={"max_rel": None}, says="ERR over that of the ideal list"),
    "Q": Kind(parameters={"beta": 1.0, "rel": 1, **_GAINS}, says="Sakai's Q-measure"),
    "Pplus": Kind(parameters={"beta": 1.0, "rel": 1, **_GAINS}, says="Sakai's P+"),
    "nG": Kind(parameters=_GAINS, cutoff="one", says="normalized gain of the first document"),
    "Twist": Kind(parameters=_REL, cutoff="none", says="twist of the relative position"),
    "Success": Kind(parameters=_REL, cutoff="required", says="any relevant document"),
    "Judged": Kind(parameters={}, says="share of judged documents"),
}

_OWN_KINDS: dict[str, Kind] = {}
"""Measures that the user has registered."""

_EXAMPLE_CUTOFF = {"one": 1}

_BY_LOWER = {name.lower(): name for name in KINDS}

_OTHER_NAMES = {
    # trec_eval
    "map": "AP",
    "map_cut": "AP",
    "ndcg_cut": "nDCG",
    "recall": "R",
    "recip_rank": "RR",
    "success": "Success",
    # ranx and others
    "precision": "P",
    "r_precision": "Rprec",
    "r-precision": "Rprec",
    "mrr": "RR",
    "reciprocal_rank": "RR",
    "hit_rate": "Success",
    "ndcg_burges": "nDCG(dcg='exp-log2')",
    "p+": "Pplus",
    "p_plus": "Pplus",
    "average_precision": "AP",
}


@dataclass(frozen=True, slots=True)
class Measure:
    """One measure: `Measure("nDCG") @ 10`, `Measure("AP")(rel=2)`."""

    name: str
    parameters: tuple[tuple[str, Value], ...] = ()
    cutoff: int | None = None

    def __post_init__(self) -> None:
        if self.name not in KINDS and self.name not in _OWN_KINDS:
            raise unknown_name("measure", self.name, [*KINDS, *_OWN_KINDS])

    @property
    def kind(self) -> Kind:
        """What the name stands for."""
        return KINDS[self.name] if self.name in KINDS else _OWN_KINDS[self.name]

    def __call__(self, **parameters: Value) -> Measure:
        """The same measure with parameters set."""
        kind = self.kind
        merged = dict(self.parameters)
        for key, value in parameters.items():
            if key not in kind.parameters:
                raise unknown_name(f"parameter of {self.name}", key, kind.parameters)
            merged[key] = check_parameter(self.name, key, value)
        ordered = tuple((key, merged[key]) for key in kind.parameters if key in merged)
        return Measure(self.name, ordered, self.cutoff)

    def __matmul__(self, cutoff: int) -> Measure:
        """The same measure of the top `cutoff` documents."""
        rule = self.kind.cutoff
        if rule == "none":
            raise InputError(f"{self.name} takes no cutoff: write {self.name} without @{cutoff}")
        cutoff = _plain(cutoff)
        if not _is_whole(cutoff) or not 1 <= cutoff < 2**31:
            raise InputError(f"{self.name}: a cutoff is a whole number from 1 on, got {cutoff!r}")
        if rule == "one" and cutoff != 1:
            raise InputError(f"{self.name} is defined at rank 1 alone: write {self.name}@1")
        return Measure(self.name, self.parameters, cutoff)

    def __repr__(self) -> str:
        inside = ",".join(f"{key}={_show(value)}" for key, value in self.parameters)
        text = self.name + (f"({inside})" if inside else "")
        return text if self.cutoff is None else f"{text}@{self.cutoff}"

    def __str__(self) -> str:
        return repr(self)

    def parameter(self, key: str) -> Value | None:
        """The value of a parameter, set or by default."""
        return dict(self.parameters).get(key, self.kind.parameters.get(key))

    def checked(self) -> Measure:
        """The measure itself, if it lacks no cutoff."""
        rule = self.kind.cutoff
        if rule in ("required", "one") and self.cutoff is None:
            raise InputError(
                f"{self.name} needs a cutoff, such as {self.name}@{_EXAMPLE_CUTOFF.get(rule, 10)}"
            )
        return self


def parse_measure(text: str | Measure) -> Measure:
    """The measure that a name stands for.

    Parameters
    ----------
    text : str or Measure
        A name of ours, of trec_eval or of ranx.

    Examples
    --------
    >>> parse_measure("ndcg_cut_10"), parse_measure("RBP(p=.8)"), parse_measure("mrr")
    (nDCG@10, RBP(p=0.8), RR)
    """
    if isinstance(text, Measure):
        return text.checked()
    if not isinstance(text, str):
        raise InputError(f"expected a measure's name, got {text!r}")
    name, inside, cutoff = _name_parts(text)
    base, rank = _base_measure(name)
    measure = base(**_parse_parameters(inside, text)) if inside else base
    if cutoff is not None:
        if rank is not None:
            raise InputError(f"{text!r} gives two cutoffs")
        rank = cutoff
    return (measure if rank is None else measure @ _parse_cutoff(rank, text)).checked()


def _name_parts(text: str) -> tuple[str, str | None, str | None]:
    """Name, what stands in parentheses, and cutoff."""
    match = re.fullmatch(r"\s*([^\s(@]+)\s*(?:\((.*)\))?\s*(?:@\s*([^\s@]+))?\s*", text, re.DOTALL)
    if match is None:
        raise InputError(f"{text!r} is not a measure's name: write it like nDCG@10 or AP(rel=2)")
    name, inside, cutoff = match.groups()
    return name, inside, cutoff


def split_parameter(text: str, key: str) -> tuple[str, Value | None]:
    """A measure's name without one of its parameters, and the value that this was given.

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
        raise InputError(f"{text[:60]!r}: a cutoff is a whole number, got {rank[:20]!r}")
    return int(rank)


def parse_measures(texts: str | Measure | Iterable[str | Measure]) -> list[Measure]:
    """Several measures; trec_eval's lists such as `ndcg_cut.10,20` give one each.

    >>> parse_measures(["AP", "P.5,10"])
    [AP, P@5, P@10]
    """
    if isinstance(texts, (str, Measure)) or not isinstance(texts, Iterable):
        texts = [texts]
    measures: dict[Measure, None] = {}
    for text in texts:
        listed = isinstance(text, str) and re.fullmatch(_LISTED, text.strip())
        if listed:
            ranks = listed.group(2).split(",")
            measures.update(dict.fromkeys(parse_measure(f"{listed.group(1)}_{k}") for k in ranks))
        else:
            measures[parse_measure(text)] = None
    if not measures:
        raise InputError("no measure was named: try AP, nDCG@10 or P@10")
    return list(measures)


def _base_measure(name: str) -> tuple[Measure, str | None]:
    """The measure behind a bare name, and the cutoff that trec_eval's names carry."""
    if name in _OWN_KINDS:
        return Measure(name), None
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
    raise unknown_name("measure", name, [*KINDS, *_OWN_KINDS, *_OTHER_NAMES])


def add_kind(name: str, kind: Kind) -> None:
    """Let a name of the user's own stand for a measure."""
    _OWN_KINDS[name] = kind


def is_taken(name: str) -> bool:
    """Whether a name, in any of its spellings, already stands for a measure."""
    try:
        _base_measure(name)
    except UnknownNameError:
        return False
    return True


_LISTED = re.compile(r"(?!rbp)([A-Za-z_]+)\.([0-9]+(?:,[0-9]+)+)", re.IGNORECASE)


def _split_rank(name: str) -> tuple[str, str | None]:
    match = re.fullmatch(r"([A-Za-z_]+?)[._]([0-9]+)", name)
    if match is None or match.group(1).lower() == "rbp":
        return name, None
    return match.group(1), match.group(2)


def _parse_parameters(inside: str, text: str) -> dict[str, Value]:
    """The `key=value` pairs between the parentheses; a list of numbers may lack its own."""
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
    if isinstance(value, tuple):
        return (
            "(" + ",".join(_show(item) for item in value) + ("," if len(value) == 1 else "") + ")"
        )
    return repr(value)


def check_parameter(name: str, key: str, value: Value) -> Value:
    """The value in its proper type, or an error that says what the parameter takes."""
    takes, valid = _RULES[key]
    value = _plain(value)
    if not valid(value):
        raise InputError(f"{name}: {key} takes {takes}, got {value!r}")
    return value


def _plain(value: Any) -> Any:
    """Numpy's numbers and lists as Python's numbers and tuples, whose repr can be parsed."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    return tuple(_plain(item) for item in value) if isinstance(value, (list, tuple)) else value


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and value == value


def _is_whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


_RULES: Mapping[str, tuple[str, Callable[[Any], bool]]] = {
    "rel": ("a grade from 1 on", lambda v: _is_whole(v) and 1 <= v <= 1000),
    "p": ("a number between 0 and 1", lambda v: _is_number(v) and 0 < v < 1),
    "beta": ("a number from 0 on", lambda v: _is_number(v) and 0 <= v < float("inf")),
    "max_rel": ("a grade from 1 on", lambda v: _is_whole(v) and 1 <= v <= 1000),
    "graded": ("True or False", lambda v: isinstance(v, bool)),
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
