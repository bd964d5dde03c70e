"""Equations 12 and 13 of Lin & Hauptmann (SIGIR 2005): why error rates decay exponentially.

For `steadyrank.papers.lin2005.exhibits`: the rate by Williams' approximation of the normal
distribution, as it must be and as eq. 12 prints it, beside the exact rate of eq. 8.
"""

from __future__ import annotations

import math

import numpy as np

from steadyrank.papers.model import Exhibit, claim, page_figure, page_table
from steadyrank.present.page import PageFigure
from steadyrank.present.plot_style import COLOURS
from steadyrank.stats.planning.reversal import approximate_error_rate, error_rate

LARGEST_GAP = 0.0058
"""Between eq. 8 and eq. 13."""


def equation_13() -> Exhibit:
    """Eq. 13 and its derivation, with eq. 12 as it is printed and as it must be."""
    z = np.arange(0.0, 4.001, 0.01)
    exact, approximate = error_rate(z, 1.0, 1.0), approximate_error_rate(z, 1.0, 1.0)
    derived, misprinted = rate_by_williams(z, 2.0 / math.pi), rate_by_williams(z, 1.0 / math.pi)
    gap = float(np.max(np.abs(exact - approximate)))
    tabled = np.isin(np.round(z, 2), (0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0))
    table = page_table(
        "equation-13",
        "Error rates at a difference of z standard errors",
        ("z", "eq. 8", "eq. 13", "from eq. 12 corrected", "from eq. 12 as printed"),
        zip(
            *(rates[tabled].tolist() for rates in (z, exact, approximate, derived, misprinted)),
            strict=True,
        ),
    )
    return Exhibit(
        id="equation-13",
        title="Why the decay is exponential",
        tables=(table,),
        figures=(_curves(z, exact, approximate, misprinted),),
        claims=(
            claim(
                f"Eq. 13 is within {LARGEST_GAP} of eq. 8",
                gap <= LARGEST_GAP,
                f"largest distance {gap:.5f}",
            ),
            claim(
                "Eq. 13 follows from Williams' approximation",
                np.allclose(derived, approximate, rtol=0, atol=1e-12),
                "erf(x) ≈ sqrt(1 − exp(−4x²/π))",
            ),
            claim(
                "Eq. 13 follows from eq. 12 as printed",
                np.allclose(misprinted, approximate, rtol=0, atol=1e-12),
                f"off by up to {float(np.max(np.abs(misprinted - approximate))):.3f}",
            ),
            claim(
                "Error rates lie between 0 and 1/2",
                bool((exact >= 0).all() and (exact <= 0.5).all()),
            ),
        ),
        explanation=(
            "Eq. 12 prints 2x²/π where Williams has 4x²/π; eq. 13 rests on the latter. Where rates "
            "are tiny eq. 13 is too small by orders of magnitude, which matters to nobody."
        ),
        results={"z": z, "eq. 8": exact, "eq. 13": approximate, "eq. 12": derived},
    )


def rate_by_williams(z: np.ndarray, factor: float) -> np.ndarray:
    """2 p (1 - p) with p = Phi(-z) by (1 + sqrt(1 - exp(-factor z²))) / 2 for Phi(z).

    >>> rate_by_williams(np.array([0.0, 1.0]), 2 / math.pi).round(4).tolist()
    [0.5, 0.2645]
    """
    right = 0.5 * (1.0 + np.sqrt(-np.expm1(-factor * z**2)))
    return np.asarray(2.0 * right * (1.0 - right))


def _curves(z: np.ndarray, *curves: np.ndarray) -> PageFigure:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6.4, 3.6), layout="constrained")
    ax = figure.add_subplot()
    labels = ("eq. 8", "eq. 13", "from eq. 12 as printed")
    for place, (label, curve) in enumerate(zip(labels, curves, strict=True)):
        style = ("-", "--", ":")[place]
        ax.plot(z, curve, label=label, color=COLOURS[place], linestyle=style, linewidth=1.4)
    ax.set_xlabel("difference in standard errors")
    ax.set_ylabel("error rate")
    ax.set_xlim(0, 4)
    ax.set_ylim(0, 0.52)
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(color="#dddddd", linewidth=0.6)
    ax.legend(frameon=False, fontsize="small")
    alt = (
        "Error rate against the difference in standard errors, from one half down to zero: eq. 8 "
        "and eq. 13 almost coincide, the curve from eq. 12 as printed lies above them."
    )
    return page_figure("equation-13-figure", "Eq. 8 and its approximation", figure, alt=alt)
