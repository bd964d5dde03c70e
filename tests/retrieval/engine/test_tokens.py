"""Words of a text, against a reading of the text letter by letter, and stop lists."""

from __future__ import annotations

import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steadyrank.errors import FormatError, InputError, UnknownNameError
from steadyrank_lab.retrieval.engine.tokens import STOP_LISTS, plain_words, split_words, stop_words


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", []),
        ("  \t\n", []),
        ("Don't stop-me: 3.14, x_y", ["don", "t", "stop", "me", "3", "14", "x", "y"]),
        ("naïve Ångström ÉCOLE", ["naïve", "ångström", "école"]),
        ("e\u0301cole", ["\u00e9cole"]),
        ("Привет, мир", ["привет", "мир"]),
        ("हिन्दी भाषा", ["हिन्दी", "भाषा"]),
        ("10µg H₂O x²", ["10µg", "h₂o", "x²"]),
        ("a—b\u2019c…d", ["a", "b", "c", "d"]),
        ("re\u00adtrieval zero\u200bwidth", ["retrieval", "zero", "width"]),
        ("❤\ufe0f q\u0301s", ["q\u0301s"]),
        ("—\u0301x \u0301", ["x"]),
        ("broken\ud800pair", ["broken", "pair"]),
        ("tab\x00nul\x1fend", ["tab", "nul", "end"]),
        ("東京 tower", ["東京", "tower"]),
    ],
)
def test_words(text, words):
    assert split_words(text) == words


def read_by_letter(text):
    """Words by walking over characters one at a time."""
    words, current = [], ""
    for character in unicodedata.normalize("NFC", text):
        category = unicodedata.category(character)
        if character.isalnum() or (current and category[0] == "M"):
            current += character
        elif category != "Cf" or character == "\u200b" or character.isascii():
            words.append(current)
            current = ""
    return [word.lower() for word in [*words, current] if word]


some_text = st.text(
    st.one_of(
        st.characters(codec="utf-8"),
        st.sampled_from("abYZ 09_.-'\u0301\u00ad\u200b\u200d\u2019éÉßΣσİıǅ\ufe0f्क"),
    ),
    max_size=40,
)


@given(some_text)
def test_words_as_read_letter_by_letter(text):
    # A capital sigma's lower case depends on its neighbours, which differ between the readings.
    text = text.replace("Σ", "σ")
    assert split_words(text) == read_by_letter(text)


@given(st.text(st.characters(max_codepoint=127)))
def test_ascii_words_as_a_pattern_finds_them(text):
    assert split_words(text) == re.findall("[a-z0-9]+", text.lower())


@given(some_text)
def test_plain_words_hold_only_words_and_blanks(text):
    plain = plain_words(text)
    assert not set(plain) & set(range(32))
    assert [word.decode() for word in plain.split()] == split_words(text)


def test_the_lists_are_those_that_were_published():
    sizes = {name: len(stop_words(name)) for name in STOP_LISTS}
    # Snowball has 174 entries, 50 of them contractions; SMART 570, 47 of them.
    assert sizes == {
        "none": 0,
        "lucene": 33,
        "snowball": 124,
        "smart": 523,
        "fox": 425,
        "ranksnl": 640,
    }
    assert stop_words("lucene") - stop_words("snowball") == {"will"}
    assert {"thereupon", "viz", "inasmuch", "novel"} < stop_words("smart")
    assert {"parting", "furthered", "rooms"} < stop_words("fox")
    assert {"abst", "usefulness"} < stop_words("ranksnl")
    assert "can" not in stop_words("snowball")  # its maker kept tin cans


@pytest.mark.parametrize("name", STOP_LISTS)
def test_entries_are_words_as_texts_have_them(name):
    assert all(word == word.lower() and word.isalnum() for word in stop_words(name))


def test_a_list_of_ones_own(write):
    plain = write("mine.txt", "The  # comment\n\nof and | snowball's comments\ncan't\n")
    assert stop_words(str(plain)) == {"the", "of", "and"}
    indri = write("indri.xml", "<parameters><stopper>\n<word>a</word><word>an</word>\n</stopper>")
    assert stop_words(str(indri)) == {"a", "an"}
    assert stop_words(str(write("packed.gz", "\ufeffüber\r\nunter\r\n"))) == {"über", "unter"}
    assert stop_words(str(write("old.txt", "déjà\n".encode("latin-1")))) == {"déjà"}


def test_no_such_list(write):
    with pytest.raises(UnknownNameError, match="unknown stop list 'smrt': did you mean 'smart'?"):
        stop_words("smrt")
    with pytest.raises(InputError, match="lists/mine.txt: no such stop list: name a file, or none"):
        stop_words("lists/mine.txt")
    with pytest.raises(FormatError, match="empty.txt: holds no words: expected one per line"):
        stop_words(str(write("empty.txt", "# nothing\n")))
