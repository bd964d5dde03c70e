"""The `plan` command as people and programs call it."""

from __future__ import annotations

import csv
import io
import json

import numpy as np
import pytest
from commanding import answered, call, refused

ASKED = ("--minimum-difference", ".15", "--systems", "10")


@pytest.fixture
def pilot(write):
    rng = np.random.default_rng(0)
    topics = rng.normal(0.4, 0.15, 30)
    lines = ["measure,run,topic,value"]
    for measure in ("AP", "P@10"):
        for system in range(4):
            scores = topics + rng.normal(0, 0.1, 30)
            lines += [f"{measure},s{system},{t},{score}" for t, score in enumerate(scores)]
    return write("scores.csv", "\n".join(lines) + "\n")


def test_json_has_the_promised_keys(capsys):
    shown = answered(capsys, "plan", "--variance", ".114", *ASKED, "--format", "json")
    expected = {
        "method": "anova",
        "formula": "exact",
        "alpha": 0.05,
        "beta": 0.2,
        "systems": 10,
        "minimum_difference": 0.15,
    }
    assert {key: shown[key] for key in expected} == expected
    (plan,) = shown["plans"]
    assert (plan["measure"], plan["variance"], plan["topics"]) == ("score", 0.114, 160)
    assert plan["power"] == pytest.approx(0.80173, abs=1e-5)
    assert plan["variance_interval"] is None


def test_variances_by_name_make_the_papers_table(capsys):
    named = [f"--variance={name}" for name in ("nG@1=.114", "P+=.094", "nERR@10=.087")]
    _, out, _ = call(capsys, "plan", *named, *ASKED, "--formula", "nagata", "--format", "latex")
    assert r"nG@1 & 0.1140 & 159 & 0.799 \\" in out
    assert r"nERR@10 & 0.0870 & 121 & 0.796 \\" in out
    _, out, _ = call(capsys, "plan", "-m", "AP", "--variance", ".05", *ASKED, "--format", "json")
    assert json.loads(out)["plans"][0]["measure"] == "AP"


def test_scores_of_several_measures(capsys, pilot):
    plans = answered(capsys, "plan", "--scores", pilot, *ASKED, "--format", "json")["plans"]
    assert [plan["measure"] for plan in plans] == ["AP", "P@10"]
    for plan in plans:
        low, high = plan["variance_interval"]
        assert low < plan["variance"] < high
        assert plan["topics_interval"][0] < plan["topics"] < plan["topics_interval"][1]
    _, out, _ = call(capsys, "plan", "--scores", pilot, "-m", "P@10", *ASKED, "--format", "json")
    assert json.loads(out)["plans"] == plans[1:]


def test_runs_are_evaluated(capsys, write):
    qrels = write("qrels", "".join(f"{t} 0 d{t} 1\n" for t in range(30)))
    lines = {name: [] for name in "ab"}
    for name, step in (("a", 2), ("b", 3)):
        for t in range(30):
            order = ["x", f"d{t}"] if t % step else [f"d{t}", "x"]
            lines[name] += [f"{t} Q0 {d} {r} {9 - r} {name}\n" for r, d in enumerate(order)]
    files = [write(f"{name}.run", "".join(text)) for name, text in lines.items()]
    options = ("-m", "AP", "-m", "P@1", "--format", "json", "--quiet")
    plans = answered(capsys, "plan", qrels, *files, *options, *ASKED)["plans"]
    assert [plan["measure"] for plan in plans] == ["AP", "P@1"]
    expected = (np.var([1.0, 0.5] * 15, ddof=1) + np.var([1, 0.5, 0.5] * 10, ddof=1)) / 2
    assert plans[0]["variance"] == pytest.approx(expected)
    assert plans[0]["pilot_runs"] == 2


def test_csv_has_the_numbers_of_json(capsys):
    asked = ("plan", "--variance", "AP=.114", "--variance", "RR=.2", *ASKED)
    rows = list(csv.DictReader(io.StringIO(call(capsys, *asked, "--csv")[1])))
    plans = json.loads(call(capsys, *asked, "--json")[1])["plans"]
    assert [row["measure"] for row in rows] == ["AP", "RR"]
    for row, plan in zip(rows, plans, strict=True):
        assert float(row["variance"]) == plan["variance"]
        assert (int(row["topics"]), float(row["power"])) == (plan["topics"], plan["power"])


def test_t_tests_and_intervals(capsys, pilot):
    asked = ("--minimum-difference", ".05", "--method", "ttest", "--format", "json")
    shown = json.loads(call(capsys, "plan", "--difference-variance", ".04", *asked)[1])
    assert (shown["plans"][0]["topics"], shown["paired"], shown["systems"]) == (128, True, 2)
    _, out, _ = call(capsys, "plan", "--variance", ".04", "--unpaired", *asked)
    assert json.loads(out)["plans"][0]["topics"] == 253
    plan = json.loads(call(capsys, "plan", "--scores", pilot, *asked)[1])["plans"][0]
    assert plan["difference_variance"] == pytest.approx(2 * plan["residual_variance"])
    _, out, _ = call(capsys, "plan", "--scores", pilot, "--difference-variance", "twice", *asked)
    plan = json.loads(out)["plans"][0]
    assert plan["difference_variance"] == pytest.approx(2 * plan["variance"])
    interval = ("--method", "interval", "--width", ".1", "--variance", ".029", "--format", "json")
    shown = json.loads(call(capsys, "plan", *interval)[1])
    assert (shown["plans"][0]["topics"], shown["plans"][0]["power"]) == (92, None)
    assert shown["minimum_difference"] is None


def test_what_topics_buy(capsys):
    options = ("--variance", ".114", "--systems", "10", "--topics", "160", "--format", "json")
    (plan,) = json.loads(call(capsys, "plan", *options, "--minimum-difference", ".15")[1])["plans"]
    assert plan["power"] == pytest.approx(0.80173, abs=1e-5)
    assert plan["smallest_difference"] == pytest.approx(0.14973, abs=1e-5)
    assert json.loads(call(capsys, "plan", *options)[1])["plans"][0]["power"] is None
    _, out, _ = call(capsys, "plan", *options[:-2])
    assert "What 160 topics can detect" in out
    assert "0.1497" in out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "give --variance V, or pilot data to estimate it"),
        (("--variance", "0"), "variance of score must be a number above 0"),
        (("--variance", "much"), "--variance: 'much' is not a number"),
        (("--variance", ".1", "--variance", ".2"), "write NAME=NUMBER for each"),
        (("--variance", "AP=.1", "--variance", "AP=.2"), "AP is given twice"),
        (("--variance", ".1", "-m", "AP", "-m", "RR"), "write --variance NAME=V once for each"),
        (("--variance", "AP=.1", "-m", "RR"), "write --variance NAME=V once for each"),
        (("--variance", ".1", "--alpha", "1"), "alpha must lie strictly between 0 and 1"),
        (("--variance", ".1", "--minimum-difference", "-1"), "--minimum-difference must be"),
        (("--variance", ".1", "--systems", "1"), "systems must be a whole number of at least 2"),
        (("--variance", ".1", "--topics", "1"), "--topics must be a whole number of at least 2"),
        (("--variance", ".1", "--formula", "nagata", "--beta", ".3"), "use --formula exact"),
        (("--variance", "1e30"), "more than 1e+15 topics would be required"),
        (("--variance", ".1", "--comparisons", "9"), "--comparisons was removed in 1.1"),
        (("--variance", ".1", "--paired"), "one-way ANOVA has no pairs"),
        (("--variance", ".1", "q", "r"), "either --variance or pilot data, not both"),
        (("--difference-variance", "pilot"), "give --variance V, or pilot data"),
    ],
)
def test_bad_input_is_one_line_and_code_2(capsys, arguments, message):
    assert message in refused(capsys, "plan", *ASKED, *arguments)
