"""What a unit that occurs tf times in a document adds to its score: a formula for each model.

Every kernel takes (tf, dl, df, cf, n_documents, tokens, avgdl, qtf), then its own parameters,
all float64, and returns the unit's share of the document's score, the topic's weight for the
unit included. tf >= 1, 1 <= tf <= dl, tf <= cf <= tokens and 1 <= df <= n_documents hold for
every posting; with them, no logarithm ever meets a number that is not positive.
"""

from __future__ import annotations

import math

import numpy as np

from steadyrank.compute.kernels import WORD, bits_to_float, inlined

LOG2_E = 1.0 / math.log(2.0)
TWO_PI = 2.0 * math.pi
ALMOST_ALL = 0.99999
"""The share tf / dl of a document that consists of one unit, where log(1 - share) has no value."""

_ROOT_HALF = WORD(0x3FE6A09E667F3BCD)  # the bits of sqrt(1/2)
_TO_ONE = WORD(0x3FF0000000000000 - 0x3FE6A09E667F3BCD)
_MANTISSA = WORD(0x000FFFFFFFFFFFFF)
_EXPONENT = WORD(52)
_TWO_52 = WORD(0x4330000000000000)  # the bits of 2^52: its last bits hold an integer
_BIAS = 2.0**52 + 1023.0


@inlined
def log2(x):
    """Logarithm to base 2 of a positive normal number, within 4 units in the last place.

    With m = x / 2^k in [sqrt(1/2), sqrt(2)) and s = (m - 1) / (m + 1), log2 x is k plus
    2 / ln 2 (s + s^3/3 + s^5/5 + ...). No branch and no call: a loop over postings becomes
    vector instructions, and gives the same bytes with every C library.
    """
    shifted = np.float64(x).view(np.uint64) + _TO_ONE
    k = bits_to_float((shifted >> _EXPONENT) | _TWO_52) - _BIAS
    m = bits_to_float((shifted & _MANTISSA) + _ROOT_HALF)
    s = (m - 1.0) / (m + 1.0)
    z = s * s
    series = 1.0 / 19.0 + z * (1.0 / 21.0)
    series = 1.0 / 17.0 + z * series
    series = 1.0 / 15.0 + z * series
    series = 1.0 / 13.0 + z * series
    series = 1.0 / 11.0 + z * series
    series = 1.0 / 9.0 + z * series
    series = 1.0 / 7.0 + z * series
    series = 1.0 / 5.0 + z * series
    series = 1.0 / 3.0 + z * series
    return k + 2.0 * LOG2_E * (s + s * (z * series))


@inlined
def _normalised(tf, dl, avgdl, c):
    """Normalisation 2 of divergence from randomness: tf as in a document of average length."""
    return tf * log2(1.0 + c * avgdl / dl)


@inlined
def _idf(n_documents, x):
    return log2((n_documents + 1.0) / (x + 0.5))


@inlined
def _bernoulli(tfn, df, cf):
    """Ratio of two Bernoulli processes, the after-effect B."""
    return (cf + 1.0) / (df * (tfn + 1.0))


@inlined
def _robertson(tf, dl, avgdl, k1, b):
    return k1 * tf / (tf + k1 * (1.0 - b + b * dl / avgdl))


@inlined
def _stirling(a, b):
    return (b + 0.5) * log2(a / b) + (a - b) * log2(a)


@inlined
def _share(tf, dl):
    return tf / dl if tf < dl else ALMOST_ALL


@inlined
def bb2(tf, dl, df, cf, n_documents, tokens, avgdl, qtf, c):
    """0 where cf <= tfn, and in a collection of one document: Stirling's formula ends there."""
    tfn = _normalised(tf, dl, avgdl, c)
    if cf <= tfn or n_documents < 2.0:
        return 0.0
    gain = (
        -log2(n_documents - 1.0)
        - LOG2_E
        + _stirling(n_documents + cf - 1.0, n_documents + cf - tfn - 2.0)
        - _stirling(cf, cf - tfn)
    )
    return qtf * _bernoulli(tfn, df, cf) * gain


@inlined
def bm25(tf, dl, df, cf, n_documents, tokens, avgdl, qtf, k1, b, k3):
    """Robertson & Walker; idf turns negative for units of more than half of the documents."""
    idf = log2((n_documents - df + 0.5) / (df + 0.5))
    weight = (k1 + 1.0) * tf / (k1 * (1.0 - b + b * dl / avgdl) + tf)
    return (k3 + 1.0) * qtf / (k3 + qtf) * idf * weight


@inlined
def dfiz(tf, dl, df, cf, n_documents, tokens, avgdl, qtf):
    """Kocabas, Dincer & Karaoglan: how far tf lies above its expectation; 0 at or below it."""
    expected = cf * dl / tokens
    if tf <= expected:
        return 0.0
    return qtf * log2((tf - expected) / math.sqrt(expected) + 1.0)


@inlined
def dfree(tf, dl, df, cf, n_documents, tokens, avgdl, qtf):
    """Amati: the work of one more occurrence in a document of one more token."""
    prior = tf / dl
    posterior = (tf + 1.0) / (dl + 1.0)
    ratio = log2(posterior / prior)
    inverse = tokens / cf
    gain = -tf * log2(prior * inverse) + (tf + 1.0) * log2(posterior * inverse) + 0.5 * ratio
    return qtf * tf * ratio * gain


@inlined
def dirichlet_lm(tf, dl, df, cf, n_documents, tokens, avgdl, qtf, mu):
    """Zhai & Lafferty; the topic's weight is 1 however often it has the unit."""
    return log2(1.0 + tf / (mu * (cf / tokens))) + log2(mu / (dl + mu))


@inlined
def dlh(tf, dl, df, cf, n_documents, tokens, avgdl, qtf):
    """Amati: hypergeometric, normalised by tf + 1/2."""
    f = _share(tf, dl)
    gain = tf * log2(tf * avgdl / dl * (n_documents / cf)) + (dl - tf) * log2(1.0 - f)
    return qtf * (gain + 0.5 * log2(TWO_PI * tf * (1.0 - f))) / (tf + 0.5)


@inlined
def dph(tf, dl, df, cf, n_documents, tokens, avgdl, qtf):
    """Amati: hypergeometric, Popper's normalisation."""
    f = _share(tf, dl)
    norm = (1.0 - f) * (1.0 - f) / (tf + 1.0)
    gain = tf * log2(tf * avgdl / dl * (n_documents / cf))
    return qtf * norm * (gain + 0.5 * log2(TWO_PI * tf * (1.0 - f)))


@inlined
def hiemstra_lm(tf, dl, df, cf, n_documents, tokens, avgdl, qtf, share):
    """Hiemstra: a mixture, `share` the document's part and the collection's the rest."""
    return qtf * log2(1.0 + share * tf * tokens / ((1.0 - share) * cf * dl))


@inlined
def ifb2(tf, dl, df, cf, n_documents, tokens, avgdl, qtf, c):
    """Amati & van Rijsbergen: inverse cf."""
    tfn = _normalised(tf, dl, avgdl, c)
    return qtf * tfn * _idf(n_documents, cf) * _bernoulli(tfn, df, cf)


@inlined
def inb2(tf, dl, df, cf, n_documents, tokens, avgdl, qtf, c):
    """Amati & van Rijsbergen: inverse df."""
    tfn = _normalised(tf, dl, avgdl, c)
    return qtf * tfn * _idf(n_documents, df) * _bernoulli(tfn, df, cf)


@inlined
def inl2(tf, dl, df, cf, n_documents, tokens, avgdl, qtf, c):
    """Inverse df with the after-effect of Laplace."""
    tfn = _normalised(tf, dl, avgdl, c)
    return qtf * tfn * _idf(n_documents, df) / (tfn + 1.0)


@inlined
def in_expb2(tf, dl, df, cf, n_documents, tokens, avgdl, qtf, c):
    """Like InB2, with the df that cf occurrences thrown at random would have."""
    tfn = _normalised(tf, dl, avgdl, c)
    expected = n_documents * (1.0 - math.exp(-cf / n_documents))
    return qtf * tfn * _idf(n_documents, expected) * _bernoulli(tfn, df, cf)


@inlined
def js_kls(tf, dl, df, cf, n_documents, tokens, avgdl, qtf):
    """Amati: product of Jeffreys' and Kullback-Leibler's divergence."""
    rise = log2((tf + 1.0) / tf)
    j = dl / (dl + 1.0) * (1.0 - tf / dl) * rise
    return qtf * tf * j * (log2((tf + 1.0) / (dl + 1.0) * (tokens / cf)) + tf * rise)


@inlined
def lemur_tf_idf(tf, dl, df, cf, n_documents, tokens, avgdl, qtf, k1, b):
    """Zhai's tf.idf: idf counts in the document and in the topic."""
    idf = log2(n_documents / df)
    return qtf * _robertson(tf, dl, avgdl, k1, b) * idf * idf


@inlined
def lgd(tf, dl, df, cf, n_documents, tokens, avgdl, qtf, c):
    """Clinchant & Gaussier: log-logistic."""
    share = df / n_documents
    return qtf * log2((share + _normalised(tf, dl, avgdl, c)) / share)


@inlined
def pl2(tf, dl, df, cf, n_documents, tokens, avgdl, qtf, c):
    """Poisson with mean cf / N, after-effect of Laplace."""
    tfn = _normalised(tf, dl, avgdl, c)
    mean = cf / n_documents
    gain = (
        tfn * log2(1.0 / mean)
        + mean * LOG2_E
        + 0.5 * log2(TWO_PI * tfn)
        + tfn * (log2(tfn) - LOG2_E)
    )
    return qtf * gain / (tfn + 1.0)


@inlined
def tf_idf(tf, dl, df, cf, n_documents, tokens, avgdl, qtf, k1, b):
    """Robertson's tf and Spärck Jones's idf."""
    return qtf * _robertson(tf, dl, avgdl, k1, b) * log2(n_documents / df + 1.0)


@inlined
def weight(tf, dl, df, cf, n_documents, tokens, avgdl, qtf):
    """Stands for a model's kernel until `specialised` puts one in its place."""
    return 0.0
