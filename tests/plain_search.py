"""Retrieval as one would write it on a blackboard: dictionaries, loops, and Python's floats."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np

E = math.log2(math.e)


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


def weight(model, tf, dl, df, cf, n, tokens, avgdl, qtf):
    """A unit's share of a document's score: the formulas, one by one, with usual parameters."""
    log = math.log2
    tfn = tf * log(1 + avgdl / dl)
    f = tf / dl if tf < dl else 0.99999
    bernoulli = (cf + 1) / (df * (tfn + 1))
    rob = 1.2 * tf / (tf + 1.2 * (0.25 + 0.75 * dl / avgdl))

    def idfn(x):
        return log((n + 1) / (x + 0.5))

    def stirling(a, b):
        return (b + 0.5) * log(a / b) + (a - b) * log(a)

    if model == "BB2":
        if cf <= tfn:
            return 0.0
        part = stirling(n + cf - 1, n + cf - tfn - 2) - stirling(cf, cf - tfn)
        return qtf * bernoulli * (-log(n - 1) - E + part)
    if model == "BM25":
        part = 2.2 * tf / (1.2 * (0.25 + 0.75 * dl / avgdl) + tf)
        return log((n - df + 0.5) / (df + 0.5)) * part * 9 * qtf / (8 + qtf)
    if model == "DFIZ":
        expected = cf * dl / tokens
        return qtf * log((tf - expected) / math.sqrt(expected) + 1) if tf > expected else 0.0
    if model == "DFRee":
        p, q = tf / dl, (tf + 1) / (dl + 1)
        inner = -tf * log(p * tokens / cf) + (tf + 1) * log(q * tokens / cf) + 0.5 * log(q / p)
        return qtf * tf * log(q / p) * inner
    if model == "DirichletLM":
        return log(1 + tf / (2500 * cf / tokens)) + log(2500 / (dl + 2500))
    if model == "DLH":
        gain = tf * log(tf * avgdl / dl * n / cf) + (dl - tf) * log(1 - f)
        return qtf * (gain + 0.5 * log(2 * math.pi * tf * (1 - f))) / (tf + 0.5)
    if model == "DPH":
        gain = tf * log(tf * avgdl / dl * n / cf) + 0.5 * log(2 * math.pi * tf * (1 - f))
        return qtf * (1 - f) ** 2 / (tf + 1) * gain
    if model == "HiemstraLM":
        return qtf * log(1 + 0.15 * tf * tokens / (0.85 * cf * dl))
    if model == "IFB2":
        return qtf * tfn * idfn(cf) * bernoulli
    if model == "InB2":
        return qtf * tfn * idfn(df) * bernoulli
    if model == "InL2":
        return qtf * tfn * idfn(df) / (tfn + 1)
    if model == "In_expB2":
        return qtf * tfn * idfn(n * (1 - math.exp(-cf / n))) * bernoulli
    if model == "Js_KLs":
        j = dl / (dl + 1) * (1 - tf / dl) * log((tf + 1) / tf)
        return qtf * tf * j * (log((tf + 1) / (dl + 1) * tokens / cf) + tf * log(1 + 1 / tf))
    if model == "LemurTF_IDF":
        return qtf * rob * log(n / df) ** 2
    if model == "LGD":
        return qtf * log((df / n + tfn) / (df / n))
    if model == "PL2":
        mean = cf / n
        gain = tfn * log(1 / mean) + mean * E + 0.5 * log(2 * math.pi * tfn)
        return qtf * (gain + tfn * (log(tfn) - E)) / (tfn + 1)
    assert model == "TF_IDF"
    return qtf * rob * log(n / df + 1)


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
                    score += weight(
                        model,
                        bag[word],
                        bag.total(),
                        df[word],
                        cf[word],
                        len(bags),
                        tokens,
                        tokens / len(bags),
                        qtf,
                    )
            found.append((float(np.float32(score)), name))
    return [(name, score) for score, name in sorted(found, key=_trec_order, reverse=True)]


def _trec_order(pair):
    return pair[0], pair[1].encode()
