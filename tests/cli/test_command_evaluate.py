"""The `evaluate` command as people and programs call it."""

from __future__ import annotations

import csv
import io
import json
import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest
from commanding import answered, call, refused

import steadyrank as sr
from steadyrank.cli import commands

QRELS = "1 0 d1 2\n1 0 d2 0\n2 0 d3 1\n"
RUN_A = "1 Q0 d1 1 9 a\n1 Q0 d2 2 8 a\n2 Q0 d3 1 9 a\n"
RUN_B = "1 Q0 d2 1 9 b_1\n1 Q0 d1 2 8 b_1\n"


@pytest.fixture
def files(write):
    return [
        str(write(name, text))
        for name, text in (("qrels.txt", QRELS), ("a.run", RUN_A), ("b.run.gz", RUN_B))
    ]


def test_json_has_the_promised_keys(capsys, files):
    code, out, err = call(capsys, "evaluate", *files, "-m", "map", "-m", "P@1", "--format", "json")
    result = json.loads(out)
    assert code == 0
    assert result["measures"] == ["AP", "P@1"]
    assert result["runs"] == ["a", "b_1"]
    assert result["topics"] == ["1", "2"]
    assert result["values"] == [[[1.0, 1.0], [0.5, 0.0]], [[1.0, 1.0], [0.0, 0.0]]]
    assert result["mean"] == {"AP": {"a": 1.0, "b_1": 0.25}, "P@1": {"a": 1.0, "b_1": 0.0}}
    assert "'b_1' lacks 1 of 2" in err


def test_missing_numbers_are_null_in_json_and_empty_in_csv(capsys, files):
    options = ("-m", "AP", "--missing", "skip", "--quiet")
    assert answered(capsys, "evaluate", *files, *options, "--format", "json")["values"] == [
        [[1.0, 1.0], [0.5, None]]
    ]
    _, out, _ = call(capsys, "evaluate", *files, *options, "--format", "csv")
    assert out.splitlines()[-1] == "AP,b_1,2,"


def test_csv_is_long_or_wide(capsys, files):
    _, out, _ = call(capsys, "evaluate", *files, "-m", "AP", "--format", "csv")
    rows = list(csv.reader(io.StringIO(out)))
    assert rows[0] == ["measure", "run", "topic", "value"]
    assert rows[1] == ["AP", "a", "1", "1.0"]
    _, out, _ = call(capsys, "evaluate", *files, "-m", "AP", "--format", "csv", "--wide")
    assert out.splitlines() == ["topic,a,b_1", "1,1.0,0.5", "2,1.0,0.0"]


def test_tables_show_the_best_first_and_bold(capsys, files):
    _, out, _ = call(capsys, "evaluate", files[0], files[2], files[1], "-m", "AP")
    assert [line.split()[0] for line in out.splitlines()[2:4]] == ["a", "b_1"]
    _, out, _ = call(capsys, "evaluate", *files, "-m", "AP", "--format", "markdown")
    assert "| a | **1.0000** |" in out
    assert r"| b\_1 | 0.2500 |" in out
    _, out, _ = call(capsys, "evaluate", *files, "-m", "AP", "--format", "latex")
    assert r"a & \textbf{1.0000} \\" in out
    assert r"b\_1 & 0.2500 \\" in out
    _, out, _ = call(capsys, "evaluate", *files, "-m", "AP", "--per-topic", "--digits", "2")
    assert out.split("mean")[1].split()[:2] == ["1.00", "0.25"]


def test_output_files_are_whole_and_named_formats_apply(capsys, files, tmp_path):
    target = tmp_path / "out.json"
    assert call(capsys, "evaluate", *files, "-o", target, "--quiet") == (0, "", "")
    assert json.loads(target.read_text())["measures"] == ["nDCG@10", "AP", "P@10"]
    assert call(capsys, "evaluate", *files, "-o", tmp_path / "s.parquet", "--quiet")[0] == 0
    assert sr.read_scores(tmp_path / "s.parquet").runs == ("a", "b_1")
    before = target.read_text()
    assert call(capsys, "evaluate", files[0], "nowhere.run", "-o", target)[0] == 2
    assert target.read_text() == before
    err = refused(capsys, "evaluate", *files, "-o", tmp_path / "no" / "x.json", "--quiet")
    assert "does not exist" in err


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["evaluate"], "give QRELS and at least one RUN, or --scores FILE"),
        (["evalute"], "unknown command 'evalute': did you mean 'evaluate'?"),
        (["evaluate", "{q}", "{a}", "--mesure", "AP"], "No such option"),
        (["evaluate", "{q}", "{a}", "-m", "nDGC@10"], "'nDGC': did you mean 'nDCG'?"),
        (["evaluate", "{q}", "{a}", "-m", "P"], "P needs a cutoff, such as P@10"),
        (["evaluate", "{q}", "{a}", "--missing", "maybe"], "'maybe' is not one of"),
        (["evaluate", "{q}", "{a}", "--jobs", "0"], "0 is not in the range"),
        (["evaluate", "{q}", "{q}"], "expected 6 fields (topic Q0 document rank score tag), got 4"),
        (["evaluate", "{q}", "{a}", "{a}x"], "no such file"),
        (["evaluate", "{q}", "{a}", "--csv", "--wide", "--quiet"], "a wide file holds one measure"),
    ],
)
def test_mistakes_are_one_line_and_exit_code_2(capsys, files, arguments, told):
    filled = [text.format(q=files[0], a=files[1]) for text in arguments]
    assert told in refused(capsys, *filled)


def test_a_bug_is_one_line_and_where_the_details_are(capsys, files, monkeypatch):
    def broken(*args, **options):
        raise RuntimeError("a bug")

    monkeypatch.setattr("steadyrank.measures.evaluate.evaluate", broken)
    code, _, err = call(capsys, "evaluate", *files)
    assert code == 1
    path = err.strip().rsplit(" ", 1)[1]
    with open(path) as log:
        assert "RuntimeError: a bug" in log.read()
    Path(path).unlink()


@pytest.mark.parametrize(
    ("error", "code", "told"),
    [
        (KeyboardInterrupt(), 130, "interrupted; the same command starts from the beginning"),
        (MemoryError(), 1, "out of memory: give fewer runs at a time, or use fewer --jobs"),
        (OSError(28, "No space left on device", "out.csv"), 1, "out.csv: No space left on device"),
    ],
)
def test_the_machines_failures_have_their_codes(capsys, files, monkeypatch, error, code, told):
    def failing(*args, **options):
        raise error

    monkeypatch.setattr("steadyrank.measures.evaluate.evaluate", failing)
    assert call(capsys, "evaluate", *files) == (code, "", f"steadyrank: {told}\n")


def test_every_command_is_listed_and_helps(capsys):
    code, out, _ = call(capsys, "--help")
    assert code == 0
    for name in commands():
        assert f"  {name} " in out
        assert call(capsys, name, "--help")[0] == 0
    assert call(capsys)[0] == 0
    assert call(capsys, "--version")[1].split()[-1] == sr.__version__


def in_a_process(*arguments, **options):
    return subprocess.run(
        [sys.executable, "-m", "steadyrank", *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        **options,
    )


def test_help_is_quick_and_imports_nothing_heavy():
    code = (
        "import sys, steadyrank.cli as c; c.run(['--help']); c.run(['evaluate', '--help']);"
        "heavy = {'numpy', 'numba', 'pandas', 'pyarrow', 'rich'} & set(sys.modules);"
        "print('HEAVY', heavy)"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "HEAVY set()" in shown.stdout
    help_seconds = min(_seconds_of(lambda: in_a_process("--help")) for _ in range(5))
    bare = [sys.executable, "-c", "pass"]
    python_seconds = min(_seconds_of(lambda: subprocess.run(bare, check=True)) for _ in range(5))
    # 0.3 s on an idle machine; a busy one also starts Python itself more slowly.
    assert help_seconds < 0.3 + 10 * max(0.0, python_seconds - 0.03)


HEAVY = {
    *("matplotlib", "pandas", "pyarrow", "arviz", "asyncio", "http", "urllib3", "jinja2"),
    *("scipy.stats", "scipy.special", "scipy.optimize", "dask", "distributed", "numba.cuda"),
}


def test_a_warm_evaluate_imports_only_what_it_uses(files):
    """Numba itself imports its linear algebra, hence SciPy's, before it loads what is kept."""
    code = (
        "import subprocess, sys; from steadyrank.cli import run;"
        "started = []; subprocess.Popen = lambda *a, **k: started.append(a);"
        "code = run(sys.argv[1:]); print('LOADED', code, started, *sorted(sys.modules))"
    )
    command = [sys.executable, "-c", code, "evaluate", *files]
    in_a_process("evaluate", *files)
    warm = subprocess.run(command, capture_output=True, text=True, check=True)
    code, started, *loaded = warm.stdout.partition("LOADED ")[2].split()
    assert (code, started) == ("0", "[]")
    assert HEAVY.isdisjoint(loaded)


def _seconds_of(start_process):
    """Processor seconds of a process that is waited for."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert start_process().returncode == 0
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def test_who_reads_no_further_gets_no_complaint(files):
    command = f"'{sys.executable}' -m steadyrank evaluate {' '.join(files)} --format csv --quiet"
    shell = f"exec 3> >(exec true); wait $!; {command} >&3"
    done = subprocess.run(["bash", "-c", shell], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (1, "")


def test_shell_completion_knows_measures():
    environment = {
        **os.environ,
        "_STEADYRANK_COMPLETE": "bash_complete",
        "COMP_WORDS": "steadyrank evaluate -m nD",
        "COMP_CWORD": "3",
    }
    code = "from steadyrank.cli import group; group.main(prog_name='steadyrank')"
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False
    )
    assert "plain,nDCG" in done.stdout
