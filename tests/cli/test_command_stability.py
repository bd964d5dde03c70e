"""The `stability` command as people and programs call it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from steadyrank.cli import run

CASE = json.loads((Path(__file__).parents[1] / "golden/gtheory_crossed.json").read_text("utf-8"))


def call(capsys, *arguments):
    code = run([str(argument) for argument in arguments])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


@pytest.fixture
def wide(write):
    scores = CASE["inputs"]["scores"]
    header = ",".join(["topic", *(f"s{i}" for i in range(8))])
    rows = [",".join(map(str, [f"t{i}", *row])) for i, row in enumerate(scores)]
    return write("ap.csv", "\n".join([header, *rows]) + "\n")


def test_json_has_the_promised_keys_and_the_figures_of_r(capsys, wide):
    options = ("--scores", wide, "-m", "AP", "--levels", ".95", "--topics", "50")
    code, out, err = call(capsys, "stability", *options, "--format", "json")
    shown, expected = json.loads(out), CASE["expected"]
    assert (code, err) == (0, "")
    assert shown["variance"] == pytest.approx(expected["variance"], abs=1e-10)
    assert shown["e_rho2"] == pytest.approx(expected["e_rho2_at"]["n12"], abs=1e-10)
    assert shown["phi"] == pytest.approx(expected["phi_at"]["n12"], abs=1e-10)
    (needed,) = shown["topics_needed"]
    assert (needed["level"], needed["e_rho2"], needed["phi"]) == (0.95, 16, 211)
    assert shown["measure"] == "AP"
    assert shown["d_study"][1]["phi"] == pytest.approx(expected["phi_at"]["n50"], abs=1e-10)


def test_several_measures_make_a_list(capsys, wide):
    named = ("-m", f"AP={wide}", "-m", f"again={wide}")
    _, out, _ = call(capsys, "stability", *named, "--format", "json")
    studies = json.loads(out)["studies"]
    assert [study["measure"] for study in studies] == ["AP", "again"]
    assert studies[0]["variance"] == studies[1]["variance"]
    _, out, _ = call(capsys, "stability", *named, "--format", "csv")
    assert [line.split(",")[0] for line in out.splitlines()] == ["measure", "AP", "again"]


def test_the_table_answers_in_words(capsys, wide):
    _, out, _ = call(capsys, "stability", "--scores", wide, "-m", "AP")
    assert "12 topics order systems like these with E rho² 0.935" in out
    assert "topics for 0.9" in out
    assert "8 systems × 12 topics" in out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--levels", "2"), "level must lie strictly between 0 and 1"),
        (("--levels", "high"), "--levels high: give numbers with commas between"),
        (("--topics", "1.5"), "--topics 1.5: give whole numbers with commas between"),
        (("--topics", "0"), "topics must be whole numbers from 1 on"),
    ],
)
def test_bad_input_is_one_line_and_code_2(capsys, wide, arguments, message):
    code, out, err = call(capsys, "stability", "--scores", wide, *arguments)
    assert (code, out) == (2, "")
    assert message in err
    assert err.count("\n") == 1


def test_one_run_is_refused(capsys, write):
    path = write("one.csv", "topic,a\n1,.1\n2,.2\n")
    code, _, err = call(capsys, "stability", "--scores", path)
    assert code == 2
    assert "at least 2 runs" in err
