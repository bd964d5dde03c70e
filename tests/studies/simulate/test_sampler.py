"""The sampler without sorting against the one that sorts, and against exact laws."""

from __future__ import annotations

import itertools
import math
import os

import numpy as np
import pytest
from plain_sampler import MEASURES, average_precision, plain_samples, width
from scipy import stats
from scipy.stats import binom, chisquare, ks_2samp, kurtosis, norm, poisson

import steadyrank as sr
from bench import score_models
from steadyrank.measures.names import parse_measure
from steadyrank.studies.simulate import profiles as profile_kernels
from steadyrank.studies.simulate.measures import make_gain
from steadyrank.studies.simulate.profiles import joined_bins, score_profiles
from steadyrank.studies.simulate.sampler_kernels import Cells, sample_cells

UNRETRIEVED = 5
BUDGET = int(os.environ.get("STEADYRANK_CELLS", "1"))
"""How many fresh cells of each kind are tried."""

# relevant, retrieved, decimals of the scores (None: no ties), separation of the classes
SHAPES = [
    (1, 1000, None, 2.0),
    (2, 1000, None, 3.0),
    (3, 300, None, 1.0),
    (10, 1000, None, 2.0),
    (40, 1000, None, 1.5),
    (100, 1000, None, 1.0),
    (300, 1000, None, 2.0),
    (20, 1000, None, -1.0),  # relevant documents deep down
    (5, 1000, 0, 1.5),  # heavy ties
    (30, 200, 1, 1.0),
    (30, 40, 0, 0.5),
    (8, 10, None, 1.0),  # more relevant documents than fit, now and then
    (6, 6, None, 1.0),  # no other documents
    (50, 50, 0, 0.0),
    (1, 1, None, 0.0),
]


def run_and_qrels(relevant: np.ndarray, others: np.ndarray) -> tuple[sr.Run, sr.Qrels]:
    scores = {f"r{i}": float(x) for i, x in enumerate(relevant)}
    scores |= {f"n{i}": float(x) for i, x in enumerate(others)}
    grades = {f"r{i}": 1 for i in range(len(relevant))}
    grades |= {f"u{i}": 1 for i in range(UNRETRIEVED)}
    return sr.run_from_dict({"1": scores}, name="a"), sr.qrels_from_dict({"1": grades})


def fresh_cell(shape, rng):
    n_relevant, n_retrieved, decimals, separation = shape
    relevant = rng.normal(separation, 1.0, n_relevant)
    others = rng.normal(size=n_retrieved - n_relevant)
    if decimals is not None:
        relevant, others = relevant.round(decimals), others.round(decimals)
    return relevant, others


def samples(relevant, others, n_samples, seed, *, measure="AP", denominator="judged", **options):
    run, qrels = run_and_qrels(relevant, others)
    profiles = score_profiles([run], qrels, topics=["1"], **options)
    gain = make_gain(parse_measure(measure), denominator, profiles.cells)
    out = np.empty((1, n_samples))
    if options.get("model") == "kde":
        sample_cells(*joined_bins(profiles.cells), 0, np.uint64(seed), 0, gain, out)
    else:
        sample_cells(profiles.cells, None, 0, np.uint64(seed), 0, gain, out)
    return out[0]


def sd_error(values: np.ndarray) -> float:
    """The standard error of a standard deviation."""
    off = values - values.mean()
    variance = (off**2).mean()
    return math.sqrt(max((off**4).mean() - variance**2, 0.0) / len(values) / variance) / 2


def assert_same_law(ours: np.ndarray, theirs: np.ndarray) -> None:
    """Equal means and standard deviations within 4.5 standard errors, and KS above 1e-5.

    A false alarm has probability 2e-5 a cell. Values are rounded, since rounding noise
    would split one atom into two.
    """
    error = math.hypot(ours.std() / len(ours) ** 0.5, theirs.std() / len(theirs) ** 0.5)
    assert abs(ours.mean() - theirs.mean()) <= 4.5 * error
    spread = math.hypot(sd_error(ours), sd_error(theirs))
    assert abs(ours.std() - theirs.std()) <= 4.5 * spread
    assert ks_2samp(ours.round(9), theirs.round(9)).pvalue > 1e-5


@pytest.mark.slow
@pytest.mark.parametrize("model", ["bootstrap", "kde"])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_equal_in_law_to_drawing_and_sorting(shape, model):
    rng = np.random.default_rng([1, *map(int, shape[:2])])
    for seed in range(BUDGET):
        relevant, others = fresh_cell(shape, rng)
        ours = samples(relevant, others, 20_000, seed, model=model)
        theirs = plain_samples(
            relevant, others, 2000, rng, judged=len(relevant) + UNRETRIEVED, smooth=model == "kde"
        )
        assert_same_law(ours, theirs)


@pytest.mark.slow
@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("shape", [(12, 200, None, 1.5), (12, 200, 0, 1.0)], ids=["", "ties"])
@pytest.mark.parametrize("denominator", ["judged", "poisson"])
def test_every_measure(measure, shape, denominator):
    rng = np.random.default_rng(2)
    relevant, others = fresh_cell(shape, rng)
    ours = samples(relevant, others, 20_000, 3, measure=measure, denominator=denominator)
    theirs = plain_samples(
        relevant, others, 2000, rng, judged=17, measure=measure, denominator=denominator
    )
    assert_same_law(ours, theirs)


@pytest.mark.slow
@pytest.mark.parametrize("measure", MEASURES)
def test_every_measure_of_a_density(measure):
    rng = np.random.default_rng(12)
    relevant, others = fresh_cell((12, 200, None, 1.5), rng)
    drawn = {"measure": measure, "denominator": "poisson"}
    ours = samples(relevant, others, 20_000, 3, model="kde", **drawn)
    theirs = plain_samples(relevant, others, 2000, rng, judged=17, smooth=True, **drawn)
    assert_same_law(ours, theirs)


@pytest.mark.parametrize("n_others", [2, 70, 3000])
def test_documents_of_a_density_above_a_score_are_those_of_the_normal_law(n_others):
    """Relevant documents of one score make one bin: others above it, by scipy's survival function.

    The table of the normal law has steps of 1 / 512, whose chords are within 1.2e-7 of it.
    """
    rng = np.random.default_rng(15)
    others = np.sort(rng.standard_t(3, n_others))[::-1]
    for score in (-3.0, 0.0, 0.4, 2.5):
        run, qrels = run_and_qrels(np.full(3, score), others)
        cells = score_profiles([run], qrels, topics=["1"], model="kde").cells
        expected = norm.sf((score - others) / width(others)).sum()
        assert cells.relevant.tolist() == [3.0]
        assert cells.others[0] == pytest.approx(expected, abs=1.3e-7 * n_others)
        assert cells.others[0] + cells.tail[0] == pytest.approx(n_others, rel=1e-12)


def test_a_density_beside_documents_of_one_score():
    rng = np.random.default_rng(13)
    varied, constant = rng.normal(1.0, 1.0, 15), np.ones(80)
    for relevant, others in ((varied, constant), (constant[:9], rng.normal(size=70))):
        judged = len(relevant) + UNRETRIEVED
        ours = samples(relevant, others, 20_000, 3, model="kde")
        theirs = plain_samples(relevant, others, 2000, rng, judged=judged, smooth=True)
        assert_same_law(ours, theirs)


def test_one_relevant_document_of_a_tilted_bin_has_the_law_of_the_tilt():
    """Given m others, j of them are above with (1 + tilt (m - 2j) / (m + 2)) / (m + 1).

    RR is 1 / (1 + j): chi-square where one relevant document was drawn; a false alarm has 1e-5.
    """
    cells = cell([1e-3], [9.0], mingled=True, depth=10)
    for tilt in (0.5, -0.3):
        values = bin_samples(cells, 4_000_000, "RR", tilt)
        above = np.rint(1 / values[values > 0]).astype(int) - 1
        observed = np.bincount(above, minlength=10)
        expected = (1 + tilt * (9 - 2 * np.arange(10)) / 11) / 10 * len(above)
        assert chisquare(observed, expected).pvalue > 1e-5


def test_joined_bins_hold_what_their_pieces_hold():
    track = sr.simulated_track(n_teams=2, runs_per_team=1, n_topics=5, depth=200, pool_depth=50)
    cells = score_profiles(track.runs, track.qrels, topics=track.qrels.topics, model="kde").cells
    joined, tilt = joined_bins(cells)
    assert len(joined.relevant) == len(tilt) < len(cells.relevant)
    assert np.abs(tilt).max() <= 0.5
    for key in ("relevant", "others"):
        for cell in range(len(cells.tail)):
            pieces, bins = (
                getattr(whole, key)[whole.starts[cell] : whole.starts[cell + 1]].cumsum()
                for whole in (cells, joined)
            )
            np.testing.assert_allclose(bins[-1], pieces[-1], rtol=1e-12)
            assert np.abs(bins[:, None] - pieces).min(axis=1).max() < 1e-9


def test_a_density_s_value_depends_on_seed_cell_and_replicate_alone():
    track = sr.simulated_track(n_teams=2, runs_per_team=1, n_topics=4, depth=60, pool_depth=30)
    cells = score_profiles(track.runs, track.qrels, topics=track.qrels.topics, model="kde").cells
    joined, tilt = joined_bins(cells)
    gain = make_gain(parse_measure("AP"), "judged", cells)
    whole, part = np.empty((len(cells.tail), 300)), np.empty((3, 100))
    sample_cells(joined, tilt, 0, np.uint64(9), 0, gain, whole)
    sample_cells(joined, tilt, 2, np.uint64(9), 200, gain, part)
    np.testing.assert_array_equal(part, whole[2:5, 200:])


@pytest.mark.slow
@pytest.mark.parametrize("denominator", ["judged", "sampled", "poisson"])
@pytest.mark.parametrize("depth", [None, 60, 1000])
def test_denominators_and_depths(denominator, depth):
    rng = np.random.default_rng(3)
    relevant, others = fresh_cell((20, 150, None, 1.0), rng)
    theirs = plain_samples(
        relevant, others, 2000, rng, judged=25, depth=depth, denominator=denominator
    )
    ours = samples(relevant, others, 20_000, 4, denominator=denominator, depth=depth or "retrieved")
    assert_same_law(ours, theirs)


def exact_law(labels: str, judged: int) -> dict[float, float]:
    """The law of simulated AP for a ranking such as "RNRN", by going through every draw."""
    depth = len(labels)
    relevant = [i for i, label in enumerate(labels) if label == "R"]
    others = [i for i, label in enumerate(labels) if label == "N"]
    law: dict[float, float] = {}
    for drawn in range(depth + 1):
        chance = poisson.pmf(drawn, len(relevant))
        if drawn == depth:
            chance = poisson.sf(depth - 1, len(relevant))
        ways = list(
            itertools.product(
                itertools.product(relevant, repeat=drawn),
                itertools.product(others, repeat=depth - drawn),
            )
        )
        for hits, misses in ways:
            places = sorted([(i, True) for i in hits] + [(i, False) for i in misses])
            ranks = np.flatnonzero([hit for _, hit in places]) + 1
            value = round(average_precision(ranks, max(judged, drawn)), 9)
            law[value] = law.get(value, 0.0) + chance / len(ways)
    return law


@pytest.mark.parametrize("labels", ["RN", "NR", "RNRN", "NRRN", "NNRNR"])
def test_exact_law_of_small_rankings(labels):
    """Chi-square against the enumerated law; a false alarm has probability 1e-5 each."""
    scores = -np.arange(len(labels), dtype=float)
    is_relevant = np.array([label == "R" for label in labels])
    values = samples(scores[is_relevant], scores[~is_relevant], 200_000, 7).round(9)
    law = exact_law(labels, int(is_relevant.sum()) + UNRETRIEVED)
    assert sum(law.values()) == pytest.approx(1.0)
    assert set(values.tolist()) <= set(law)
    expected = np.array(list(law.values())) * len(values)
    observed = np.array([(values == value).sum() for value in law])
    often = expected > 5
    expected, observed = (
        np.append(x[often], x[~often].sum()) if (~often).any() else x for x in (expected, observed)
    )
    keep = expected > 0
    assert chisquare(observed[keep], expected[keep] * observed.sum() / expected.sum()).pvalue > 1e-5


def test_mean_precision_at_the_bottom_is_the_mean_number_of_relevant_documents():
    """P@K of K documents is r_s / K, whose mean is r / K; four standard errors."""
    rng = np.random.default_rng(5)
    relevant, others = fresh_cell((15, 400, None, 1.0), rng)
    values = samples(relevant, others, 100_000, 1, measure="P@400") * 400
    assert abs(values.mean() - 15) < 4 * math.sqrt(15 / len(values))
    assert abs(values.var() - 15) < 4 * math.sqrt((15 + 2 * 15**2) / len(values))


def test_infinite_scores_and_ranks_are_defined():
    relevant, others = np.array([np.inf, 1.0]), np.array([2.0, -np.inf, 0.0])
    for model in ("bootstrap", "kde"):
        values = samples(relevant, others, 200, 1, model=model)
        assert np.isfinite(values).all()
        assert values.std() > 0
    by_rank = samples(relevant, others, 200, 1, score_source="rank")
    np.testing.assert_array_equal(by_rank, samples(relevant, others, 200, 1))


def test_no_relevant_document_retrieved_scores_nothing():
    assert not samples(np.empty(0), np.arange(5.0), 100, 1).any()


def test_a_value_depends_on_seed_cell_and_replicate_alone():
    rng = np.random.default_rng(0)
    track = sr.simulated_track(n_teams=2, runs_per_team=2, n_topics=6, depth=60, pool_depth=30)
    profiles = score_profiles(track.runs, track.qrels, topics=track.qrels.topics)
    gain = make_gain(parse_measure("AP"), "judged", profiles.cells)
    n_cells = len(profiles.cells.tail)
    whole = np.empty((n_cells, 300))
    sample_cells(profiles.cells, None, 0, np.uint64(9), 0, gain, whole)
    for _ in range(10):
        cell, sample = int(rng.integers(n_cells)), int(rng.integers(300))
        part = np.empty((min(3, n_cells - cell), 300 - sample))
        sample_cells(profiles.cells, None, cell, np.uint64(9), sample, gain, part)
        np.testing.assert_array_equal(part, whole[cell : cell + len(part), sample:])
    other = np.empty_like(whole)
    sample_cells(profiles.cells, None, 0, np.uint64(10), 0, gain, other)
    assert not (other == whole)[profiles.cells.n_relevant > 3].all(axis=1).any()


def test_samples_of_neighbouring_cells_and_replicates_are_uncorrelated():
    """Identical cells side by side: |r| < 4.5 / sqrt(n) for cells and for replicates."""
    bins = np.array([3.0, 2.0, 4.0])
    cells = Cells(
        starts=np.arange(41) * 3,
        relevant=np.tile(bins, 40),
        others=np.tile([2.0, 30.0, 40.0], 40),
        mingled=np.zeros(120, bool),
        tail=np.full(40, 19.0),
        n_relevant=np.full(40, 9),
        depth=np.full(40, 100),
        judged=np.full(40, 9),
    )
    gain = make_gain(parse_measure("AP"), "judged", cells)
    values = np.empty((40, 4096))
    sample_cells(cells, None, 0, np.uint64(1), 0, gain, values)
    off = (values - values.mean(axis=1, keepdims=True)) / values.std(axis=1, keepdims=True)
    across = off @ off.T / values.shape[1]
    assert np.abs(across[np.triu_indices(40, 1)]).max() < 4.5 / math.sqrt(values.shape[1])
    for lag in (1, 2, 64):
        along = (off[:, lag:] * off[:, :-lag]).mean()
        assert abs(along) < 4.5 / math.sqrt(off[:, lag:].size)


@pytest.mark.slow
def test_finer_pieces_of_a_density_change_nothing():
    """The pieces are coarse only where order hardly matters: many samples cannot tell."""
    rng = np.random.default_rng(11)
    n_samples = 100_000 * BUDGET
    for shape in SHAPES[1:5]:
        relevant, others = fresh_cell(shape, rng)
        coarse = samples(relevant, others, n_samples, 1, model="kde")
        run, qrels = run_and_qrels(relevant, others)
        cells = fine_cells(run, qrels)
        gain = make_gain(parse_measure("AP"), "judged", cells)
        fine = np.empty((1, n_samples))
        sample_cells(cells, None, 0, np.uint64(2), 0, gain, fine)
        assert_same_law(coarse, fine[0])


def fine_cells(run: sr.Run, qrels: sr.Qrels) -> Cells:
    """A density cut into 1,500 pieces of equal width."""
    is_relevant = np.array([name.startswith("r") for name, _ in run.ranking("1")])
    relevant, others = run.scores[is_relevant], run.scores[~is_relevant]
    widths = [
        profile_kernels.bandwidth_of(x, profile_kernels.SCOTT, 0.0) for x in (relevant, others)
    ]
    edges = np.linspace(run.scores.max() + 8, run.scores.min() - 8, 1501)
    above = [
        norm.sf((edges[:, None] - x) / h).sum(axis=1)
        for x, h in zip((relevant, others), widths, strict=True)
    ]
    return Cells(
        starts=np.array([0, 1500]),
        relevant=np.diff(above[0]),
        others=np.diff(above[1]),
        mingled=np.ones(1500, bool),
        tail=np.zeros(1),
        n_relevant=np.array([len(relevant)]),
        depth=np.array([len(run.scores)]),
        judged=np.array([len(relevant) + UNRETRIEVED]),
    )


# Counts and orders that are drawn from bins, against exact laws.

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


def bin_samples(cells: Cells, n_samples: int, measure: str, tilt: float = 0.0) -> np.ndarray:
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
    values = bin_samples(cells, 400_000, "RR")
    above = np.rint(1 / values[values > 0]).astype(int) - 1
    share = np.cumsum(others)[np.flatnonzero(relevant)[0]] / (sum(others) + tail)
    numbers = np.arange(1, 12)
    law = poisson.pmf(numbers, 1.0) @ binom.pmf(np.arange(depth), (depth - numbers)[:, None], share)
    assert_law(np.bincount(above, minlength=depth), law)


@pytest.mark.parametrize("expected", [1.5, 3.0, 6.0])
def test_any_number_of_relevant_documents_stands_anywhere_among_others(expected):
    """One bin holds all: given r relevant of 30 documents, every order is equally likely."""
    depth = 30
    values = bin_samples(cell([expected], [9.0], mingled=True, depth=depth), 400_000, "RR")
    first = np.rint(1 / values[values > 0]).astype(int)
    law = np.zeros(depth + 1)
    for r in range(1, depth + 1):
        chance = poisson.pmf(r, expected) if r < depth else poisson.sf(depth - 1, expected)
        for rank in range(1, depth - r + 2):
            law[rank] += chance * math.comb(depth - rank, r - 1) / math.comb(depth, r)
    assert_law(np.bincount(first, minlength=depth + 1), law)


def test_average_precision_of_a_bin_has_the_law_of_all_orders():
    depth, expected = 8, 2.5
    cells = cell([expected], [4.0], mingled=True, n_relevant=3, depth=depth)
    values = bin_samples(cells, 400_000, "AP").round(9)
    law: dict[float, float] = {}
    for r in range(depth + 1):
        chance = poisson.pmf(r, expected) if r < depth else poisson.sf(depth - 1, expected)
        for ranks in itertools.combinations(range(1, depth + 1), r):
            value = round(average_precision(np.array(ranks), max(3, r)), 9)
            law[value] = law.get(value, 0.0) + chance / math.comb(depth, r)
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
    down_to = [
        np.rint(k * bin_samples(cells, n_samples, f"P@{k}", tilt)) for k in range(1, depth + 1)
    ]
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
    run, qrels = run_and_qrels(rng.normal(0.5, 1.0, 3), rng.normal(size=3))
    cells = score_profiles([run], qrels, topics=["1"], model="kde", depth=DEPTH).cells
    gain = make_gain(parse_measure(measure), "judged", cells)
    joined, pieces = np.empty((2, 1, 300_000))
    sample_cells(*joined_bins(cells), 0, np.uint64(1), 0, gain, joined)
    sample_cells(cells, None, 0, np.uint64(2), 0, gain, pieces)
    error = np.sqrt((joined.var() + pieces.var()) / joined.size)
    assert abs(joined.mean() - pieces.mean()) < 4.5 * error + 1e-5


# Kernels of scores, against scipy and against drawing and sorting.

ROOTS = {5: 5**0.5, 6: 6**0.5, 3: 3**0.5}
KERNELS = {
    "gaussian": norm(),
    "epanechnikov": stats.beta(2, 2, -ROOTS[5], 2 * ROOTS[5]),
    "triangular": stats.triang(0.5, -ROOTS[6], 2 * ROOTS[6]),
    "uniform": stats.uniform(-ROOTS[3], 2 * ROOTS[3]),
}


@pytest.mark.parametrize("kernel", KERNELS)
def test_a_kernel_has_variance_1_and_scipy_s_survival_function(kernel):
    z = np.arange(-9 * 512, 9 * 512 + 2) / 512
    assert KERNELS[kernel].var() == pytest.approx(1.0)
    np.testing.assert_allclose(
        profile_kernels.SURVIVAL[kernel], KERNELS[kernel].sf(z), atol=1e-14, rtol=0
    )


def drawn(relevant, others, rng, options):
    """One average precision from scores that were drawn and sorted."""
    n = min(rng.poisson(len(relevant)), len(relevant) + len(others))
    n_others = len(relevant) + len(others) - n
    noise = KERNELS[options["kernel"]].rvs
    hits = rng.choice(relevant, n) + width(relevant) * noise(n, random_state=rng)
    rest = rng.choice(others, n_others) + width(others) * noise(n_others, random_state=rng)
    order = np.argsort(-np.concatenate([hits, rest]))
    return average_precision(np.flatnonzero(order < n) + 1, max(len(relevant) + UNRETRIEVED, n))


MODELS = [{"model": "kde", "kernel": kernel} for kernel in KERNELS]


@pytest.mark.parametrize("options", MODELS, ids=lambda options: [*options.values()][1])
@pytest.mark.parametrize(("n_relevant", "apart"), [(4, 2.0), (30, 1.0)])
def test_every_kernel_is_equal_in_law_to_drawing_and_sorting(options, n_relevant, apart):
    """Means and deviations within 4.5 standard errors; a false alarm in 1e-5 of runs."""
    rng = np.random.default_rng([n_relevant, len(str(options))])
    relevant = rng.normal(4.0 + apart, 1.0, n_relevant)
    others = rng.gamma(3.0, 0.8, 150 - n_relevant)
    only, qrels = run_and_qrels(relevant, others)
    cells = score_profiles([only], qrels, topics=["1"], **options).cells
    gain = make_gain(parse_measure("AP"), "judged", cells)
    ours = np.empty((1, 40_000))
    sample_cells(*joined_bins(cells), 0, np.uint64(3), 0, gain, ours)
    plain = np.array([drawn(relevant, others, rng, options) for _ in range(4000)])
    error = np.sqrt(ours.var() / ours.size + plain.var() / 4000)
    assert abs(ours.mean() - plain.mean()) < 4.5 * error
    spread = np.sqrt(kurtosis(plain, fisher=False) - 1) / 2 / np.sqrt(4000)
    assert ours.std() / plain.std() == pytest.approx(1.0, abs=4.5 * spread + 0.01)


@pytest.mark.filterwarnings("ignore:1 run (gives all|has scores that)")
def test_a_class_too_small_or_constant_to_fit_is_bootstrapped():
    """One relevant document, others of one score, none relevant, ties: all values are defined."""
    cells = {
        "one relevant": ([2.0], [1.0, 0.5, 0.1]),
        "others of one score": ([2.0, 1.5], [1.0, 1.0, 1.0]),
        "all of one score": ([1.0, 1.0], [1.0, 1.0]),
        "no others": ([2.0, 1.0], []),
        "none relevant": ([], [2.0, 1.0]),
    }
    for name, (relevant, others) in cells.items():
        only, qrels = run_and_qrels(np.array(relevant), np.array(others))
        result = sr.simulate([only], qrels, model="kde", n_samples=300, rng=1)
        assert result.plain == (name != "none relevant"), name
        assert np.isfinite(result.simulated).all(), name
        assert (result.simulated.max() > 0) == (name != "none relevant"), name


def test_the_models_come_near_the_error_rates_of_fresh_collections():
    """Two tracks; of 24, densities are .009 away (spread runs), shared documents .024."""
    figures = score_models.table("spread", n_trials=2)
    assert figures["fresh collections"]["overall"][0] > 0.03
    assert figures["kde, uniform"]["distance"][0] < 0.03
