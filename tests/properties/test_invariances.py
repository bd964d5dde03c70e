"""What must not change a result: orders, threads, blocks, executors; of every study there is.

Each study is called with its data in another order, or computed in other parts, and all that it
tells is compared, figure by figure. docs/invariances.md says what is exact and what is rounded.
"""

from __future__ import annotations

import importlib
import inspect
import warnings
from concurrent.futures import ThreadPoolExecutor

import pytest

import steadyrank as sr
from bench.invariances.cases import (
    CASES,
    NO_STUDY,
    runs_shuffled,
    small_data,
    told_of,
    topics_shuffled,
    with_ties,
)
from bench.invariances.differences import by_name, first_difference
from steadyrank.data import order
from steadyrank.stats.instances import systems as instance_systems

ROUNDED = 1e-12
"""Figures of runs that came in another order: sums over runs are taken in that order."""


@pytest.fixture(scope="module")
def data():
    return small_data()


@pytest.fixture(scope="module")
def expected(data):
    """What each case tells, computed by one thread: JSON, and all fields."""
    known = {}

    def of(name):
        if name not in known:
            known[name] = told_of(CASES[name], data, **alone(CASES[name]))
        return known[name]

    return of


def alone(case):
    return {"jobs": 1} if case.jobs else {}


def check_same(found, expected, rounded=0.0):
    for one, other in zip(found, expected, strict=True):
        assert first_difference(one, other, rounded) is None


@pytest.mark.parametrize("name", CASES)
def test_the_order_of_topics_changes_nothing(name, data, expected):
    case = CASES[name]
    check_same(told_of(case, topics_shuffled(data, 1), **alone(case)), expected(name))


@pytest.mark.parametrize("name", CASES)
def test_the_order_of_runs_changes_no_figure(name, data, expected):
    case = CASES[name]
    found, everything = told_of(case, runs_shuffled(data, 1), **alone(case))
    known, all_known = expected(name)
    assert first_difference(by_name(found), by_name(known), ROUNDED) is None
    if not case.listed:
        assert first_difference(everything, all_known) is None


ON_SCORES = ("compare", "topics", "agree", "components", "stability", "plan", "judges")


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if case.study in ON_SCORES])
def test_ties_do_not_go_by_the_order_either(name, data):
    case, tied = CASES[name], with_ties(data)
    known, all_known = told_of(case, tied, **alone(case))
    check_same(told_of(case, topics_shuffled(tied, 2), **alone(case)), (known, all_known))
    found, _ = told_of(case, runs_shuffled(tied, 2), **alone(case))
    assert first_difference(by_name(found), by_name(known), ROUNDED) is None


BY_PLACE = {
    topics_shuffled: [
        *("compare, randomization", "compare, bootstrap", "audit_tests", "topics", "agree"),
        *("pools", "simulate, bootstrap", "instances, a baseline", "shard"),
    ],
    runs_shuffled: [
        *("compare, randomized-tukey", "audit_tests", "agree", "simulate, bootstrap"),
        *("simulate, kde", "instances, a single run"),
    ],
}
"""Studies whose random numbers meet topics, or runs, by their place."""


@pytest.mark.parametrize(
    ("shuffled", "name"), [(how, name) for how, names in BY_PLACE.items() for name in names]
)
def test_without_an_order_by_name_it_would_be_seen(shuffled, name, data, expected, monkeypatch):
    for module in (order, instance_systems):
        monkeypatch.setattr(module, "natural_key", lambda name: 0)
    # What is remembered of the true order must not help.
    monkeypatch.setattr(order, "_places_in_order", order._places_in_order.__wrapped__)
    case = CASES[name]
    found, _ = told_of(case, shuffled(data, 1), **alone(case))
    assert first_difference(by_name(found), by_name(expected(name)[0]), 1e-6) is not None


def test_a_store_is_taken_up_in_another_order(data, expected, tmp_path):
    case, started = CASES["simulate, bootstrap"], []
    told_of(case, data, store=tmp_path)
    for shuffled in (topics_shuffled, runs_shuffled):
        again = {"store": tmp_path, "progress": lambda done, total: started.append(done)}
        found, _ = told_of(case, shuffled(data, 1), **again)
        assert (
            first_difference(by_name(found), by_name(expected("simulate, bootstrap")[0]), ROUNDED)
            is None
        )
    assert not started


@pytest.mark.parametrize("jobs", [2, 3])
@pytest.mark.parametrize("name", [name for name, case in CASES.items() if case.jobs])
def test_the_number_of_threads_changes_nothing(name, jobs, data, expected):
    check_same(told_of(CASES[name], data, jobs=jobs), expected(name))


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if case.cuts])
def test_how_work_is_cut_changes_nothing(name, data, expected, monkeypatch):
    case = CASES[name]
    for place, size in case.cuts.items():
        module, _, constant = place.rpartition(".")
        module = importlib.import_module(f"steadyrank.{module}")
        assert size < getattr(module, constant)
        monkeypatch.setattr(module, constant, size)
    check_same(told_of(case, data, **alone(case)), expected(name), case.rounded)


@pytest.fixture(scope="module")
def cluster():
    distributed = pytest.importorskip("distributed")
    with warnings.catch_warnings():
        # A machine that has other things to do makes Dask warn of this and that.
        warnings.simplefilter("ignore")
        with (
            distributed.LocalCluster(
                n_workers=2, threads_per_worker=1, processes=False, dashboard_address=":0"
            ) as cluster,
            distributed.Client(cluster, set_as_default=False) as client,
        ):
            yield client


SPREAD = [name for name, case in CASES.items() if case.executor]


@pytest.mark.parametrize("name", SPREAD)
def test_an_executor_changes_nothing(name, data, expected, elsewhere):
    with ThreadPoolExecutor(3) as threads:
        check_same(told_of(CASES[name], data, executor=threads), expected(name))
    check_same(told_of(CASES[name], data, executor=elsewhere), expected(name))
    assert elsewhere.tasks > 1


@pytest.mark.parametrize("name", SPREAD)
def test_a_cluster_changes_nothing(name, data, expected, cluster):
    check_same(told_of(CASES[name], data, executor=cluster.get_executor()), expected(name))


def test_every_public_function_is_here_or_says_why_not():
    named = {name: getattr(sr, name) for name in sr.__all__}
    public = {name for name, value in named.items() if inspect.isfunction(value)}
    studied = {case.study for case in CASES.values()}
    assert studied | NO_STUDY.keys() == public
    assert not studied & NO_STUDY.keys()


def test_cases_say_what_a_study_takes():
    for case in CASES.values():
        options = inspect.signature(getattr(sr, case.study)).parameters
        if "options" in options:
            continue  # Makers of runs take theirs as a whole.
        assert (case.jobs, case.executor) in [
            ("jobs" in options, "executor" in options),
            (False, "executor" in options),
        ]


@pytest.mark.parametrize(
    ("one", "other", "told"),
    [
        ({"a": [1.0, 2.0]}, {"a": [1.0, 2.5]}, ".a[1]: 2.0 and 2.5"),
        ({"a": 1}, {"b": 1}, ": keys ['a'] and ['b']"),
        ([1, 2], [1], ": 2 and 1 entries"),
        ({"a": None}, {"a": 0.0}, ".a: None and 0.0"),
        ([1], [True], "[0]: 1 and True"),
        ([1.0], [1.0 + 1e-15], "[0]: 1.0 and 1.000000000000001"),
    ],
)
def test_the_first_difference_is_told_with_its_place(one, other, told):
    assert first_difference(one, other) == told
    assert first_difference(one, one) is None
    assert first_difference([1.0], [1.0 + 1e-15], 1e-12) is None
