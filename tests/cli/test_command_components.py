"""The `components` command as people and programs call it."""

from __future__ import annotations

import csv
import io
import json
from itertools import product

import numpy as np
import pytest
from commanding import answered, call, refused

CELLS = list(product(["none", "smart"], ["none", "porter"], ["bm25", "lm", "pl2"]))
FACTORS = ("--factors", "stop_list,stemmer,model")


@pytest.fixture
def files(write):
    rng = np.random.default_rng(0)
    gains = np.array([0.1 * (stemmer == "porter") for _, stemmer, _ in CELLS])
    values = rng.random((8, 1)) / 4 + gains + rng.random((8, 12)) / 10
    names = ["-".join(cell) for cell in CELLS]
    rows = [",".join(map(str, [f"t{i}", *row])) for i, row in enumerate(values.tolist())]
    wide = write("ap.csv", "\n".join([",".join(["topic", *names]), *rows]) + "\n")
    lines = [",".join([name, *cell]) for name, cell in zip(names, CELLS, strict=True)]
    info = write("info.csv", "\n".join(["run,stop_list,stemmer,model", *lines]) + "\n")
    return "-m", f"AP={wide}", "--run-info", info


def test_json_has_the_promised_rows_and_more(capsys, files):
    shown = answered(capsys, "components", *files, *FACTORS, "--mode", "paper", "--format", "json")
    sources = [
        *("topic", "stop_list", "stemmer", "model", "stop_list:stemmer", "stop_list:model"),
        *("stemmer:model", "stop_list:stemmer:model", "error", "total"),
    ]
    assert [row["source"] for row in shown["anova"]] == sources
    assert (shown["mode"], shown["strata"]) == ("paper", "none")
    for row in shown["anova"]:
        assert list(row)[:8] == [
            *("source", "ss", "df", "ms", "f", "pvalue", "omega_squared", "power")
        ]
    assert [row["df"] for row in shown["anova"]] == [7, 1, 1, 2, 1, 2, 2, 2, 77, 95]
    assert (shown["measure"], shown["n_topics"], shown["n_runs"]) == ("AP", 8, 12)
    (stemmer,) = [each for each in shown["main_effects"] if each["factor"] == "stemmer"]
    assert [level["level"] for level in stemmer["levels"]] == ["none", "porter"]
    (pair,) = stemmer["pairs"]
    assert pair["difference"] == pytest.approx(-0.1, abs=0.02)
    assert pair["significant"] is True
    assert pair["interval"][0] < pair["difference"] < pair["interval"][1]
    # Two levels: Tukey's q is the root of 2 F.
    f = shown["anova"][2]["f"]
    assert pair["statistic"] == pytest.approx(np.sqrt(2 * f))
    assert pair["pvalue"] == pytest.approx(shown["anova"][2]["pvalue"], rel=1e-6)
    default = json.loads(call(capsys, "components", *files, *FACTORS, "--format", "json")[1])
    assert (default["mode"], default["strata"]) == ("sound", "topic")
    assert default["anova"][2]["tested_against"] == "error(topic:stemmer)"
    shares = [[row["omega_squared"] for row in each["anova"][:8]] for each in (default, shown)]
    assert shares[0][1:] == pytest.approx(shares[1][1:])
    assert {row["source"] for row in default["anova"]} > set(sources)


def test_several_measures_make_a_list(capsys, files):
    again = ("-m", files[1].replace("AP=", "again="))
    _, out, _ = call(capsys, "components", *files, *again, *FACTORS, "--format", "json")
    assert [study["measure"] for study in json.loads(out)["studies"]] == ["AP", "again"]
    _, out, _ = call(capsys, "components", *files, *again, *FACTORS, "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(out)))
    assert [row["measure"] for row in rows] == ["AP"] * 16 + ["again"] * 16
    assert rows[2]["ss"] == rows[18]["ss"] != ""


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--factors", "stop_list,stem"), "unknown factor 'stem': did you mean 'stemmer'"),
        (("--factors", ","), "at least one factor"),
        ((), "at least one factor"),
        ((*FACTORS, "--interactions", "2"), "--interactions was removed in 1.1"),
        ((*FACTORS, "--unbalanced=type3"), "--unbalanced was removed in 1.1; omit levels"),
    ],
)
def test_bad_input_is_one_line_and_code_2(capsys, files, arguments, message):
    assert message in refused(capsys, "components", *files, *arguments)


def test_a_figure_shows_one_measure(capsys, files, tmp_path):
    again = ("-m", files[1].replace("AP=", "again="))
    target = tmp_path / "x.svg"
    err = refused(capsys, "components", *files, *again, *FACTORS, "--plot", target)
    assert "--plot takes one measure" in err
    assert not target.exists()


def test_components_come_from_the_names_of_runs(capsys, files):
    *data, _, _ = files
    code, table, _ = call(capsys, "components", *files, *FACTORS, "--format", "csv")
    found = call(capsys, "components", *data, "--factors-from", "list-stemmer-model", "--csv")
    assert code == 0
    assert found == (0, table.replace("stop_list", "list"), "")
