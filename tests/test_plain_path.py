"""TREC files to tables without pandas, pyarrow and matplotlib: neither imported nor needed."""

from __future__ import annotations

import subprocess
import sys

import pytest

import steadyrank as sr

ABSENT = ("pandas", "pyarrow", "matplotlib", "jinja2", "PIL", "Stemmer", "RAKE")
"""Packages that evaluate, compare and gate do without."""

BLOCKED = f"""
import sys

class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {ABSENT}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, Absent())
"""

COMMAND = "from steadyrank import cli; sys.exit(cli.run(sys.argv[1:]))"

COMMANDS = """
evaluate qrels.txt runs
evaluate qrels.txt runs --format json
evaluate qrels.txt runs -o out.csv
evaluate --scores scores.csv
compare qrels.txt runs -m AP -m P@10 --samples 99
compare qrels.txt runs --format latex --samples 99
compare --scores scores.csv --samples 99
gate qrels.txt runs/team1-s1.run runs/team2-s1.run --margin 0.2
check qrels.txt runs
plan --scores scores.csv
topics qrels.txt runs --trials 20
stability qrels.txt runs
simulate qrels.txt runs --samples 20
agree qrels.txt runs --samples 5
pools qrels.txt runs --team-from ^(.*)- --trials 2
holes qrels.txt runs --samples 20
judges qrels.txt runs --judge other=complete-qrels.txt --samples 99
"""

ALL = f"""
from steadyrank import cli
for command in {COMMANDS!r}.strip().splitlines():
    print("$", command, flush=True)
    print("exit code", cli.run(command.split()), flush=True)
print("imported:", [name for name in {ABSENT} if name in sys.modules])
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    root = tmp_path_factory.mktemp("plain")
    sr.simulated_track(n_teams=3, runs_per_team=1, n_topics=15, depth=50, pool_depth=25).write(root)
    scores = sr.evaluate(root / "runs", root / "qrels.txt", "AP")
    sr.write_scores(scores, root / "scores.csv")
    return root


def python(code, *arguments, cwd):
    return subprocess.run(
        [sys.executable, "-c", code, *arguments], cwd=cwd, capture_output=True, text=True
    )


def test_plain_commands_need_and_import_none_of_them(folder):
    free, usual = (python(start + ALL, cwd=folder) for start in (BLOCKED, "import sys\n"))
    assert free.stdout == usual.stdout
    codes = [line for line in free.stdout.splitlines() if line.startswith("exit code")]
    assert len(codes) == len(COMMANDS.strip().splitlines())
    assert set(codes) <= {"exit code 0", "exit code 3", "exit code 4"}, free.stderr
    assert free.stdout.endswith("imported: []\n")


def test_plain_calls_need_none_of_them(folder):
    code = (
        BLOCKED
        + """
import steadyrank as sr
scores = sr.evaluate("runs", "qrels.txt", ["AP", "P@10"])
print(sr.compare(scores, "AP", n_samples=99))
print(sr.compare("qrels.txt", "runs", "AP", n_samples=99).summary())
print(sr.gate(*sr.read_runs("runs")[:2], "qrels.txt", "AP", margin=0.2))
"""
    )
    done = python(code, cwd=folder)
    assert done.returncode == 0, done.stderr
    assert "team1-s1" in done.stdout


@pytest.mark.parametrize(
    ("command", "needed"),
    [
        (("report", "qrels.txt", "runs", "-o", "page.html", "--budget", "1s"), "matplotlib"),
        (("evaluate", "qrels.txt", "runs", "-o", "scores.parquet"), "pyarrow"),
    ],
)
def test_what_needs_one_of_them_says_so_in_one_line(folder, command, needed):
    done = python(BLOCKED + COMMAND, *command, cwd=folder)
    assert done.returncode == 1
    told = f"this requires {needed}, which is not installed: pip install {needed}\n"
    assert done.stderr.endswith(told)
    assert not (folder / "page.html").exists()
