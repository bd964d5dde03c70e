"""How `--audit` is shown: which tests, and which family of tests, hold their level."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from functools import partial
from typing import Any

from steadyrank.present.json import json_pieces
from steadyrank.present.table import Cell
from steadyrank.present.view import Col, Finding, Row, TableSpec, View
from steadyrank.stats.pairs.family_audit import FalseClaims
from steadyrank.studies.compare.audit import AuditResult
from steadyrank.studies.compare.result import CORRECTIONS, CompareResult
from steadyrank.studies.compare.view import VIEW

OBSERVED_POWER = (
    "The power is observed power: it resamples the topics that the differences were estimated "
    "from. It overstates the power for small true differences, understates it for large ones, and "
    "says nothing that the p-values do not. Not for planning: use `steadyrank plan`."
)


def _audit_findings(result: AuditResult) -> Iterator[Finding]:
    """How often all t tests together claim what is not so, under each truth."""
    for name, truth in TRUTHS.items():
        found: FalseClaims | None = getattr(result.family, name)
        if found is not None:
            share = f"{found.share:.1%} ± {found.standard_error:.1%} of experiments"
            text = truth.format(share) + f" (nominal {result.family.nominal:.0%})."
            yield Finding(f"audit.{name}", text, asdict(found))


TRUTHS = {
    "observed": "Means as observed: {} have a claim in the wrong direction",
    "tiers_equal": "Equal means within tiers: {} have a claim within a tier",
    "all_equal": "All means equal: {} have any claim",
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


def _family_fields(result: AuditResult) -> dict[str, Any]:
    """The family's claims where all runs are equal, by their promised names, and all truths."""
    equal = result.family.all_equal
    named = (
        {} if equal is None else {"any_claim": equal.share, "n_experiments": equal.n_experiments}
    )
    return {**asdict(result.family), **named}


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
                f"{result.n_topics} topics drawn from yours; seed {result.seed}. Claims: t tests, "
                f"{CORRECTIONS[result.correction]}. Observed power is not for planning: "
                "docs/compare.md."
            ),
        ),
    ),
    fields=lambda result: {
        **asdict(result),
        "audit": asdict(result) | asdict(result.family) | {"family": _family_fields(result)},
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
