"""Counts and orders that are drawn from the bins of densities, against exact laws."""

from __future__ import annotations

import itertools
from math import comb

import numpy as np
import pytest
from plain_sampler import average_precision
from scipy.stats import binom, chisquare, poisson

import steadyrank as sr
from steadyrank.measures.names import parse_measure
from steadyrank.studies.simulate.measures import make_gain
from steadyrank.studies.simulate.profiles import joined_bins, score_profiles
from steadyrank.studies.simulate.sampler_kernels import Cells, sample_cells

DEPTH = 1000


def cell(relevant, others, *, tail=0.0, mingled=False, n_relevant=1, depth=DEPTH) -> Cells:
    return Cells(
        starts=np.array([0, len(relevant)]),
        relevant=np.array(relevant, float),
        others=np.array(others, float),
        mingled=np.full(len(relevant), mingled),
        tail=np.array([float(tail)]),
        n_relevant=np.array([n_relevant]),
        depth=np.array([depth]),
        judged=np.array([n_relevant]),
    )


def samples(cells: Cells, n_samples: int, measure: str, tilt: float = 0.0) -> np.ndarray:
    gain = make_gain(parse_measure(measure), "judged", cells)
    values = np.empty((1, n_samples))
    tilts = np.full(len(cells.relevant), tilt)
    sample_cells(cells, tilts, 0, np.uint64(3), 0, gain, values)
    return values[0]


def assert_law(observed: np.ndarray, expected: np.ndarray) -> None:
    """Chi-square, rare outcomes taken together; a false alarm has probability 1e-5."""
    expected = expected / expected.sum() * observed.sum()
    often = expected > 10
    observed = np.append(observed[often], observed[~often].sum())
    expected = np.append(expected[often], expected[~often].sum())
    assert chisquare(observed[expected > 0], expected[expected > 0]).pvalue > 1e-5


@pytest.mark.parametrize(
    ("others", "tail"),
    [
        ([20], 980),  # All bins are at the top.
        ([500], 500),
        ([40, 300], 660),  # The last bin is deep.
        ([40, 100, 200], 660),
        ([40, 100, 100, 760], 0),
        ([0.3, 8, 60], 0),  # Few documents: one by one.
    ],
    ids=str,
)
def test_other_documents_above_a_bin_are_binomial(others, tail):
    """All relevant documents stand below the last bin but one: RR is 1 / (1 + others above)."""
    depth = 70 if tail == 0 and len(others) == 3 else DEPTH
    relevant = np.zeros(len(others))
    relevant[max(0, len(others) - 2 if tail == 0 else len(others) - 1)] = 1.0
    cells = cell(relevant, others, tail=tail, depth=depth)
    values = samples(cells, 400_000, "RR")
    above = np.rint(1 / values[values > 0]).astype(int) - 1
    share = np.cumsum(others)[np.flatnonzero(relevant)[0]] / (sum(others) + tail)
    numbers = np.arange(1, 12)
    law = poisson.pmf(numbers, 1.0) @ binom.pmf(np.arange(depth), (depth - numbers)[:, None], share)
    assert_law(np.bincount(above, minlength=depth), law)


@pytest.mark.parametrize("expected", [1.5, 3.0, 6.0])
def test_any_number_of_relevant_documents_stands_anywhere_among_others(expected):
    """One bin holds all: given r relevant of 30 documents, every order is equally likely."""
    depth = 30
    values = samples(cell([expected], [9.0], mingled=True, depth=depth), 400_000, "RR")
    first = np.rint(1 / values[values > 0]).astype(int)
    law = np.zeros(depth + 1)
    for r in range(1, depth + 1):
        chance = poisson.pmf(r, expected) if r < depth else poisson.sf(depth - 1, expected)
        for rank in range(1, depth - r + 2):
            law[rank] += chance * comb(depth - rank, r - 1) / comb(depth, r)
    assert_law(np.bincount(first, minlength=depth + 1), law)


def test_average_precision_of_a_bin_has_the_law_of_all_orders():
    depth, expected = 8, 2.5
    cells = cell([expected], [4.0], mingled=True, n_relevant=3, depth=depth)
    values = samples(cells, 400_000, "AP").round(9)
    law: dict[float, float] = {}
    for r in range(depth + 1):
        chance = poisson.pmf(r, expected) if r < depth else poisson.sf(depth - 1, expected)
        for ranks in itertools.combinations(range(1, depth + 1), r):
            value = round(average_precision(np.array(ranks), max(3, r)), 9)
            law[value] = law.get(value, 0.0) + chance / comb(depth, r)
    assert set(values.tolist()) <= set(law)
    observed = np.array([(values == value).sum() for value in law])
    assert_law(observed, np.array(list(law.values())))


@pytest.mark.parametrize("tilt", [0.5, -0.4])
def test_a_tilt_raises_every_one_of_several_documents_alike(tilt):
    """Of n others, n / 2 - tilt · n / 6 stand above a document on average; five standard errors.

    P@k counts the documents down to rank k: together they give the sum of the documents' ranks.
    """
    depth, n_samples = 12, 400_000
    cells = cell([4.0], [8.0], mingled=True, depth=depth)
    down_to = [np.rint(k * samples(cells, n_samples, f"P@{k}", tilt)) for k in range(1, depth + 1)]
    number = down_to[-1]
    ranks = sum(number - here for here in down_to) + number
    several = (number >= 2) & (number <= 8)
    above = ((ranks - number * (number + 1) / 2) / np.maximum(number, 1))[several]
    n_others = depth - number[several]
    off = above - (n_others / 2 - tilt * n_others / 6)
    assert abs(off.mean()) < 5 * off.std() / np.sqrt(several.sum())
    assert abs(off.mean()) < abs(tilt) * n_others.mean() / 60


@pytest.mark.parametrize("measure", ["R@20", "AP"])
def test_few_documents_drawn_to_a_great_depth_have_the_law_of_the_pieces(measure):
    """Six documents make 1,000: each piece then holds many others. Within 4.5 standard errors."""
    rng = np.random.default_rng(1)
    scores = {f"r{i}": x for i, x in enumerate(rng.normal(0.5, 1.0, 3).tolist())}
    scores |= {f"n{i}": x for i, x in enumerate(rng.normal(size=3).tolist())}
    run = sr.run_from_dict({"1": scores}, name="a")
    qrels = sr.qrels_from_dict({"1": {f"r{i}": 1 for i in range(8)}})
    cells = score_profiles([run], qrels, topics=["1"], model="kde", depth=DEPTH).cells
    gain = make_gain(parse_measure(measure), "judged", cells)
    joined, pieces = np.empty((2, 1, 300_000))
    sample_cells(*joined_bins(cells), 0, np.uint64(1), 0, gain, joined)
    sample_cells(cells, None, 0, np.uint64(2), 0, gain, pieces)
    error = np.sqrt((joined.var() + pieces.var()) / joined.size)
    assert abs(joined.mean() - pieces.mean()) < 4.5 * error + 1e-5
