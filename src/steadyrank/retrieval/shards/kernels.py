"""Documents to their nearest centroids, and topics to the shards that a sample points to.

Centroids lie side by side, a row of them for each word, so that one word of a document is
compared with all of them at once. Rankings are lists of documents, best first; searching some
shards is leaving out the documents of the others.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from steadyrank.compute.kernels import WORD, inlined, kernel, lean_kernel


@inlined
def _largest(values):
    best = 0
    for i in range(1, len(values)):
        if values[i] > values[best]:
            best = i
    return best


@kernel
def nearest_by_cosine(documents, starts, word, weight, row_of, centroids, elsewhere, nearest):
    """For each of `documents`, the centroid with the largest inner product.

    centroids[row_of[word]] are a word's weights in all centroids; row_of is -1 for words in
    none. A document that shares no word with any goes where `elsewhere` says.
    """
    alike = np.empty(centroids.shape[1], np.float32)
    for j in range(len(documents)):
        document = documents[j]
        alike[:] = 0.0
        shared = False
        for e in range(starts[document], starts[document + 1]):
            row = row_of[word[e]]
            if row >= 0:
                shared = True
                here = centroids[row]
                value = weight[e]
                for c in range(len(alike)):
                    alike[c] += value * here[c]
        nearest[j] = _largest(alike) if shared else elsewhere[document]


@kernel
def nearest_by_divergence(
    documents, starts, word, count, row_of, shares, logs, background, smoothing, elsewhere, nearest
):
    """For each of `documents`, the centroid that is most alike in the manner of KL.

    The sum over shared words of p_c log(p_d / (s p_b)) + p_d log(p_c / (s p_b)), where p_c are
    `shares`, `logs` the second logarithm, p_b is `background`, and p_d the document's share of
    the word mixed with `smoothing` s of the background.
    """
    alike = np.empty(shares.shape[1], np.float32)
    for j in range(len(documents)):
        document = documents[j]
        alike[:] = 0.0
        length = 0.0
        for e in range(starts[document], starts[document + 1]):
            length += count[e]
        shared = False
        for e in range(starts[document], starts[document + 1]):
            row = row_of[word[e]]
            if row >= 0:
                shared = True
                floor = smoothing * background[row]
                mixed = (1.0 - smoothing) * count[e] / length + floor
                of_share, of_log = np.float32(np.log(mixed / floor)), np.float32(mixed)
                share, log = shares[row], logs[row]
                for c in range(len(alike)):
                    alike[c] += of_share * share[c] + of_log * log[c]
        nearest[j] = _largest(alike) if shared else elsewhere[document]


@lean_kernel
def add_members(documents, cluster, starts, word, value, row_of, sums):
    """Add each document's values to those of its cluster, sums[row_of[word], cluster]."""
    for j in range(len(documents)):
        for e in range(starts[documents[j]], starts[documents[j] + 1]):
            sums[row_of[word[e]], cluster[j]] += value[e]


@lean_kernel
def draw_members(order, shard_of, left, member):
    """Mark in `member` the first documents of each shard in a random order, until none is `left`
    to draw.
    """
    for i in range(len(order)):
        shard = shard_of[order[i]]
        taken = left[shard] > 0
        member[order[i]] = taken
        left[shard] -= np.int64(taken)


class Ranked(NamedTuple):
    """Full rankings: topic t's documents, best first, are entries starts[t]:starts[t + 1]."""

    starts: np.ndarray
    document: np.ndarray
    shard: np.ndarray


@lean_kernel
def vote(ranked, member, depth, votes, firsts):
    """How many of a topic's first `depth` documents in the sample each shard has.

    `firsts` are the ranks, among the sample's, of each shard's first one.
    """
    for t in range(len(ranked.starts) - 1):
        votes[t] = 0
        firsts[t] = depth
        documents = ranked.document[ranked.starts[t] : ranked.starts[t + 1]]
        shards = ranked.shard[ranked.starts[t] : ranked.starts[t + 1]]
        n = 0
        for i in range(len(documents)):
            if member[WORD(documents[i])]:
                shard = shards[i]
                votes[t, shard] += 1
                firsts[t, shard] = min(firsts[t, shard], n)
                n += 1
                if n == depth:
                    break


@lean_kernel
def choose_shards(votes, firsts, scale, n_chosen, chosen):
    """Mark the shards with the most votes times `scale`; without votes, none.

    Of two that are equal, the one whose document stands first in the sample's ranking.
    """
    for t in range(len(votes)):
        chosen[t] = 0
        for _ in range(n_chosen):
            best, most = -1, 0.0
            for s in range(len(scale)):
                worth = votes[t, s] * scale[s]
                if chosen[t, s] or worth == 0.0 or worth < most:
                    continue
                if worth > most or firsts[t, s] < firsts[t, best]:
                    best, most = s, worth
            if best < 0:
                break
            chosen[t, best] = 1


@lean_kernel
def count_matches(ranked, matches):
    """How many documents of each shard a topic's ranking has."""
    for t in range(len(ranked.starts) - 1):
        matches[t] = 0
        for i in range(ranked.starts[t], ranked.starts[t + 1]):
            matches[t, ranked.shard[i]] += 1


@lean_kernel
def keep_chosen(ranked, chosen, depth, kept, blocks):
    """The entries of the rankings whose shards are chosen, at most `depth` a topic."""
    n = 0
    for t in range(len(ranked.starts) - 1):
        blocks[t] = n
        for i in range(ranked.starts[t], ranked.starts[t + 1]):
            if n - blocks[t] == depth:
                break
            kept[n] = i
            n += np.int64(chosen[t, ranked.shard[i]])
    blocks[len(ranked.starts) - 1] = n


class Judged(NamedTuple):
    """Judged documents in full rankings: those of topic t are entries starts[t]:starts[t + 1].

    `topic[t]` is its place among the rankings or -1; `place` says how many documents stand
    above, ascending within a topic, and `row` is the judgment's.
    """

    topic: np.ndarray
    starts: np.ndarray
    place: np.ndarray
    row: np.ndarray


@kernel
def ranks_in_chosen(ranked, judged, chosen, matches, depth):
    """Where judged documents stand among those of the chosen shards, as a `JudgedRun` has it.

    Nothing below the last judged document of a topic is looked at.
    """
    n_topics = len(judged.topic)
    blocks, lengths = np.zeros(n_topics + 1, np.int64), np.full(n_topics, -1, np.int64)
    ranks, rows = np.empty(len(judged.row), np.int32), np.empty(len(judged.row), np.int32)
    n = 0
    for t in range(n_topics):
        topic = judged.topic[t]
        length = 0
        if topic >= 0:
            for s in range(matches.shape[1]):
                length += np.int64(chosen[topic, s]) * matches[topic, s]
        if length > 0:
            lengths[t] = min(length, depth)
            mine = chosen[topic]
            shards = ranked.shard[ranked.starts[topic] : ranked.starts[topic + 1]]
            above, i = 0, 0
            for j in range(judged.starts[t], judged.starts[t + 1]):
                place = judged.place[j]
                while i < place:
                    above += np.int64(mine[WORD(shards[i])])
                    i += 1
                if above >= depth:
                    break
                if mine[WORD(shards[place])]:
                    ranks[n] = above + 1
                    rows[n] = judged.row[j]
                    n += 1
        blocks[t + 1] = n
    return blocks, ranks[:n], rows[:n], lengths
