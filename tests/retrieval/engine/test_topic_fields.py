"""The fields of topics, alone and together."""

from __future__ import annotations

import pytest

from steadyrank.errors import FormatError, InputError, UnknownNameError
from steadyrank_lab.retrieval.makers.inputs import topic_texts

TREC = """<top>
<num> Number: 301
<title> Organized Crime
<desc> Description:
Which bands
are there?
<narr> Narrative:
All of them.
</top>
<top><num>302</num><title>Polio</title>
<desc>Is it over?</desc></top>
"""


def test_fields_of_trec_topics(write):
    path = write("topics", TREC)
    assert topic_texts(path) == {"301": "Organized Crime", "302": "Polio"}
    assert topic_texts(path, fields=["desc"]) == {
        "301": "Which bands are there?",
        "302": "Is it over?",
    }
    assert topic_texts(path, fields=("title", "desc", "narr")) == {
        "301": "Organized Crime Which bands are there? All of them.",
        "302": "Polio Is it over?",
    }


def test_tabs_and_dictionaries(write):
    path = write("topics.tsv", "1\tfirst topic\n2\tsecond\n")
    assert topic_texts(path) == {"1": "first topic", "2": "second"}
    assert topic_texts({"1": "first topic"}) == {"1": "first topic"}
    with pytest.raises(FormatError, match="have no desc or narr: use title alone"):
        topic_texts(path, fields=["title", "desc"])


def test_fields_of_a_dataset(write):
    ir_datasets = pytest.importorskip("ir_datasets")
    download = ir_datasets.util.LocalDownload
    topics = ir_datasets.formats.TrecQueries(download(write("topics", TREC.split("<top><num>")[0])))
    tabs = ir_datasets.formats.TsvQueries(download(write("tabs", "1\tfirst\n")))
    register = ir_datasets.registry.register
    register("steadyrank-topics", ir_datasets.Dataset(topics))
    register("steadyrank-tabs", ir_datasets.Dataset(tabs))
    try:
        texts = topic_texts("irds:steadyrank-topics", fields=["title", "narr"])
        assert {name: text.split() for name, text in texts.items()} == {
            "301": ["Organized", "Crime", "All", "of", "them."]
        }
        with pytest.raises(InputError, match="irds:steadyrank-tabs: its topics have no narrative"):
            topic_texts("irds:steadyrank-tabs", fields=["narr"])
    finally:
        del ir_datasets.registry._registered["steadyrank-topics"]
        del ir_datasets.registry._registered["steadyrank-tabs"]


def test_no_such_field(write):
    with pytest.raises(UnknownNameError, match="unknown topic field 'titel': did you mean 'title'"):
        topic_texts(write("topics", TREC), fields=["titel"])
    with pytest.raises(InputError, match="name at least one topic field"):
        topic_texts(write("topics", TREC), fields=[])
