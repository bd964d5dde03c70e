"""Stemmers: figures of other implementations, published examples, and what all have in common."""

from __future__ import annotations

import pytest
import Stemmer
from golden_cases import golden

from steadyrank_lab.retrieval.engine import krovetz
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


LOVINS = """
    rubbing:rub sitting:sit believe:belief belief:belief induction:induc consumption:consum
    absorption:absorb recursive:recur administrate:administer parametric:parameter
    dissolved:dissolut angular:angl vibex:vibic index:indic apex:apic cortex:cortic
    anthrax:anthrac matrix:matric lux:luc persuade:persuas evade:evas expand:expans
    defend:defens respond:respons collude:collus obtrude:obtrus adhere:adhes remit:remis
    extent:extens converted:convers parenthetic:parenthes analytic:analys analyzed:analys
    nationally:nat a:a : 7:7
"""


def test_lovins_published_examples():
    pairs = [pair.split(":") for pair in LOVINS.split()]
    assert [lovins(word) for word, _ in pairs] == [stem for _, stem in pairs]


STEP_ONE = """
    caresses:caress ponies:poni ties:ti caress:caress cats:cat feed:feed agreed:agree
    plastered:plaster bled:bled motoring:motor sing:sing conflated:conflate troubled:trouble
    sized:size hopping:hop tanned:tan falling:fall hissing:hiss fizzed:fizz failing:fail
    filing:file happy:happi sky:sky is:is :
"""


def test_porters_published_examples_of_step_one():
    pairs = [pair.split(":") for pair in STEP_ONE.split()]
    assert [weak_porter(word) for word, _ in pairs] == [stem for _, stem in pairs]


@pytest.mark.parametrize("name", ["porter", "english"])
def test_porter_and_english_are_pystemmers(name):
    own = Stemmer.Stemmer(name)
    assert stem_words(WORDS, name) == [own.stemWord(word) for word in WORDS]


def test_a_word_that_would_vanish_stays():
    assert Stemmer.Stemmer("porter").stemWord("s") == ""
    assert stem_words(["s"], "porter") == ["s"]


KROVETZ = """
    utilities:utility generalizations:generalization running:running italians:italy 2nd:2nd ties:tie
    naïve:naïve aliases:alias accesses:access bytes:byte has:has ors:ors various:various bus:bus
    accompanied:accompany died:die red:red abbreviated:abbreviate aborted:abort allotted:allot
    byteswapped:byteswapp unplugged:unplugg unxyzed:unxyzed binning:bin accelerating:accelerate
    basinhopping:basinhopp accoring:accore thing:thing xyzabing:xyzabe parsing:parse
    adaptability:adaptable aymivity:aymive analyticity:analytic ambiguities:ambiguous arity:are
    endianness:endian bitness:bit happiness:happiness factorizations:factorize ammonition:ammonite
    decomposition:decompose activation:activate derivation:derive confirmation:confirmation
    quantification:quantify redistribution:redistribute adaption:adapt optimizers:optimize
    bigger:big earlier:early cadior:cadi bargeer:bargee namer:name indexer:index tensor:tense
    abruptly:abrupt arguably:arguable algorithmically:algorithm arbitrarily:arbitrary bily:bile
    behavioral:behavior agricultural:agriculture optimal:optimum alphanumerical:alphanumeric
    cryptographical:cryptography congruential:congruent adaptive:adapt repetitive:repetition
    agglomerative:agglomerate determinative:determine multiplicative:multiplication
    alphabetized:alphabet bannize:ban adjustment:adjust callable:call controllable:control
    achievable:achieve differentiable:differentiate isomorphism:isomorph alphabetic:alphabetical
    catastrophic:catastrophe algebraic:algebra adjacency:adjacent biadjacency:biadjacence
    convergence:converge conformance:conform
"""


def test_krovetz_as_the_package_does_it():
    pairs = [pair.split(":") for pair in KROVETZ.split()]
    words, stems = zip(*pairs, strict=True)
    assert stem_words([*words, "x" * 60], "krovetz") == [*stems, "x" * 60]
    package = pytest.importorskip("krovetzstemmer")
    stem = package.Stemmer().stem
    assert [stem(word) for word in words if word.isascii()] == [
        root for word, root in pairs if word.isascii()
    ]
    heads = sorted(krovetz._dictionary()[0])[::40]
    endings = "s es ies ed ing ation ization er ior ally ical ative ity iness ible ism ic ancy ence"
    made = [(head + end)[:22] for head in heads for end in endings.split()]
    assert [(word, krovetz.krovetz(word)) for word in made] == [(w, stem(w)) for w in made]


def test_the_same_words_have_the_same_stems_alone_and_together():
    for name in STEMMERS:
        stems = stem_words(WORDS, name)
        assert all(stems)
        assert stems[::-1] == stem_words(WORDS[::-1], name)
    assert stem_words(WORDS, "none") == WORDS
