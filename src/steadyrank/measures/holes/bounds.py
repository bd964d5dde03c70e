"""Bounds of the scores of runs, and of differences of two runs, over all completions.

A completion assigns to every hole a grade from 0 to the largest grade of the judgments. A hole is a
document without a judgment that some run retrieves, at any rank, for a judged topic; documents that
no run retrieves are not relevant in any completion. Topics have no document in common, so the
bounds of a mean over topics are the means of their bounds, and what follows is about one topic.

**Linear** (P, RBP, SetP, NumRelRet): s_A(x) = J_A + sum over holes of w_A(d) g(x_d), with
g from 0 to g_max. The difference of two runs is J_A - J_B + sum (w_A(d) - w_B(d)) g(x_d). Each
grade is free, so the largest value has g_max where w_A > w_B and 0 elsewhere: *exact*. RBP's
residual is the highest bound minus the score.

**Shared normaliser** (nDCG, nG, R, SetR): the difference is N(x) / I(x), where N is linear as
above, with weights c_d = w_A(d) - w_B(d), and I(x) depends only on how many documents have which
grade: I = sum over grades g of step_g D(n_g), with n_g the documents of grade g and above, step_g
the gain of g minus that of g - 1, and D(n) the sum of the n largest discounts (n for recall).
(i) By Dinkelbach (1967), the largest ratio is the root of F(rate) = max over x of N(x) - rate I(x):
from the ratio of any x, taking the maximiser's ratio as the next rate rises until F is 0, through
finitely many values. (ii) For given counts j_g of holes of grade g and above, N = J + sum over g of
step_g (sum of c_d over these holes) is largest if they are the j_g holes of largest c (the sets
are nested, as they must be). (iii) Hence F(rate) = J + max over j_1 >= j_2 >= … of the sum over g
of step_g (C(j_g) - rate D(r_g + j_g)), C the sums of the largest c, r_g the judged documents of
grade g and above: a pass over grades and counts finds it. (iv) Holes with c = 0 are taken all or
none: along them C is constant and D does not fall, so that moving all counts that end among them
to their first (rate >= 0) or last position (rate < 0) keeps the order and does not lower the value.
Where nothing is relevant the score is 0 by definition, and I > 0 in any other completion. *Exact*,
for runs (no second run: w_B = 0) and pairs.

**First** (RR, Success): s_A is the largest v_A(d) of a relevant document. In a completion that
maximises s_A - s_B, make all holes but A's first relevant document not relevant: s_A stays, s_B
does not rise. So one hole, or none, suffices, and all are tried: *exact*.

**AP**: s_A = S_A / R with S_A = sum over i of i / (rank of relevant document i). For a given number
of relevant holes, S_A is largest if they are the topmost holes of the ranking (then every ordered
rank is as small as possible), smallest if they are first those outside the ranking and then the
lowest. All numbers are tried: *exact* for runs. For pairs, a relevant document adds (relevant
documents up to it) / rank, whose numerator lies between what is judged relevant above it, and that
with all holes above it; so S_A - S_B <= sum over relevant documents of (most_A - least_B), which
is linear, over R(x): the shared normaliser gives its largest ratio. That and highest_A - lowest_B
are both bounds; the result is the smaller one. *Outer*. If two runs have few holes on a topic, all
completions of these are tried; if this is possible on all topics, the pair's bounds are *exact*.

**ERR** rises with every chance to stop p_r: its derivative is prod_{i<r} (1 - p_i) (1/r - what
follows), and what follows is at most 1/(r + 1). So all holes at 0 and all at the top are *exact*
for runs. For pairs the chance to reach a document lies between that with all holes above at the top
and at 0: linear bounds as for AP, without a normaliser. *Outer*, or *exact* as for AP.

**Others** (Q, nERR, SetF, SetAP): each grows with every grade of the ranking for a given ideal
list, falls with every grade of the ideal list for a given ranking, and is at most 1. So holes at 0
in the ranking and at the top in the ideal list are a lower bound, the reverse an upper one (1 where
no judged document is relevant): *outer*.

**AP, jointly.** A document d has u_d = 1 / rank in the first ranking and v_d in the second, 0 if it
is not there.
The sum S of precisions of a ranking is the sum of min(u_i, u_j) over the unordered pairs i <= j of
relevant documents, since the lower one of a pair counts the other. So with
a_ij = min(u_i, u_j) - min(v_i, v_j) the difference of two S is the sum of a_ij over relevant pairs:
a constant over the judged ones, l_d for a relevant hole d with itself and with the judged ones, and
a_de for two relevant holes, half of it for either.

If n holes are relevant, a hole has n - 1 partners, whose a_de are at most its n - 1 largest, with
the sum T_d(n - 1): it adds at most c_d(n) = l_d + T_d(n - 1) / 2. The sum of the n largest c_d(n)
is a bound (Gilmore 1962, Lawler 1963, for the quadratic assignment problem); all n are tried. If
the rankings are the same, every a_ij is 0, and so is the bound.

`documents_to_judge` ranks the holes by how much their judgment could still change.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from steadyrank.compute.executors import map_in_order, workers
from steadyrank.measures.holes import bound_kernels
from steadyrank.measures.holes.bound_kernels import FewHoles, HoleWeights, Normaliser
from steadyrank.measures.holes.lists import CellEntries, HoledMeasure, Lists, Rankings

PAIRS_A_TASK = 256

MOST_HOLES = 12
MOST_WORK = 1e9
"""Largest number of documents read in all completions of all pairs and topics: a few seconds."""

MOST_JOINT_WORK = 1e9
"""Pairs of holes of all pairs of runs and topics above which undecided pairs keep wider bounds."""

MOST_JOINT = 2048
"""Largest number of holes of a topic; a matrix of their pairs is sorted."""

N_FIRST = 16
"""How many numbers of relevant holes are tried first, to rule out most of the others."""

Writing = Callable[[np.ndarray, np.ndarray], None]
"""Writes the largest differences [pair, topic] of pairs that share the second run."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Bounds:
    """Bounds of means over topics, valid for every completion."""

    lowest: np.ndarray
    highest: np.ndarray
    pair_lowest: np.ndarray
    """[pair]: lower bound of first - second."""
    pair_highest: np.ndarray
    pair_is_exact: np.ndarray
    """[pair]: whether some completions attain the two bounds."""
    of_topics: np.ndarray
    """[2, run, topic]: lower and upper bounds of the runs by topic."""


def find_bounds(
    rankings: Rankings, measure: HoledMeasure, pairs: np.ndarray, *, jobs: int | None = None
) -> Bounds:
    """Return the bounds of all runs and of the differences of all pairs."""
    lowest, highest = _run_bounds(rankings, measure)
    largest, attained = _largest_differences(
        rankings, measure, np.concatenate([pairs, pairs[:, ::-1]]), (lowest, highest), jobs
    )
    n = len(pairs)
    return Bounds(
        lowest=lowest.mean(axis=1),
        highest=highest.mean(axis=1),
        pair_lowest=-largest[n:],
        pair_highest=largest[:n],
        pair_is_exact=attained[:n] & attained[n:],
        of_topics=np.stack([lowest, highest]),
    )


def difference_bounds(
    rankings: Rankings, measure: HoledMeasure
) -> tuple[np.ndarray, np.ndarray, bool]:
    """Return the bounds of second - first [topic] for two runs, and whether both are attained."""
    bound = _bounding(rankings, measure, np.array([[1, 0], [0, 1]]), _run_bounds(rankings, measure))
    (high, is_highest), (low, is_lowest) = (bound(np.array([pair])) for pair in ([1, 0], [0, 1]))
    return -low[0], high[0], bool(is_lowest[0] and is_highest[0])


def _run_bounds(rankings: Rankings, measure: HoledMeasure) -> tuple[np.ndarray, np.ndarray]:
    if measure.family == "shared":
        return _ratio_run_bounds(rankings.lists, measure)
    if measure.family == "AP":
        return _precision_bounds(rankings, measure)
    lists = rankings.lists
    nothing = np.zeros(lists.n_open, np.int32)
    top = np.full(lists.n_open, measure.top_grade, np.int32)
    recipe = measure.recipe
    if measure.family != "other":
        return rankings.scores(recipe, nothing), rankings.scores(recipe, top)
    n_graded = rankings.n_graded.copy()
    n_graded[:, -1] += lists.n_deeper  # holes below the cutoff lengthen the ideal list too
    lowest = replace(rankings, n_graded=n_graded).scores(recipe, nothing, ideal=top)
    highest = np.minimum(rankings.scores(recipe, top, ideal=nothing), 1.0)
    # If no judged document is relevant, the score by the judged ideal list is no bound.
    has_holes = np.diff(lists.open.blocks).reshape(lowest.shape) > 0
    barren = lists.qrels.best_grades < recipe.level
    return lowest, np.where(barren & has_holes & (recipe.level <= measure.top_grade), 1.0, highest)


def _in_order_of_documents(entries: CellEntries, *columns: np.ndarray) -> list[np.ndarray]:
    """Return rows and columns of entries, each cell sorted by document."""
    order = np.lexsort((entries.rows, entries.cells))
    return [column[order] for column in (entries.rows, *columns)]


def _lengths_at(lists: Lists, entries: CellEntries) -> np.ndarray:
    return np.asarray(lists.lengths.ravel()[entries.cells])


def _relevant_entries(lists: Lists, measure: HoledMeasure) -> tuple[CellEntries, np.ndarray]:
    """Return judged documents with a gain above 0 within the cutoff, and their gains."""
    judged = lists.judged
    grades = lists.qrels.grades[judged.rows]
    gains = np.where(grades >= 0, measure.gains[np.maximum(grades, 0)], 0.0)
    stay = (gains > 0.0) & (judged.ranks <= measure.depth)
    return judged.only(stay), gains[stay]


def _steps(lists: Lists, measure: HoledMeasure) -> tuple[np.ndarray, np.ndarray]:
    """Return the positive increments of gain between grades, and [topic, step] documents above."""
    gains = np.where(measure.gains > 0.0, measure.gains, 0.0)
    steps = np.diff(gains, prepend=0.0)
    grades = np.flatnonzero(steps > 0.0)
    topic = np.repeat(np.arange(lists.n_topics), lists.qrels.sizes)
    above = [
        np.bincount(topic[lists.qrels.grades >= grade], minlength=lists.n_topics)
        for grade in grades
    ]
    empty = np.empty((lists.n_topics, 0), np.int64)
    return steps[grades], np.stack(above, axis=1) if above else empty


def ideal_by_judged(lists: Lists, measure: HoledMeasure) -> np.ndarray:
    """Return [topic]: the normaliser of judged documents; of one document if none is relevant."""
    if measure.family in ("linear", "first", "ERR"):
        return np.ones(lists.n_topics)
    steps, above = _steps(lists, measure)
    sums = measure.ideal_sums(int(lists.qrels.sizes.max(initial=1)))
    counts = np.maximum(above, 1)
    each = counts if len(sums) == 0 else sums[np.minimum(counts, len(sums) - 1)]
    return np.asarray(each @ steps) if len(steps) else np.ones(lists.n_topics)


def _normaliser(lists: Lists, measure: HoledMeasure) -> Normaliser:
    most = int((lists.n_holes + lists.qrels.sizes).max(initial=1))
    steps, above = _steps(lists, measure)
    return Normaliser(lists.n_holes, steps, above, measure.ideal_sums(most), float(steps.sum()))


def _hole_weights(lists: Lists, measure: HoledMeasure) -> HoleWeights:
    """Return the weights of open holes, and of all judged documents together, in each ranking."""
    if measure.family in ("AP", "ERR"):
        return _share_bounds(lists, measure)
    weights = measure.weights(lists.open.ranks, _lengths_at(lists, lists.open))
    rows, weights = _in_order_of_documents(lists.open, weights)
    entries, gains = _relevant_entries(lists, measure)
    gained = measure.weights(entries.ranks, _lengths_at(lists, entries)) * gains
    judged = np.bincount(entries.cells, gained, minlength=lists.lengths.size)
    blocks = lists.open.blocks
    return HoleWeights(blocks, rows, weights, weights, judged, judged, lists.hole_blocks)


def _ratio_run_bounds(lists: Lists, measure: HoledMeasure) -> tuple[np.ndarray, np.ndarray]:
    """Return bounds [run, topic]: those of differences from a run that retrieves nothing."""
    holes, normaliser = _hole_weights(lists, measure), _normaliser(lists, measure)
    n_runs, n_topics = lists.lengths.shape
    judged = np.append(holes.judged_most, np.zeros(n_topics))
    holes = holes._replace(
        blocks=np.append(holes.blocks, np.full(n_topics, holes.blocks[-1])),
        judged_most=judged,
        judged_least=judged,
    )
    runs, nothing = np.arange(n_runs), np.full(n_runs, n_runs)
    highest, lowest = np.empty((2, n_runs, n_topics))
    bound_kernels.ratio_bounds(holes, normaliser, np.stack([runs, nothing], axis=1), highest)
    for run in runs:
        pair = np.array([[n_runs, run]])
        bound_kernels.ratio_bounds(holes, normaliser, pair, lowest[run : run + 1])
    return -lowest, highest


def _precision_bounds(rankings: Rankings, measure: HoledMeasure) -> tuple[np.ndarray, np.ndarray]:
    lists = rankings.lists
    entries, _ = _relevant_entries(lists, measure)
    _, above = _steps(lists, measure)
    if above.shape[1] == 0:
        return np.zeros(lists.lengths.shape), np.zeros(lists.lengths.shape)
    own = np.diff(lists.open.blocks).reshape(lists.lengths.shape)
    out = np.empty((2, lists.lengths.size))
    bound_kernels.average_precision_bounds(
        lists.open.blocks,
        lists.open.ranks,
        entries.blocks,
        entries.ranks,
        np.tile(above[:, 0], len(lists.runs)),
        (lists.n_holes - own).ravel(),
        out,
    )
    return out[0].reshape(own.shape), out[1].reshape(own.shape)


def _largest_differences(
    rankings: Rankings,
    measure: HoledMeasure,
    pairs: np.ndarray,
    run_bounds: tuple[np.ndarray, np.ndarray],
    jobs: int | None,
) -> tuple[np.ndarray, np.ndarray]:
    """Return [pair]: means over topics of the largest first - second; whether all are attained."""
    if not len(pairs):
        return np.empty(0), np.empty(0, bool)
    by_second = np.argsort(pairs[:, 1], kind="stable")
    bound = _bounding(rankings, measure, pairs, run_bounds)

    def bound_means(some: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        largest, attained = bound(some)
        return largest.mean(axis=1), attained

    with workers(jobs=jobs) as threads:
        parts = map_in_order(bound_means, _tasks(pairs[by_second]), threads)
    order = np.argsort(by_second)
    largest, attained = (np.concatenate(column)[order] for column in zip(*parts, strict=True))
    return largest, attained


def _bounding(
    rankings: Rankings,
    measure: HoledMeasure,
    pairs: np.ndarray,
    run_bounds: tuple[np.ndarray, np.ndarray],
) -> Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]:
    """Return a function that bounds pairs with the same second run."""
    write = _kernel_of(rankings, measure)
    few = _few_of(rankings, measure, _tasks(pairs[np.argsort(pairs[:, 1], kind="stable")]))
    same = np.empty((0, 0)) if measure.is_exact else _numbered(rankings)
    takes_all = True
    if few is not None:  # pairs of holes, for all pairs of runs and topics
        counts = few.n_cell_holes.reshape(-1, rankings.lists.n_topics).astype(np.float64)
        products, (a, b) = counts @ counts.T, pairs.T
        squares = np.diag(products)
        work = float((squares[a] + squares[b] + 2.0 * products[a, b]).sum())
        takes_all = work <= MOST_JOINT_WORK

    def bound(some: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        largest = np.full((len(some), rankings.lists.n_topics), np.inf)
        if write is not None:
            write(some, largest)
        if measure.is_exact:
            return largest, np.ones(len(some), bool)
        (lowest, highest), (a, b) = run_bounds, some.T
        np.minimum(largest, highest[a] - lowest[b], out=largest)
        if few is None:
            attained = np.zeros(len(some), bool)
        else:
            counts = _try_few(few, some, largest)
            attained = np.asarray((counts <= few.most).all(axis=1))
            if few.is_ap:
                _bound_jointly(few, some, largest, counts, takes_all)
        # Identical rankings differ by 0.
        return np.where(same[a] == same[b], np.minimum(largest, 0.0), largest), attained

    return bound


def _numbered(rankings: Rankings) -> np.ndarray:
    """Return [run, topic]: a number for each ranking down to the cutoff, equal for equal ones."""
    entries = rankings.entries.only(rankings.entries.ranks <= rankings.lists.depth)
    rows = np.stack([entries.rows, entries.ranks], axis=1)
    known: dict[bytes, int] = {}
    cells = zip(entries.blocks[:-1], entries.blocks[1:], strict=True)
    numbers = [known.setdefault(rows[a:b].tobytes(), len(known)) for a, b in cells]
    return np.array(numbers).reshape(rankings.lists.lengths.shape)


def _bound_jointly(
    few: FewHoles, pairs: np.ndarray, largest: np.ndarray, counts: np.ndarray, takes_all: bool
) -> None:
    """Lower `largest` [pair, topic] of AP by joint bounds where not all completions were tried."""
    n_topics = largest.shape[1]
    is_asked = np.full(len(pairs), takes_all)
    if not takes_all:
        tried = np.empty((2, *largest.shape))
        bound_kernels.try_favoured(few, pairs, tried[0])
        bound_kernels.try_favoured(few, np.ascontiguousarray(pairs[:, ::-1]), tried[1])
        is_asked = ~(tried.mean(axis=2) > 0.0).all(axis=0)
    for p, t in zip(*np.nonzero(is_asked[:, None] & (counts > few.most)), strict=True):
        cells = pairs[p] * n_topics + t
        known, holes = _reciprocal_ranks(few, cells)
        if holes.shape[1] <= MOST_JOINT:
            n_others = int(few.n_holes[t]) - holes.shape[1]
            highest = joint_limit(known, holes, int(few.relevant[t]), n_others)
            largest[p, t] = min(largest[p, t], highest)


def _reciprocal_ranks(few: FewHoles, cells: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return 1 / rank [2, document] of the judged documents, and of the holes, in two cells."""
    spans = [slice(few.blocks[cell], few.blocks[cell + 1]) for cell in cells]
    documents, place = np.unique(
        np.concatenate([few.holes[span] for span in spans]), return_inverse=True
    )
    both = np.zeros((2, len(documents)))
    n = spans[0].stop - spans[0].start
    both[0, place[:n]] = 1.0 / few.ranks[spans[0]]
    both[1, place[n:]] = 1.0 / few.ranks[spans[1]]
    return both[:, documents < 0], both[:, documents >= 0]


def joint_limit(known: np.ndarray, holes: np.ndarray, n_relevant: int, n_others: int) -> float:
    """Return an upper bound of first - second over all completions.

    `known` [2, relevant judged document] and `holes` [2, hole] are u and v of the documents in
    either ranking. `n_relevant` is the number of all relevant judged documents, `n_others` that of
    the holes in neither ranking, which can only increase the number of relevant documents.
    """
    n = holes.shape[1]
    judged = float(_shared(known, known)[np.triu_indices(known.shape[1])].sum())
    best = float(_joint_ratio(np.array([judged]), np.array([n_relevant]), n_others)[0])
    if n == 0:
        return best
    worth = _most_worth(known, holes)
    counts = np.arange(1, n + 1)
    spread = np.concatenate([np.geomspace(1, n, N_FIRST), np.linspace(1, n, N_FIRST)])
    first = np.unique(spread.astype(np.int64))
    sums, least = _sums_of_largest(worth, first)
    best = max(best, float(_joint_ratio(judged + sums, n_relevant + first, n_others).max()))
    # For any mu, the n largest sum to at most n mu plus all excess over mu; tight near the n-th.
    mu = np.interp(counts, first, least)
    above = worth - mu[:, None]
    most = counts * mu + np.maximum(above, 0.0, out=above).sum(axis=1)
    rest = counts[_joint_ratio(judged + most, n_relevant + counts, n_others) > best]
    if not len(rest):
        return best
    sums, _ = _sums_of_largest(worth, rest)
    return max(best, float(_joint_ratio(judged + sums, n_relevant + rest, n_others).max()))


def _most_worth(known: np.ndarray, holes: np.ndarray) -> np.ndarray:
    """Return [n - 1, hole]: the most that a hole adds if n holes are relevant."""
    n = holes.shape[1]
    shared = _shared(holes, holes)
    partners = shared.ravel()[1:].reshape(n - 1, n + 1)[:, :-1] if n > 1 else shared[:, :0]
    partners = partners.reshape(n, n - 1)  # without the diagonal
    partners.sort(axis=1)
    worth = np.zeros((n, n))
    np.cumsum(partners[:, ::-1].T, axis=0, out=worth[1:])
    worth *= 0.5
    worth += holes[0] - holes[1] + _shared(holes, known).sum(axis=1)
    return worth


def _shared(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Return a_ij of each document i of the first [2, document] and each j of the second."""
    shared: np.ndarray = np.minimum.outer(first[0], second[0])
    shared -= np.minimum.outer(first[1], second[1])
    return shared


def _sums_of_largest(worth: np.ndarray, counts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the sum of the n largest entries of row n - 1 for each n, and the n-th largest."""
    rows = np.sort(worth[counts - 1], axis=1)
    least = rows[np.arange(len(rows)), len(worth) - counts]
    rows *= np.arange(len(worth)) >= len(worth) - counts[:, None]
    return rows.sum(axis=1), least


def _joint_ratio(sums: np.ndarray, lengths: np.ndarray, n_others: int) -> np.ndarray:
    """Divide by the number of relevant documents; for a negative sum by the largest possible."""
    lengths = lengths + np.where(sums < 0.0, n_others, 0)
    return np.asarray(np.divide(sums, lengths, out=np.zeros(len(sums)), where=lengths > 0))


def _tasks(pairs: np.ndarray) -> list[np.ndarray]:
    """Divide pairs, sorted by their second run, into tasks with one second run each."""
    starts = np.flatnonzero(np.diff(pairs[:, 1])) + 1
    return [
        np.ascontiguousarray(group[i : i + PAIRS_A_TASK])
        for group in np.split(pairs, starts)
        for i in range(0, len(group), PAIRS_A_TASK)
    ]


def _few_of(
    rankings: Rankings, measure: HoledMeasure, tasks: Sequence[np.ndarray]
) -> FewHoles | None:
    """Return the arguments for trying all completions of AP and ERR; `tasks` hold all pairs."""
    if measure.family not in ("AP", "ERR"):
        return None
    lists, entries = rankings.lists, rankings.entries
    judged_gains = np.where(lists.qrels.grades > 0, measure.gains[lists.qrels.grades], 0.0)
    gains = np.concatenate([judged_gains, np.zeros(lists.n_open)])[entries.rows]
    stay = (gains > 0.0) | (entries.rows >= len(lists.qrels))
    stay &= entries.ranks <= measure.depth
    countable, (_, above) = entries.only(stay), _steps(lists, measure)
    few = FewHoles(
        blocks=countable.blocks,
        ranks=countable.ranks,
        holes=countable.rows - len(lists.qrels),
        gains=gains[stay],
        hole_blocks=lists.hole_blocks,
        n_cell_holes=np.diff(lists.open.blocks),
        n_holes=lists.n_holes,
        relevant=above[:, 0] if above.shape[1] else np.zeros(lists.n_topics, np.int64),
        top=float(measure.gains.max()),
        is_ap=measure.family == "AP",
        most=MOST_HOLES,
    )
    work = np.cumsum(np.sum([_work(few, pairs) for pairs in tasks], axis=0))
    return few._replace(most=int(np.searchsorted(work, MOST_WORK, side="right")) - 1)


def _try_few(few: FewHoles, pairs: np.ndarray, largest: np.ndarray) -> np.ndarray:
    """Return [pair, topic] numbers of holes; lower `largest` to attained values where few."""
    counts = np.empty((len(pairs), len(few.hole_blocks) - 1), np.int64)
    bound_kernels.try_all(few, pairs, counts, largest)
    return counts


def _work(few: FewHoles, pairs: np.ndarray) -> np.ndarray:
    """Return [holes]: documents to read for all pairs and topics with this number of holes."""
    counts = _try_few(few, pairs, np.empty((0, 0)))
    is_few = counts <= few.most
    cells = pairs[:, :, None] * counts.shape[1] + np.arange(counts.shape[1])
    lengths = np.diff(few.blocks)[cells].sum(axis=1)
    documents = np.bincount(counts[is_few], lengths[is_few], minlength=few.most + 1)
    return np.asarray(documents * 2.0 ** np.arange(few.most + 1))


def _kernel_of(rankings: Rankings, measure: HoledMeasure) -> Writing | None:
    """Return the function that writes bounds of differences, or None for *other* measures."""
    lists, family = rankings.lists, measure.family
    if family == "other":
        return None
    holes = _hole_weights(lists, measure)
    if family in ("shared", "AP"):
        normaliser = _normaliser(lists, measure)
        return lambda pairs, out: bound_kernels.ratio_bounds(holes, normaliser, pairs, out)
    gain = float(measure.gains.max())
    if family != "first":
        return lambda pairs, out: bound_kernels.linear_bounds(holes, gain, pairs, out)
    weights = holes.most if gain > 0.0 else np.zeros_like(holes.most)
    judged = rankings.scores(measure.recipe, np.zeros(lists.n_open, np.int32)).ravel()
    firsts = HoleWeights(*holes[:2], weights, weights, judged, judged, lists.hole_blocks)
    return lambda pairs, out: bound_kernels.first_bounds(firsts, gain, pairs, out)


def _share_bounds(lists: Lists, measure: HoledMeasure) -> HoleWeights:
    """Return the largest and smallest weights of documents in AP and ERR over all completions."""
    holes = lists.open
    judged, gains = _relevant_entries(lists, measure)
    of_holes, of_judged = np.empty((2, len(holes.rows))), np.empty((2, len(judged.rows)))
    entries = (holes.blocks, holes.ranks), (judged.blocks, judged.ranks, gains)
    top, is_ap = float(measure.gains.max()), measure.family == "AP"
    bound_kernels.document_shares(*entries, top, is_ap, of_holes, of_judged)
    judged_least, judged_most = (
        np.bincount(judged.cells, row, minlength=lists.lengths.size) for row in of_judged
    )
    rows, least, most = _in_order_of_documents(holes, *of_holes)
    return HoleWeights(
        holes.blocks, rows, most, least, judged_most, judged_least, lists.hole_blocks
    )


class Ask(NamedTuple):
    """A document to judge, and the value of its judgment."""

    topic: str
    document: str
    value: float


def documents_to_judge(
    lists: Lists, measure: HoledMeasure, undecided: np.ndarray, reach: np.ndarray, n: int
) -> tuple[Ask, ...]:
    """Return the n documents whose judgments are worth most for the `undecided` pairs [run, run].

    A document's value is the sum over undecided pairs of |w_A - w_B| × the standard deviation of
    its gain by the prior, over the topic's normaliser and the number of topics: roughly its part of
    the uncertainty of these differences (Carterette, Allan & Sitaraman, SIGIR 2006,
    doi:10.1145/1148170.1148219). reach [hole, grade from 1 on] are probabilities to have at least a
    grade. Documents of equal value are ordered by topic, then by id.
    """
    if lists.n_open == 0 or n == 0:
        return ()
    values = _values(lists, measure, undecided) * _spreads(measure, reach)
    least = np.sort(values)[-min(n, len(values))]
    topic, chosen = lists.topic_of_hole, np.flatnonzero((values > 0.0) & (values >= least))
    order = sorted((-values[i], topic[i], lists.documents[i]) for i in chosen.tolist())
    return tuple(Ask(lists.qrels.topics[t], name, float(-value)) for value, t, name in order[:n])


def _spreads(measure: HoledMeasure, reach: np.ndarray) -> np.ndarray:
    """Return [hole]: standard deviation of its gain."""
    steps = np.diff(measure.gains)
    mean = reach @ steps
    square = reach @ np.diff(measure.gains**2)
    return np.asarray(np.sqrt(np.maximum(square - mean**2, 0.0)))


def _values(lists: Lists, measure: HoledMeasure, undecided: np.ndarray) -> np.ndarray:
    """Return [hole]: the sum of |w_A - w_B| over undecided pairs, for means over topics."""
    holes = lists.open
    weights = measure.weights(holes.ranks, lists.lengths.ravel()[holes.cells])
    order = np.argsort(holes.rows, kind="stable")
    blocks = np.searchsorted(holes.rows[order], np.arange(lists.n_open + 1))
    sums = bound_kernels.sum_changes(
        blocks, (holes.cells // lists.n_topics)[order], weights[order], undecided
    )
    return np.asarray(
        sums / (lists.n_topics * ideal_by_judged(lists, measure)[lists.topic_of_hole])
    )
