"""Stop lists by name and from files."""

from __future__ import annotations

import pytest

from steadyrank.errors import FormatError, InputError, UnknownNameError
from steadyrank_lab.retrieval.engine.tokens import STOP_LISTS, stop_words


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
