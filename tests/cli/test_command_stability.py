"""The `stability` command as people and programs call it."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from commanding import answered, call, refused
from golden_cases import golden

CASE = golden("gtheory_crossed")


@pytest.fixture
def wide(write):
    scores = CASE["inputs"]["scores"]
    header = ",".join(["topic", *(f"s{i}" for i in range(8))])
    rows = [",".join(map(str, [f"t{i}", *row])) for i, row in enumerate(scores)]
    return write("ap.csv", "\n".join([header, *rows]) + "\n")


def test_json_has_the_promised_keys_and_the_figures_of_r(capsys, wide):
    options = ("--scores", wide, "-m", "AP", "--levels", ".95", "--topics", "50")
    shown, expected = answered(capsys, "stability", *options, "--format", "json"), CASE["expected"]
    assert shown["variance"] == pytest.approx(expected["variance"], abs=1e-10)
    assert shown["e_rho2"] == pytest.approx(expected["e_rho2_at"]["n12"], abs=1e-10)
    assert shown["phi"] == pytest.approx(expected["phi_at"]["n12"], abs=1e-10)
    (needed,) = shown["topics_needed"]
    assert (needed["level"], needed["e_rho2"], needed["phi"]) == (0.95, 16, 211)
    assert shown["measure"] == "AP"
    assert shown["d_study"][1]["phi"] == pytest.approx(expected["phi_at"]["n50"], abs=1e-10)


def test_several_measures_make_a_list(capsys, wide):
    named = ("-m", f"AP={wide}", "-m", f"again={wide}")
    studies = json.loads(call(capsys, "stability", *named, "--format", "json")[1])["studies"]
    assert [study["measure"] for study in studies] == ["AP", "again"]
    assert studies[0]["variance"] == studies[1]["variance"]
    _, out, _ = call(capsys, "stability", *named, "--format", "csv")
    assert [line.split(",")[0] for line in out.splitlines()] == ["measure", "AP", "again"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--levels", "2"), "level must lie strictly between 0 and 1"),
        (("--levels", "high"), "--levels high: give numbers separated by commas"),
        (("--topics", "1.5"), "--topics 1.5: give whole numbers separated by commas"),
        (("--topics", "0"), "topics must be whole numbers of at least 1"),
    ],
)
def test_bad_input_is_one_line_and_code_2(capsys, wide, arguments, message):
    assert message in refused(capsys, "stability", "--scores", wide, *arguments)


def test_one_run_is_refused(capsys, write):
    path = write("one.csv", "topic,a\n1,.1\n2,.2\n")
    assert "at least 2 systems" in refused(capsys, "stability", "--scores", path)


@pytest.fixture
def instances(write):
    rng = np.random.default_rng(2)
    parts = [(0.2, (4, 1, 1)), (0.2, (1, 1, 10)), (0.1, (4, 3, 1)), (0.1, (4, 1, 10))]
    cube = sum(rng.normal(0, sd, shape) for sd, shape in [*parts, (0.05, (4, 3, 10))])
    runs = [f"s{s}.{i}" for s in range(4) for i in range(3)]
    table = pd.DataFrame(cube.reshape(12, 10).T, columns=runs).rename_axis("topic")
    return write("scores.csv", table.to_csv())


def test_instances_are_a_third_facet(capsys, instances):
    options = ("--scores", instances, "--levels", ".9", "--instances", "1,6", "--format", "json")
    shown = answered(capsys, "stability", *options, "--system-from", r"^(s\d)")
    assert list(shown["variance"]) == ["system", "topic", "instance", "system_topic", "residual"]
    assert shown["n_systems"] == 4
    assert [row["instances"] for row in shown["topics_needed"]] == [3, 1, 6]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--facet", "assessor"), "--facet was removed in 1.1; name the column judge"),
        (("--instances", "two"), "--instances two: give whole numbers separated by commas"),
        (("--instances", "2"), "require systems with several runs each"),
        (("--system-from", "(s)"), "all 12 runs are of one system, s"),
    ],
)
def test_bad_layouts_and_figures_are_one_line_and_code_2(capsys, instances, arguments, message):
    assert message in refused(capsys, "stability", "--scores", instances, *arguments)
