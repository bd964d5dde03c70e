"""What each kind of figure shows, in a sentence: for those who do not see it, and for captions.

Sentences name the sizes and the main numbers of the result, so that the figure's message does not
need the figure. `steadyrank.present.svg.alt_text` finds them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

Words = Callable[[Any], str]


def _runs(result: Any) -> str:
    return f"{len(result.runs)} runs"


def _best(result: Any) -> str:
    return str(result.runs[int(np.nanargmax(result.mean))])


def _measures(result: Any) -> str:
    return f"{len(result.measures)} measures"


def _margin(result: Any) -> str:
    found = getattr(result, "comparisons", (result,))
    shown = sum(each.equivalence.non_inferior for each in found)
    return (
        f"Differences in {found[0].measure} of {len(found)} comparisons of systems with intervals, "
        f"and the margin {found[0].equivalence.delta:g}: {shown} are shown to be no worse by it."
    )


def _instance_means(result: Any) -> str:
    found = getattr(result, "comparisons", (result,))
    return (
        f"Mean {found[0].measure} of each instance as points and boxes, a box for each system or "
        "setting; single runs are lines."
    )


def _instance_topics(result: Any) -> str:
    found = getattr(result, "comparisons", (result,))
    return (
        f"Range, quartiles and median of {found[0].measure} over one system's instances on each of "
        f"{found[0].n_topics} topics, by median."
    )


def _anova(result: Any) -> str:
    strongest = max(result.factors, key=lambda name: result.anova.source(name).omega_squared)
    return (
        f"Bars of the share of variance in {result.measure} that each component and interplay "
        f"explains; the component that explains most is {strongest}."
    )


def _stability(result: Any) -> str:
    own = result.coefficients[0]
    return (
        f"Stability of {result.measure} against the number of topics with an interval: with "
        f"{own.topics} topics E rho² is {own.e_rho2:.2f} and Phi {own.phi:.2f}."
    )


def _plan(result: Any) -> str:
    what = "Power" if result.against == "topics" else "Number of topics"
    return f"{what} against {result.against.replace('_', ' ')}, a curve for each measure."


WORDS: dict[tuple[str, str], Words] = {
    ("SimulateResult", "error_rate"): lambda r: (
        f"Error rate of two runs' order in {r.n_samples:,} simulated collections against the "
        f"difference of their mean {r.measure}, falling from {r.error_rate.rate[0]:.2f} for the "
        "smallest differences."
    ),
    ("SimulateResult", "ranks"): lambda r: (
        f"Ranks of {_runs(r)} by {r.measure} with intervals over simulated collections, best first."
    ),
    ("SimulateResult", "topics"): lambda r: (
        f"Simulated {r.measure} of one run on {len(r.topics)} topics, mean and standard deviation, "
        "against the real one, with a diagonal."
    ),
    ("SimulateResult", "means"): lambda r: (
        f"Real mean {r.measure} of {_runs(r)}, and mean and deviation over simulated collections."
    ),
    ("SimulateResult", "tau"): lambda r: (
        "Histogram of the rank correlation between simulated and real rankings, with mean "
        f"{r.rank_correlation.mean:.3f}."
    ),
    ("SimulateResult", "significance"): lambda r: (
        "How often each pair of runs differs significantly in simulated collections, pairs sorted: "
        f"{r.significance.reliably_share:.0%} of them reliably, "
        f"{r.significance.rarely_share:.0%} rarely."
    ),
    ("CompareResult", "intervals"): lambda r: (
        f"Differences in mean {r.measure} of {len(r.runs) - 1} runs to {r.baseline or _best(r)} "
        "with intervals, significant ones in another colour and shape."
    ),
    ("CompareResult", "differences"): lambda r: (
        f"The p-values of {len(r.pairs):,} pairs of runs against their difference in mean "
        f"{r.measure}; {r.significant_share:.0%} are significant."
    ),
    ("CompareResult", "asl"): lambda r: (
        f"The p-values of {len(r.pairs):,} pairs of runs by {r.measure} from the largest down, "
        f"with and without correction, and the level {r.alpha:g}."
    ),
    ("CompareResult", "heatmap"): lambda r: (
        f"Heat map of {len(r.pairs):,} pairs of runs by {r.measure}, best runs first, shaded by "
        "p-value or difference."
    ),
    ("CompareResult", "ranks"): lambda r: (
        f"Ranks of {_runs(r)} by mean {r.measure} with intervals over topic sets drawn anew; "
        f"{_best(r)} is first."
    ),
    ("DiscriminativePower", "asl"): lambda r: (
        f"The p-values of {len(r.pvalues):,} pairs of runs by {r.measure} from the largest down; "
        f"{r.share:.0%} of the pairs are told apart."
    ),
    ("Scores", "means"): lambda r: (
        f"Means of {_runs(r)} over {len(r.topics)} topics with intervals, best first."
    ),
    ("Scores", "heatmap"): lambda r: (
        f"Heat map of the scores of {_runs(r)} on {len(r.topics)} topics, best runs on top and "
        "easiest topics on the left."
    ),
    ("AuditResult", "rates"): lambda r: (
        f"How often {len(r.tests)} tests reject without a difference, where {r.alpha:g} is "
        "promised, and how often with the differences that there are."
    ),
    ("TopicsResult", "error_rate"): lambda r: (
        "Rate at which two sets of topics contradict each other against their size, falling, a "
        "colour for each size of the difference: observed, fitted and by theory."
    ),
    ("TopicsResult", "theory"): lambda r: (
        "Error rate by theory against the number of topics, a colour for each size of the "
        "difference: exact, by its exponential approximation, and predictive."
    ),
    ("TopicsResult", "pairs"): lambda r: (
        f"Chance that as many other topics reverse each of {len(r.pairs):,} pairs of runs against "
        f"their difference in mean {r.measure}, with the target {r.target:g}."
    ),
    ("TopicsResult", "variances"): lambda r: (
        f"Variance of the difference in mean {r.measure} by its size, on shared topics and as if "
        "each run had its own."
    ),
    ("AgreeResult", "sizes"): lambda r: (
        "Mean tau and tau_AP of two measures with intervals and bands against the number of "
        f"systems, in {len(r.topic_sizes)} panels by the number of topics."
    ),
    ("AgreeResult", "topics"): lambda r: (
        "Mean tau and tau_AP of two measures with intervals and bands against the number of "
        f"topics, in {len(r.system_sizes)} panels by the number of systems."
    ),
    ("AgreeResult", "pairs"): lambda r: (
        f"Mean tau and tau_AP of {len(r.pairs)} pairs of measures, each centred: the two curves "
        f"differ by {r.rmse:.4f} (root mean square)."
    ),
    ("AgreeResult", "ranks"): lambda r: (
        f"Ranks of {len(r.pairs)} pairs of measures by tau on the left and by tau_AP on the right, "
        f"joined by lines, of which {len(r.swaps)} pairs cross."
    ),
    ("AgreeResult", "effects"): lambda r: (
        "Bars of the share of variance in tau and tau_AP that measure pair, topic size, system "
        "size and their interplay explain."
    ),
    ("AgreeResult", "measures"): lambda r: (
        f"Heat map of tau between {_measures(r)} with a dendrogram and bars of how many pairs of "
        "systems each tells apart."
    ),
    ("ComponentsResult", "levels"): lambda r: (
        f"Mean {r.measure} of the levels of {', '.join(r.factors)} with Tukey's intervals, best "
        "first."
    ),
    ("ComponentsResult", "effects"): _anova,
    ("InstancesResult", "margin"): _margin,
    ("InstancesTable", "margin"): _margin,
    ("InstancesResult", "means"): _instance_means,
    ("InstancesTable", "means"): _instance_means,
    ("InstancesResult", "topics"): _instance_topics,
    ("InstancesTable", "topics"): _instance_topics,
    ("InstanceSpread", "means"): lambda r: (
        f"Mean scores of the instances of {len(r.systems)} systems as points and boxes."
    ),
    ("InstanceSpread", "topics"): lambda r: (
        f"Range, quartiles and median over one system's instances on each of {r.topics.shape[1]} "
        "topics, by median."
    ),
    ("SingleInstanceShares", "shares"): lambda r: (
        "Heat map of the share of instances that differ significantly from a baseline, over mean "
        f"and deviation of the instance effect, from {float(r.share.min()):.0%} to "
        f"{float(r.share.max()):.0%}."
    ),
    ("EquivalenceIntervals", "intervals"): lambda r: (
        "Intervals of a difference that is zero against the number of topics, narrowing towards "
        f"the margin {r.delta:g}: {float(r.inside.mean()):.0%} lie within it."
    ),
    ("MethodPvalues", "agreement"): lambda r: (
        f"The p-values of two tests on {r.pvalues.shape[1]:,} comparisons against each other, with "
        "a diagonal."
    ),
    ("MethodPvalues", "descending"): lambda r: (
        f"The p-values of {len(r.methods)} tests on {r.pvalues.shape[1]:,} comparisons, each from "
        "the largest down."
    ),
    ("Contradictions", "directions"): lambda r: (
        f"Bars of how many instances of {len(r.systems)} systems are significantly better, to the "
        "right, and worse, to the left, than a baseline."
    ),
    ("PoolPvalues", "pools"): lambda r: (
        f"Boxes of p-values of {r.pvalues.shape[2]} resampled pools against the number of "
        "instances in a pool: the more instances, the less they scatter."
    ),
    ("ErrorRates", "rates"): lambda r: (
        f"How often {len(r.tests)} tests of instances reject, with errors, beside the level "
        f"{r.alpha:g}."
    ),
    ("PlanCurve", "curve"): _plan,
    ("PlanResult", "curves"): lambda r: (
        f"Topics that {len(r.plans)} measures need against what is asked for, and their power "
        "against topics, with the plan marked on each curve."
    ),
    ("PlanResult", "curve"): lambda r: (
        f"One curve of the plan for each of {len(r.plans)} measures, with the plan marked on it."
    ),
    ("StabilityResult", "coefficients"): _stability,
    ("StabilityResult", "e_rho2"): _stability,
    ("StabilityResult", "phi"): _stability,
    ("StabilityTable", "coefficients"): lambda r: (
        f"E rho² and Phi against the number of topics with intervals, a row of panels for each of "
        f"{len(r.results)} measures."
    ),
    ("PowerTable", "power"): lambda r: (
        f"Power against the number of instances, a line for each of {len(r.topics)} numbers of "
        "topics, with the power that no number of instances exceeds."
    ),
    ("InstancePlan", "power"): lambda r: (
        "Power against the number of instances, a line for each of some numbers of topics, with "
        "the cheapest design in a ring: " + r.words()[0]
    ),
    ("PoolsResult", "variance"): lambda r: (
        f"Variance of {_measures(r)} with intervals against how many of {len(r.teams)} teams are "
        "left out, beside the one by all data."
    ),
    ("PoolsResult", "topics"): lambda r: (
        "Topics needed by the variances of pilot data against how many of "
        f"{len(r.teams)} teams are left out, beside those by all data."
    ),
    ("PoolsResult", "bias"): lambda r: (
        f"Mean scores of {_runs(r)} by all judgments and without the documents that only their own "
        "team found."
    ),
    ("PoolsResult", "similarity"): lambda r: (
        f"Heat map of tau between the rankings of {_runs(r)} by {_measures(r)}."
    ),
}
"""Class of a result and kind of its figure to what the figure shows."""
