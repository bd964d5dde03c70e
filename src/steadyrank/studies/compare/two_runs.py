"""What `compare` knows of every two runs: it opens the panel in which two are picked."""

from __future__ import annotations

import numpy as np

from steadyrank.present.cells import most_columns
from steadyrank.present.latex import escape_latex
from steadyrank.stats.pairs.decisions import turned
from steadyrank.stats.pairs.result import TOO_FEW
from steadyrank.stats.run_means import SAME_MEAN
from steadyrank.studies.compare.result import CompareResult
from steadyrank.studies.compare.view import Results
from steadyrank.studies.part import Findings
from steadyrank.studies.two_runs import (
    TwoRuns,
    count_texts,
    decided,
    pvalue_texts,
    signed_texts,
    values_at,
)

MOST_PICKED = 150
"""Runs of which two can be picked; of more, the best."""

DECISIONS = {
    "better": "{a} is significantly better than {b} by mean {measure}",
    "worse": "{b} is significantly better than {a} by mean {measure}",
    "open": "{a} is not significantly different from {b} by mean {measure}",
    "equal": "{a} and {b} have the same mean {measure}",
    "unknown": "{a} and {b} share too few topics to be compared by mean {measure}",
    "untested": "{a} and {b} were not compared with each other, only with the baseline",
}


def two_runs(results: Results, findings: Findings) -> TwoRuns:
    """The panel with what the tests say, by the measure that ranks the runs and by the others."""
    main, n_runs = results[0], len(findings.material.scores.runs)
    order, omitted = _picked(main, n_runs)
    sure, tested, clusters = f"{1 - main.alpha:.0%}", main.tested_words(), main.design.clusters
    panel = TwoRuns(
        order=order,
        omitted=omitted,
        measure=main.measure,
        topics=main.topics,
        scores=main.scores[[main.runs.index(run) for run in order]],
        units=() if clusters is None else clusters.tolist(),
        sentence=(
            "{decision}: difference {difference}, "
            f"{sure} interval {{low}} to {{high}}, {{corrected}} ({tested}, {{n}} topics)."
        ),
        latex=(
            "{decision}: difference ${difference}$, "
            f"{escape_latex(sure)} interval $[{{low}}, {{high}}]$, "
            f"${{corrected}}$ ({tested}, {{n}} topics)."
        ),
    )
    _add_comparison(panel, main)
    for i, result in enumerate(results[1:], start=2):
        place, sign = panel.aligned(result.runs, result.pairs)
        panel.add(
            f"By {result.measure}",
            f"{{difference{i}}}, {{decided{i}}}",
            **{
                f"difference{i}": signed_texts(sign * values_at(result.difference, place), "+.3f"),
                f"decided{i}": decided(result.significant, result.pvalue_adjusted, place),
            },
        )
    return panel


def _picked(result: CompareResult, n_runs: int) -> tuple[list[str], str]:
    """The runs that can be picked, best first, so few that the page stays light; who is omitted."""
    order = [result.runs[run] for run in result.order]
    n_best = min(MOST_PICKED, most_columns(len(result.topics)))
    rest = [run for run in order[n_best:] if run == result.baseline]
    picked = order[:n_best] + rest
    if len(picked) == n_runs:
        return picked, ""
    best = f"the best {n_best:,}{' and the baseline' if rest else ''}"
    return picked, f"Of {n_runs:,} runs, {best} can be picked."


def _add_comparison(panel: TwoRuns, result: CompareResult) -> None:
    place, sign = panel.aligned(result.runs, result.pairs)
    ends = turned(values_at(result.interval, place), sign)
    wins, losses = (
        values_at(counts, place) for counts in (result.effects.wins, result.effects.losses)
    )
    decisions = [_decision(result, p, s) for p, s in zip(place, sign, strict=True)]
    panel.fields["measure"] = [result.measure] * len(place)
    panel.fields["decision"] = [DECISIONS[decision] for decision in decisions]
    sure = f"{1 - result.alpha:.0%} interval"
    panel.add(
        f"Difference in mean {result.measure}",
        f"{{difference}} ({sure} {{low}} to {{high}}: {result.interval_kind})",
        difference=signed_texts(sign * values_at(result.difference, place)),
        low=signed_texts(ends[:, 0]),
        high=signed_texts(ends[:, 1]),
    )
    panel.add(
        "Test",
        f"{{corrected}} ({result.tested_words()}, alpha {result.alpha:g}); "
        "{uncorrected} for this pair alone",
        corrected=pvalue_texts(values_at(result.pvalue_adjusted, place)),
        uncorrected=pvalue_texts(values_at(result.pvalue, place)),
    )
    panel.add(
        "Effect size",
        "d = {effect}: the mean difference in standard deviations of the topics’ differences",
        effect=signed_texts(sign * values_at(result.effects.paired_d, place), "+.2f"),
    )
    panel.add(
        "By topic",
        "{a} is better on {wins}, {b} on {losses}, equal on {ties} of {n} topics",
        wins=count_texts(np.where(sign > 0, wins, losses)),
        losses=count_texts(np.where(sign > 0, losses, wins)),
        ties=count_texts(values_at(result.effects.ties, place)),
        n=count_texts(values_at(result.n, place)),
    )
    units = "topics" if result.n_clusters is None else "clusters"
    carried = values_at(np.where(result.fragility > 0, result.fragility, np.nan), place)
    panel.add(
        "Carried by",
        f"{{carry}} {units}: without them the lead is gone",
        carry=count_texts(carried),
    )


def _decision(result: CompareResult, place: int, sign: float) -> str:
    if place < 0:
        return "untested"
    ahead = sign * result.difference[place]
    if result.flag[place] == TOO_FEW:
        return "unknown"
    if result.significant[place]:
        return "better" if ahead > 0 else "worse"
    return "equal" if abs(ahead) <= SAME_MEAN else "open"
