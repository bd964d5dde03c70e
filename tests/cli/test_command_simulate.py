"""The `simulate` command as people and programs call it."""

from __future__ import annotations

import csv
import io
import json
import os
import subprocess
import sys

import numpy as np
import pytest
import scipy.stats
from commanding import call, refused

import steadyrank as sr
from steadyrank.cli.output import tell_if_compiling

SAMPLES = 300
N_RUNS, N_TOPICS = 5, 15
QUICK = ("--samples", SAMPLES, "--quiet")
JSON = (*QUICK, "--format", "json")


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """A small track as files: the judgments, then the runs."""
    folder = tmp_path_factory.mktemp("track")
    track = sr.simulated_track(
        n_teams=N_RUNS, runs_per_team=1, n_topics=N_TOPICS, depth=60, pool_depth=30
    )
    sr.write_qrels(track.qrels, folder / "qrels.txt")
    paths = [folder / "qrels.txt"]
    for r in track.runs:
        paths.append(folder / f"{r.name}.run")
        sr.write_run(r, paths[-1])
    return paths


@pytest.fixture
def never(monkeypatch):
    """Fail if a command gets as far as sampling."""

    def sampled(*args, **options):
        raise AssertionError("sampled before the mistake was told")

    monkeypatch.setattr("steadyrank.studies.simulate.study.simulate", sampled)


def result_of(capsys, *arguments):
    code, out, err = call(capsys, "simulate", *arguments, *JSON)
    assert (code, err) == (0, "")
    return json.loads(out, parse_constant=lambda name: pytest.fail(f"{name} in JSON"))


def test_json_has_the_promised_keys_and_they_agree_with_each_other(capsys, files):
    result = result_of(capsys, *files, "-m", "map")
    n_pairs = N_RUNS * (N_RUNS - 1) // 2
    assert (result["model"], result["measure"], result["n_samples"]) == ("bootstrap", "AP", SAMPLES)
    assert (result["depth"], result["seed"]) == ("retrieved", 0)
    assert (result["mode"], result["denominator"]) == ("sound", None)
    assert (result["documents"], result["truncated"]) == ("shared", 0)
    assert len(result["runs"]) == len(result["raw_mean"]) == len(result["simulated_mean"]) == N_RUNS
    assert len(result["topics"]) == N_TOPICS
    scores = sr.evaluate([str(path) for path in files[1:]], files[0], "AP")
    assert result["raw_mean"] == pytest.approx(scores.mean()[0], abs=1e-12)

    tau = result["rank_correlation"]
    low, high = tau["interval"]
    assert -1 <= low <= tau["mean"] <= high <= 1
    assert tau["quantiles"]["0.025"] == low
    assert tau["mean_error"] == pytest.approx(tau["sd"] / SAMPLES**0.5)

    bins = result["error_rate"]
    assert len(bins) == 21
    assert sum(row["count"] for row in bins) == n_pairs * SAMPLES
    assert [row["low"] for row in bins] == pytest.approx(np.arange(21) / 100)
    assert [row["high"] for row in bins[:-1]] == [row["low"] for row in bins[1:]]
    assert bins[-1]["high"] is None
    for row in bins:
        rate = row["errors"] / row["count"] if row["count"] else None
        assert row["rate"] == rate
    overall = sum(row["errors"] for row in bins) / (n_pairs * SAMPLES)
    assert result["overall_error_rate"] == pytest.approx(overall)

    rates = np.array([pair["rate"] for pair in result["pairs"]])
    pvalues = np.array([pair["raw_pvalue"] for pair in result["pairs"]])
    significance = result["significance"]
    assert len(rates) == n_pairs
    assert significance["alpha"] == 0.05
    assert significance["raw_share"] == np.mean(pvalues < 0.05)
    assert significance["rarely_significant_share"] == np.mean(rates < 0.05)
    assert significance["reliably_significant_share"] == np.mean(rates >= 0.95)
    assert significance["decision_agreement"] == pytest.approx(
        np.where(pvalues < 0.05, rates, 1 - rates).mean()
    )
    assert result["estimated_difference"] >= 0
    assert result["estimated_difference_recentred"] >= 0


def test_pairs_and_runs_in_json_are_those_of_the_data(capsys, files):
    result = result_of(capsys, *files)
    raw = dict(zip(result["runs"], result["per_topic"]["raw"], strict=True))
    simulated = dict(zip(result["runs"], result["simulated_mean"], strict=True))
    for pair in result["pairs"]:
        a, b = np.array(raw[pair["a"]]), np.array(raw[pair["b"]])
        assert pair["raw_difference"] == pytest.approx(a.mean() - b.mean(), abs=1e-12)
        assert pair["raw_pvalue"] == pytest.approx(scipy.stats.ttest_rel(a, b).pvalue, rel=1e-6)
        gap = simulated[pair["a"]] - simulated[pair["b"]]
        assert pair["simulated_difference"] == pytest.approx(gap)
    mean = np.array(result["per_topic"]["simulated_mean"]).mean(axis=1)
    assert result["simulated_mean"] == pytest.approx(mean)
    # Topics are drawn independently, so their variances add up. From 300 samples a standard
    # deviation has a relative error of 4 %: one seed in a hundred million is off by six of them.
    spread = (np.array(result["per_topic"]["simulated_sd"]) ** 2).sum(axis=1) ** 0.5 / N_TOPICS
    assert result["simulated_sd"] == pytest.approx(spread, rel=0.25)
    top = result["top_probability"]
    assert set(top) == {"1", "3"}
    assert sum(top["1"]) == pytest.approx(1)
    assert sum(top["3"]) == pytest.approx(3)
    order = np.argsort(result["rank"])
    assert [result["raw_mean"][i] for i in order] == sorted(result["raw_mean"], reverse=True)
    for low, high in result["rank_interval"]:
        assert 1 <= low <= high <= N_RUNS


def test_every_option_reaches_the_study(capsys, files):
    chosen = (
        *("--model", "kde", "--bandwidth", "0.25", "--depth"),
        40,
        *("--denominator", "sampled", "--score-source", "rank", "--alpha", "0.01", "--seed"),
        7,
        "--mode",
        "paper",
    )
    result = result_of(capsys, *files, "-m", "AP(rel=2)", *chosen)
    keys = ("model", "bandwidth", "depth", "denominator", "score_source", "seed", "measure", "mode")
    assert [result[key] for key in keys] == [
        *("kde", 0.25, 40, "sampled", "rank", 7, "AP(rel=2)", "paper")
    ]
    assert result["significance"]["alpha"] == 0.01
    with pytest.warns(sr.SteadyrankWarning, match="1 of 15 topics has no relevant document"):
        direct = sr.simulate(
            [str(path) for path in files[1:]],
            files[0],
            measure="AP",
            rel=2,
            model="kde",
            bandwidth=0.25,
            depth=40,
            denominator="sampled",
            score_source="rank",
            alpha=0.01,
            n_samples=SAMPLES,
            rng=7,
            mode="paper",
        )
    assert result["simulated_mean"] == direct.simulated_mean.tolist()
    assert result_of(capsys, *files)["bandwidth"] is None


def test_a_binary_measure_has_a_name_of_its_own_in_every_format(capsys, files):
    name = "binary nDCG@10 (grade ≥ 1)"
    independent = ("-m", "nDCG@10", "--documents", "independent")
    assert result_of(capsys, *files, *independent)["measure"] == name
    for form in ("table", "markdown", "latex"):
        out = call(capsys, "simulate", *files, *QUICK, *independent, "--format", form)[1]
        written_name = name.replace("≥", r"$\geq$") if form == "latex" else name
        assert out.count("nDCG@10") == out.count(written_name)
        assert f"the ranking by {written_name} has a mean Kendall's tau of" in out


def test_shared_documents_keep_their_grades(capsys, files):
    for measure in ("nDCG@10", "ERR@20", "AP"):
        result = result_of(capsys, *files, "-m", measure)
        assert result["measure"] == measure
        scores = sr.evaluate([str(path) for path in files[1:]], files[0], measure)
        assert result["per_topic"]["raw"] == scores.values[0].tolist()
    asked = result_of(capsys, *files, "--documents", "shared")
    assert asked == result
    paper = result_of(capsys, *files, "--documents", "independent")
    assert (paper["documents"], paper["denominator"]) == ("independent", "poisson")
    assert paper["simulated_mean"] != asked["simulated_mean"]


def test_csv_has_a_row_a_run_with_every_digit(capsys, files):
    result = result_of(capsys, *files)
    _, out, _ = call(capsys, "simulate", *files, *QUICK, "--format", "csv")
    rows = {row["run"]: row for row in csv.DictReader(io.StringIO(out))}
    for key in ("raw_mean", "simulated_mean", "simulated_sd", "rank"):
        assert [float(rows[run][key]) for run in result["runs"]] == result[key]
    for k in ("1", "3"):
        shares = [float(rows[run][f"top_{k}"]) for run in result["runs"]]
        assert shares == result["top_probability"][k]
    ranks = [[int(rows[run][f"rank_{end}"]) for end in ("low", "high")] for run in result["runs"]]
    assert ranks == result["rank_interval"]


def test_a_store_takes_up_where_it_stopped(capsys, files, tmp_path):
    store = tmp_path / "store"
    many = ("--samples", 1200, "--quiet", "--format", "json")
    fresh = call(capsys, "simulate", *files, *many)
    assert call(capsys, "simulate", *files, *many, "--store", store) == fresh
    blocks = sorted(store.glob("*.block"))
    assert len(blocks) == 3
    blocks[1].unlink()
    kept = blocks[0].stat().st_mtime_ns
    assert call(capsys, "simulate", *files, *many, "--store", store) == fresh
    assert blocks[1].exists()
    assert blocks[0].stat().st_mtime_ns == kept
    err = refused(capsys, "simulate", *files, *many, "--store", store, "--seed", 5)
    assert "was made with different settings (seed: 0 there, 5 here)" in err


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["-m", "AP", "-m", "P@10"], "simulate takes one measure at a time, got AP, P@10"),
        (["-m", "AP=ap.csv"], "so it requires the runs and the judgments themselves"),
        (["--scores", "ap.csv"], "so it requires the runs and the judgments themselves"),
        (
            ["-m", "ERR@20", "--documents", "independent"],
            "ERR@20 cannot be simulated: it depends on more than the ranks of relevant",
        ),
        (["-m", "num_ret", "--model", "kde"], "NumRet cannot be simulated"),
        (["-m", "Bpref"], "Bpref cannot be simulated"),
        (["--documents", "shared", "--model", "kde"], "or --documents independent"),
        (["--documents", "shared", "--denominator", "judged"], "or choose --documents independent"),
        (["-m", "AP(judged_only=True)"], "write AP without judged_only"),
        (["-m", "RBP(residual=True)"], "write RBP without residual"),
        (["-m", "nDGC"], "'nDGC': did you mean 'nDCG'?"),
        (["--model", "normal"], "'normal' is not one of"),
        (["--samples", "0"], "0 is not in the range"),
        (["--depth", "deep"], "'deep' is neither a whole number nor retrieved"),
        (["--depth", "0"], "depth must be 'retrieved' or a whole number from 1"),
        (["--bandwidth", "wide"], "'wide' is neither a number nor scott, silverman or robust"),
        (["--bandwidth", "-1"], "a bandwidth must be a number of at least 0, got -1.0"),
        (["--bandwidth", "nan"], "a bandwidth must be a number of at least 0, got nan"),
        (["--alpha", "1"], "1.0 is not in the range"),
        (["--missing", "skip"], "'skip' is not one of"),
        (["--device", "tpu"], "'tpu' is not 'cpu'"),
        (["--top", "6"], "--top was removed in 1.1; "),
        (["--plot", "figure.jpeg"], "must end in .svg, .png or .pdf"),
        (["--plot", "nowhere/figure.svg"], "the folder nowhere does not exist"),
        (["-o", "nowhere/result.json"], "the folder nowhere does not exist"),
        (["-o", "x.svg", "--plot", "./x.svg"], "are the same file: name two files"),
        (["more.run"], "more.run: no such file"),
    ],
)
def test_mistakes_are_one_line_and_exit_code_2(capsys, files, arguments, told):
    assert told in refused(capsys, "simulate", *files, *arguments)


@pytest.mark.usefixtures("never")
@pytest.mark.parametrize("arguments", [["--plot", "figure.jpeg"], ["-o", "nowhere/result.json"]])
def test_what_cannot_be_shown_is_told_before_sampling(capsys, files, arguments):
    assert call(capsys, "simulate", *files, *arguments)[0] == 2


def test_quiet_silences_matplotlib_too(files, tmp_path):
    figure = tmp_path / "figure.svg"
    # A file where matplotlib's folder should be: it says so on stderr.
    environment = {**os.environ, "MPLCONFIGDIR": str(files[0])}
    arguments = [*files, "--samples", 20, "--plot", figure, "--quiet"]
    done = subprocess.run(
        [sys.executable, "-m", "steadyrank", "simulate", *map(str, arguments)],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stderr == ""
    assert figure.exists()


def test_a_run_a_topic_a_sample_alone_leave_nulls(capsys, files, tmp_path):
    alone = result_of(capsys, *files[:2])
    assert alone["rank_correlation"]["mean"] is None
    assert alone["pairs"] == []
    assert alone["overall_error_rate"] is None
    assert alone["significance"]["raw_share"] is None
    assert alone["top_probability"] == {"1": [1.0]}
    code, out, _ = call(capsys, "simulate", *files[:2], *QUICK)
    assert code == 0
    assert "with one run there is nothing to rank" in out
    assert "nan" not in out
    once = call(capsys, "simulate", *files, "--samples", 1, "--quiet", "--format", "json")[1]
    assert json.loads(once)["simulated_sd"] == [None] * N_RUNS
    once = call(capsys, "simulate", *files, "--samples", 1, "--quiet", "--format", "csv")[1]
    assert {row["simulated_sd"] for row in csv.DictReader(io.StringIO(once))} == {""}
    first = files[0].read_text().split()[0]
    qrels = tmp_path / "one-topic.txt"
    lines = files[0].read_text().splitlines(keepends=True)
    qrels.write_text("".join(line for line in lines if line.split()[0] == first))
    single = result_of(capsys, qrels, *files[1:])
    assert {pair["raw_pvalue"] for pair in single["pairs"]} == {None}
    assert single["significance"]["raw_share"] == 0


def test_progress_is_told_in_lines_where_nobody_watches(capsys, files, monkeypatch):
    monkeypatch.setattr("steadyrank.cli.output.PATIENCE", 0.0)
    many = ("simulate", *files, "--samples", 1200)
    assert "steadyrank: blocks of samples: 1 of 3" in call(capsys, *many)[2]
    assert call(capsys, *many, "--quiet")[2] == ""


def test_whoever_watches_is_told_of_compiling(capsys, monkeypatch):
    monkeypatch.setattr("steadyrank.compute.kernel_cache.is_kept", lambda kernel: False)
    tell_if_compiling(False, object())
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    tell_if_compiling(True, object())
    assert capsys.readouterr().err == ""
    tell_if_compiling(False, object())
    assert "compiling kernels, which happens once" in capsys.readouterr().err


def test_bins_and_kernels_of_the_command_are_those_of_the_library(files, capsys):
    options = ("--samples", "60", "--quiet", "--json", "--bins", "4", "--bin-width", "0.05")
    model = ("--model", "kde", "--kernel", "uniform")
    code, out, _ = call(capsys, "simulate", *files, *options, *model)
    found = json.loads(out)
    assert (code, found["model"], found["kernel"]) == (0, "kde", "uniform")
    assert [row["low"] for row in found["error_rate"]] == [0.0, 0.05, 0.1, 0.15]
    same = sr.simulate(
        [str(file) for file in files[1:]],
        files[0],
        model="kde",
        kernel="uniform",
        n_samples=60,
        n_bins=4,
        bin_width=0.05,
    )
    assert found["simulated_mean"] == same.simulated_mean.tolist()
    assert [row["count"] for row in found["error_rate"]] == same.error_rate.count.tolist()
