"""Simulated collections, compared with hand-written code, on one core.

    python -m bench.simulate            # ratios: NumPy, sorting in Numba, counting in Numba
    python -m bench.simulate --shared   # ratios of documents that all runs share: NumPy
    python -m bench.simulate --full     # 110 runs x 249 topics x 10,000 samples, all comparisons

Every peer is timed in the same process, interleaved with ours: processor time, median of five.
"""

# ruff: noqa: NPY002 (inside Numba there is only the legacy generator)
from __future__ import annotations

import argparse
import resource
import time
import warnings
from collections.abc import Callable
from typing import Any

import numba
import numpy as np

import steadyrank as sr
from bench._timing import taken
from steadyrank.compute.executors import workers
from steadyrank.measures.names import parse_measure
from steadyrank.measures.scoring import prepare
from steadyrank.studies.simulate.blocks import SharedDocuments, topic_keys
from steadyrank.studies.simulate.measures import make_gain
from steadyrank.studies.simulate.profiles import SCOTT, bandwidth_of, joined_bins, score_profiles
from steadyrank.studies.simulate.sampler_kernels import Cells, sample_cells
from steadyrank.studies.simulate.shared_lists import shared_lists

DEPTH = 1000


def numpy_cell(relevant, others, judged, n_samples, widths, rng):
    """Return the simulated scores of a cell by simple NumPy code."""
    out = np.empty(n_samples)
    for i in range(n_samples):
        n = min(rng.poisson(len(relevant)), DEPTH)
        scores = np.concatenate([rng.choice(relevant, n), rng.choice(others, DEPTH - n)])
        if widths[0] or widths[1]:
            scores[:n] += widths[0] * rng.standard_normal(n)
            scores[n:] += widths[1] * rng.standard_normal(DEPTH - n)
        ranks = np.flatnonzero(np.argsort(-scores) < n) + 1
        out[i] = (np.arange(1, n + 1) / ranks).sum() / max(judged, n)
    return out


@numba.njit
def sorting_cell(relevant, others, judged, n_samples, widths, out):
    """Return simulated scores by drawing, sorting and merging both classes."""
    hits, rest = np.empty(DEPTH), np.empty(DEPTH)
    for i in range(n_samples):
        n = min(np.random.poisson(len(relevant)), DEPTH)
        for j in range(n):
            hits[j] = relevant[np.random.randint(len(relevant))]
            if widths[0] > 0:
                hits[j] += widths[0] * np.random.standard_normal()
        for j in range(DEPTH - n):
            rest[j] = others[np.random.randint(len(others))]
            if widths[1] > 0:
                rest[j] += widths[1] * np.random.standard_normal()
        a, b = hits[:n], rest[: DEPTH - n]
        a.sort()
        b.sort()
        above, total = 0, 0.0
        for j in range(n):
            while above < len(b) and b[len(b) - 1 - above] > a[n - 1 - j]:
                above += 1
            total += (j + 1) / (j + 1 + above)
        out[i] = total / max(judged, n)


@numba.njit
def counting_cell(labels, judged, n_samples, out):
    """Return bootstrap scores by counting drawn positions, without sorting."""
    k = len(labels)
    hits, rest = np.flatnonzero(labels), np.flatnonzero(~labels)
    counts = np.zeros(k, np.int64)
    for i in range(n_samples):
        counts[:] = 0
        n = min(np.random.poisson(len(hits)), DEPTH)
        for _ in range(n):
            counts[hits[np.random.randint(len(hits))]] += 1
        for _ in range(DEPTH - n):
            counts[rest[np.random.randint(len(rest))]] += 1
        above, found, total = 0, 0, 0.0
        for j in range(k):
            if labels[j]:
                for _ in range(counts[j]):
                    found += 1
                    total += found / (found + above)
            else:
                above += counts[j]
        out[i] = total / max(judged, n)


def fresh_cells(n_cells: int, seed: int):
    """Return random cells of a simulated track."""
    track = sr.simulated_track(
        n_teams=8, runs_per_team=1, n_topics=25, depth=DEPTH, pool_depth=100, rng=seed
    )
    rng = np.random.default_rng(seed)
    grades = {}
    for topic, part in track.qrels.to_frame().groupby("query_id"):
        grades[topic] = dict(zip(part["doc_id"], part["relevance"], strict=True))
    cells = []
    while len(cells) < n_cells:
        run = track.runs[rng.integers(len(track.runs))]
        topic = run.topics[rng.integers(len(run.topics))]
        ranking = run.ranking(topic)
        labels = np.array([grades.get(topic, {}).get(doc, 0) >= 1 for doc, _ in ranking])
        if labels.any() and len(labels) == DEPTH:
            scores = np.array([score for _, score in ranking])
            judged = sum(grade >= 1 for grade in grades[topic].values())
            cells.append((run, topic, scores, labels, judged))
    return track, cells


def ours_of(track, cells, model) -> tuple[Cells, Callable[[int], None]]:
    topics = list(track.qrels.topics)
    profiles = score_profiles(track.runs, track.qrels, topics=topics, model=model, jobs=1)
    gain = make_gain(parse_measure("AP"), "judged", profiles.cells)
    names = [run.name for run in track.runs]
    places = [names.index(run.name) * len(topics) + topics.index(topic) for run, topic, *_ in cells]
    whole = profiles.cells
    picked = [slice(whole.starts[p], whole.starts[p + 1]) for p in places]
    chosen = Cells(
        starts=np.concatenate([[0], np.cumsum([part.stop - part.start for part in picked])]),
        relevant=np.concatenate([whole.relevant[part] for part in picked]),
        others=np.concatenate([whole.others[part] for part in picked]),
        mingled=np.concatenate([whole.mingled[part] for part in picked]),
        tail=whole.tail[places],
        n_relevant=whole.n_relevant[places],
        depth=whole.depth[places],
        judged=whole.judged[places],
    )

    def run(n_samples: int) -> None:
        sample_cells(chosen, None, 0, np.uint64(1), 0, gain, np.empty((len(places), n_samples)))

    def run_smooth(n_samples: int) -> None:
        out = np.empty((len(places), n_samples))
        sample_cells(joined, tilt, 0, np.uint64(1), 0, gain, out)

    if model == "bootstrap":
        return chosen, run
    joined, tilt = joined_bins(chosen)
    return joined, run_smooth


def ratios(model: str, n_cells: int = 60) -> None:
    track, cells = fresh_cells(n_cells, 5)
    chosen, ours = ours_of(track, cells, model)
    rng = np.random.default_rng(0)
    data = []
    for _, _, scores, labels, judged in cells:
        relevant, others = scores[labels], scores[~labels]
        widths = (0.0, 0.0)
        if model == "kde":
            widths = (bandwidth_of(relevant, SCOTT, 0.0), bandwidth_of(others, SCOTT, 0.0))
        data.append((relevant, others, labels, judged, widths))

    def with_numpy(n: int) -> None:
        for relevant, others, _, judged, widths in data:
            numpy_cell(relevant, others, judged, n, widths, rng)

    def with_sorting(n: int) -> None:
        for relevant, others, _, judged, widths in data:
            sorting_cell(relevant, others, judged, n, widths, np.empty(n))

    def with_counting(n: int) -> None:
        for _, _, labels, judged, _ in data:
            counting_cell(labels, judged, n, np.empty(n))

    peers = {"NumPy": (with_numpy, 5), "sorting in Numba": (with_sorting, 5)}
    if model == "bootstrap":
        peers["counting in Numba"] = (with_counting, 50)
    ours(64)
    for peer, _ in peers.values():
        peer(1)
    times = {name: [] for name in ["ours", *peers]}
    for _ in range(5):
        times["ours"].append(taken(lambda: ours(2048))[0] / (2048 * n_cells))
        for name, (peer, n) in peers.items():
            times[name].append(taken(lambda f=peer, n=n: f(n))[0] / (n * n_cells))
    mine = np.median(times["ours"])
    mean_r, bins = chosen.n_relevant.mean(), chosen.starts[-1] / n_cells
    print(f"{model}: {n_cells} cells, {mean_r:.0f} relevant retrieved, {bins:.0f} bins on average")
    for name in peers:
        theirs = np.median(times[name])
        low, high = min(times[name]) / max(times["ours"]), max(times[name]) / min(times["ours"])
        print(f"  {name:18s} {theirs / mine:6.0f}x  ({low:.0f} to {high:.0f})")


def numpy_collections(rankings, grades, n_documents, n_samples, measure, rng):
    """Return scores with shared documents by simple NumPy code, collection by collection.

    A Poisson count for every document of the topic; each run's gains repeated by these counts,
    cut at its depth, and scored as one scores any list. Rankings name documents by number, those
    with a gain first, and are whole. What no collection changes, the gains of a ranking and the
    discounts, is looked up once. Nothing is compiled, no sample shares work with another, and no
    ranking stops below its last relevant document.
    """
    out = np.empty((len(rankings), n_samples))
    gains = np.zeros(n_documents)
    gains[: len(grades)] = grades
    gains_of = [gains[ranking] for ranking in rankings]
    discounts = 1 / np.log2(np.arange(2, DEPTH + 2))
    for i in range(n_samples):
        counts = rng.poisson(1.0, n_documents)
        ideal = np.sort(np.repeat(grades, counts[: len(grades)]))[::-1]
        best = (ideal[:10] * discounts[: min(10, len(ideal))]).sum()
        for r, ranking in enumerate(rankings):
            drawn = np.repeat(gains_of[r], counts[ranking])[:DEPTH]
            if measure == "AP":
                ranks = np.flatnonzero(drawn) + 1
                out[r, i] = (np.arange(1, len(ranks) + 1) / ranks).sum() / max(len(ideal), 1)
            else:
                top = drawn[:10]
                out[r, i] = (top * discounts[: len(top)]).sum() / best if best else 0.0
    return out


def numbered_topic(track, topic):
    """Return rankings as document numbers, grades of the first documents, and counts."""
    judged = track.qrels.to_frame().query("query_id == @topic and relevance > 0")
    judged = judged.sort_values("relevance", ascending=False)
    numbers = {doc: number for number, doc in enumerate(judged["doc_id"])}
    rankings = [
        np.array([numbers.setdefault(doc, len(numbers)) for doc, _ in run.ranking(topic)])
        for run in track.runs
    ]
    return rankings, judged["relevance"].to_numpy(), len(numbers)


def shared_ratios(measure: str, n_topics: int = 4) -> None:
    """Time 110 runs on a few topics, ours and NumPy's in turns."""
    track = sr.simulated_track(
        n_teams=22, runs_per_team=5, n_topics=n_topics, depth=DEPTH, pool_depth=100
    )
    recipe = prepare(parse_measure(measure), track.qrels.max_grade)
    topics = track.qrels.topics
    lists = shared_lists(track.runs, track.qrels, recipe, topics=topics).lists
    source = SharedDocuments(lists, recipe, topic_keys(0, topics))
    # Reading and numbering are timed for neither.
    numbered = [numbered_topic(track, topic) for topic in topics]
    values, rng = np.empty((len(track.runs) * n_topics, 512)), np.random.default_rng(0)

    def ours() -> None:
        with workers(jobs=1) as pool:
            source.fill(values, 0, pool)

    def theirs(n: int) -> np.ndarray:
        drawn = [numpy_collections(*topic, n, measure, rng) for topic in numbered]
        return np.stack([part.mean(axis=1) for part in drawn], axis=1)

    ours()
    gap = theirs(20).mean() - values.mean()
    times: dict[str, list[float]] = {"ours": [], "NumPy": []}
    for _ in range(5):
        times["ours"].append(taken(ours)[0] / values.size)
        times["NumPy"].append(taken(lambda: theirs(2))[0] / (2 * len(values)))
    mine, peer = np.median(times["ours"]), np.median(times["NumPy"])
    low, high = (min(times["NumPy"]) / max(times["ours"]), max(times["NumPy"]) / min(times["ours"]))
    print(
        f"{measure} of shared documents: {1e9 * mine:.0f} ns per ranking and collection, "
        f"NumPy {peer / mine:.0f}x ({low:.0f} to {high:.0f}); means differ by {gap:.4f}"
    )


def full(options: dict[str, Any], n_samples: int) -> None:
    """Time a job of the size of Robust 2004, from runs in memory."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        track = sr.simulated_track(
            n_teams=22, runs_per_team=5, n_topics=249, depth=DEPTH, pool_depth=100
        )
        sr.simulate(track.runs[:3], track.qrels, n_samples=64, **options)
        began, spent = time.perf_counter(), time.process_time()
        blocks: list[float] = []
        found = sr.simulate(
            track.runs,
            track.qrels,
            n_samples=n_samples,
            **options,
            progress=lambda done, total: blocks.append(time.perf_counter() - began),
        )
    total, spent = time.perf_counter() - began, time.process_time() - spent
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**10
    print(
        f"{options}: {found.raw.size * n_samples / 1e6:.0f} million values, "
        f"{len(found.raw_pvalue)} pairs, {total:.2f} s in all, {spent:.0f} s of processors, "
        f"{blocks[-1] - blocks[0]:.2f} s for all blocks but the first, "
        f"peak {peak:.0f} MiB with the runs in memory"
    )


FULL: dict[str, dict[str, Any]] = {
    "shared": {"measure": "AP"},
    "shared-ndcg": {"measure": "nDCG@10"},
    "bootstrap": {"documents": "independent"},
    "kde": {"model": "kde"},
}

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--shared", action="store_true")
    parser.add_argument("--model", choices=FULL, default=None)
    parser.add_argument("--samples", type=int, default=10_000, help="of --full")
    chosen_options = parser.parse_args()
    if chosen_options.full:
        names = [chosen_options.model] if chosen_options.model else list(FULL)
        for name in names:
            full(FULL[name], chosen_options.samples)
    elif chosen_options.shared:
        for name in ("AP", "nDCG@10"):
            shared_ratios(name)
    else:
        for name in [chosen_options.model] if chosen_options.model else ["bootstrap", "kde"]:
            ratios(name)
