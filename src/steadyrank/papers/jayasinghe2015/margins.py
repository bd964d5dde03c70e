"""Figures 12 and 13 of Jayasinghe et al. (IP&M 2015) on the systems at hand, and its effect sizes.

Which setting is not worse than the deterministic system, or than another setting, by a margin that
matters; and how large a difference is, by two definitions.
"""

from __future__ import annotations

from steadyrank.papers.jayasinghe2015.data import InstanceData
from steadyrank.papers.jayasinghe2015.observed import Tables, named, rises
from steadyrank.papers.model import Claim, Exhibit
from steadyrank.papers.parts import claim, listed, page_table, result_figure
from steadyrank.present.page import PageFigure
from steadyrank.present.table import Table
from steadyrank.studies.instances.result import InstancesResult, InstancesTable

EFFECTS = {"nDCG@10": (0.52, "medium"), "P@10": (0.41, "small")}
"""Effect sizes on ClueWeb09B at a rate of 0.1%, and the paper's words for them."""

SMALLEST = {"TREC GOV2": "1%", "ClueWeb09B": "0.05%"}
"""The smallest rate that is not worse by 0.01, nDCG@10 (Figure 12)."""

WORDS = ((0.8, "large"), (0.5, "medium"), (0.2, "small"), (0.0, "negligible"))


def _interval_table(name: str, table: InstancesTable) -> Table:
    header = (
        table.sweep or "system",
        "difference",
        "interval (HPD)",
        "by the interval",
        "p, mixed",
        "p, as in the paper",
    )
    rows = [
        (
            label,
            comparison.difference,
            comparison.hpd or comparison.interval,
            comparison.hpd_verdict,
            comparison.pvalue["mixed"],
            comparison.pvalue["mixed_paper"],
        )
        for label, comparison in named(table)
    ]
    caption = f"{table.measure}, difference to {table.baseline}; margin {table.delta:g}"
    return page_table(name, caption, header, rows)


def figure_12(tables: Tables) -> Exhibit:
    """Intervals of the difference to the deterministic system, with the margin."""
    main = next(iter(tables.values()))
    verdicts = [comparison.hpd_verdict for comparison in main.comparisons]
    good = [verdict in ("better", "not worse") for verdict in verdicts]
    return Exhibit(
        id="figure-12",
        title="Intervals of the difference to the deterministic system",
        figures=tuple(
            result_figure(f"figure-12-{k}", f"{measure}, 95% HPD intervals", table, "margin")
            for k, (measure, table) in enumerate(tables.items())
        ),
        tables=(
            *(
                _interval_table(f"figure-12-{k}-data", table)
                for k, table in enumerate(tables.values())
            ),
            _smallest_table(main),
        ),
        claims=(
            *(_rising_claim(measure, table) for measure, table in tables.items()),
            claim(
                "The smallest rate is consequentially worse, a larger one is shown not to be.",
                verdicts[0] == "worse" and any(good) if main.sweep else None,
                ", ".join(map(str, verdicts)),
            ),
        ),
        explanation="The intervals are of two-way random effects, so they allow for other "
        "instances; the paper's crossed model would make them too narrow. The paper writes the "
        "margin as a signed δ and puts the hypotheses so that only a gain above it would be shown; "
        "the margin here is −δ, as its Figure 12 has it. The smallest setting is sought from the "
        "largest down, so that the claim holds at its level. A θ% HPD interval holds θ% of the "
        "posterior, not 1 − θ%. Instances that share a sample or a partition are fewer than they "
        "look: see `instance_factors` of `instances`.",
    )


def _rising_claim(measure: str, table: InstancesTable) -> Claim:
    lows = [(comparison.hpd or comparison.interval)[0] for comparison in table.comparisons]
    text = f"The interval's lower end rises with the rate ({measure})."
    return claim(text, rises(table, lows), listed(lows, 4))


def _smallest_table(table: InstancesTable) -> Table:
    rows = [("here", table.measure, table.smallest_non_inferior if table.sweep else None)]
    rows += [(f"{name}, printed", "nDCG@10", rate) for name, rate in SMALLEST.items()]
    caption = "Smallest setting that is not worse by the margin"
    return page_table("figure-12-smallest", caption, ("", "measure", "setting"), rows)


def equation_8(tables: Tables) -> Exhibit:
    """Two effect sizes that the paper calls by one name."""
    rows, both = [], []
    for measure, table in tables.items():
        for name, comparison in named(table):
            pair = (comparison.effect_size_paired, comparison.effect_size)
            both.append(pair)
            rows.append((measure, name, *pair, *(size_word(effect) for effect in pair)))
    apart = max(abs(one - two) for one, two in both)
    header = (
        "measure",
        "setting",
        "eq. (8): over sd(z)",
        "over the residual sd",
        "in words",
        "in words, residual",
    )
    return Exhibit(
        id="equation-8",
        title="Effect size: as defined, and as used in the results",
        tables=(page_table("equation-8", "Effect sizes", header, rows, digits=3),),
        claims=(
            claim(
                "The effect size of eq. (8) is the one that the results use (within 0.05).",
                apart < 0.05,
                f"up to {apart:.2f} apart; {sum(row[4] != row[5] for row in rows)} of {len(rows)} "
                "have another word",
            ),
            claim(
                "The printed effect sizes have the words that the rule of thumb gives them.",
                all(size_word(value) == word for value, word in EFFECTS.values()),
                "; ".join(f"{name} {value:g}, {word}" for name, (value, word) in EFFECTS.items()),
            ),
        ),
        explanation="Eq. (8) divides the mean difference by the standard deviation of the topics' "
        "differences. The results divide it by that of the residuals, from which topics and their "
        "interaction with systems are taken out: another quantity, on another scale, for which "
        "the rule of thumb was not made.",
    )


def size_word(effect: float) -> str:
    """The paper's word for an effect size.

    >>> size_word(-0.52), size_word(0.41)
    ('medium', 'small')
    """
    return next((word for least, word in WORDS if abs(effect) >= least), "unknown")


def figure_13(
    data: InstanceData, reference: str, table: InstancesTable | None, halves: InstancesResult | None
) -> Exhibit:
    """Intervals of the difference to another non-deterministic system."""
    claims = [] if table is None else _nested_claims(table)
    if halves is not None:
        claims.append(
            claim(
                "Two halves of the instances of one system do not differ.",
                not halves.significant,
                f"{reference}: difference {halves.difference:+.4f}, p {halves.headline_pvalue:.3f}",
            )
        )
    figures: tuple[PageFigure, ...] = ()
    tables: tuple[Table, ...] = ()
    if table is not None:
        caption = f"{table.measure}, difference to {reference}"
        figures = (result_figure("figure-13", caption, table, "margin"),)
        tables = (_interval_table("figure-13-data", table),)
    return Exhibit(
        id="figure-13",
        title="Intervals of the difference to a non-deterministic system",
        figures=figures,
        tables=tables,
        claims=tuple(claims),
        explanation="Instances are nested in systems here, so that their variance counts. The "
        "paper compares a setting with itself, too; two halves of its instances stand for that."
        + (
            f" {data.stand_in} has one instance less, which stands in for a deterministic system."
            if data.stand_in
            else ""
        ),
    )


def _nested_claims(table: InstancesTable) -> list[Claim]:
    gaps = [abs(comparison.difference) for comparison in table.comparisons]
    last = table.comparisons[-1]
    low, high = last.hpd or last.interval
    return [
        claim(
            "The difference shrinks as the rate comes near that of the other system.",
            rises(table, [-gap for gap in gaps]),
            listed(gaps, 4),
        ),
        claim(
            "The interval of the setting next to it includes 0.",
            low <= 0 <= high if table.sweep else None,
            f"[{low:.4f}, {high:.4f}]",
        ),
    ]
