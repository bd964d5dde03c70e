"""Mutated texts of options: names, lists, patterns, times."""

from __future__ import annotations

import math
import re
import warnings
from pathlib import Path

from fuzz.mutants import Target
from steadyrank.cli.inputs import split_assignment
from steadyrank.cli.topics import parse_sizes
from steadyrank.data.read.run_info import first_group
from steadyrank.measures.names import parse_measures
from steadyrank.reporting.budget import parse_budget
from steadyrank_lab.cli.make_runs import split_names

NAME = "team1.run-2"


def text_of(path: Path) -> str:
    return path.read_bytes().decode("utf-8", "surrogateescape")


def check_measures(path: Path) -> None:
    measures = parse_measures(text_of(path))
    assert measures
    for measure in measures:
        assert parse_measures(repr(measure)) == [measure]


def check_assignment(path: Path) -> None:
    text = text_of(path)
    name, file = split_assignment(text)
    places = [
        i for i, c in enumerate(text) if c == "=" and text[:i].count("(") == text[:i].count(")")
    ]
    assert (name, file) == ((text[: places[0]], text[places[0] + 1 :]) if places else (text, None))


def check_names(path: Path) -> None:
    text = text_of(path)
    names = split_names(text)
    assert all(name and name == name.strip() for name in names)
    kept = re.sub(r"[\s,]", "", "".join(names))
    assert kept == re.sub(r"[\s,]", "", text)


def check_sizes(path: Path) -> None:
    text = text_of(path)
    sizes = parse_sizes(text, 50)
    words = [word.strip() for word in text.split(",")]
    given = [int(word) for word in words if word not in ("…", "...")]
    assert [size for size in sizes if size in given] == given or "…" in text or "..." in text
    assert len(sizes) <= len(words) + 50 * text.count("…") + 50 * text.count("...")


def check_pattern(path: Path) -> None:
    pattern = text_of(path)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        group = first_group("--team-from", pattern, NAME)
        match = re.compile(pattern).search(NAME)
    assert group == ((match[1] or NAME) if match else NAME)


def check_budget(path: Path) -> None:
    text = text_of(path)
    seconds = parse_budget(text)
    unit = {"s": 1, "m": 60, "h": 3600}.get(text.strip()[-1], 1)
    number = float(text.strip().rstrip("smh"))
    assert math.isclose(seconds, number * unit)
    assert seconds > 0


MORSELS = (
    *b"( ) () @ @10 = , . rel rel=2 p=.8 gains=(0,1,3)".split(),
    "…".encode(),
    *b"... 5 10 map ndcg_cut.10,20 P_10 nDCG Rprec rbp.8 'exp-log2' max_rel 1h 2m s".split(),
    *rb"(?: (?P<n> [ ] | * + ? {2} {9999999999} (?i) \1 \ $ ^ (.) True beta=1e999 nan".split(),
    *(b"x" * 300, b"%"),
)


def target(name: str, check: object, *seeds: str, separators: bytes = b",") -> Target:
    return Target(
        name=name,
        seeds=tuple(seed.encode() for seed in seeds),
        morsels=MORSELS,
        check=check,
        separators=separators,
        packed=False,
        often_refused=0.99,
    )  # type: ignore[arg-type]


MEASURES = """AP nDCG(dcg='exp-log2')@10 P.5,10 nDCG(gains=(0,1,3))@20 RBP(p=.8) ndcg_cut_10
    Q(beta=1)@10 map"""

TARGETS = {
    made.name: made
    for made in (
        target("measure-names", check_measures, *MEASURES.split()),
        target("assignments", check_assignment, "AP(rel=2)=ap.csv", "AP", "a=b=c", separators=b"="),
        target("lists-of-names", check_names, "BM25(k1=0.9,b=0.4),PL2", "none, lucene"),
        target("lists-of-sizes", check_sizes, "5,10,20", "5,10,…,25", "10,20,..."),
        target("patterns", check_pattern, "^(team.)", "(.*)\\.", "run-(\\d)", separators=b"("),
        target("budgets", check_budget, "90s", "2m", "1h", "1.5 h", "45", separators=b"."),
    )
}
