"""How `--audit` and `--discriminative-power` are shown: tests and measures on these scores."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from functools import partial
from typing import Any

from steadyrank.present.json import json_pieces, picked
from steadyrank.present.table import Cell
from steadyrank.present.view import Col, Finding, Row, TableSpec, View
from steadyrank.stats.pairs.family_audit import FalseClaims
from steadyrank.studies.compare.audit import AuditResult
from steadyrank.studies.compare.power import DiscriminativePower
from steadyrank.studies.compare.result import CORRECTIONS, SIMULTANEOUS, TESTS, CompareResult
from steadyrank.studies.compare.view import VIEW
from steadyrank.words import counted, number_word


def _power_findings(powers: Sequence[DiscriminativePower]) -> list[Finding]:
    best = max(powers, key=lambda power: power.share)
    most = f", most of {number_word(len(powers))} measures" if len(powers) > 1 else ""
    pairs = counted(len(best.pvalues), "pair", form=",")
    text = f"{best.measure} separates {best.share:.1%} of {pairs}{most}."
    return [Finding("power.most", text, {"measure": best.measure, "share": best.share})]


def _power_caption(powers: Sequence[DiscriminativePower]) -> str:
    test = powers[0].test
    how = "simultaneous for all pairs of a measure" if test in SIMULTANEOUS else "uncorrected"
    return (
        f"Discriminative power: pairs with p <= {powers[0].alpha:g} by the {TESTS[test]}, {how}; "
        "above the difference needed, every pair was significant."
    )


POWER = View(
    findings=_power_findings,
    tables=(
        TableSpec(
            id="powers",
            rows=lambda powers: [
                {
                    "measure": power.measure,
                    "significant pairs": power.share,
                    "difference needed": power.needed_difference,
                }
                for power in sorted(powers, key=lambda power: -power.share)
            ],
            columns=(
                Col("measure", form="name"),
                Col("significant pairs", form="percent"),
                Col("difference needed"),
            ),
            caption=_power_caption,
        ),
    ),
    fields=lambda powers: {
        **picked(powers[0], "test alpha"),
        "discriminative_power": [
            picked(power, "measure share needed_difference pvalues seed") for power in powers
        ],
    },
)
"""`--discriminative-power`: measures by how many pairs differ significantly by them."""

OBSERVED_POWER = (
    "The power is observed power: it resamples the topics that the differences were estimated "
    "from. It overstates the power for small true differences, understates it for large ones, and "
    "says nothing that the p-values do not. Not for planning: use `steadyrank plan`."
)


def _audit_findings(result: AuditResult) -> Iterator[Finding]:
    """How often all t tests together claim what is not so, under each truth."""
    corrected = CORRECTIONS[result.correction]
    for name, truth in TRUTHS.items():
        found: FalseClaims | None = getattr(result.family, name)
        if found is not None:
            text = (
                f"{truth}, all t tests ({corrected}): {found.share:.1%} ± "
                f"{found.standard_error:.1%} of experiments (nominal {result.family.nominal:.0%})."
            )
            yield Finding(f"audit.{name}", text, asdict(found))


TRUTHS = {
    "observed": "Means as observed, a claim in the wrong direction",
    "tiers_equal": "Equal means within tiers, a claim within a tier",
    "all_equal": "Equal means, any claim",
}
WORLDS = {
    "type I, exchangeable": "exchangeable",
    "type I, equal means": "equal_means",
    "observed power": "power",
}


def _audit_rows(result: AuditResult) -> list[dict[str, str]]:
    return [
        {"test": row.test}
        | {title: "{:.3f} ± {:.3f}".format(*getattr(row, key)) for title, key in WORLDS.items()}
        for row in result.tests
    ]


def _ready_cell(title: str, row: Row) -> Cell:
    return Cell(row[title])


AUDIT = View(
    findings=lambda result: list(_audit_findings(result)),
    tables=(
        TableSpec(
            id="audit",
            rows=_audit_rows,
            columns=(
                Col("test", form="name"),
                *(Col(title, form=partial(_ready_cell, title)) for title in WORLDS),
            ),
            caption=lambda result: (
                f"{result.measure}: share of {result.n_trials:,} trials with p < {result.alpha:g}, "
                f"{result.n_topics} topics drawn from yours; seed {result.seed}. Observed power is "
                "not for planning: docs/compare.md."
            ),
        ),
    ),
    fields=lambda result: {
        **asdict(result),
        "audit": asdict(result) | asdict(result.family),
        "notes": [OBSERVED_POWER],
    },
)
"""`--audit`: each test's rejection rates with their Monte Carlo errors, and those of the family."""


def audit_text(
    result: AuditResult, form: str, *, compared: CompareResult | None = None, **looks: Any
) -> str:
    """The audit; in JSON beside the comparison, which has most of its keys itself."""
    if form != "json" or compared is None:
        return AUDIT.text(result, form, **looks)
    audit, own = AUDIT.json(result), VIEW.json([compared])
    return "".join(json_pieces({**audit, **own, "findings": audit["findings"] + own["findings"]}))
