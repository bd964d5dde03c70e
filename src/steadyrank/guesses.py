"""What users of other tools try first, and what it is called here.

Of trec_eval, pytrec_eval, ir_measures, ranx, PyTerrier, repro_eval and autorank. Nothing is done
under these names: the error names the right one. Names of measures that other tools have are
understood instead (`measures.kinds`).
"""

from __future__ import annotations

COMMANDS = {
    "eval": "evaluate",
    "score": "evaluate",
    "measure": "evaluate",
    "trec_eval": "evaluate",
    "test": "compare",
    "tests": "compare",
    "significance": "compare",
    "sig": "compare",
    "ttest": "compare",
    "rank": "compare",
    "ranking": "compare",
    "leaderboard": "compare",
    "anova": "components",
    "correlation": "agree",
    "correlate": "agree",
    "tau": "agree",
    "bootstrap": "simulate",
    "power": "plan",
    "samplesize": "plan",
    "sample-size": "plan",
    "validate": "check",
    "autorank": "report",
    "html": "report",
}
"""Commands."""

_MEASURE = "-m, --measure"
_FORMAT = "--format"
OPTIONS = {
    **dict.fromkeys(("--measures", "--metric", "--metrics", "--eval-metrics"), _MEASURE),
    **dict.fromkeys(("--output", "--output-file", "--outfile"), "-o"),
    **dict.fromkeys(("--csv", "--json", "--latex", "--markdown", "--output-format"), _FORMAT),
    **dict.fromkeys(("--n-jobs", "--threads", "--workers", "--num-threads"), "--jobs"),
    **dict.fromkeys(("--random-state", "--random-seed", "--rng"), "--seed"),
    **dict.fromkeys(("--stat-test", "--stattest", "--significance-test", "--method"), "--test"),
    **dict.fromkeys(("--max-p", "--significance-level", "--confidence", "--conf"), "--alpha"),
    **dict.fromkeys(("--permutations", "--n-permutations", "--n-samples", "-B"), "--samples"),
    **dict.fromkeys(("--per-query", "--perquery", "--by-topic", "-q"), "--per-topic"),
    **dict.fromkeys(("--multiple-testing", "--correct", "--adjust"), "--correction"),
    **dict.fromkeys(("--precision", "--round", "--decimals"), "--digits"),
    **dict.fromkeys(("--reference", "--ref", "--control"), "--baseline"),
    **dict.fromkeys(("--silent", "--no-progress"), "--quiet"),
}
"""Options, and those of ours that stand for them."""

WITHOUT_OPTION = {
    **dict.fromkeys(
        ("--qrels", "--qrel", "--run", "--runs"), "QRELS and RUN... are given without options"
    ),
    **dict.fromkeys(("--cutoff", "-k", "--depth-cutoff"), "a cutoff is part of a name: -m nDCG@10"),
    **dict.fromkeys(
        ("--relevance-level", "--rel", "--level", "-l"), "a level is part of a name: -m 'AP(rel=2)'"
    ),
    **dict.fromkeys(
        ("-J", "--judged-only"), "condensed lists are part of a name: -m 'AP(judged_only=True)'"
    ),
    **dict.fromkeys(("-c", "--complete"), "every judged topic counts by default: --missing zero"),
}
"""Options that are something else here, with what to write."""

NAMES = {
    **dict.fromkeys(("load_run", "read_trec_run", "parse_trec_run", "parse_run"), "read_run"),
    **dict.fromkeys(("load_runs", "read_trec_runs"), "read_runs"),
    **dict.fromkeys(
        ("load_qrels", "read_trec_qrels", "parse_trec_qrels", "parse_qrel", "read_qrel"),
        "read_qrels",
    ),
    **dict.fromkeys(("load_topics", "read_queries", "load_queries"), "read_topics"),
    **dict.fromkeys(
        (
            "calc",
            "calc_aggregate",
            "iter_calc",
            "evaluator",
            "RelevanceEvaluator",
            "Evaluate",
            "eval",
            "score",
        ),
        "evaluate",
    ),
    **dict.fromkeys(
        ("ttest", "t_test", "paired_t_test", "statistical_tests", "test", "significance"), "compare"
    ),
    **dict.fromkeys(("compare_runs", "fisher_randomization_test", "tukey_hsd", "rank"), "compare"),
    **dict.fromkeys(("autorank", "create_report"), "report"),
    **dict.fromkeys(("kendalltau", "kendall", "ktau"), "kendall_tau"),
    **dict.fromkeys(("plot_stats", "draw", "figure"), "plot"),
    **dict.fromkeys(("metrics", "Metric", "available_measures"), "Measure"),
    **dict.fromkeys(("define", "define_byquery"), "register_measure"),
    **dict.fromkeys(("convert_trec_name", "parse_trec_measure"), "parse_measure"),
    **dict.fromkeys(("write_results", "save_run", "write_trec_run"), "write_run"),
    **dict.fromkeys(("Rpl", "rpl", "reproduce_run"), "instances"),
    **dict.fromkeys(("rbo_ext", "rank_biased_overlap"), "rbo"),
}
"""Names in Python, and those of ours."""

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
