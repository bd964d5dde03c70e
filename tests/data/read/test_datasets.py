"""Topics and judgments by name: ir_datasets over local files, and files of topics."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from steadyrank import FormatError, InputError, MachineError, UnknownNameError
from steadyrank.data.read.datasets import is_dataset, load_qrels, load_topics, read_topics

ir_datasets = pytest.importorskip("ir_datasets")

Write = Callable[..., Path]


@pytest.fixture
def register(tmp_path: Path) -> Iterator[Callable[..., str]]:
    """Register a dataset that is made of local files, for one test."""
    names = []

    def add(name: str, **parts: Any) -> str:
        made = [
            make(ir_datasets.util.LocalDownload(path), *arguments)
            for make, path, *arguments in parts.values()
        ]
        ir_datasets.registry.register(name, ir_datasets.Dataset(*made))
        names.append(name)
        return f"irds:{name}"

    yield add
    for name in names:
        del ir_datasets.registry._registered[name]


def test_judgments_and_topics_of_a_dataset(write: Write, register: Callable[..., str]) -> None:
    formats = ir_datasets.formats
    name = register(
        "local-test",
        qrels=(formats.TrecQrels, write("qrels", "1 0 d1 2\n1 0 d2 0\n\n2 0 d1 -1\n"), {}),
        topics=(formats.TsvQueries, write("topics.tsv", "1\tfirst topic\n2\tsecond\n")),
    )
    qrels = load_qrels(name)
    assert qrels.topics == ("1", "2")
    assert qrels.judgments("1") == {"d1": 2, "d2": 0}
    assert load_topics(name) == {"1": "first topic", "2": "second"}
    assert read_topics(name) == load_topics("local-test")
    assert is_dataset(name)
    assert not is_dataset(Path(name))


def test_the_title_is_the_text_of_a_trec_topic(write: Write, register: Callable[..., str]) -> None:
    text = (
        "<top>\n<num> Number: 301\n<title> crime\n<desc> Description:\nWhat?\n"
        "<narr> Narrative:\nAll.\n</top>\n"
    )
    name = register("local-trec", topics=(ir_datasets.formats.TrecQueries, write("topics", text)))
    assert load_topics(name) == {"301": "crime"} == read_topics(write("again", text))
    with pytest.raises(InputError, match="irds:local-trec has no judgments"):
        load_qrels(name)


def test_a_dataset_without_judgments_names_its_parts(
    write: Write, register: Callable[..., str]
) -> None:
    docs = (ir_datasets.formats.TsvDocs, write("docs.tsv", "d1\ttext\n"))
    register("local-parent", docs=docs)
    register("local-parent/dev", docs=docs)
    message = "irds:local-parent has no judgments: try one of its parts.*irds:local-parent/dev"
    with pytest.raises(InputError, match=message):
        load_qrels("irds:local-parent")
    with pytest.raises(InputError, match="irds:local-parent/dev has no topics"):
        load_topics("irds:local-parent/dev")


def test_an_unknown_dataset_suggests() -> None:
    with pytest.raises(UnknownNameError, match="'vaswanni' of ir_datasets: did you mean 'vaswani'"):
        load_qrels("irds:vaswanni")


def test_what_goes_wrong_inside_is_told_in_one_line(
    write: Write, register: Callable[..., str], tmp_path: Path
) -> None:
    formats = ir_datasets.formats
    short = register("local-short", qrels=(formats.TrecQrels, write("qrels", "1 d1\n"), {}))
    with pytest.raises(MachineError, match="could not give its judgments: expected 4 columns"):
        load_qrels(short)
    gone = register("local-gone", topics=(formats.TsvQueries, tmp_path / "gone.tsv"))
    with pytest.raises(MachineError, match=r"could not give its topics: .*gone\.tsv"):
        load_topics(gone)


def test_judgments_that_contradict_name_the_dataset(
    write: Write, register: Callable[..., str]
) -> None:
    qrels = write("qrels", "1 0 d1 2\n1 0 d1 0\n")
    name = register("local-twice", qrels=(ir_datasets.formats.TrecQrels, qrels, {}))
    with pytest.raises(InputError, match="irds:local-twice: .*judged twice"):
        load_qrels(name)
    nothing = (ir_datasets.formats.TrecQrels, write("none", ""), {})
    with pytest.raises(InputError, match="irds:local-none: list: empty"):
        load_qrels(register("local-none", qrels=nothing))


def test_without_ir_datasets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ir_datasets", None)
    with pytest.raises(MachineError, match=r"irds:vaswani needs ir_datasets.*steadyrank\[ir\]"):
        load_qrels("irds:vaswani")


# Files of topics


@pytest.mark.parametrize(
    ("text", "topics"),
    [
        ("1\tfirst topic\n2\tsecond\n", {"1": "first topic", "2": "second"}),
        ("\ufeff1\tone\r\n\r\n# note\r\n2\ttwo", {"1": "one", "2": "two"}),
        ("qid\tquery\nq1\tone\n", {"q1": "one"}),
        ("query\tqid\n", {"query": "qid"}),
        ("1\twhat is a <top> tag\n2\ta\tb\n", {"1": "what is a <top> tag", "2": "a\tb"}),
        ("1\tcafé\n".encode("latin-1"), {"1": "café"}),
    ],
)
def test_tab_separated_topics(write: Write, text: str | bytes, topics: dict[str, str]) -> None:
    assert read_topics(write("topics.tsv", text)) == topics
    assert read_topics(write("topics.tsv.gz", text)) == topics


# As the topics of TREC-1, TREC-4, TREC-7, a microblog track, and one of somebody's own.
TREC_1 = (
    "<top>\n\n<head> Tipster Topic Description\n<num> Number:  051\n"
    "<dom> Domain:  International Economics\n<title> Topic:  Airbus Subsidies\n\n"
    "<desc> Description:\n\nDocument mentions subsidies.\n\n<con> Concept(s):\n1. Airbus\n</top>\n"
)
TREC_4 = (
    "<top>\n\n<num> Number: 202\n<desc> Description:\nStatus of treaties -\nhow many?\n\n</top>\n"
)
TREC_7 = (
    "<top>\n<num> Number: 351 \n<title> Falkland petroleum \nexploration \n\n<desc> D: \nx\n</top>"
)
MICROBLOG = "<top>\n<num> Number: MB111 </num>\n<query> water shortages </query>\n</top>\n"
ONE_LINE = "<TOP><NUM>7</NUM><TITLE>x & y < z</TITLE><DESC>no</DESC></TOP><TOP><NUM>8<TITLE>b"


@pytest.mark.parametrize(
    ("text", "topics"),
    [
        (TREC_1, {"051": "Airbus Subsidies"}),
        (TREC_4, {"202": "Status of treaties - how many?"}),
        (TREC_7, {"351": "Falkland petroleum exploration"}),
        (MICROBLOG, {"MB111": "water shortages"}),
        (ONE_LINE, {"7": "x & y < z", "8": "b"}),
        (
            "Topics of 1999\r\n\r\n" + TREC_7.replace("\n", "\r\n"),
            {"351": "Falkland petroleum exploration"},
        ),
        (
            TREC_7 + TREC_4 + MICROBLOG,
            {
                "351": "Falkland petroleum exploration",
                "202": "Status of treaties - how many?",
                "MB111": "water shortages",
            },
        ),
    ],
)
def test_trec_topics(write: Write, text: str, topics: dict[str, str]) -> None:
    assert read_topics(write("topics", text)) == topics


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "topics: empty: expected lines of id<TAB>text, or TREC topics"),
        ("1\tone\n2 two\n", "topics:2: expected id<TAB>text, got '2 two'"),
        ("1\tone\n\ttwo\n", "topics:2: expected id<TAB>text"),
        ("1\t \n", "topics:1: expected id<TAB>text"),
        ("1\tone\n2\ttwo\n1\tuno\n", r"topics:3: topic '1' occurs twice \(first on line 1\)"),
        (MICROBLOG + "\n<top>\n<title> a\n</top>\n", "topics:6: expected a topic with <num>.*none"),
        ("\n<top>\n<num> Number: 3 4\n<title> a\n", "topics:2: .* number, got '3 4'"),
        ("<top>\n<num> 3\n<title>\n<narr> n\n</top>", "topics:1: topic '3' has no <title> and no"),
        (TREC_4 + TREC_4, r"topics:9: topic '202' occurs twice \(first on line 1\)"),
    ],
)
def test_topics_that_are_wrong(write: Write, text: str, message: str) -> None:
    with pytest.raises(FormatError, match=message):
        read_topics(write("topics", text))


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file"):
        read_topics(tmp_path / "topics")
