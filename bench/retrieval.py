"""Making runs, compared with engines that pip installs, on your collection.

    python -m bench.retrieval CORPUS            # a folder with docs.jsonl, topics.tsv, qrels.txt
    python -m bench.retrieval CORPUS --large    # and how cost grows to 100,000 documents

bm25s and tantivy get units that are made already, index them and search: cutting text, stemming
and evaluation are left out of their time and are part of ours. They have one of the seventeen
models, so that a grid costs them seventeen times what BM25 costs. All on one core, in one
process, processor time, the best of several turns.
"""

from __future__ import annotations

import argparse
import collections
import time
import warnings
from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np

import steadyrank as sr
from bench._timing import seconds
from steadyrank_lab.retrieval.engine.index import Index, build_index
from steadyrank_lab.retrieval.engine.lexical import UNITS, lexical_units
from steadyrank_lab.retrieval.engine.models import MODELS
from steadyrank_lab.retrieval.engine.search import order_documents, search_all
from steadyrank_lab.retrieval.engine.tokens import STOP_LISTS, split_words, stop_words
from steadyrank_lab.retrieval.engine.word_counts import WordCounts, count_words
from steadyrank_lab.retrieval.makers.runs import collection_topics, load_counts

DEPTH = 1000
SAMPLES = (("none", "none"), ("smart", "porter"), ("lucene", "4grams"), ("fox", "7grams"))
"""Indexes that the peers build; times are scaled to the 78 of a grid."""

Units = list[list[str]]
Engine = Callable[[Units], Callable[[Units], list[list[int]]]]
"""Returns a search function from documents."""


def with_bm25s(documents: Units) -> Callable[[Units], list[list[int]]]:
    import bm25s

    engine = bm25s.BM25(method="robertson", k1=1.2, b=0.75, backend="numba")
    engine.index(documents, show_progress=False)

    def search(queries: Units) -> list[list[int]]:
        k = min(DEPTH, len(documents))
        found, scores = engine.retrieve(queries, k=k, n_threads=1, show_progress=False)
        return [row[score > 0].tolist() for row, score in zip(found, scores, strict=True)]

    return search


def with_tantivy(documents: Units) -> Callable[[Units], list[list[int]]]:
    import tantivy

    schema = tantivy.SchemaBuilder()
    schema.add_text_field("body", tokenizer_name="whitespace", index_option="freq")
    index = tantivy.Index(schema.build())
    writer = index.writer(heap_size=200_000_000, num_threads=1)
    for units in documents:
        writer.add_document(tantivy.Document(body=" ".join(units)))
    writer.commit()
    writer.wait_merging_threads()
    index.reload()
    searcher = index.searcher()

    def search(queries: Units) -> list[list[int]]:
        answers = []
        for units in queries:
            terms = [tantivy.Query.term_query(index.schema, "body", unit) for unit in units]
            query = tantivy.Query.boolean_query([(tantivy.Occur.Should, term) for term in terms])
            answers.append([place.doc for _, place in searcher.search(query, DEPTH).hits])
        return answers

    return search


PEERS: Mapping[str, Engine] = {"bm25s": with_bm25s, "tantivy": with_tantivy}


def as_units(texts: list[str], stop_list: str, unit: str) -> Units:
    """Return the units of texts, as in our indexes."""
    stopped = stop_words(stop_list)
    words = [[word for word in split_words(text) if word not in stopped] for text in texts]
    known = sorted({word for text in words for word in text})
    of_word = dict(zip(known, map(list, lexical_units(known, unit)), strict=True))
    return [[each for word in text for each in of_word[word]] for text in words]


def texts_of(counts: WordCounts) -> list[str]:
    """Return documents as lists of words."""
    bounds = zip(counts.ends, counts.ends[1:], strict=False)
    return [" ".join(counts.words[word] for word in counts.text[a:b]) for a, b in bounds]


def ours_alone(index: Index) -> float:
    """Return seconds per query."""
    order = order_documents(index.documents)

    def search() -> None:
        (ranking,) = search_all(index, ["BM25"], depth=DEPTH, order=order)
        ranking.to_run("BM25")

    search()
    return seconds(search, 7, of=min) / len(index.topics)


def without_common_units(index: Index) -> Index:
    """Return the topics without units of negative weight, which most documents have."""
    common = np.flatnonzero(index.df >= len(index.documents) / 2)
    return replace(index, queries=tuple(q[~np.isin(q, common)] for q in index.queries))


def compare_rankings(
    counts: WordCounts, index: Index, topics: Mapping[str, str], answers: dict[str, list[list[int]]]
) -> None:
    """Return the share of our top 100 that peers have, by our formula and by theirs.

    Theirs weighs a word of the topic by its number of occurrences, and never below zero.
    """
    number = {name: i for i, name in enumerate(counts.documents)}
    for what, ours, model in (
        ("", index, "BM25"),
        ("by their formula ", without_common_units(index), "BM25(k3=1e9)"),
    ):
        (ranking,) = search_all(ours, [model], depth=100)
        run = ranking.to_run("BM25")
        for name, found in answers.items():
            shares = []
            for topic, theirs in zip(topics, found, strict=True):
                if topic in run.topics:
                    best = {number[document] for document, _ in run.ranking(topic)}
                    shares.append(len(best & set(theirs[:100])) / len(best))
            print(f"    overlap@100 {what}with {name}: {np.mean(shares):.4f}")


def peers_on(
    counts: WordCounts, texts: list[str], topics: Mapping[str, str], stop_list: str, unit: str
) -> dict[str, tuple[float, float]]:
    """Return seconds of each peer to index, and to search all topics."""
    documents = as_units(texts, stop_list, unit)
    queries = as_units(list(topics.values()), stop_list, unit)
    taken, answers = {}, {}
    for name, make in PEERS.items():
        make(documents[:100])(queries[:2])  # what compiles, compiles now
        started = time.process_time()
        search = make(documents)
        indexed = time.process_time() - started
        answers[name] = search(queries)
        taken[name] = indexed, seconds(lambda search=search: search(queries), of=min)
    index = build_index(counts, topics, stop_list=stop_list, unit=unit)
    alone = ours_alone(index)
    print(f"  {stop_list}, {unit}: BM25 alone, {DEPTH} documents a query")
    print(f"    steadyrank {1 / alone:8.0f} queries/s")
    for name, (_, searched) in taken.items():
        theirs = searched / len(topics)
        print(f"    {name:10} {1 / theirs:8.0f} queries/s, {theirs / alone:.1f} x our time")
    compare_rankings(counts, index, topics, answers)
    return taken


def bench_grid(corpus: str, counts: WordCounts, topics: Mapping[str, str]) -> None:
    texts = texts_of(counts)
    taken = [peers_on(counts, texts, topics, *sample) for sample in SAMPLES]
    n_indexes = len(STOP_LISTS) * len(UNITS)
    n_searches = n_indexes * len(MODELS) * len(topics)

    def grid(**options: object) -> sr.Scores:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return sr.grid(corpus, measures=["AP", "nDCG@10", "P@10"], jobs=1, **options)

    grid(stop_lists="none", lexical="none")  # what compiles, compiles now
    started = time.process_time()
    scores = grid()
    ours = (time.process_time() - started) * n_indexes * len(MODELS) / len(scores.runs)
    print(
        f"  the grid of {len(scores.runs)} systems, from text to scores: {ours:.1f} s of one core"
    )
    print(f"    steadyrank {n_searches / ours:8.0f} queries × models/s")
    for name in PEERS:
        each = np.mean([sum(part[name]) for part in taken])
        searches = np.mean([part[name][1] for part in taken])
        once = np.mean([part[name][0] for part in taken])
        scaled = n_indexes * len(MODELS) * each
        kind = n_indexes * (once + len(MODELS) * searches)
        print(
            f"    {name:10} {n_searches / scaled:8.0f} queries × models/s, {scaled / ours:.0f} x "
            f"our time ({kind / ours:.0f} x if it indexed once for all models)"
        )


def bench_shards(corpus: str) -> None:
    counts = load_counts(corpus)
    named = {"topics": f"{corpus}/topics.tsv", "qrels": f"{corpus}/qrels.txt"}

    def shard(share: float) -> sr.Scores:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return sr.shard(
                counts, **named, shards=50, cluster_share=share, measures="nDCG@10", jobs=1
            )

    for share in (0.01, 0.1):
        shard(share)
        taken = seconds(lambda share=share: shard(share), of=min)
        print(f"  {share:.0%} clustered: {100 / taken:.0f} instances/s of one core, scored")


def bench_large(corpus: str, n_documents: int) -> None:
    """Return documents drawn from the collection's words."""
    rng = np.random.default_rng(0)
    small, topics = load_counts(corpus), collection_topics(corpus, None)
    words = np.array(small.words, object)
    shares = np.bincount(small.text, minlength=len(words)) / len(small.text)
    sizes = rng.choice(np.diff(small.ends), n_documents)
    drawn = np.split(rng.choice(words, sizes.sum(), p=shares), np.cumsum(sizes)[:-1])
    texts = {f"x{i:07d}": " ".join(text) for i, text in enumerate(drawn)}
    started = time.process_time()
    counts = count_words(texts)
    counted = time.process_time() - started
    print(f"  {n_documents} documents: {n_documents / counted:.0f} documents/s counted")
    for stop_list, unit in SAMPLES:
        started = time.process_time()
        index = build_index(counts, topics, stop_list=stop_list, unit=unit)
        built = time.process_time() - started
        order = order_documents(counts.documents)
        taken = seconds(
            lambda index=index, order=order: collections.deque(
                search_all(index, MODELS, depth=DEPTH, order=order), maxlen=0
            ),
            of=min,
        )
        print(
            f"    {stop_list}, {unit}: {len(index.document)} postings, index in {built:.2f} s, "
            f"{len(topics) * len(MODELS) / taken:.0f} queries × models/s"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("corpus")
    parser.add_argument("--large", action="store_true")
    arguments = parser.parse_args()
    topics = collection_topics(arguments.corpus, None)
    build_index(load_counts(arguments.corpus), topics)  # what compiles, compiles now
    started = time.process_time()
    counts = load_counts(arguments.corpus)
    build_index(counts, topics)
    taken = time.process_time() - started
    n_documents = len(counts.documents)
    print(f"{n_documents} documents, {len(topics)} topics; {n_documents / taken:.0f} documents/s")
    bench_grid(arguments.corpus, counts, topics)
    bench_shards(arguments.corpus)
    if arguments.large:
        for size in (10_000, 100_000):
            bench_large(arguments.corpus, size)


if __name__ == "__main__":
    main()
