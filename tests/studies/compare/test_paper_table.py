"""The table and the figure of a paper: every figure recomputed by others, and how it looks."""

from __future__ import annotations

import json
import re
import shutil
import subprocess

import ir_measures
import numpy as np
import pytest
import scipy.stats
from paper_designs import FOLDER, RUNS, VERSION, designs, gaps, scores, seeds, texts
from statsmodels.stats.multitest import multipletests

import steadyrank as sr
from steadyrank.cli import run as run_command
from steadyrank.present.figures import save_figure

MEASURES = ["nDCG@10", "AP", "RR"]


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
    shown = ["--show", "interval", "--show", "p", "--show", "d", "--baseline", base]
    shown += ["--correction", "holm"]
    files = (track / "qrels.txt", track / "runs")
    code, out, _ = call(capsys, "compare", *files, *options, *shown, "--format", "latex", "--quiet")
    assert code == 0
    table = rows_of(out)
    others = [run for run in witness["AP"] if run != base]
    marked = 0
    for place, measure in enumerate(MEASURES):
        values = witness[measure]
        tests = {run: scipy.stats.ttest_rel(values[run], values[base]) for run in others}
        adjusted = multipletests([tests[run].pvalue for run in others], method="holm")[1]
        best = max(values, key=lambda run: values[run].mean())
        for run, p in zip(others, adjusted, strict=True):
            mean, mark, gap, limits, pvalue, effect = table[run][6 * place : 6 * place + 6]
            z = values[run] - values[base]
            assert plain(mean) == f"{values[run].mean():.4f}"
            assert ("textbf" in mean) == (run == best)
            expected = "" if p > 0.05 else "dagger" if z.mean() > 0 else "ddagger"
            assert re.sub(r"[^a-z]|textsuperscript", "", mark) == expected
            marked += bool(expected)
            assert plain(gap) == f"{z.mean():+.4f}"
            low, high = tests[run].confidence_interval(1 - 0.05 / len(others))
            if p <= 0.05 and not (low > 0 or high < 0):
                # Holm decides it at a later step, whose level makes the limit towards 0.
                smaller = sum(tests[other].pvalue < tests[run].pvalue for other in others)
                own = tests[run].confidence_interval(1 - 0.05 / (len(others) - smaller))
                low, high = (own.low, high) if z.mean() > 0 else (low, own.high)
            assert plain(limits) == f"[{low:+.4f}, {high:+.4f}]"
            shown_p = r"\textless{} 0.0001" if p < 1e-4 else f"{p:.4f}"
            assert pvalue == shown_p
            assert plain(effect) == f"{z.mean() / z.std(ddof=1):+.2f}"
        assert plain(table[f"{base} (baseline)"][6 * place]) == f"{values[base].mean():.4f}"
    assert 0 < marked < 12


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


@pytest.fixture(scope="module")
def tables():
    return texts()


@pytest.mark.parametrize("design", list(designs()))
@pytest.mark.parametrize("form", ["tex", "md", "html"])
def test_the_tables_of_five_designs_are_as_kept(tables, design, form):
    name = f"{design}.{form}"
    assert tables[name] == (FOLDER / name).read_text("utf-8")


def test_no_table_holds_what_is_no_number(tables):
    for name, text in tables.items():
        assert not re.search(r"nan|inf\b|p-value 0\.0000|−0\.0+\b(?!\d)|1 comparisons", text), name
        assert VERSION in text


def test_latex_compiles(tables, tmp_path):
    if shutil.which("pdflatex") is None:
        pytest.skip("pdflatex is not installed")
    tricky = [r"[a] 50%_of & $x$ #1 {~^\} |*`<b>", "*star", "x--y"]
    odd = sr.compare(scores(tricky), n_samples=200).to_latex(underline_second=True)
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
    lines = result.to_markdown(underline_second=True, digits=4).splitlines()
    assert [line.count("**0.6000**") for line in lines[2:4]] == [1, 1]
    assert "<u>0.3500</u>" in lines[4]


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


def test_pairs_stand_better_first_in_the_order_of_the_leaderboard(capsys, tmp_path):
    made = scores()
    from steadyrank.studies.compare.result import better_first

    result = sr.compare(made, measure="AP", n_samples=500)
    rows = better_first(result)
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


def test_pairs_with_too_few_topics_have_dashes():
    text = str(sr.compare(gaps(), measure="AP", correction="holm"))
    assert "nan" not in text
    assert "–: too few topics." in text
    against = str(sr.compare(gaps(), measure="AP", baseline="bm25"))
    assert "nan" not in against
    assert "3 comparisons, all runs with enough topics against bm25" in against
    assert "p adjusted" not in str(sr.compare(scores(RUNS[:2]), measure="AP"))


def test_no_column_of_a_terminal_holds_one_value_alone():
    same = sr.Scores(measures=["AP"], runs="ab", topics="123", values=[[[0.1] * 3, [0.2] * 3]])
    text = str(sr.compare(same))
    assert "differs from" not in text
    assert "p adjusted" not in text
    assert "∞" in text
    assert "The two runs differ significantly by mean AP." in text
    alike = str(sr.compare(scores(step=0.0), measure="AP", n_samples=500))
    assert "group" not in alike
    assert "None of the 10 pairs differs significantly by mean AP" in alike


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
@pytest.mark.parametrize("figsize", [None, 3.3, (9.0, 9.0)])
def test_every_kind_is_drawn_for_one_measure_and_for_several(kind, figsize, tmp_path):
    names = [f"a_reranker_with_a_name_of_sixty_characters_and_the_seed_{i:04}" for i in range(4)]
    table = sr.compare(scores(names), n_samples=200)
    several = [table] if kind in ("intervals", "topics") else []
    for result in (*several, table["AP"]):
        figure = result.plot(kind=kind, figsize=figsize)
        if isinstance(figsize, tuple):
            assert tuple(figure.get_size_inches()) == figsize
        save_figure(figure, tmp_path / "figure.svg")


def test_kinds_that_need_one_measure_say_so():
    with pytest.raises(sr.InputError, match="kind of plot 'ranks'"):
        sr.compare(scores(), n_samples=200).plot(kind="ranks")


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
    made = scores(RUNS[:2])
    result = sr.compare(made, measure="AP", baseline="bm25")
    bars = result.plot(kind="topics").axes[0].patches
    expected = np.sort(made.matrix("AP")[1] - made.matrix("AP")[0])[::-1]
    np.testing.assert_allclose([bar.get_height() for bar in bars], expected)
    several = sr.compare(scores(), measure="AP", baseline="bm25").plot(kind="topics").axes[0]
    assert sum(len(line.get_xdata()) for line in several.lines if line.get_marker() == "o") == 160


def test_a_notebook_shows_the_table_of_the_paper():
    table = sr.compare(scores(), baseline="bm25")
    assert table._repr_html_() == table.to_html()
    assert "<caption" in table._repr_html_()
    one = sr.compare(scores(), measure="AP", baseline="bm25")
    assert one._repr_html_().count("<tr>") == 6
    with pytest.raises(sr.InputError, match="shows differences from a baseline"):
        sr.compare(scores()).to_latex(show=["p"])
    with pytest.raises(sr.InputError, match="figure to show"):
        table.to_latex(show=["sds"])
    assert r"\label{tab:main}" in table.to_latex(label="tab:main")
