"""The built-in collection: its cache, its topics and judgments, and its use by name."""

import json
import os
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

import steadyrank as sr
from steadyrank.cli import run
from steadyrank.errors import InputError
from steadyrank.stats.ranks.correlation import bootstrap_tau_interval
from steadyrank_lab.retrieval.builtin import collection as builtin
from steadyrank_lab.retrieval.builtin.docstrings import DocstringDocument
from steadyrank_lab.retrieval.engine.collections import collection_digest, read_collection
from steadyrank_lab.retrieval.makers.inputs import load_judgments, topic_texts

DATA = Path(builtin.__file__).parent
FEW = [
    DocstringDocument("json.dumps", "json.dumps(obj)", "Serialize an object to a JSON string."),
    DocstringDocument("numpy.sin", "numpy.sin", "Trigonometric sine of angles, by element."),
    DocstringDocument(
        "tempfile.mkstemp", "tempfile.mkstemp()", "Create a safe temporary file – so."
    ),
]


@pytest.fixture
def home(tmp_path, monkeypatch):
    """An empty cache, and an extraction that is quick and counted."""
    calls = []

    def extract(*, progress=None):
        calls.append(progress)
        return list(FEW)

    monkeypatch.setattr(builtin, "cache_folder", lambda: tmp_path / "cache" / "steadyrank")
    monkeypatch.setattr(builtin, "extract_docstrings", extract)
    monkeypatch.setattr(builtin, "_kept", {})
    return tmp_path / "cache" / "steadyrank", calls


@pytest.fixture
def judged(home, tmp_path, monkeypatch):
    """Judgments of those few documents, and of one that is not there."""
    data = tmp_path / "data"
    data.mkdir()
    (data / "topics.jsonl").write_bytes((DATA / "topics.jsonl").read_bytes())
    (data / "qrels.txt").write_text(
        "1 0 tempfile.mkstemp 2\n1 0 json.dumps 0\n1 0 lost.function 2\n2 0 numpy.sin 1\n"
    )
    (data / "qrels.second.txt").write_text("1 0 tempfile.mkstemp 1\n1 0 lost.too 0\n")
    monkeypatch.setattr(builtin, "_DATA", data)
    return home


def _forget():
    builtin._kept.clear()


def _cached(folder):
    (file,) = folder.iterdir()
    return file


def test_documents_are_kept_and_read_back(home):
    folder, calls = home
    first = builtin.builtin_documents()
    assert first["json.dumps"] == "json.dumps(obj)\nSerialize an object to a JSON string."
    builtin.builtin_documents()
    _forget()
    assert builtin.builtin_documents() == first
    assert len(calls) == 1
    assert _cached(folder).name.startswith("docstrings-")


@pytest.mark.parametrize(
    "damage",
    [
        lambda content: content[:-1],
        lambda content: b"",
        lambda content: content[:40] + bytes([content[40] ^ 1]) + content[41:],
        lambda content: b"no zlib",
        lambda content: b"x\x9cK,",
    ],
)
def test_a_damaged_cache_is_made_again(home, damage):
    folder, calls = home
    documents = builtin.builtin_documents()
    file = _cached(folder)
    whole = file.read_bytes()
    file.write_bytes(damage(whole))
    _forget()
    assert builtin.builtin_documents() == documents
    assert len(calls) == 2
    assert _cached(folder).read_bytes() == whole


@pytest.mark.parametrize("content", [b"{}", b"[1]", b"[[1]]", b'"text"'])
def test_a_cache_of_another_shape_is_made_again(home, content):
    import zlib

    folder, calls = home
    documents = builtin.builtin_documents()
    _cached(folder).write_bytes(zlib.compress(content))
    _forget()
    assert builtin.builtin_documents() == documents
    assert len(calls) == 2


def test_other_versions_have_another_cache(home, monkeypatch):
    folder, calls = home
    builtin.builtin_documents()
    others = {**builtin.installed_versions(), "numpy": "0.0"}
    monkeypatch.setattr(builtin, "installed_versions", lambda: others)
    builtin.builtin_documents()
    assert len(calls) == 2
    assert len(list(folder.iterdir())) == 2


def test_where_nothing_can_be_kept_documents_are_made_each_time(home, tmp_path, monkeypatch):
    _, calls = home
    blocked = tmp_path / "file"
    blocked.write_text("in the way")
    for folder in (blocked / "steadyrank", None):  # root may write to read-only folders
        monkeypatch.setattr(builtin, "cache_folder", lambda folder=folder: folder)
        _forget()
        assert len(builtin.builtin_documents()) == 3
    assert len(calls) == 2
    assert blocked.read_text() == "in the way"


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root writes anywhere")
def test_a_read_only_cache_folder(home):
    folder, _ = home
    folder.mkdir(parents=True)
    folder.chmod(0o500)
    assert len(builtin.builtin_documents()) == 3
    folder.chmod(0o700)


def test_cache_folder_follows_the_system(monkeypatch, tmp_path):
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert builtin.cache_folder() == tmp_path / "steadyrank"
    monkeypatch.setattr(Path, "home", lambda: _raise(RuntimeError("no home")))
    assert builtin.cache_folder() is None


def _raise(error):
    raise error


def test_several_processes_at_once_agree(tmp_path):
    code = (
        "import sys, json, time; from steadyrank_lab.retrieval.builtin import collection as b;"
        "from steadyrank_lab.retrieval.builtin.docstrings import DocstringDocument as D;"
        "from pathlib import Path; b.cache_folder = lambda: Path(sys.argv[1]);"
        "b.extract_docstrings = lambda progress=None: ("
        "time.sleep(0.3), [D(f'n{i}', f'n{i}', 'text ' * 50) for i in range(5000)])[1];"
        "b.builtin_documents(); b._kept.clear();"
        "print(len(b.builtin_documents()), b.builtin_digest())"
    )
    command = [sys.executable, "-c", code, str(tmp_path / "cache")]
    started = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(3)]
    said = {process.communicate(timeout=600)[0] for process in started}
    assert [process.returncode for process in started] == [0, 0, 0]
    assert len(said) == 1
    assert said.pop().startswith("5000 ")
    assert len(list((tmp_path / "cache").iterdir())) == 1


def test_manifest_counts_and_checks(judged):
    manifest = sr.builtin_collection().manifest
    assert json.loads(json.dumps(manifest)) == manifest
    assert manifest["documents"] == {
        "python": 2,
        "numpy": 1,
        "scipy": 0,
        "pandas": 0,
        "matplotlib": 0,
    }
    assert manifest["versions"].keys() == manifest["documents"].keys()
    assert manifest["digest"] == collection_digest("builtin")
    more = {**_texts(), "os.walk": "os.walk(top)\nGenerate names in a folder tree."}
    other = builtin._manifest(more, builtin.installed_versions())
    assert other["digest"] != manifest["digest"]


def _texts():
    return {each.id: f"{each.title}\n{each.text}" for each in FEW}


def test_judged_documents_that_are_not_there_are_told_and_left_out(judged):
    collection = sr.builtin_collection()
    assert collection.gone == ("lost.function", "lost.too")
    assert collection.qrels.judgments("1") == {"tempfile.mkstemp": 2, "json.dumps": 0}
    assert collection.second_qrels.judgments("1") == {"tempfile.mkstemp": 1}
    assert repr(collection).startswith("<BuiltinCollection: 3 documents, ")


def test_judgments_are_required(judged):
    (builtin._DATA / "qrels.txt").unlink()
    with pytest.raises((InputError, OSError), match="qrels.txt"):
        sr.builtin_collection()


def test_topics_are_complete():
    needs = builtin.builtin_needs()
    assert len(needs) >= 50
    assert len({need.id for need in needs}) == len(needs)
    assert len({need.title for need in needs}) == len(needs)
    for need in needs:
        assert all((need.title.strip(), need.description.strip(), need.relevant.strip()))
        assert need.kind in ("single", "several", "many")
        assert need.id.split() == [need.id]


def test_topic_fields_are_chosen_as_for_other_collections():
    need = builtin.builtin_needs()[0]
    assert topic_texts("builtin")[need.id] == need.title
    assert topic_texts("builtin", fields=["desc"])[need.id] == need.description
    both = topic_texts("builtin", fields=["title", "narr"])
    assert both[need.id] == f"{need.title} {need.relevant}"
    with pytest.raises(InputError, match="description"):
        topic_texts("builtin", fields=["description"])


def test_it_is_a_collection_by_name(judged):
    told = []
    found = list(read_collection("builtin", progress=lambda *each: told.append(each)))
    assert {document.id: document.text for document in found} == _texts()
    assert told[-1] == (3, 3)


def test_a_folder_of_the_same_name_is_reached_by_its_path(judged, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "builtin"
    folder.mkdir()
    (folder / "docs.jsonl").write_text('{"id": "own", "text": "my own text"}\n')
    assert [document.id for document in read_collection("./builtin")] == ["own"]
    assert [document.id for document in read_collection(Path("builtin"))] == ["own"]
    assert len(list(read_collection("builtin"))) == 3
    (folder / "qrels.txt").write_text("9 0 own 1\n")
    assert load_judgments("./builtin", None).topics == ("9",)
    assert load_judgments("builtin", None).topics == ("1", "2")


def test_grid_knows_it_by_name(judged, tmp_path):
    options = {"stop_lists": "none", "lexical": "none", "models": ["BM25", "PL2"]}
    scores = sr.grid("builtin", measures="RR", missing="zero", out=tmp_path / "runs", **options)
    assert scores.topics == ("1", "2")
    assert scores.runs == ("none_none_BM25", "none_none_PL2")
    assert scores.values[0, 0, 0] == 1.0
    written = sr.read_run(tmp_path / "runs" / "runs" / "none_none_BM25.run")
    assert "1" in written.topics
    judgments = sr.builtin_collection().qrels
    given = sr.grid(_texts(), topic_texts("builtin"), qrels=judgments, measures="RR", **options)
    assert (given.values == scores.values).all()


def test_the_commands_know_it_by_name(judged, tmp_path, capsys):
    arguments = ["--stop-lists", "none", "--lexical", "none", "--models", "BM25", "--quiet"]
    out = tmp_path / "runs"
    assert run(["grid", "builtin", "--out", str(out), *arguments, "--format", "json"]) == 0
    assert [row["run"] for row in json.loads(capsys.readouterr().out)["runs"]] == ["none_none_BM25"]
    assert (out / "runs" / "none_none_BM25.run").is_file()


@pytest.fixture(scope="module")
def grades(builtin_collection):
    """Of each pair of topic and document that two judges saw, the grades of both."""
    first, second = builtin_collection.qrels, builtin_collection.second_qrels
    return np.array(
        [
            (first.judgments(topic)[name], grade)
            for topic in second.topics
            for name, grade in second.judgments(topic).items()
        ]
    )


def test_nearly_all_judged_documents_are_there(builtin_collection):
    names = set()
    for qrels in (builtin_collection.qrels, builtin_collection.second_qrels):
        for topic in qrels.topics:
            judged = qrels.judgments(topic).keys()
            assert judged <= builtin_collection.documents.keys()
            names |= judged
    # Judged with pandas 3 and scipy 1.17; what is older lacks what came since.
    share = (
        0.03 if int(builtin_collection.manifest["versions"]["pandas"].split(".")[0]) >= 3 else 0.1
    )
    assert len(builtin_collection.gone) <= share * len(names)


def test_topics_have_enough_relevant_documents(builtin_collection):
    assert set(builtin_collection.qrels.topics) == builtin_collection.topics.keys()
    grades = [
        builtin_collection.qrels.judgments(topic).values()
        for topic in builtin_collection.qrels.topics
    ]
    assert sum(sum(grade > 0 for grade in each) >= 3 for each in grades) >= 30
    assert {grade for each in grades for grade in each} == {0, 1, 2}


def test_topics_are_not_taken_from_documents(builtin_collection):
    texts = [" ".join(text.lower().split()) for text in builtin_collection.documents.values()]
    for need in builtin_collection.needs:
        assert not any(need.description.lower() in text for text in texts)


def test_the_pool_is_judged(builtin_collection, builtin_runs):
    assert len(builtin_runs) >= 12
    assert len({run.info["team"] for run in builtin_runs}) >= 5
    scores = sr.evaluate(builtin_runs, builtin_collection.qrels, ["Judged@10"])
    # Other versions have documents that nobody judged: docs/collection.md has the shares.
    assert scores.values.mean() >= (0.9 if builtin_collection.gone else 1.0)


def test_the_best_system_is_far_above_the_worst_and_chance_near_0(builtin_collection, builtin_runs):
    rng = np.random.default_rng(0)
    names = sorted(builtin_collection.documents)
    drawn = {
        topic: {names[d]: float(-r) for r, d in enumerate(rng.permutation(len(names))[:100])}
        for topic in builtin_collection.topics
    }
    chance = sr.run_from_dict(drawn, name="chance")
    scores = sr.evaluate([*builtin_runs, chance], builtin_collection.qrels, ["nDCG@10"])
    means = dict(zip(scores.runs, scores.values[0].mean(axis=1), strict=True))
    assert means.pop("chance") < 0.01
    assert max(means.values()) > 2 * min(means.values()) > 0.2


def test_two_judges_agree(grades):
    assert len(grades) >= 300
    first, second = grades.T
    assert sr.cohen_kappa(first, second) > 0.8
    assert sr.cohen_kappa(first > 0, second > 0) > 0.8


def test_what_disagreements_do_to_the_ranking(builtin_collection, builtin_runs):
    """On what both judges saw, where each disagreement weighs most, and with it replaced."""
    second = {
        topic: builtin_collection.second_qrels.judgments(topic)
        for topic in builtin_collection.topics
    }
    first = {
        topic: {name: builtin_collection.qrels.judgments(topic)[name] for name in grades}
        for topic, grades in second.items()
    }
    replaced = {
        topic: builtin_collection.qrels.judgments(topic) | second[topic]
        for topic in builtin_collection.topics
    }
    seen = [_ap(builtin_runs, judgments) for judgments in (first, second)]
    whole = [_ap(builtin_runs, builtin_collection.qrels), _ap(builtin_runs, replaced)]
    for pair, least in ((seen, 0.75), (whole, 0.9)):
        interval = bootstrap_tau_interval(*pair, n_samples=500)
        assert interval.high >= interval.tau >= least
        assert interval.low > 0.6


def _ap(runs, judgments):
    qrels = sr.qrels_from_dict(judgments) if isinstance(judgments, dict) else judgments
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of what both saw, some topics have nothing relevant
        return sr.evaluate(runs, qrels, ["AP"], no_relevant="skip").values[0]
