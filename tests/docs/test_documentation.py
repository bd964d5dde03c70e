"""Commands, names, keys, links and code of the documentation exist and work."""

from __future__ import annotations

import functools
import importlib.util
import json
import re
import shlex
from pathlib import Path
from types import ModuleType

import click
import pytest

import steadyrank as sr
from steadyrank.cli import commands, group, run

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
UNTRACKED = {"build", "dist", "site", "steadyrank-demo"}
PAGES = [
    *sorted(path for path in DOCS.rglob("*.md") if "_build" not in path.parts),
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    ROOT / "AGENTS.md",
    ROOT / "CHANGELOG.md",
    ROOT / "paper" / "paper.md",
    *sorted((ROOT / "integrations").rglob("README.md")),
]
NAMES = [path.relative_to(ROOT).as_posix() for path in PAGES]
ELSEWHERE = [
    *ROOT.glob("*.md"),
    *(
        path
        for folder in sorted(ROOT.iterdir())
        if folder.is_dir() and not folder.name.startswith(".") and folder.name not in UNTRACKED
        for path in folder.rglob("*.md")
    ),
]
LINKED = sorted({*PAGES, *(path for path in ELSEWHERE if "_build" not in path.parts)})
"""All Markdown of the repository."""

FENCE = re.compile(r"^(`{3,})([^\n]*)\n(.*?)^\1\s*$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"!?\[(?:[^\[\]]|\[[^\]]*\])*\]\(([^()\s]+)\)")
SAMPLES = "20"

RUN_ELSEWHERE = {"gallery.md"}
"""Pages whose script runs the code that they show."""


def blocks(page: Path, language: str) -> list[str]:
    return [code for _, kind, code in FENCE.findall(page.read_text()) if kind == language]


def prose(page: Path) -> str:
    """Return a page without its code."""
    return re.sub(r"`[^`\n]*`", "", FENCE.sub("", page.read_text()))


def commands_of(page: Path) -> list[list[str]]:
    """Return every `steadyrank …` line of a page's shell blocks, in words."""
    lines = "\n".join(blocks(page, "sh")).replace("\\\n", " ").splitlines()
    found = (shlex.split(line, comments=True) for line in lines if line.startswith("steadyrank "))
    return [words[1:] for words in found]


@functools.cache
def anchors(page: Path) -> frozenset[str]:
    """Return the anchors of a page's headings, as on GitHub and in MyST."""
    headings = re.findall(r"^#+ (.*)$", FENCE.sub("", page.read_text()), re.MULTILINE)
    plain = (re.sub(r"[^\w\- ]", "", heading.lower()) for heading in headings)
    return frozenset(text.replace(" ", "-") for text in plain)


def test_architecture_names_files_and_functions_that_are_there():
    text = (DOCS / "dev" / "architecture.md").read_text()
    source = ROOT / "src" / "steadyrank"
    for path in set(re.findall(r"`((?:\w+/)+\w+\.py)`", text)):
        assert (source / path).exists() or (ROOT / path).exists(), path
    stations = re.findall(r"^\| `([\w/]+\.py)` \| `(\w+)` \|", text, re.MULTILINE)
    assert len(stations) > 40
    for path, name in stations:
        defined = rf"^(def {name}\(|class {name}\b|{name} = )"
        assert re.search(defined, (source / path).read_text(), re.MULTILINE), (path, name)


def test_estimators_name_tests_that_exist():
    named = set(re.findall(r"`(test_\w+\.py)`", (DOCS / "accuracy.md").read_text()))
    assert len(named) > 30
    assert named <= {path.name for path in (ROOT / "tests").rglob("test_*.py")}


@pytest.mark.parametrize("page", LINKED, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_links_lead_somewhere(page):
    for target in LINK.findall(prose(page)):
        if re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = target.partition("#")
        found = (page.parent / path).resolve() if path else page
        assert found.exists(), target
        if anchor:
            assert anchor in anchors(found), target


@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_python_runs_or_is_marked_as_illustration(page):
    if page.name in RUN_ELSEWHERE:
        return
    text = page.read_text()
    for match in FENCE.finditer(text):
        if match[2] == "python" and ">>>" not in match[3]:
            mark = text[: match.start()].rstrip().rpartition("\n")[2]
            assert re.fullmatch(r"<!-- (illustration|script [\w.]+) -->", mark), match[3]


@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_commands_shown_exist_with_their_options(page):
    for name, *words in commands_of(page):
        if name.startswith("-"):
            continue
        assert name in commands(), name
        command = group.get_command(click.Context(group), name)
        known = {"-h", "--help", *(o for p in command.params for o in (*p.opts, *p.secondary_opts))}
        given = {word.partition("=")[0] for word in words if re.match(r"--?[a-z]", word)}
        assert given <= known, (name, given - known)


@pytest.mark.parametrize("name", commands())
def test_every_command_is_shown_and_its_keys_are_told(name):
    shown = {
        words[0] for page in PAGES if page.name != "commands.md" for words in commands_of(page)
    }
    assert name in shown, f"no page has an example of {name}"
    assert name in anchors(DOCS / "commands.md")
    assert name in anchors(DOCS / "json.md")


def test_every_public_name_is_in_the_reference():
    listed = re.findall(r"^\.\. (?:auto\w+|py:data):: (\w+)$", (DOCS / "api.md").read_text(), re.M)
    public = sorted(sr.__all__)
    assert sorted(listed) == public, "docs/api.md lists every public name, once"


def script(path: Path) -> ModuleType:
    """Return a script of the project as a module."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


def test_the_reference_of_commands_is_current():
    made = script(DOCS / "make_commands.py")
    assert made.page() == made.PAGE.read_text(), "run: python docs/make_commands.py"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return a folder with a smaller track than that of `demo --data-only`."""
    made = tmp_path_factory.mktemp("quickstart")
    track = sr.simulated_track(n_teams=10, runs_per_team=1, n_topics=12, depth=30, pool_depth=15)
    track.write(made / "track")
    return made


def test_the_quick_start_works(folder, monkeypatch, capsys):
    monkeypatch.chdir(folder)
    for words in commands_of(DOCS / "quickstart.md"):
        if words[0] == "demo":
            assert words == ["demo", "--data", "simulated", "--data-only", "--out", "track"]
            continue
        small = ["--samples", SAMPLES, "--format", "json"] if words[0] == "report" else []
        code = run([*words, *small, "--quiet"])
        printed = capsys.readouterr()
        assert code == 0, (words, printed.err)
        if small:
            assert keys_of(json.loads(printed.out)) <= told("report") & told("demo")
    for name in ("scores.parquet", "table.tex", "compare.json", "report.html"):
        assert (folder / name).stat().st_size > 500


DATA = "track/qrels.txt track/runs"
SCORES = "--scores keys.parquet"
RUNS = {
    "check": DATA,
    "evaluate": f"{DATA} -m AP",
    "compare": f"{SCORES} -m AP",
    "simulate": f"{DATA} --samples {SAMPLES}",
    "topics": f"{SCORES} -m AP --trials {SAMPLES}",
    "agree": f"{SCORES} --topic-sizes 5,10 --system-sizes 5,10 --samples {SAMPLES}",
    "components": f"{SCORES} -m AP --run-info keys.csv --factors stemmer,model",
    "instances": f"{SCORES} -m AP --run-info keys.csv --a one --b two",
    "datasets": "leaderboard.csv",
    "battles": "battles.csv --control length --next 2",
    "plan": f"{SCORES} -m AP --minimum-difference 0.1 --systems 5",
    "holes": f"{DATA} -m P@20 --samples {SAMPLES} --ask 2",
    "pools": f"{DATA} --run-info track/run-info.csv -m AP --trials 2",
    "stability": f"{SCORES} -m AP --run-info keys.csv",
    "judges": f"{DATA} --judge same=track/qrels.txt -m AP --samples {SAMPLES}",
    "gate": f"{SCORES} team01-s1 team02-s1 -m AP=.9",
    "grid": "docs.jsonl --topics topics.tsv --qrels small.txt --models BM25,PL2 --stop-lists none "
    "--lexical none,porter -m AP --out made",
    "shard": "docs.jsonl --topics topics.tsv --shards 2 --top-shards 1 --sample-rate 0.5 "
    "--sample 0.9 --cluster-samples 1 --partitions 1 --csi 2 --out shards",
}
OTHERS = {"demo", "reproduce", "report", "doctor"}
"""Keys of a report, which is what demo gives, are checked where the quick start makes one, those of
a reproduction by the function that prints them; doctor's are names of what is installed."""

BY_DATA = {
    "mean",
    "run_info",
    "topic_info",
    "meta",
    "top_probability",
    "estimated_difference_quantiles",
    "estimated_difference_recentred_quantiles",
    "anovas",
    "levels",
    "n_instances",
    "variance",
    "variance_raw",
    "variance_share",
    "variance_interval",
    "mean_squares",
    "pvalue_error",
    "types",
    "factor_variance",
    "n_samples",
    "left_out",
    "df",
    "turned",
    "by_judge",
}
"""Objects whose keys are names of measures, runs or components."""


def told(name: str) -> set[str]:
    """Return the keys in the section of a command, and in the introduction."""
    text = (DOCS / "json.md").read_text()
    of_all = text.partition("\n## ")[0]
    section = re.search(rf"^## {name}\n(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL)[1]
    return set(re.findall(r"`([^`]+)`", of_all + section))


def keys_of(found: dict) -> set[str]:
    """Return the keys of an object and of its members."""
    keys = set(found)
    for key, value in found.items():
        inner = value[0] if isinstance(value, list) and value else value
        if isinstance(inner, dict) and key not in BY_DATA:
            keys |= set(inner)
    return keys


@pytest.fixture(scope="module")
def key_data(folder):
    """Return scores of runs with components and instances, and some documents."""
    runs = sorted((folder / "track" / "runs").iterdir())
    scores = sr.evaluate(runs, folder / "track" / "qrels.txt", ["AP", "RR"], no_relevant="skip")
    sr.write_scores(scores, folder / "keys.parquet")
    info = [
        f"{run},{'one' if i < 5 else 'two'},{'ab'[i % 2]},{'vwxyz'[i // 2]}"
        for i, run in enumerate(scores.runs)
    ]
    (folder / "keys.csv").write_text("run,system,stemmer,model\n" + "\n".join(info) + "\n")
    table = "model,task,type,score\na,x,R,.5\na,y,S,.4\na,z,S,.3\nb,x,R,.3\nb,y,S,.4\n"
    (folder / "leaderboard.csv").write_text(table + "c,x,R,.1\nc,y,S,.2\nc,z,S,.3\n")
    battles = sr.simulated_battles(3, 12, n_judges=3, position=0.2, rng=1).to_frame()
    battles["winner"] = battles.pop("outcome").map({1.0: "model_a", 0.0: "model_b"})
    battles["length_a"], battles["length_b"] = range(len(battles)), 9
    battles.to_csv(folder / "battles.csv", index=False)
    texts = ["the rivers of France", "a river bank", "banks of old France", "loans and banks"] * 5
    documents = [json.dumps({"id": f"d{i}", "title": "", "text": t}) for i, t in enumerate(texts)]
    (folder / "docs.jsonl").write_text("\n".join(documents) + "\n")
    (folder / "topics.tsv").write_text("1\triver banks\n2\told loans\n")
    (folder / "small.txt").write_text("1 0 d1 1\n2 0 d3 1\n")
    return folder


def test_every_command_has_its_keys_checked():
    assert {*RUNS, *OTHERS} == set(commands())


@pytest.mark.parametrize("name", RUNS)
def test_json_keys_are_told(name, key_data, monkeypatch, capsys):
    monkeypatch.chdir(key_data)
    code = run([name, *shlex.split(RUNS[name]), "--format", "json", "--quiet"])
    printed = capsys.readouterr()
    assert code == 0, printed.err
    missing = keys_of(json.loads(printed.out)) - told(name)
    components = {"stop_list", "lexical", "model"} if name == "grid" else set()
    assert missing <= components, f"docs/json.md does not tell of {sorted(missing)}"


def test_json_keys_of_a_reproduction_are_told():
    from steadyrank_lab.papers.model import Claim, Exhibit, Reproduction
    from steadyrank_lab.papers.output import reproduction_json

    exhibit = Exhibit(id="table-1", title="t", claims=(Claim(text="c", holds=True),))
    made = Reproduction(paper="p", reference="r", data="d", exhibits=(exhibit,))
    assert keys_of(reproduction_json(made)) <= told("reproduce")
