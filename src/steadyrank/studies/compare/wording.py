"""Words about a comparison: its test, correction, family and topics, and the caption of its tables.

`compare`'s tables, sentences and pages all take these words from here.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from steadyrank._version import __version__
from steadyrank.stats.facets.pairs import FEWEST_JUDGES, METHOD, METHOD_FIXED
from steadyrank.stats.pairs.result import TOO_FEW
from steadyrank.words import MISSING, counted, listed, weighted_words

if TYPE_CHECKING:
    from steadyrank.studies.compare.result import CompareResult

SIMULTANEOUS = ("tukey", "randomized-tukey")
"""Tests whose p-values hold for all pairs together, so that no correction is needed."""

CORRECTIONS = {
    "none": "no correction",
    "holm": "Holm's correction",
    "bh": "Benjamini and Hochberg's correction",
    "bonferroni": "Bonferroni's correction",
    "maxt": "max-t correction by sign flips",
}

TESTS = {
    "t": "Student's paired t test",
    "welch": "Welch's t test of two samples",
    "wilcoxon": "Wilcoxon's signed-rank test",
    "sign": "sign test",
    "randomization": "paired randomisation test",
    "bootstrap": "studentized bootstrap test",
    "tukey": "Tukey's HSD test",
    "randomized-tukey": "randomised Tukey HSD test",
    "mixed": "mixed model with random topics and instances",
}

CLUSTERED_TESTS = {
    "t": "paired t test with robust standard errors over {}",
    "randomization": "paired randomisation test of {}",
    "bootstrap": "studentized bootstrap test of {}",
}
"""Tests of clustered or weighted topics; the braces hold "clusters" or "weighted topics"."""


def test_words(result: CompareResult) -> str:
    """Return the name of the test."""
    if result.test == "mixed" and result.judges:
        return METHOD_FIXED if result.judges_fixed else METHOD
    drawn = "" if result.correction == "maxt" else _drawn_words(result)
    if result.test in (*SIMULTANEOUS, "mixed"):
        return TESTS[result.test] + drawn
    name, of_units = TESTS[result.test], ""
    if not result.design.is_plain:
        units = "weighted topics" if result.n_clusters is None else "clusters"
        name, of_units = CLUSTERED_TESTS[result.test].format(units), f" over {units}"
    if result.is_corrected_t:
        floor = " and a variance floor" if len(result.runs) > 2 else ""
        return f"paired t test{of_units} with skewness-corrected limits{floor}"
    return f"{name}, two-sided{drawn}"


def tested_words(result: CompareResult) -> str:
    """Return the name of the test and its correction, in short."""
    name = "corrected t" if result.is_corrected_t else TESTS[result.test]
    if not result.is_corrected:
        return name
    corrected = "max-t" if result.correction == "maxt" else CORRECTIONS[result.correction]
    return f"{name}, {corrected} over {counted(result.n_comparisons, 'comparison')}"


def topics_words(result: CompareResult, dropped: str = "") -> str:
    """Return the number of topics and clusters, and how many equally weighted topics they equal."""
    clusters = "" if result.n_clusters is None else f" in {counted(result.n_clusters, 'cluster')}"
    weights = weighted_words(result.effective_topics)
    return f"{counted(result.n_topics, 'topic')}{dropped}{clusters}{weights}"


def family_words(result: CompareResult, per: str = "") -> str:
    """Return which p-values were corrected together; `per` as in " per measure"."""
    enough = " with enough topics" if (result.flag == TOO_FEW).any() else ""
    kind = f"all pairs{enough}"
    if result.baseline is not None:
        kind = f"all {result.row_word}s{enough} against {result.baseline}"
    over = f" in {result.n_segments} segments" if result.n_segments > 1 else ""
    return f"{counted(result.n_comparisons, 'comparison')}{per}, {kind}{over}"


def correction_words(result: CompareResult, per: str = "") -> str:
    """Return the correction, its family, and how many samples it draws."""
    if result.test in SIMULTANEOUS:
        kind = "all pairs" if result.baseline is None else f"all {result.row_word}s"
        return f"simultaneous for {kind}{per}"
    if result.n_comparisons <= 1:
        return f"{family_words(result, per)}, uncorrected"
    drawn = _drawn_words(result) if result.correction == "maxt" else ""
    return f"{CORRECTIONS[result.correction]} over {family_words(result, per)}{drawn}"


def _drawn_words(result: CompareResult) -> str:
    """Return how many samples the test or the correction draws, and from which seed."""
    if result.n_samples and result.exact:
        return f", all {result.n_samples:,} sign patterns"
    return f", {result.n_samples:,} samples, seed {result.seed}" if result.n_samples else ""


def instances_words(result: CompareResult) -> str:
    """Return how many runs each system has; an empty string where rows are runs."""
    if not result.n_instances:
        return ""
    fewest, most = min(result.n_instances), max(result.n_instances)
    if fewest == most:
        return counted(most, "instance") + " per system"
    return f"{fewest} to {most} instances per system"


def by_judges(result: CompareResult) -> str:
    """Return " by gpt alone" where a result holds for one or two judges only; else ""."""
    few = 0 < len(result.judges) < FEWEST_JUDGES
    return f" by {listed(result.judges)} alone" if few else ""


def row_name(result: CompareResult, row: int) -> str:
    """Return the name of a row, with "baseline" and the number of its runs where this varies."""
    said = ["baseline"] if result.runs[row] == result.baseline else []
    if len(set(result.n_instances)) > 1:
        said.append(counted(result.n_instances[row], "run"))
    return f"{result.runs[row]} ({', '.join(said)})" if said else result.runs[row]


def few_words(result: CompareResult) -> str:
    """Return the key to dashes among the differences; an empty string where there are none."""
    return f"{MISSING}: too few topics." if (result.flag == TOO_FEW).any() else ""


def gaps_words(result: CompareResult) -> str:
    """Return how missing scores are treated; an empty string where none is missing."""
    if not result.n_missing:
        return ""
    n_judges = len(result.judges)
    n_rows = sum(result.n_instances) or len(result.runs)
    total = n_rows * result.n_topics * max(1, n_judges)
    if n_judges > 1:
        return (
            f"{result.n_missing:,} of {total:,} grades are missing: each judge's level is "
            "estimated from all topics and removed."
        )
    treated = f"{result.row_word}s are ranked by least-squares means, pairs tested on shared topics"
    if result.test == "welch":
        treated = "runs were measured on different topics"
    return f"{result.n_missing:,} of {total:,} scores are missing: {treated}."


def rank_words(result: CompareResult) -> str:
    """Return the confidence of the rank sets, or why they have none."""
    if result.is_familywise:
        return f"{1 - result.alpha:.0%} confidence for each {result.row_word}"
    if result.correction == "bh":
        return "with a false discovery rate of alpha instead of a confidence level"
    return "by uncorrected decisions, hence too narrow"


def caption(result: CompareResult) -> str:
    """Return the caption of a table: test, correction, alpha, numbers, seed, version."""
    dropped = f" ({result.n_dropped} dropped)" if result.n_dropped else ""
    more = f"; {instances_words(result)}" if result.n_instances else ""
    if len(result.judges) == 1:
        more += f"; judge {result.judges[0]} alone"
    elif result.judges:  # a sample of judges is in the name of the model
        more += f"; {counted(len(result.judges), 'judge')}{', fixed' * result.judges_fixed}"
    if not math.isnan(result.design_effect):
        more += f"; design effect {result.design_effect:.2f}"
    how = f"{test_words(result)}, {correction_words(result)}"
    if result.is_corrected_t and result.n_comparisons > 1:
        # `describe` has it in full; a caption has two lines.
        how = f"corrected t, max-t over {family_words(result)}{_drawn_words(result)}"
    n = f"{topics_words(result, dropped)}{more}; steadyrank {__version__}"
    return f"{result.measure}: {how}; alpha {result.alpha:g}; {n}."
