"""Retrieval as one would write it on a blackboard: dictionaries, loops, and Python's floats."""

from __future__ import annotations

from collections import Counter
from math import e, exp, log2, pi, sqrt

import numpy as np

from steadyrank_lab.retrieval.engine.models import MODELS, Occurrences, parse_model


def random_texts(rng, n_documents, n_words=60, length=(3, 40)):
    """Documents of words whose frequencies fall like those of language."""
    shares = 1 / np.arange(1, n_words + 1)
    words = [f"w{i}" for i in range(n_words)]
    texts = {}
    for i in range(n_documents):
        size = int(rng.integers(*length))
        texts[f"doc{i * 7 % n_documents}"] = " ".join(
            rng.choice(words, size, p=shares / shares.sum())
        )
    return texts


def random_topics(rng, n_topics, n_words=60, length=6):
    """Topics with words that repeat, and words that no document has."""
    topics = {}
    for t in range(n_topics):
        drawn = [f"w{i}" for i in rng.integers(0, n_words + 5, length)]
        topics[f"t{t}"] = " ".join([*drawn, drawn[0]])
    return topics


def weight(name, tf, dl, n, F, N, T, qtf, **p):
    """A unit's share of a document's score: the formulas, one expression each."""
    avgdl = T / N
    tfn = tf * log2(1 + p.get("c", 1) * avgdl / dl)
    f = tf / dl if tf < dl else 0.99999
    B = (F + 1) / (n * (tfn + 1))
    length = 1 - p.get("b", 0) + p.get("b", 0) * dl / avgdl
    rob = p.get("k1", 0) * tf / (tf + p.get("k1", 0) * length)
    if name == "BB2":
        if tfn >= F or N == 1:
            return 0.0
        S = lambda a, b: (b + 0.5) * log2(a / b) + (a - b) * log2(a)  # noqa: E731
        inner = S(N + F - 1, N + F - tfn - 2) - S(F, F - tfn)
        return qtf * B * (-log2(N - 1) - log2(e) + inner)
    if name == "BM25":
        idf = log2((N - n + 0.5) / (n + 0.5))
        query = (p["k3"] + 1) * qtf / (p["k3"] + qtf)
        return idf * (p["k1"] + 1) * tf / (p["k1"] * length + tf) * query
    if name == "DFIZ":
        mean = F * dl / T
        return qtf * log2((tf - mean) / sqrt(mean) + 1) if tf > mean else 0.0
    if name == "DFRee":
        a, b = tf / dl, (tf + 1) / (dl + 1)
        sums = -tf * log2(a * T / F) + (tf + 1) * log2(b * T / F) + 0.5 * log2(b / a)
        return qtf * tf * log2(b / a) * sums
    if name == "DirichletLM":
        return log2(1 + tf / (p["mu"] * F / T)) + log2(p["mu"] / (dl + p["mu"]))
    if name == "DLH":
        sums = tf * log2(tf * avgdl / dl * N / F) + (dl - tf) * log2(1 - f)
        return qtf * (sums + 0.5 * log2(2 * pi * tf * (1 - f))) / (tf + 0.5)
    if name == "DPH":
        sums = tf * log2(tf * avgdl / dl * N / F) + 0.5 * log2(2 * pi * tf * (1 - f))
        return qtf * (1 - f) ** 2 / (tf + 1) * sums
    if name == "HiemstraLM":
        return qtf * log2(1 + p["share"] * tf * T / ((1 - p["share"]) * F * dl))
    if name in ("IFB2", "InB2", "In_expB2", "InL2"):
        x = {"IFB2": F, "InB2": n, "InL2": n, "In_expB2": N * (1 - exp(-F / N))}[name]
        after = 1 / (tfn + 1) if name == "InL2" else B
        return qtf * tfn * log2((N + 1) / (x + 0.5)) * after
    if name == "Js_KLs":
        j = dl / (dl + 1) * (1 - tf / dl) * log2((tf + 1) / tf)
        return qtf * tf * j * (log2((tf + 1) / (dl + 1) * T / F) + tf * log2(1 + 1 / tf))
    if name == "LemurTF_IDF":
        return qtf * rob * log2(N / n) ** 2
    if name == "LGD":
        return qtf * log2((n / N + tfn) / (n / N))
    if name == "PL2":
        mean = F / N
        sums = tfn * log2(1 / mean) + mean * log2(e) + 0.5 * log2(2 * pi * tfn)
        return qtf * (sums + tfn * (log2(tfn) - log2(e))) / (tfn + 1)
    assert name == "TF_IDF"
    return qtf * rob * log2(N / n + 1)


def rank(texts, query, model="BM25", only=None):
    """[(document, score)], best first, of the documents that hold a word of the query.

    `only` are the documents to rank; frequencies are counted in all.
    """
    bags = {name: Counter(text.split()) for name, text in texts.items()}
    df = Counter(word for bag in bags.values() for word in bag)
    cf = sum(bags.values(), Counter())
    tokens = sum(cf.values())
    found = []
    for name in only or bags:
        bag = bags[name]
        asked = sorted(Counter(query.split()).items())
        if any(word in bag for word, _ in asked):
            score = 0.0
            for word, qtf in asked:
                if word in bag:
                    tf, dl = bag[word], bag.total()
                    counted = df[word], cf[word], len(bags), tokens
                    score += weight(model, tf, dl, *counted, qtf, **MODELS[model].parameters)
            found.append((float(np.float32(score)), name))
    return [(name, score) for score, name in sorted(found, key=_trec_order, reverse=True)]


def _trec_order(pair):
    return pair[0], pair[1].encode()


def weigh(model, postings, *, n_documents, tokens, qtf=1.0):
    """What each of `postings` (columns tf, dl, df and cf) adds to its document's score."""
    columns = [np.asarray(postings[name], float) for name in ("tf", "dl", "df", "cf")]
    tf, dl, df, cf, qtf = np.broadcast_arrays(*columns, qtf)
    given = Occurrences(
        tf=tf, dl=dl, df=df, cf=cf, qtf=qtf, n_documents=float(n_documents), tokens=float(tokens)
    )
    return parse_model(model).weights(given)
