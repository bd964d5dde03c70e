"""Every test that is offered keeps its level where it promises to, and none is left out.

`python -m bench.levels` prints the whole table; here a part of it, on 4,000 trials and fewer.
A band is exact binomial and so wide that all rows of a test together give a false alarm once in
10,000 suites; seeds are fixed. STEADYRANK_CELLS=10 takes ten times the trials.
"""

from __future__ import annotations

import csv
import dataclasses
import importlib
import os
import pkgutil
import re
from pathlib import Path

import click
import numpy as np
import pytest
from instance_power import power
from scipy import stats

import steadyrank as sr
from bench.levels import pvalues as run
from bench.levels import trials as levels
from bench.levels.null_data import INSTANCE, RESIDUAL, SYSTEM_TOPIC
from steadyrank import stats as stats_room
from steadyrank import studies as studies_room
from steadyrank.cli import group
from steadyrank.stats.anova.balanced import anova, crossed_strata, tukey_main_effect
from steadyrank.stats.pairs.result import all_pairs
from steadyrank.stats.pairs.tukey import tukey_hsd
from steadyrank_lab import papers as papers_room

BUDGET = int(os.environ.get("STEADYRANK_CELLS", "1"))
N_TRIALS = 4000 * BUDGET
FALSE_ALARM = 1e-4

COUNTS = Path(__file__).parents[2] / "docs" / "evidence" / "levels.csv"

OFFERED = {name for section in levels.SECTIONS for test in section.tests for name in test.offered}
CHOICES = ("test", "correction", "mode", "strata")
"""Options by which one chooses a test."""

NO_TEST = {
    "agree --mode sound",
    "pools --mode sound",
    "pools --mode paper",
    "simulate --mode sound",
    "simulate --mode paper",
}
PASSED_ON = {
    "BattlesResult.pvalue",
    "BattlesResult.pvalue_adjusted",
    "CompareResult.pvalue",
    "CompareResult.pvalue_adjusted",
    "DatasetsResult.pvalue_adjusted",
    "Family.pvalue",
    "Family.pvalue_adjusted",
    "InstancesResult.pvalue",
    "JudgedTests.pvalue",
    "JudgedTests.pvalue_own",
    "OtherJudges.pvalue_adjusted",
}
"""Fields that hold p-values of other results."""

ELSEWHERE = {"Effect.pvalue"}
"""Fields whose level is counted by the tests of their study."""


def test_every_test_that_a_command_offers_has_its_level_measured():
    context = click.Context(group)
    # A report tests as compare does.
    offered = {
        f"{'compare' if name == 'report' else name} --{option.name} {choice}"
        for name in group.list_commands(context)
        for option in group.get_command(context, name).params
        if option.name in CHOICES and isinstance(option.type, click.Choice)
        for choice in option.type.choices
    }
    assert len(offered) > 20
    assert offered - NO_TEST - OFFERED == set()
    stale = {name for name in OFFERED if " --" in name} - offered
    assert stale == set()


def pvalue_fields():
    """Class.field of every p-value that a result of the library has."""
    for room in (stats_room, studies_room, papers_room):
        for module in pkgutil.walk_packages(room.__path__, f"{room.__name__}."):
            for found in vars(importlib.import_module(module.name)).values():
                if dataclasses.is_dataclass(found) and isinstance(found, type):
                    for field in dataclasses.fields(found):
                        if field.name.startswith("pvalue") and not field.name.endswith("error"):
                            yield f"{found.__name__}.{field.name}"


def test_every_pvalue_of_a_result_has_its_level_measured():
    found = set(pvalue_fields())
    assert len(found) > 15
    assert found - PASSED_ON - ELSEWHERE - OFFERED == set()
    assert found >= PASSED_ON


def test_every_pvalue_of_instances_has_its_level_measured():
    values = np.random.default_rng(1).random((1, 7, 8))
    scores = sr.Scores(
        measures=("AP",),
        runs=[f"r{i}" for i in range(7)],
        topics=range(8),
        values=values,
        run_info={"system": list("aaabbbc")},
    )
    for other in "bc":
        found = sr.instances(scores, a="a", b=other, posterior=False, n_samples=50)
        assert {f"instances pvalue.{name}" for name in found.pvalue} <= OFFERED


def table_rows():
    """(test, data, topics) of the counts, at each of two levels."""
    with COUNTS.open(encoding="utf-8", newline="") as stream:
        for row in csv.DictReader(stream):
            yield row["test"], row["data"], int(row["topics"])


def test_the_counts_have_every_row_and_no_other():
    expected = [
        (test.name, data, size)
        for section in levels.SECTIONS
        for test in section.tests
        for data in section.draws
        for size in test.sizes
        if data in test.data
    ]
    assert sorted(table_rows()) == sorted(2 * expected)


def test_many_layouts_at_once_are_tested_as_each_alone():
    scores = np.random.default_rng(5).normal(size=(3, 4, 12))
    layout = run.Layout.of(scores)
    two_way = {"factors": ("run", "topic"), "effects": ("run",), "block": "topic"}
    pvalues = [anova(each, **two_way).source("run").pvalue for each in scores]
    assert layout.f_pvalues() == pytest.approx(pvalues, rel=1e-10)
    smallest = [tukey_hsd(each, all_pairs(4)).pvalue.min() for each in scores]
    for level in smallest:
        expected = [p < level * 1.0001 for p in smallest]
        assert layout.tukey_rejects([level * 1.0001])[0].tolist() == expected
        assert layout.tukey_rejects([level * 0.9999])[0].sum() == sum(expected) - 1


@pytest.mark.parametrize("strata", ["none", "topic"])
def test_many_grids_at_once_are_tested_as_each_alone(strata):
    grids = np.random.default_rng(6).normal(size=(3, 2, 3, 9))
    chosen = crossed_strata("topic", ["a", "b"]) if strata == "topic" else ()
    tables = [
        anova(
            each,
            factors=["a", "b", "topic"],
            block="topic",
            effects=["a", "b", "a:b"],
            strata=chosen,
        )
        for each in grids
    ]
    layout = run.component_layout(grids, strata)
    pvalues = [table.source("b").pvalue for table in tables]
    assert layout.f_pvalues() == pytest.approx(pvalues, rel=1e-10)
    smallest = min(tukey_main_effect(table, "b").pvalue.min() for table in tables)
    around = layout.tukey_rejects([smallest * 1.0001, smallest * 0.9999])
    assert around.sum(axis=1).tolist() == [1, 0]


def promised(test, data):
    """And quick enough for a band that means something; the page has the rest."""
    return (data in test.exact or data in test.valid) and test.cost <= 20


@pytest.mark.slow
@pytest.mark.parametrize("section", levels.SECTIONS, ids=lambda section: section.title)
def test_levels_are_kept_where_they_are_promised(section):
    rows = list(levels.rows_of(section, N_TRIALS, seed=1, sizes=(10, 25), only=promised))
    band = FALSE_ALARM / max(1, len(rows))
    for row in rows:
        law = stats.binom(row.trials, row.level)
        above = law.sf(row.rejected - 1)
        assert above > band, row
        if row.data in row.test.exact:
            assert min(above, law.cdf(row.rejected)) > band / 2, row


@pytest.mark.slow
@pytest.mark.parametrize("section", [levels.CROSSED, levels.NESTED], ids=["crossed", "nested"])
def test_the_mixed_model_rejects_as_often_as_integration_says(section):
    """Its level is not .05 but known, for normal effects; the same band."""
    nested = section is levels.NESTED
    components = {
        "instance": INSTANCE**2,
        "system_topic": SYSTEM_TOPIC**2 / (2 if nested else 1),
        "residual": RESIDUAL**2,
    }
    rows = list(
        levels.rows_of(
            section,
            N_TRIALS,
            seed=2,
            sizes=(10, 50),
            only=lambda test, data: test.name == "mixed" and data in levels.ONE_KIND,
        )
    )
    assert len(rows) == 8
    for row in rows:
        n_instances = int(re.search(r"\d+", row.data)[0])
        design = "nested" if nested else "crossed"
        exact = power(components, row.topics, n_instances, design=design, alpha=row.level)
        law = stats.binom(row.trials, exact)
        tails = law.sf(row.rejected - 1), law.cdf(row.rejected)
        assert min(tails) > FALSE_ALARM / (2 * len(rows)), row


KNOWN = [
    (levels.PAIRS, "t", "exponential", 10, "exceeds"),
    (levels.PAIRS, "bootstrap", "AP", 10, "below"),
    (levels.FAMILY, "t, none", "normal", 10, "exceeds"),
    (levels.FAMILY, "tukey", levels.SPREAD, 25, "exceeds"),
    (levels.COMPONENTS, "F, strata none", "interacting", 10, "exceeds (not its null)"),
    (levels.AGREE, "F of measure_pair, strata none", levels.EXCHANGED, 25, "exceeds"),
    (levels.AGREE, "F of measure_pair, strata subject", levels.EXCHANGED, 25, "exceeds"),
    (levels.CROSSED, "mixed_paper", "normal, 5 instances", 50, "exceeds"),
    (levels.MARGINS, "equivalent, difference delta", "exponential", 10, "exceeds"),
    (levels.SWEEP, "smallest not worse, mode paper", "normal", 25, "exceeds"),
]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("section", "name", "data", "size", "verdict"), KNOWN, ids=[f"{k[1]}-{k[2]}" for k in KNOWN]
)
def test_what_the_page_warns_of_is_so(section, name, data, size, verdict):
    """True rates are so far off that the 99.9 % interval misses .05 but once in 10,000."""
    row = next(
        levels.rows_of(
            section,
            N_TRIALS,
            seed=3,
            sizes=(size,),
            only=lambda test, kind: (test.name, kind) == (name, data),
        )
    )
    assert row.level == 0.05
    assert row.verdict == verdict
