"""Five designs whose tables lie in tests/golden/tables, as LaTeX, Markdown and HTML.

After a change that is meant, from the project's folder:

    python -m tests.studies.compare.paper_designs

writes them anew; look at the difference before it is committed.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

import steadyrank as sr

FOLDER = Path(__file__).parents[2] / "golden" / "tables"
FORMS = {"latex": "tex", "markdown": "md", "html": "html"}
VERSION = "VERSION"
"""Stands in the files for the version, which says nothing about the table."""

RUNS = ("bm25", "bm25+rm3", "dense_v2", "rerank--base", "50% & more")
MEASURES = ("nDCG@10", "AP", "RR")


def scores(runs=RUNS, measures=MEASURES, n_topics=40, seed=4, step=0.03):
    """Runs that lie `step` apart on topics of any difficulty."""
    rng = np.random.default_rng(seed)
    topics = rng.beta(1.5, 2.5, n_topics)
    steps = step * np.arange(len(runs))[:, None]
    values = [
        np.clip(topics + steps + rng.normal(0, 0.1, (len(runs), n_topics)), 0, 1) for _ in measures
    ]
    return sr.Scores(measures=measures, runs=runs, topics=range(n_topics), values=values)


def seeds():
    """Three systems with four, four and one runs."""
    runs = [f"{system}-{seed}" for system in ("colbert", "splade") for seed in range(4)] + ["bm25"]
    made = scores(runs, ("nDCG@10", "AP"), step=0.0, seed=7)
    shift = np.array([0.08] * 4 + [0.05] * 4 + [0.0])[:, None]
    system = [run.split("-")[0] for run in runs]
    return sr.Scores(
        measures=made.measures,
        runs=runs,
        topics=made.topics,
        values=np.clip(made.values + shift, 0, 1),
        run_info={"system": system},
    )


def gaps():
    """A run that lacks half of the topics, a broken one, and one with a single topic."""
    made = scores()
    values = made.values.copy()
    values[:, 1, ::2] = np.nan
    values[:, 2] = 0.0
    values[:, 3, 1:] = np.nan
    return sr.Scores(measures=made.measures, runs=made.runs, topics=made.topics, values=values)


def designs():
    """Name of each design, its result, and how it is shown."""
    one = scores().select(measures="nDCG@10")
    return {
        "one_measure": (sr.compare(one, baseline="bm25"), {"show": ["interval", "p", "d"]}),
        "three_measures": (
            sr.compare(scores(), baseline="bm25", test="randomization", n_samples=2000),
            {"underline_second": True, "digits": 3},
        ),
        "letters": (sr.compare(scores(), n_samples=2000), {"show": ["sd"], "digits": 3}),
        "seeds": (sr.compare(seeds(), baseline="bm25"), {}),
        "gaps": (sr.compare(gaps(), baseline="bm25"), {"show": ["interval"], "digits": 3}),
    }


def texts():
    """Every table under the name of its file."""
    forms = {"latex": "to_latex", "markdown": "to_markdown", "html": "to_html"}
    return {
        f"{name}.{FORMS[form]}": getattr(result, method)(**options).replace(
            f"steadyrank {sr.__version__}", f"steadyrank {VERSION}"
        )
        for name, (result, options) in designs().items()
        for form, method in forms.items()
    }


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for name, text in texts().items():
        (FOLDER / name).write_text(text, "utf-8")
