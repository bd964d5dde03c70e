"""The `instances` command as people and programs call it."""

from __future__ import annotations

import csv
import io
import json

import numpy as np
import pytest
from commanding import answered, call, refused

import steadyrank as sr
from steadyrank.studies.registry import all_plots

QUICK = ("--samples", "200", "--samples-per-instance", "50")
PAIR = ("--a", "rerank", "--b", "bm25")


def long_csv(systems, measures=("AP",)):
    """Long scores of systems {name: [instance, topic]}; a run is name-i, or name if single."""
    lines = ["measure,run,topic,value"]
    for measure in measures:
        for name, rows in systems.items():
            for i, row in enumerate(rows):
                run_name = name if len(rows) == 1 else f"{name}-{i}"
                lines += [f"{measure},{run_name},{t},{y}" for t, y in enumerate(row)]
    return "\n".join(lines) + "\n"


def drawn(rng, m, n, mean):
    return mean + rng.normal(0, 0.01, (m, 1)) + rng.normal(0, 0.03, n) + rng.normal(0, 0.03, (m, n))


@pytest.fixture
def systems():
    rng = np.random.default_rng(0)
    topics = rng.normal(0.4, 0.1, 25)
    return {
        "rerank": topics + drawn(rng, 6, 25, 0.05),
        "dense": topics + drawn(rng, 4, 25, 0.0),
        "bm25": topics[None] + drawn(rng, 1, 25, 0.0),
    }


@pytest.fixture
def scores(write, systems):
    return write("scores.csv", long_csv(systems))


@pytest.fixture
def called(capsys, scores):
    """Call the command on these scores, systems by the names of runs."""

    def call_it(*arguments):
        return call(
            capsys,
            *("instances", "--scores", scores, "--system-from"),
            r"^([^-]+)",
            *QUICK,
            *arguments,
        )

    return call_it


def test_json_has_the_promised_keys(called):
    code, out, err = called(*PAIR, "--delta", ".02", "--format", "json")
    assert (code, err) == (0, "")
    shown = json.loads(out)
    assert (shown["a"], shown["b"], shown["measure"]) == ("rerank", "bm25", "AP")
    assert (shown["design"], shown["n_topics"]) == ("crossed", 25)
    assert shown["n_instances"] == {"a": 6, "b": 1}
    assert shown["interval"][0] < shown["difference"] < shown["interval"][1]
    assert set(shown["pvalue"]) == {"mixed", "mixed_paper", "bootstrap", "two_way_bootstrap"}
    assert all(0 <= p <= 1 for p in shown["pvalue"].values())
    assert shown["variance"]["topic"] is None
    assert set(shown["variance"]) == {"instance", "topic", "system_topic", "residual"}
    assert shown["effect_size"] == pytest.approx(
        shown["difference"] / shown["variance"]["residual"] ** 0.5
    )
    assert {"mean", "hpd", "level", "pvalue"} <= set(shown["posterior"])
    assert shown["posterior"]["level"] == 0.95
    equivalence = shown["equivalence"]
    assert (equivalence["delta"], equivalence["alpha"]) == (0.02, 0.05)
    assert equivalence["non_inferior"] is True
    assert equivalence["interval"][0] > shown["interval"][0]
    assert {"equivalent", "pvalue_equivalence", "pvalue_non_inferiority"} <= set(equivalence)
    assert any("rerank is better than bm25" in text for text in shown["words"])
    first = shown["findings"][0]
    assert first["id"] == "instances.difference"
    assert first["values"]["difference"] == shown["difference"]


def test_two_non_deterministic_systems(called):
    _, out, _ = called("--a", "dense", "--b", "rerank", "--format", "json", "--no-posterior")
    shown = json.loads(out)
    assert shown["design"] == "nested"
    assert shown["n_instances"] == {"a": 4, "b": 6}
    assert shown["pvalue"]["bootstrap"] is None
    assert shown["variance"]["topic"] > 0
    assert shown["posterior"] is None


def test_tables_of_several_systems(called):
    _, out, _ = called("--b", "bm25", "--format", "json", "--no-posterior")
    shown = json.loads(out)
    assert shown["baseline"] == "bm25"
    assert [(row["a"], row["b"]) for row in shown["comparisons"]] == [
        ("rerank", "bm25"),
        ("dense", "bm25"),
    ]
    raw = [row["pvalue"]["mixed"] for row in shown["comparisons"]]
    assert shown["comparisons"][0]["pvalue_adjusted"] == pytest.approx(min(1, 2 * min(raw)))
    assert shown["correction"] == "holm"
    _, out, _ = called("--no-posterior", "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(out)))
    assert len(rows) == 3
    assert float(rows[0]["pvalue_mixed"]) <= float(rows[0]["pvalue_adjusted"])
    assert rows[0]["equivalence_interval_low"] < rows[0]["equivalence_interval_high"]
    _, out, _ = called("--no-posterior")
    assert "3 comparisons, all pairs" in out
    assert "mean a" in out
    assert "mean b" in out
    _, out, _ = called("--b", "bm25", "--no-posterior")
    assert "Mean of bm25: " in out
    assert "+0.0597*" in out
    assert "* significant." in out
    assert "margin 0.01" in out
    assert "HPD" not in out  # a column without any value
    _, out, _ = called(*PAIR, "--no-posterior")
    assert "p, Algorithm 2 of Jayasinghe et al. 2015" in out
    assert "of the paper" not in out


@pytest.fixture
def sweep(write):
    rng = np.random.default_rng(2)
    topics = rng.normal(0.4, 0.1, 40)
    means = {"0.1": -0.1, "1": 0.0, "10": 0.01}
    settings = {
        f"sel@{rate}": topics + mean + rng.normal(0, 0.01, (5, 40)) for rate, mean in means.items()
    }
    lines = ["run,system,rate", "full,full,"]
    lines += [f"{name}-{i},sel,{name[4:]}" for name in settings for i in range(5)]
    scores = write("sweep.csv", long_csv({"full": topics[None], **settings}))
    return "--scores", scores, "--run-info", write("info.csv", "\n".join(lines) + "\n")


def test_a_sweep_names_the_smallest_setting(capsys, sweep):
    options = (*sweep, *QUICK, "--no-posterior", "--sweep", "rate", "--b", "full")
    shown = answered(capsys, "instances", *options, "--format", "json")
    assert (shown["sweep"], shown["smallest_non_inferior"]) == ("rate", "1")
    assert [row["setting"] for row in shown["comparisons"]] == ["0.1", "1", "10"]
    _, out, _ = call(capsys, "instances", *options)
    assert "The smallest rate that is not worse than full by 0.01 is 1" in out
    assert "rate=0.1" in out


def test_structure_is_warned_about_or_used(capsys, write, systems, scores):
    rows = [f"rerank-{i},rerank,s{i // 3}" for i in range(6)]
    rows += [f"dense-{i},dense,s{i}" for i in range(4)]
    info = write("info.csv", "\n".join(["run,system,sample", *rows, "bm25,bm25,"]) + "\n")
    options = (
        "--scores",
        scores,
        "--run-info",
        info,
        *PAIR,
        *QUICK,
        "--no-posterior",
        "--format",
        "json",
    )
    code, out, err = call(capsys, "instances", *options)
    assert code == 0
    assert "steadyrank: warning: the 6 instances of rerank share values of sample (2 values)" in err
    assert err.count("\n") == 1
    flat = json.loads(out)
    nested = answered(capsys, "instances", *options, "--instance-factors", "sample")
    assert list(nested["factor_variance"]) == ["sample"]
    assert nested["difference"] == pytest.approx(flat["difference"])


def test_several_measures_make_several_studies(capsys, write, systems, tmp_path):
    path = write("two.csv", long_csv(systems, ("AP", "P@10")))
    options = ("--scores", path, "--system-from", "^([^-]+)", *PAIR, *QUICK, "--no-posterior")
    shown = json.loads(call(capsys, "instances", *options, "--format", "json")[1])
    assert [study["measure"] for study in shown["studies"]] == ["AP", "P@10"]
    _, out, _ = call(capsys, "instances", *options, "-m", "P@10", "--format", "json")
    assert json.loads(out) == shown["studies"][1]
    assert "one measure" in refused(capsys, "instances", *options, "--plot", tmp_path / "x.svg")


@pytest.mark.parametrize("kind", list(all_plots()["InstancesResult"]))
def test_plots_of_pairs_tables_and_sweeps(called, capsys, sweep, tmp_path, kind):
    path = tmp_path / "figure.svg"
    options = ("--no-posterior", "--plot", path, "--plot-kind", kind, "--format", "json")
    texts = []
    for _ in range(2):
        code, _, err = called("--b", "bm25", *options)
        assert (code, err) == (0, "")
        texts.append(path.read_text("utf-8"))
    assert texts[0] == texts[1]
    assert "rerank" in texts[0]
    code, _, _ = called(*PAIR, *options)
    assert code == 0
    assert "rerank" in path.read_text("utf-8")
    code, _, _ = call(
        capsys, "instances", *sweep, *QUICK, "--sweep", "rate", "--b", "full", *options
    )
    assert code == 0
    assert "rate" in path.read_text("utf-8")


def test_the_margin_figure_shows_the_numbers(systems):
    matrix = np.concatenate(list(systems.values()))
    labels = [name for name, rows in systems.items() for _ in rows]
    scores = sr.Scores(
        measures=["AP"],
        runs=[str(i) for i in range(11)],
        topics=range(25),
        values=[matrix],
        run_info={"system": labels},
    )
    table = sr.instances(scores, b="bm25", n_samples=50, samples_per_instance=10)
    (ax,) = sr.plot(table).axes
    assert [tick.get_text() for tick in ax.get_yticklabels()] == ["rerank − bm25", "dense − bm25"]
    (bars,) = ax.containers
    ends = np.array(bars.lines[2][0].get_segments())[:, :, 0]
    np.testing.assert_allclose(ends, [found.hpd for found in table.comparisons])
    assert [line.get_xdata()[0] for line in ax.lines[-2:]] == [0.0, -0.01]
    (ax,) = sr.plot(table, kind="means").axes
    points = [line for line in ax.lines if line.get_marker() == "o"]
    np.testing.assert_allclose(points[0].get_ydata(), systems["rerank"].mean(axis=1))
    (ax,) = sr.plot(table, kind="topics", system="dense").axes
    medians = np.median(systems["dense"], axis=0)
    np.testing.assert_allclose(ax.lines[-1].get_ydata(), np.sort(medians)[::-1])
    with pytest.raises(sr.UnknownNameError, match="unknown system 'dens': did you mean 'dense'"):
        sr.plot(table, kind="topics", system="dens")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--a", "rrank", "--b", "bm25"), "unknown system 'rrank': did you mean 'rerank'?"),
        (("--a", "bm25", "--b", "bm25"), "a and b are both 'bm25': name two systems"),
        ((*PAIR, "--delta", "0"), "delta must be above 0, got 0.0"),
        ((*PAIR, "--delta", "-1"), "delta must be above 0"),
        ((*PAIR, "--alpha", "1"), "alpha must lie strictly between 0 and 0.5"),
        (
            (*PAIR, "--instance-factors", "sample"),
            "there is no column 'sample' in the run information",
        ),
        (("--sweep", "rate"), "a sweep over rate requires a baseline"),
        ((*PAIR, "--power", ".9"), "--power was removed in 1.1; use stability"),
        ((*PAIR, "-m", "RR"), "unknown measure 'RR'"),
    ],
)
def test_bad_input_is_one_line_and_code_2(called, arguments, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, out, err = called(*arguments)
    assert (code, out) == (2, "")
    assert message in err
    assert err.count("\n") == 1
    assert not (tmp_path / "x.svg").exists()


def test_one_topic_is_too_few(capsys, write):
    path = write("one.csv", "measure,run,topic,value\nAP,x-1,1,.2\nAP,x-2,1,.3\nAP,y,1,.1\n")
    options = ("--scores", path, "--system-from", "^([^-]+)", "--a", "x", "--b", "y")
    err = refused(capsys, "instances", *options)
    assert "x and y share 1 topic" in err
    assert "at least two" in err
