"""Holes, as tables: what each run and each pair could come to, and which documents to judge."""

from __future__ import annotations

from typing import Any

from steadyrank.present.cells import interval, name, number, percent, pvalue, without_empty
from steadyrank.present.json import picked, to_json
from steadyrank.present.table import Cell, Table, exact_table, render, with_words
from steadyrank.studies.holes.prior_check import PriorCheck
from steadyrank.studies.holes.result import HolesPair, HolesResult
from steadyrank.words import by_number, counted
from steadyrank.words import percent as percent_words

MOST_PAIRS = 15
"""Rows of the table of pairs; JSON has them all."""


def holes_json(result: HolesResult) -> dict[str, Any]:
    """The promised keys, and what else was found."""
    check = result.prior
    return {
        **picked(result, "measure bounds run_bounds n_topics n_judged n_holes top_grade"),
        "runs": [
            picked(
                row, "run unjudged_share score lowest highest judged_only imputed imputed_interval"
            )
            for row in result.runs
        ],
        "pairs": [
            picked(
                pair,
                "a b difference lowest highest decided bounds pvalue difference_imputed "
                "sign_share pvalue_imputed",
            )
            for pair in result.pairs
        ],
        "prior": {
            **picked(
                check,
                "n_hidden predicted observed standard_error log_loss log_loss_run log_loss_pool",
            ),
            "calibration": [part._asdict() for part in check.bins],
            "seen_share": check.seen_share,
            "found_share": check.found_share,
            "failure": check.failure or None,
        },
        "rehearsal": {
            "n_scores": result.rehearsal.n_scores,
            "held": result.rehearsal.held if result.rehearsal.n_scores else None,
            "scale": result.rehearsal.scale,
            "warning": result.interval_warning or None,
        },
        "ask": [asked._asdict() for asked in result.ask],
        "n_samples": result.n_samples,
        "confidence": result.confidence,
        "seed": result.seed,
    }


def holes_text(result: HolesResult, form: str, *, digits: int = 4, **looks: Any) -> str:
    """The result in one of the output formats; CSV holds one row per run."""
    if form == "json":
        return to_json(holes_json(result))
    if form == "csv":
        return render(exact_table(result.rows()), "csv")
    tables = [runs_table(result, digits), *pair_tables(result, digits), *_ask_tables(result)]
    return with_words(answer_sentences(result), tables, holes_notes(result), form, **looks)


def ask_text(result: HolesResult) -> str:
    """The documents to judge as tab-separated lines, with the topics' texts where known."""
    texts = result.topic_texts
    header = ["topic", "document", "value", *([] if texts is None else ["text"])]
    lines = ["\t".join(header)]
    for asked in result.ask:
        line = [asked.topic, asked.document, f"{asked.value:.6g}"]
        if texts is not None:
            line.append(" ".join(texts.get(asked.topic, "").split()))
        lines.append("\t".join(line))
    return "\n".join(lines) + "\n"


def answer_sentences(result: HolesResult) -> list[str]:
    """The answer in words."""
    said = [_unjudged_sentence(result)]
    if result.pairs:
        said.append(_decided_sentence(result))
    best = max(row.score for row in result.runs)
    leaders = [row.run for row in result.runs if row.score == best]
    if len(leaders) > 1:
        said.append(f"{counted(len(leaders), 'run')} share the best score.")
    elif result.n_holes and (rivals := _could_lead(result, leaders[0])):
        by_bounds = "" if result.bounds == "exact" else ", according to these bounds"
        said.append(
            f"{leaders[0]} has the best score; under complete judgments "
            f"{counted(rivals, 'run')} could score as high or higher{by_bounds}."
        )
    return said


def _unjudged_sentence(result: HolesResult) -> str:
    """How many documents nobody judged, and who has most of them."""
    if not result.n_holes:
        return f"Every document within the reach of {result.measure} is judged."
    most = max(result.runs, key=lambda row: row.unjudged_share)
    share = percent_words(most.unjudged_share)
    documents = counted(result.n_holes, "document", form=",")
    if not result.pairs:
        return (
            f"{documents} within the reach of {result.measure} "
            f"{by_number(result.n_holes, 'was', 'were')} not judged: {share} of those of "
            f"{most.run}."
        )
    return (
        f"{documents} that runs rank within the reach of {result.measure} "
        f"{by_number(result.n_holes, 'was', 'were')} not judged; the largest share is that of "
        f"{most.run}, {share} of its documents."
    )


def _decided_sentence(result: HolesResult) -> str:
    """How many pairs no completion turns, and what is known of the others."""
    n_open = len(result.pairs) - result.n_decided
    others = by_number(n_open, "the other pair", f"each of the other {n_open:,} pairs")
    if not result.n_decided:
        said = by_number(
            n_open,
            "The order of the two runs is undecided.",
            "The order of no pair of runs is decided.",
        )
        others = by_number(n_open, "them", "each of them")
    else:
        said = (
            f"The order of {result.n_decided:,} of "
            f"{counted(len(result.pairs), 'pair', form=',')} is decided: it is the same in "
            "every completion of the judgments."
        )
    if not n_open:
        return said
    if not result.n_holes:
        return f"{said} The runs of {others} are tied."
    if all(pair.bounds == "exact" for pair in open_pairs(result)):
        return f"{said} Some completion reverses or ties {others}."
    return f"{said} The bounds leave {others} undecided."


def _could_lead(result: HolesResult, best: str) -> int:
    """Runs that are not below the best one in every completion."""
    return sum(best in (pair.a, pair.b) and not pair.decided for pair in result.pairs)


def holes_notes(result: HolesResult) -> list[str]:
    """What the figures rest on."""
    notes = [
        f"{_bounds_sentence(result)} A completion assigns a grade from 0 to {result.top_grade} "
        "to every unjudged document that some run retrieved."
    ]
    check = result.prior
    if result.n_samples:
        notes.append(
            f"Imputed from {counted(result.n_samples, 'completion', form=',')} drawn from a "
            f"prior that gave {counted(check.n_hidden, 'hidden document', form=',')} a mean "
            f"probability of relevance of {check.predicted:.3f} ({check.observed:.3f} of them "
            f"were relevant), with log loss {check.log_loss:.3f} (run-based prior "
            f"{check.log_loss_run:.3f}, pool-based {check.log_loss_pool:.3f})."
        )
        notes += [*_found_notes(check), _interval_note(result)]
    elif check.failure and result.n_holes:
        notes.append(f"Nothing is imputed: the prior was rejected, as {check.failure}.")
    if result.pairs:
        notes.append(
            "The p-values are those of paired t tests, uncorrected for multiple comparisons."
        )
    return notes


def _bounds_sentence(result: HolesResult) -> str:
    """Which bounds are attained, and which are only never passed."""
    n_exact, n = sum(pair.bounds == "exact" for pair in result.pairs), len(result.pairs)
    never = "no completion exceeds them, but some may not be attained."
    if result.bounds == "exact":
        return "Bounds are exact: some completion attains each."
    if result.run_bounds == "outer":
        return f"Bounds are outer bounds: {never}"
    if not n_exact:
        attained = "Bounds of runs are exact: some completion attains each."
        return f"{attained} Those of pairs are outer: {never}"
    return (
        f"Bounds of runs, and of {n_exact:,} of {n:,} pairs, are exact: some completion attains "
        f"each. Those of {by_number(n - n_exact, 'the other pair', 'the other pairs')} are outer: "
        f"{never}"
    )


def _found_notes(check: PriorCheck) -> list[str]:
    """What is not known of documents that nobody else found."""
    if check.found_share == 0.0:
        return []
    return [
        f"Of the hidden documents, {percent_words(check.found_share)} were judged because "
        "somebody else found them. That nobody else found a document makes it less likely to "
        "be relevant; how much less, no judgment can show. In each completion such a document "
        "is therefore U times as likely to be relevant as one that somebody else found, with "
        "U drawn uniformly between 0 and 1."
    ]


def _interval_note(result: HolesResult) -> str:
    """Whether intervals of known scores held, and what followed."""
    rehearsal = result.rehearsal
    if result.interval_warning:
        return f"Warning: {result.interval_warning}."
    said = (
        "The intervals were checked on runs without unjudged documents, by hiding what some "
        f"of them had found: {percent_words(rehearsal.held)} of "
        f"{counted(rehearsal.n_scores, 'interval', form=',')} contained the known score"
    )
    if rehearsal.scale > 1.0:
        said += f". All intervals are widened by a factor of {rehearsal.scale:.2f}"
    return f"{said}. The errors can be larger for a team none of whose runs was pooled."


def runs_table(result: HolesResult, digits: int = 4) -> Table:
    """One row per run, best score first."""
    shown = f".{digits}f"
    rows = [
        [
            name(row["run"]),
            percent(row["unjudged_share"]),
            number(row["score"], shown),
            number(row["lowest"], shown),
            number(row["highest"], shown),
            number(row["judged_only"], shown),
            number(row["imputed"], shown),
            interval(
                None if row["imputed"] is None else (row["imputed_low"], row["imputed_high"]), shown
            ),
        ]
        for row in result.rows()
    ]
    header = [
        "run",
        "unjudged",
        result.measure,
        "lowest",
        "highest",
        "judged only",
        "imputed",
        f"{result.confidence:.0%} interval",
    ]
    header, rows = without_empty(header, rows)
    return Table(header=header, rows=rows, caption=result.caption(), id="holes-runs")


def open_pairs(result: HolesResult) -> list[HolesPair]:
    """Pairs that are undecided, largest difference first."""
    return sorted(
        (pair for pair in result.pairs if not pair.decided), key=lambda pair: -abs(pair.difference)
    )


def pair_tables(result: HolesResult, digits: int = 4, most: int = MOST_PAIRS) -> list[Table]:
    """The pairs that are undecided, if any; of many, those with the largest differences."""
    shown = f"+.{digits}f"
    undecided = open_pairs(result)
    rows = [
        [
            name(pair.a),
            name(pair.b),
            number(pair.difference, shown),
            number(pair.lowest, shown),
            number(pair.highest, shown),
            pvalue(pair.pvalue),
            number(pair.difference_imputed, shown),
            Cell("–") if pair.pvalue_imputed is None else pvalue(pair.pvalue_imputed),
            *([] if result.bounds == "exact" else [Cell(pair.bounds)]),
        ]
        for pair in undecided[:most]
    ]
    if not rows:
        return []
    header = ["a", "b", "a - b", "lowest", "highest", "p", "imputed", "p (imputed)"]
    if result.bounds != "exact":
        header.append("bounds")
    header, rows = without_empty(header, rows)
    caption = "Pairs whose order complete judgments could change, largest difference first"
    if len(undecided) > most:
        caption += f"; the first {most} of {len(undecided):,} pairs"
    return [Table(header=header, rows=rows, caption=f"{caption}.", id="holes-pairs", n_names=2)]


def _ask_tables(result: HolesResult) -> list[Table]:
    if not result.ask:
        return []
    rows = [
        [name(asked.topic), name(asked.document), number(asked.value, ".3g")]
        for asked in result.ask
    ]
    caption = (
        "Documents to judge next, by how much their judgment is expected to change "
        "differences, summed over all undecided pairs."
    )
    header = ["topic", "document", "value"]
    return [Table(header=header, rows=rows, caption=caption, id="holes-ask", n_names=2)]
