"""The table and the figure of a paper: every number recomputed by others, and how it looks.

`STEADYRANK_FREEZE=1 pytest -n0` of this file writes the tables of tests/golden/tables anew.
"""

from __future__ import annotations

import csv
import io
import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import ir_measures
import numpy as np
import pytest
import scipy.stats
from statsmodels.stats.multitest import multipletests

import steadyrank as sr
from steadyrank.cli import run as run_command
from steadyrank.present.figures import save_figure

FOLDER = Path(__file__).parents[2] / "golden" / "tables"
FORMS = {"tex": "to_latex", "md": "to_markdown", "html": "to_html"}
MEASURES = ("nDCG@10", "AP", "RR")
RUNS = ("bm25", "bm25+rm3", "dense_v2", "rerank--base", "50% & more")


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


@pytest.fixture(scope="module", autouse=True)
def _quiet():
    """Gaps leave pairs untested, which is warned of."""
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sr.SteadyrankWarning)
        yield


@pytest.fixture(scope="module")
def track(tmp_path_factory):
    folder = tmp_path_factory.mktemp("track")
    made = sr.simulated_track(n_teams=5, runs_per_team=1, n_topics=30, depth=60, pool_depth=30)
    made.write(folder)
    return folder


@pytest.fixture(scope="module")
def witness(track):
    """Scores [measure][run][topic] by ir_measures, topics in order, 0 where a run lacks one."""
    names = {measure: ir_measures.parse_measure(measure) for measure in MEASURES}
    qrels = list(ir_measures.read_trec_qrels(str(track / "qrels.txt")))
    topics = sorted({judgment.query_id for judgment in qrels})
    found = {measure: {} for measure in MEASURES}
    for path in sorted((track / "runs").iterdir()):
        run = list(ir_measures.read_trec_run(str(path)))
        values = {
            (str(metric.measure), metric.query_id): metric.value
            for metric in ir_measures.iter_calc(list(names.values()), qrels, run)
        }
        for measure, parsed in names.items():
            row = [values.get((str(parsed), topic), 0.0) for topic in topics]
            found[measure][path.stem] = np.array(row)
    return found


def call(capsys, *arguments):
    code = run_command([str(argument) for argument in arguments])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def rows_of(latex):
    """Cells of a LaTeX table's rows, by the first of them."""
    body = latex.split(r"\midrule")[1].split(r"\bottomrule")[0]
    rows = [line.removesuffix(r" \\").split(" & ") for line in body.strip().splitlines()]
    return {row[0]: row[1:] for row in rows}


def plain(cell):
    """What a cell of LaTeX prints."""
    return re.sub(r"\\text(bf|superscript)\{(.*)\}", r"\2", cell).replace("$-$", "-")


def test_every_figure_of_the_main_table_is_that_of_others(capsys, track, witness):
    """Means by ir_measures; p, intervals and d by SciPy, Holm's correction by statsmodels."""
    base = "team5-s1"
    options = [option for measure in MEASURES for option in ("-m", measure)]
    options += ["--baseline", base, "--correction", "holm", "--quiet"]
    files = (track / "qrels.txt", track / "runs")
    table = rows_of(call(capsys, "compare", *files, *options, "--latex")[1])
    shown = csv.DictReader(io.StringIO(call(capsys, "compare", *files, *options, "--csv")[1]))
    pairs = {(row["measure"], row["a"]): row for row in shown}
    others = [run for run in witness["AP"] if run != base]
    marked = 0
    for place, measure in enumerate(MEASURES):
        values = witness[measure]
        tests = {run: scipy.stats.ttest_rel(values[run], values[base]) for run in others}
        adjusted = multipletests([tests[run].pvalue for run in others], method="holm")[1]
        best = max(values, key=lambda run: values[run].mean())
        for run, p in zip(others, adjusted, strict=True):
            mean, mark = table[run][2 * place : 2 * place + 2]
            row = {key: row_value(text) for key, text in pairs[measure, run].items()}
            z = values[run] - values[base]
            assert plain(mean) == f"{values[run].mean():.4f}"
            assert ("textbf" in mean) == (run == best)
            expected = "" if p > 0.05 else "dagger" if z.mean() > 0 else "ddagger"
            assert re.sub(r"[^a-z]|textsuperscript", "", mark) == expected
            marked += bool(expected)
            assert row["difference"] == pytest.approx(z.mean())
            low, high = tests[run].confidence_interval(1 - 0.05 / len(others))
            if p <= 0.05 and not (low > 0 or high < 0):
                # Holm decides it at a later step, whose level makes the limit towards 0.
                smaller = sum(tests[other].pvalue < tests[run].pvalue for other in others)
                own = tests[run].confidence_interval(1 - 0.05 / (len(others) - smaller))
                low, high = (own.low, high) if z.mean() > 0 else (low, own.high)
            assert [row["interval_low"], row["interval_high"]] == pytest.approx([low, high])
            assert row["pvalue_adjusted"] == pytest.approx(p)
            assert row["effect_size"] == pytest.approx(z.mean() / z.std(ddof=1))
        assert plain(table[f"{base} (baseline)"][2 * place]) == f"{values[base].mean():.4f}"
    assert 0 < marked < 12


def row_value(text):
    """The number in a cell of CSV, or its text."""
    try:
        return float(text)
    except ValueError:
        return text


def test_letters_name_the_runs_that_are_significantly_worse(witness):
    values = np.array([list(witness["AP"].values())])
    made = sr.Scores(measures=["AP"], runs=list(witness["AP"]), topics=range(30), values=values)
    result = sr.compare(made, correction="bonferroni")
    means = {run: row.mean() for run, row in witness["AP"].items()}
    order = sorted(means, key=means.get, reverse=True)
    letter = dict(zip(order, "abcde", strict=True))
    table = rows_of(result.to_latex())
    n_raised = 0
    for run in order:
        name, _, mark = table[letter[run]]
        assert name == run
        worse = [
            letter[other]
            for other in order
            if means[other] < means[run]
            and 10 * scipy.stats.ttest_rel(witness["AP"][run], witness["AP"][other]).pvalue <= 0.05
        ]
        assert plain(mark) == "".join(worse)
        n_raised += len(worse)
    assert n_raised > 0


def test_a_family_is_the_comparisons_of_a_measure():
    made = scores()
    table = sr.compare(made, baseline="bm25", correction="holm")
    for result in table.results:
        matrix = made.matrix(result.measure)
        alone = [scipy.stats.ttest_rel(matrix[run], matrix[0]).pvalue for run in range(1, 5)]
        expected = multipletests(alone, method="holm")[1]
        np.testing.assert_allclose(result.pvalue_adjusted, expected, rtol=1e-9)
    low, high = table["AP"].interval[3]
    z = made.matrix("AP")[4] - made.matrix("AP")[0]
    expected = scipy.stats.ttest_1samp(z, 0).confidence_interval(1 - 0.05 / 4)
    assert (low, high) == (pytest.approx(expected.low), pytest.approx(expected.high))
    each = sr.compare(made, baseline="bm25")
    assert "4 comparisons per measure, all runs against bm25" in each.to_markdown()


def test_systems_with_seeds_have_the_tests_of_instances():
    made = seeds()
    table = sr.compare(made, baseline="bm25")
    for measure in made.measures:
        theirs = sr.instances(made, b="bm25", measure=measure, posterior=False, n_samples=10)
        result = table[measure]
        assert (result.test, result.correction, result.row_word) == ("mixed", "holm", "system")
        for row, found in zip(result.rows(), theirs.comparisons, strict=True):
            assert (row["a"], row["b"]) == (found.a, found.b)
            assert row["difference"] == pytest.approx(found.difference, abs=1e-12)
            assert row["pvalue"] == pytest.approx(found.pvalue["mixed"], rel=1e-9)
            assert row["pvalue_adjusted"] == pytest.approx(found.pvalue_adjusted, rel=1e-9)
            if row["significant"] == (found.interval.low > 0):
                assert row["interval"] == pytest.approx(list(found.interval))
        means = made.mean()[made.measures.index(measure)]
        first = result.run_rows()[0]
        assert (first["run"], first["instances"]) == ("colbert", 4)
        assert first["mean"] == pytest.approx(means[:4].mean())
        assert first["sd"] == pytest.approx(np.std(means[:4], ddof=1))
    assert "1 to 4 instances per system" in table.to_markdown()
    by_run = sr.compare(made, measure="AP", by="run", correction="holm")
    assert (len(by_run.runs), by_run.test) == (9, "t")


def test_systems_with_one_run_each_are_compared_by_the_paired_t_test():
    made = scores().with_run_info(system=list("abcde"))
    by_run = sr.compare(made, correction="holm")
    by_system = sr.compare(made, by="system", correction="holm")
    for one, other in zip(by_run.results, by_system.results, strict=True):
        np.testing.assert_allclose(one.pvalue, other.pvalue, rtol=1e-9)
        np.testing.assert_allclose(one.interval, other.interval, rtol=1e-7, atol=1e-12)
        np.testing.assert_array_equal(one.rank_set, other.rank_set)
    assert by_run.results[0].test == "t"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"by": "systems"},
            "no column 'systems' in the topic information .* did you mean 'system'",
        ),
        ({"test": "wilcoxon"}, "which require test mixed"),
        ({"correction": "maxt"}, "correction maxt does not support: use by="),
        ({"by": "run", "test": "mixed"}, "use test t"),
        ({"measure": "AP", "measures": ["AP"]}, "either measure"),
    ],
)
def test_what_does_not_go_together_is_refused(options, message):
    with pytest.raises(sr.InputError, match=message):
        sr.compare(seeds(), **options)


def test_runs_and_judgments_go_in_directly(track):
    result = sr.compare(str(track / "runs"), str(track / "qrels.txt"), measures=["AP", "RR"])
    assert result.measures == ("AP", "RR")
    one = sr.compare(str(track / "runs"), str(track / "qrels.txt"))
    assert one.measure == "nDCG@10"  # as the judgments are graded
    again = sr.compare(str(track / "runs"), str(track / "qrels.txt"), measure="nDCG@10")
    np.testing.assert_array_equal(one.pvalue, again.pvalue)
    with pytest.raises(sr.InputError, match="either scores, or runs and qrels"):
        sr.compare(str(track / "runs"))
    with pytest.raises(sr.InputError, match="not both"):
        sr.compare(scores(), "qrels.txt")
    with pytest.raises(sr.UnknownNameError, match="AP"):
        result["nDCG"]


DESIGNS = {
    "baseline": lambda: sr.compare(scores(), baseline="bm25", test="randomization", n_samples=2000),
    "letters": lambda: sr.compare(scores(), n_samples=2000),
    "seeds": lambda: sr.compare(seeds(), baseline="bm25"),
    "gaps": lambda: sr.compare(gaps(), baseline="bm25"),
}


@pytest.fixture(scope="module")
def tables():
    """Every table under the name of its file; the version says nothing about it."""
    return {
        f"{name}.{form}": getattr(result, method)(digits=3).replace(sr.__version__, "VERSION")
        for name, design in DESIGNS.items()
        for result in [design()]
        for form, method in FORMS.items()
        if form == "tex" or name == "baseline"
    }


@pytest.mark.parametrize(
    "name", [*(f"{name}.tex" for name in DESIGNS), "baseline.md", "baseline.html"]
)
def test_tables_are_as_kept_and_hold_no_nan(tables, name):
    if os.environ.get("STEADYRANK_FREEZE"):
        (FOLDER / name).write_text(tables[name], "utf-8")
    assert tables[name] == (FOLDER / name).read_text("utf-8")
    assert not re.search(r"nan|inf\b|−0\.0+\b(?!\d)|1 comparisons", tables[name])


def test_latex_compiles(tables, tmp_path):
    if shutil.which("pdflatex") is None:
        pytest.skip("pdflatex is not installed")
    tricky = [r"[a] 50%_of & $x$ #1 {~^\} |*`<b>", "*star", "x--y"]
    odd = sr.compare(scores(tricky), n_samples=200).to_latex()
    many = sr.compare(scores([f"run{i}" for i in range(30)]), n_samples=200).to_latex()
    body = "\n\\clearpage\n".join(
        [*(text for name, text in tables.items() if name.endswith(".tex")), odd, many]
    )
    body = re.sub(r"\\label\{.*\}", "", body)
    preamble = "\\documentclass{article}\n\\usepackage{booktabs}\n\\begin{document}\n"
    (tmp_path / "paper.tex").write_text(f"{preamble}{body}\n\\end{{document}}\n", "utf-8")
    # A draft needs no pictures of letters, which TeX would draw first, in a home it may not have.
    command = ["pdflatex", "-draftmode", "-interaction=nonstopmode", "-halt-on-error", "paper.tex"]
    made = subprocess.run(command, cwd=tmp_path, capture_output=True, timeout=600, check=False)
    assert made.returncode == 0, made.stdout.decode(errors="replace")[-1500:]


def test_means_that_print_alike_are_all_bold():
    values = np.array([[[0.5, 0.7], [0.50001, 0.70001], [0.1, 0.2], [0.3, 0.4]]])
    made = sr.Scores(measures=["AP"], runs="abcd", topics="12", values=values)
    result = sr.compare(made, correction="holm")
    lines = result.to_markdown(digits=4).splitlines()
    assert [line.count("**0.6000**") for line in lines[2:4]] == [1, 1]


def test_a_hundred_runs_are_numbered_by_how_many_they_beat():
    made = scores([f"run{i:03}" for i in range(100)], ["AP", "RR"], step=0.004)
    table = sr.compare(made, n_samples=500)
    lines = table.to_markdown().splitlines()
    assert "Raised numbers: how many runs are significantly worse" in lines[-1]
    result = table["AP"]
    wins = [int(number) for number in re.findall(r"<sup>(\d+)</sup> \| [\d*.]+", "\n".join(lines))]
    assert max(wins) <= 99
    beaten = result.pairs[result.significant]
    n_wins = np.zeros(100, int)
    for a, b in beaten:
        n_wins[a if result.mean[a] > result.mean[b] else b] += 1
    first = result.order[0]
    assert f"<sup>{n_wins[first]}</sup>" in lines[2]
    assert len(str(table).split("\n")) < 30


def test_pairs_stand_better_first_in_the_order_of_the_leaderboard():
    made = scores()
    from steadyrank.studies.compare.view import PAIRS

    result = sr.compare(made, measure="AP", n_samples=500)
    rows = [*PAIRS.shown([result], ())]
    place = {result.runs[run]: i for i, run in enumerate(result.order)}
    keys = [(place[row["a"]], place[row["b"]]) for row in rows]
    assert keys == sorted(keys)
    assert all(a < b for a, b in keys)
    given = {frozenset((row["a"], row["b"])): row for row in result.rows()}
    for row in rows:
        other = given[frozenset((row["a"], row["b"]))]
        sign = 1 if other["a"] == row["a"] else -1
        assert row["difference"] == sign * other["difference"] >= 0
        assert row["interval"] == sorted(sign * end for end in other["interval"])
        assert row["mean_a"] - row["mean_b"] == pytest.approx(row["difference"])
        assert row["wins"] == (other["wins"] if sign == 1 else other["losses"])
        assert row["pvalue_adjusted"] == other["pvalue_adjusted"]


def test_json_of_several_measures_holds_one_object_each(capsys, track):
    files = (track / "qrels.txt", track / "runs")
    common = ("--baseline", "team3-s1", "--format", "json", "--quiet")
    _, out, _ = call(capsys, "compare", *files, "-m", "AP", "-m", "RR", *common)
    several = json.loads(out)
    assert (several["family"], several["n_comparisons"]) == ("measure", 4)
    assert several["baseline"] == "team3-s1"
    for measure, found in zip(("AP", "RR"), several["measures"], strict=True):
        _, out, _ = call(capsys, "compare", *files, "-m", measure, *common)
        assert json.loads(out) == found
    _, out, _ = call(capsys, "compare", *files, "-m", "AP", "-m", "RR", "--format", "csv")
    assert out.startswith("measure,a,b,n,mean_a")
    assert len(out.splitlines()) == 21


def test_the_whole_line_of_a_paper(capsys, track, tmp_path):
    files = (track / "qrels.txt", track / "runs")
    made = ("-o", tmp_path / "table.tex", "--plot", tmp_path / "figure.pdf")
    options = ("-m", "nDCG@10", "-m", "AP", "-m", "RR", "--baseline", "team3-s1")
    assert call(capsys, "compare", *files, *options, *made)[0] == 0
    assert (tmp_path / "table.tex").read_text().startswith("\\begin{table}")
    pdf = (tmp_path / "figure.pdf").read_bytes()
    assert b"/Type3" not in pdf
    assert b"/FontFile2" in pdf
    for name in ("table.html", "table.md", "table.csv", "table.json"):
        assert call(capsys, "compare", *files, *options, "-o", tmp_path / name)[0] == 0
    assert (tmp_path / "table.html").read_text("ascii").startswith("<table>")


@pytest.mark.parametrize("kind", ["intervals", "topics", "ranks"])
@pytest.mark.parametrize("figsize", [3.3, (9.0, 9.0)])
def test_every_kind_is_drawn_by_the_first_measure(kind, figsize, tmp_path):
    names = [f"a_reranker_with_a_name_of_sixty_characters_and_the_seed_{i:04}" for i in range(4)]
    figure = sr.compare(scores(names), n_samples=200).plot(kind=kind, figsize=figsize)
    width = figsize if isinstance(figsize, float) else figsize[0]
    assert figure.get_size_inches()[0] == width
    save_figure(figure, tmp_path / "figure.svg")


def test_the_forest_shows_the_simultaneous_intervals():
    result = sr.compare(scores(), measure="AP", baseline="bm25")
    axes = result.plot().axes[0]
    drawn = {}
    for bars in axes.containers:
        for segment in bars[2][0].get_segments():
            drawn[round(segment[0, 1])] = (segment[0, 0], segment[1, 0])
    names = [label.get_text() for label in axes.get_yticklabels()]
    by_run = {row["a"]: row["interval"] for row in result.rows()}
    for place, run in enumerate(names):
        np.testing.assert_allclose(drawn[place], by_run[run], atol=1e-12)
    assert "simultaneous" in axes.get_xlabel()


def test_differences_by_topic_are_those_of_the_scores():
    made = scores()
    matrix = made.matrix("AP")
    best, *others = np.argsort(-matrix.mean(axis=1))
    for options, first, second in (({"baseline": "bm25"}, best, 0), ({}, others[0], best)):
        result = sr.compare(made, measure="AP", **options)
        bars = result.plot(kind="topics").axes[0].patches
        expected = np.sort(matrix[first] - matrix[second])[::-1]
        np.testing.assert_allclose([bar.get_height() for bar in bars], expected)


def test_a_notebook_shows_the_table_of_the_paper():
    table = sr.compare(scores(), baseline="bm25")
    assert table._repr_html_() == table.to_html()
    one = sr.compare(scores(), measure="AP", baseline="bm25")
    assert one._repr_html_().count("<tr>") == 6
