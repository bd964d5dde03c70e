"""Stemmers: figures of other implementations, published examples, and what all have in common."""

from __future__ import annotations

import sys

import pytest
import Stemmer
from golden_cases import golden

from steadyrank.errors import MachineError, UnknownNameError
from steadyrank_lab.retrieval.engine import lexical as rules
from steadyrank_lab.retrieval.engine.lexical import STEMMERS, lovins, stem_words, weak_porter

GOLDEN = golden("stems")
WORDS = [word for word, _, _ in GOLDEN["expected"]]


def test_lovins_as_xapian_has_it():
    wrong = [
        (word, lovins(word), stem) for word, stem, _ in GOLDEN["expected"] if lovins(word) != stem
    ]
    assert wrong == []


def test_weak_porter_as_nltk_has_it():
    wrong = [
        (word, weak_porter(word), stem)
        for word, _, stem in GOLDEN["expected"]
        if weak_porter(word) != stem
    ]
    assert wrong == []


def test_lovins_has_all_of_its_rules():
    assert len(rules.ENDINGS) == 294
    assert len(rules._BEFORE) == 29
    assert 1 + len(rules._RESPELLED) == 35
    assert len(GOLDEN["expected"]) > 1500


@pytest.mark.parametrize(
    ("word", "stem"),
    [
        ("rubbing", "rub"),
        ("sitting", "sit"),
        ("believe", "belief"),
        ("belief", "belief"),
        ("induction", "induc"),
        ("consumption", "consum"),
        ("absorption", "absorb"),
        ("recursive", "recur"),
        ("administrate", "administer"),
        ("parametric", "parameter"),
        ("dissolved", "dissolut"),
        ("angular", "angl"),
        ("vibex", "vibic"),
        ("index", "indic"),
        ("apex", "apic"),
        ("cortex", "cortic"),
        ("anthrax", "anthrac"),
        ("matrix", "matric"),
        ("lux", "luc"),
        ("persuade", "persuas"),
        ("evade", "evas"),
        ("expand", "expans"),
        ("defend", "defens"),
        ("respond", "respons"),
        ("collude", "collus"),
        ("obtrude", "obtrus"),
        ("adhere", "adhes"),
        ("remit", "remis"),
        ("extent", "extens"),
        ("converted", "convers"),
        ("parenthetic", "parenthes"),
        ("analytic", "analys"),
        ("analyzed", "analys"),
        ("nationally", "nat"),
        ("a", "a"),
        ("", ""),
        ("7", "7"),
    ],
)
def test_lovins_published_examples(word, stem):
    assert lovins(word) == stem


@pytest.mark.parametrize(
    ("word", "stem"),
    [
        ("caresses", "caress"),
        ("ponies", "poni"),
        ("ties", "ti"),
        ("caress", "caress"),
        ("cats", "cat"),
        ("feed", "feed"),
        ("agreed", "agree"),
        ("plastered", "plaster"),
        ("bled", "bled"),
        ("motoring", "motor"),
        ("sing", "sing"),
        ("conflated", "conflate"),
        ("troubled", "trouble"),
        ("sized", "size"),
        ("hopping", "hop"),
        ("tanned", "tan"),
        ("falling", "fall"),
        ("hissing", "hiss"),
        ("fizzed", "fizz"),
        ("failing", "fail"),
        ("filing", "file"),
        ("happy", "happi"),
        ("sky", "sky"),
        ("is", "is"),
        ("", ""),
    ],
)
def test_porters_published_examples_of_step_one(word, stem):
    assert weak_porter(word) == stem


@pytest.mark.parametrize("name", ["porter", "english"])
def test_porter_and_english_are_pystemmers(name):
    own = Stemmer.Stemmer(name)
    assert stem_words(WORDS, name) == [own.stemWord(word) for word in WORDS]


def test_a_word_that_would_vanish_stays():
    assert Stemmer.Stemmer("porter").stemWord("s") == ""
    assert stem_words(["s"], "porter") == ["s"]


def test_krovetz_stays_with_words_of_its_dictionary():
    pytest.importorskip("krovetzstemmer")
    words = ["utilities", "generalizations", "running", "italians", "x" * 60, "naïve", "2nd"]
    stems = ["utility", "generalization", "running", "italy", "x" * 60, "naïve", "2nd"]
    assert stem_words(words, "krovetz") == stems


def test_without_its_package_krovetz_says_so(monkeypatch):
    monkeypatch.setitem(sys.modules, "krovetzstemmer", None)
    with pytest.raises(MachineError, match="pip install 'steadyrank\\[krovetz\\]', or omit it"):
        stem_words(["words"], "krovetz")


def test_the_same_words_have_the_same_stems_alone_and_together():
    for name in STEMMERS:
        if name == "krovetz":
            pytest.importorskip("krovetzstemmer")
        stems = stem_words(WORDS, name)
        assert all(stems)
        assert stems[::-1] == stem_words(WORDS[::-1], name)
    assert stem_words(WORDS, "none") == WORDS


def test_no_such_stemmer():
    with pytest.raises(UnknownNameError, match="unknown stemmer 'poter': did you mean 'porter'?"):
        stem_words(["words"], "poter")
