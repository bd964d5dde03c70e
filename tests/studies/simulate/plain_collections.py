"""The witness of shared documents: repeat every document, write the rankings, evaluate them.

Counts and the order of ties come from the documented stream, SplitMix64 in plain NumPy; Poisson
shares from scipy. Nothing of the simulation's own code is used, but the keys of topics.
"""

from __future__ import annotations

import warnings

import numpy as np
from scipy.stats import poisson

import steadyrank as sr
from steadyrank.studies.simulate.blocks import topic_keys

GOLDEN, TIE = np.uint64(0x9E3779B97F4A7C15), np.uint64(0x6A09E667F3BCC909)
SHARES = np.round(poisson.cdf(np.arange(12), 1) * 2.0**32).astype(np.uint64)


def mixed(word):
    """SplitMix64's finalizer."""
    with np.errstate(over="ignore"):
        word = np.asarray(word, np.uint64)
        word = (word ^ (word >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        word = (word ^ (word >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return word ^ (word >> np.uint64(31))


def words_of(key, code, places):
    with np.errstate(over="ignore"):
        return mixed(mixed(key ^ mixed(code)) + np.asarray(places, np.uint64) * GOLDEN)


def counts_of(key, code, samples):
    """How often a document is in each of some collections."""
    chunk, lane = np.divmod(np.asarray(samples), 64)
    words = words_of(key, code, chunk * 32 + lane % 32 + 1)
    halves = np.where(lane >= 32, words >> np.uint64(32), words & np.uint64(0xFFFFFFFF))
    return (halves[..., None] >= SHARES).sum(axis=-1)


def hashes_of(documents):
    run = sr.run_from_dict({"t": dict.fromkeys(documents, 1.0)}, name="h")
    return dict(zip(run.documents.to_list(), run.documents.hashes, strict=True))


def repeated(ranking, counts, depth, tied_key):
    """A ranking [(document, score)] with documents repeated, ties by their keys, cut at depth."""
    copies = [
        (-score if tied_key else place, tied_key(doc, copy) if tied_key else copy, f"{doc}+{copy}")
        for place, (doc, score) in enumerate(ranking)
        for copy in range(counts[doc])
    ]
    names = [name for _, _, name in sorted(copies)][:depth]
    return {name: float(len(names) - place) for place, name in enumerate(names)}


def collection(runs, grades, seed, sample, *, depth="retrieved", score_source="score"):
    """Runs and judgments of one simulated collection, as dictionaries that `evaluate` takes."""
    topics = sorted(grades)
    new_runs, new_grades = {name: {} for name in runs}, {}
    for topic, key in zip(topics, topic_keys(seed, topics), strict=True):
        documents = {doc for run in runs.values() for doc in run.get(topic, {})}
        codes = hashes_of(sorted(documents | set(grades[topic])))
        counts = {doc: int(counts_of(key, code, sample)) for doc, code in codes.items()}
        new_grades[topic] = {
            f"{doc}+{copy}": grade
            for doc, grade in grades[topic].items()
            for copy in range(counts[doc])
        }

        def tied_key(doc, copy, key=key, codes=codes):
            return int(words_of(key, codes[doc] ^ TIE, sample * 16 + copy + 1))

        for name, run in runs.items():
            if topic in run:
                ranking = sr.run_from_dict({topic: run[topic]}, name="r").ranking(topic)
                new_runs[name][topic] = repeated(
                    ranking,
                    counts,
                    len(ranking) if depth == "retrieved" else depth,
                    tied_key if score_source == "score" else None,
                )
    return new_runs, new_grades


def plain_values(runs, grades, measures, seed, sample, **options):
    """[measure, run, topic] of one simulated collection, by `evaluate`."""
    new_runs, new_grades = collection(runs, grades, seed, sample, **options)
    values = np.zeros((len(measures), len(runs), len(grades)))
    best = max((grade for own in grades.values() for grade in own.values()), default=0)
    for t, topic in enumerate(sorted(grades)):
        # The largest grade is that of the judgments as they are, whatever was drawn.
        judged = {topic: {"?": 0, **new_grades[topic]}, "?": {"?": best}}
        listed = {
            name: sr.run_from_dict({topic: {"??": -1.0, **run.get(topic, {})}}, name=name)
            for name, run in new_runs.items()
        }
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            scores = sr.evaluate(list(listed.values()), sr.qrels_from_dict(judged), measures)
        values[:, :, t] = scores.values[:, :, scores.topics.index(topic)]
    return values
