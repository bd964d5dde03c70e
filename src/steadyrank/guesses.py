"""What users of other tools try first, and what it is called here.

Of trec_eval, pytrec_eval, ir_measures, ranx, PyTerrier, repro_eval and autorank. Nothing is done
under these names: the error names the right one. Names of measures that other tools have are
understood instead (`measures.kinds`).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping


def _by_guess(table: Mapping[str, str]) -> dict[str, str]:
    """Guess to what was meant, from what was meant to guesses between blanks."""
    return {guess: meant for meant, guesses in table.items() for guess in guesses.split()}


COMMANDS = _by_guess(
    {
        "evaluate": "eval score measure trec_eval",
        "compare": "test tests significance sig ttest rank ranking experiment",
        "datasets": "leaderboard leaderboards mteb benchmark",
        "components": "anova",
        "agree": "correlation correlate tau",
        "simulate": "bootstrap",
        "plan": "power samplesize sample-size",
        "check": "validate",
        "report": "autorank html",
    }
)
"""Commands."""

OPTIONS = _by_guess(
    {
        "-m, --measure": "--measures --metric --metrics --eval-metrics",
        "-o": "--output --output-file --outfile",
        "--format": "--html --output-format --table-format --tsv",
        "--method": "--test",
        "--beta, which is 1 - power": "--power",
        "--jobs": "--n-jobs --threads --workers --num-threads",
        "--seed": "--random-state --random-seed --rng",
        "--test": "--stat-test --stattest --significance-test --method",
        "--alpha": "--max-p --significance-level --confidence --conf",
        "--samples": "--permutations --n-permutations --n-samples -B",
        "--per-topic": "--per-query --perquery --by-topic --by_query --by-query -q",
        "--correction": "--multiple-testing --correct --adjust",
        "--digits": "--precision --round --decimals --places --rounding-digits",
        "--baseline": "--reference --ref --control",
        "--quiet": "--silent --no-progress",
    }
)
"""Options, and those of ours that stand for them."""

WITHOUT_OPTION = _by_guess(
    {
        "QRELS and RUN... are given without options": "--qrels --qrel --run --runs",
        "a cutoff is part of a name: -m nDCG@10": "--cutoff -k --depth-cutoff",
        "a level is part of a name: -m 'AP(rel=2)'": "--relevance-level --rel --level -l",
        "condensed lists are part of a name: -m 'AP(judged_only=True)'": "-J --judged-only",
        "every judged topic counts by default: --missing zero": "-c --complete",
    }
)
"""Options that are something else here, with what to write."""

NAMES = _by_guess(
    {
        "read_run": "load_run read_trec_run parse_trec_run parse_run",
        "read_runs": "load_runs read_trec_runs",
        "read_qrels": "load_qrels read_trec_qrels parse_trec_qrels parse_qrel read_qrel",
        "read_topics": "load_topics read_queries load_queries",
        "evaluate": "calc calc_aggregate iter_calc evaluator RelevanceEvaluator Evaluate eval "
        "score",
        "compare": "ttest t_test paired_t_test statistical_tests test significance compare_runs "
        "fisher_randomization_test tukey_hsd rank",
        "report": "autorank create_report",
        "datasets": "leaderboard mteb",
        "kendall_tau": "kendalltau kendall ktau",
        "plot": "plot_stats draw figure",
        "Measure": "metrics Metric available_measures",
        "register_measure": "define define_byquery",
        "parse_measure": "convert_trec_name parse_trec_measure",
        "write_run": "write_results save_run write_trec_run",
        "instances": "Rpl rpl reproduce_run",
        "rbo": "rbo_ext rank_biased_overlap",
    }
)
"""Names in Python, and those of ours."""

KEYWORDS = {"seed": "rng", "measure": "measures", "samples": "n_samples"}
"""Options that studies in Python have under another name."""

ABSENT = {
    "test": "it offers no choice of tests",
    "alpha": "it decides nothing at a level",
    "baseline": "it compares no pairs of runs",
    "rng": "it draws no random numbers",
}
"""Why a study lacks a keyword that others have."""

MODULES = {"Experiment": "steadyrank.pyterrier", "pyterrier": "steadyrank.pyterrier"}
MODULES |= {"ir_measures": "steadyrank.ir_measures"}
"""Names that stand in modules of their own, which must be imported."""


def name_meant(name: str, known: list[str]) -> str:
    """The end of an error about a name in Python: what was meant, or nothing.

    >>> name_meant("load_run", ["read_run"]), name_meant("evaluat", ["evaluate"])
    (': did you mean `sr.read_run`?', ': did you mean `sr.evaluate`?')
    """
    import difflib

    if name in MODULES:
        return f": it requires `import {MODULES[name]}`"
    near = [NAMES[name]] if name in NAMES else difflib.get_close_matches(name, known, n=1)
    return f": did you mean `sr.{near[0]}`?" if near else ""


def keyword_answer(name: str, known: Collection[str]) -> str:
    """The end of an error about a keyword that a study lacks: the one that was meant, or why.

    >>> keyword_answer("seed", ["rng"]), keyword_answer("rng", ["measure"])
    (': did you mean rng?', ': it draws no random numbers')
    """
    import difflib

    if name in ABSENT:
        return f": {ABSENT[name]}"
    option = OPTIONS.get(f"--{name.replace('_', '-')}", name).rpartition("--")[2]
    meant = KEYWORDS.get(option, option)
    near = [meant] if meant in known else difflib.get_close_matches(meant, known, n=1)
    return f": did you mean {near[0]}?" if near else ""
