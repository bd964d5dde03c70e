"""Measure names: parsing, the canonical form, other programs' names, and errors that help."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from plain_tables import columns, refused, words

import steadyrank as sr
from steadyrank import Measure, parse_measure
from steadyrank.measures.names import KINDS, parse_measures

CANONICAL = words(
    """
    AP AP(rel=2) AP@100 AP(rel=2)@100 nDCG nDCG@10 nDCG(dcg='exp-log2')@10
    nDCG(gains=(0,1,3))@10 nDCG(gains=(0,0.5,2.5)) P@10 P(rel=2)@10 R@1000 Rprec Rprec(rel=3) RR
    RR@10 RBP RBP(p=0.8) RBP(p=1e-05) RBP(p=0.95,rel=2,graded=True,max_rel=4)@20
    RBP(p=0.95,residual=True) ERR ERR@20 ERR(max_rel=4)@20 nERR@10 Q Q(beta=1)@10
    Q(beta=0.5,rel=2,gains=(0,1,3))@10 Pplus Pplus@10 Pplus(gains=(0,1,3)) nG@1
    nG(gains=(0,1,3))@1 Twist Twist(rel=2) Success@5 Judged Judged@10 nDCG(judged_only=True)@10
    AP(rel=2,judged_only=True) Bpref Bpref(rel=2) infAP IPrec@0.1 IPrec@0.0 IPrec@1.0
    IPrec(rel=2,judged_only=True)@0.25 SetP SetP(relative=True) SetR(rel=2) SetF(beta=0.5) SetAP
    NumRet NumRet(rel=2) NumRel NumRelRet(rel=2) Compat Compat(p=0.9)
    """
)


@pytest.mark.parametrize("text", CANONICAL)
def test_a_canonical_name_is_its_own_representation(text):
    measure = parse_measure(text)
    assert repr(measure) == str(measure) == text
    assert parse_measure(repr(measure)) == measure
    assert parse_measure(measure) == measure
    assert hash(parse_measure(text)) == hash(measure)
    assert pickle.loads(pickle.dumps(measure)) == measure


def test_every_measure_has_a_canonical_name_among_those_tested():
    assert {parse_measure(text).name for text in CANONICAL} == set(KINDS)


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        *columns(
            """
            map AP   map_cut_100 AP@100   map_cut.100 AP@100   ndcg nDCG
            ndcg_cut_10 nDCG@10   ndcg_cut.10 nDCG@10   P_10 P@10   P.10 P@10   recall_100 R@100
            recip_rank RR   Rprec Rprec   success_5 Success@5   bpref Bpref   infAP infAP
            iprec_at_recall_0.10 IPrec@0.1   iprec_at_recall.1 IPrec@1.0   set_P SetP
            set_relative_P SetP(relative=True)   set_recall SetR   set_F SetF
            set_F.0.5 SetF(beta=0.5)   set_F_2 SetF(beta=2.0)   set_map SetAP   num_ret NumRet
            num_rel NumRel   num_rel_ret NumRelRet   BPref Bpref   SetRelP SetP(relative=True)
            IPrec(recall=0.5) IPrec@0.5   IPrec@1 IPrec@1.0   f1 SetF   map@10 AP@10
            ndcg@10 nDCG@10   ndcg_burges nDCG(dcg='exp-log2')
            ndcg_burges@10 nDCG(dcg='exp-log2')@10   mrr RR   mrr@10 RR@10   precision@5 P@5
            recall@5 R@5   hit_rate@10 Success@10   r-precision Rprec   rbp.95 RBP(p=0.95)
            rbp.5 RBP(p=0.5)   MAP AP   ap AP   NDCG@10 nDCG@10   rprec Rprec   P+ Pplus   AP() AP
            RBP(p=.8) RBP(p=0.8)   nDCG(dcg="exp-log2")@10 nDCG(dcg='exp-log2')@10
            nDCG(dcg=exp-log2)@10 nDCG(dcg='exp-log2')@10   RBP(graded=true) RBP(graded=True)
            nDCG(gains=0,1,3)@10 nDCG(gains=(0,1,3))@10
            nDCG(gains=(0,1,3))@10 nDCG(gains=(0,1,3))@10
            Q(gains=0,1,3,beta=1)@10 Q(beta=1,gains=(0,1,3))@10
            Q(beta=1,gains=0,1,3)@10 Q(beta=1,gains=(0,1,3))@10   RBP(rel=2,p=.5) RBP(p=0.5,rel=2)
            """
        ),
        ("  nDCG@10\t", "nDCG@10"),
        ("nDCG @ 10", "nDCG@10"),
        ("AP( rel = 2 )", "AP(rel=2)"),
        ("nDCG(gains=(0, 1, 3,))@10", "nDCG(gains=(0,1,3))@10"),
    ],
)
def test_other_spellings_become_the_canonical_name(text, canonical):
    measure = parse_measure(text)
    assert repr(measure) == canonical
    assert parse_measure(repr(measure)) == measure


def test_lists_of_cutoffs_give_one_measure_each():
    assert list(map(str, parse_measures("ndcg_cut.10,20"))) == ["nDCG@10", "nDCG@20"]
    assert list(map(str, parse_measures(["P.5,10", "map"]))) == ["P@5", "P@10", "AP"]
    assert list(map(str, parse_measures("AP"))) == ["AP"]
    assert parse_measures(Measure("AP")) == [Measure("AP")]
    recall = parse_measures("iprec_at_recall.0.1,0.2")
    assert list(map(str, recall)) == ["IPrec@0.1", "IPrec@0.2"]
    assert list(map(str, parse_measures(["map", "AP", "P_5", "P.5,10"]))) == ["AP", "P@5", "P@10"]
    refused("no measure was named", parse_measures, [])


def test_measures_are_built_by_calling_and_by_at():
    assert Measure("nDCG") @ 10 == parse_measure("nDCG@10")
    assert Measure("AP")(rel=2) == parse_measure("AP(rel=2)")
    assert (Measure("P") @ 10)(rel=2) == Measure("P")(rel=2) @ 10
    assert Measure("nDCG")(gains=[0, 1, 3]) == parse_measure("nDCG(gains=(0,1,3))")
    assert Measure("RBP")(rel=2, p=0.5) == Measure("RBP")(p=0.5)(rel=2)
    assert Measure("AP")(rel=2) != Measure("AP")(rel=3)
    assert Measure("RBP").parameter("p") == 0.8
    assert Measure("nDCG").parameter("gains") is None
    refused("unknown measure 'ndcg'", Measure, "ndcg", error=sr.UnknownNameError)


@pytest.mark.parametrize(
    ("text", "meant"),
    columns(
        """
        nDGC@10 nDCG   ndgc nDCG|ndcg   Sucess@5 Success   Twst Twist   recip_rnk recip_rank
        hitrate@10 hit_rate
        """
    ),
)
def test_a_misspelt_name_is_answered_by_the_nearest(text, meant):
    with pytest.raises(sr.UnknownNameError, match=f"unknown measure.*did you mean '({meant})'"):
        parse_measure(text)


def test_a_misspelt_parameter_is_answered_by_the_nearest():
    with pytest.raises(sr.UnknownNameError, match="parameter 'maxrel' of ERR.*'max_rel'"):
        parse_measure("ERR(maxrel=4)@20")
    refused("parameter 'gains' of AP", parse_measure, "AP(gains=(0,1))", error=sr.UnknownNameError)
    with pytest.raises(sr.UnknownNameError, match="parameter '[a-z_]+' of Judged"):
        parse_measure("Judged(rel=2)@10")


def test_a_missing_cutoff_is_asked_for():
    for name in (*words("P R Success precision recall hit_rate"), Measure("P")):
        refused("needs a cutoff, such as .*@10", parse_measure, name)
    refused("nG needs a cutoff, such as nG@1", parse_measure, "nG")
    for name in ("IPrec", "iprec_at_recall"):
        refused("IPrec needs a level of recall, such as IPrec@0.1", parse_measure, name)
    for name in ("ndcg_cut", "map_cut"):
        refused("needs its cutoff", parse_measure, name)


def test_measures_of_ir_measures_are_understood():
    import ir_measures as m

    pairs = {
        m.nDCG @ 10: "nDCG@10",
        m.AP(rel=2): "AP(rel=2)",
        m.IPrec @ 0.1: "IPrec@0.1",
        m.P(rel=2, judged_only=True) @ 5: "P(rel=2,judged_only=True)@5",
        m.nDCG(gains={1: 1, 2: 3}): "nDCG(gains=(0,1,3))",
        m.NumRelRet: "NumRet(rel=1)",
        m.Compat(p=0.9): "Compat(p=0.9)",
    }
    for theirs, ours in pairs.items():
        assert str(parse_measure(theirs)) == ours
    refused(
        "unknown measure .alpha_nDCG", parse_measure, m.alpha_nDCG @ 10, error=sr.UnknownNameError
    )


@pytest.mark.parametrize("text", ["Rprec@10", "Twist@5", "r-precision@5", "Rprec_10", "nG@2"])
def test_a_cutoff_where_none_belongs_is_refused(text):
    refused("takes no cutoff|only at rank 1", parse_measure, text)


def test_a_cutoff_is_a_whole_number():
    message = "cutoff (is|must be) a whole number"
    for cutoff in words("0 -1 1.5 ten 1e3 10,20 99999999999 1_0 " + "9" * 5000):
        refused(message, parse_measure, f"P@{cutoff}")
    for cutoff in (0, -1, True, 1.0, "10", None):
        refused(message, lambda cutoff=cutoff: Measure("P") @ cutoff)
    refused(message, parse_measure, "P_" + "9" * 5000)


@pytest.mark.parametrize(
    "text",
    words(
        """
        AP(rel=0) AP(rel=-1) AP(rel=1.5) AP(rel=True) AP(rel='2') AP(rel=two) AP(rel=) RBP(p=0)
        RBP(p=1) RBP(p=nan) RBP(p=high) RBP(graded=1) RBP(graded=yes) ERR(max_rel=0)
        ERR(max_rel=2.5) Q(beta=-1) Q(beta=inf) Q(beta=nan) nDCG(dcg='log') nDCG(dcg=2)
        nDCG(gains=3) nDCG(gains=(0)) nDCG(gains=()) nDCG(gains=(0,-1)) nDCG(gains=(0,3,1))
        nDCG(gains=(0,nan)) nDCG(gains=(0,inf)) nDCG(gains=(0,x)) nDCG(gains=[0,1,3]) rbp.0
        IPrec@1.5 IPrec@-0.1 IPrec@nan IPrec@x AP(judged_only=1) Compat(p=no)
        SetP(relative=2)
        """
    ),
)
def test_a_value_that_a_parameter_does_not_take_is_refused(text):
    with pytest.raises(sr.InputError) as caught:
        parse_measure(text)
    assert not isinstance(caught.value, sr.UnknownNameError)


@pytest.mark.parametrize(
    "thing",
    [
        *words(
            "@ @10 ( () (rel=2) AP( AP(rel=2 AP) AP(rel=2)@ AP@ P@5@10 AP(rel=2)x AP(2) AP(rel)"
        ),
        *words("P_١٠ P@١٠ AP(rel=1_0) rbp.5,10 AP(nonsense,rel=2) AP((2)rel=3) ndcg_cut_10@5"),
        *("", "   ", 5, None, ["AP", 3], b"AP", "AP(rel=2)(rel=3)", "AP(rel=2,rel=3)"),
    ],
)
def test_what_is_no_name_is_refused(thing):
    with pytest.raises(sr.InputError):
        parse_measures(thing)


def parse_or_refuse(text):
    """Only InputError may come out, and what is understood can be written and read again."""
    try:
        measure = parse_measure(text)
    except sr.InputError:
        return
    assert parse_measure(repr(measure)) == measure


reproducible = settings(max_examples=300, deadline=None, derandomize=True)


PIECES = [*KINDS, " ", "\n", "(0,1,3)"]
PIECES += words(
    """
    ndcg_cut map rbp precision ( ) @ = , . _ - + ' \" rel gains dcg p beta max_rel graded exp-log2
    True nan inf 1e999 -1 0 1 2 10 0.8 .5 ٣
    """
)


@reproducible
@given(st.text() | st.lists(st.sampled_from(PIECES), max_size=12).map("".join))
def test_no_text_raises_anything_but_an_input_error(text):
    parse_or_refuse(text)
    try:
        assert parse_measures(text)
    except sr.InputError:
        return


VALUES = {
    "rel": st.integers(1, 1000),
    "p": st.floats(0, 1, exclude_min=True, exclude_max=True),
    "beta": st.floats(0, 1e300),
    "max_rel": st.integers(1, 1000),
    "recall": st.floats(0, 1),
    "graded": st.booleans(),
    "judged_only": st.booleans(),
    "relative": st.booleans(),
    "residual": st.booleans(),
    "dcg": st.sampled_from(["log2", "exp-log2"]),
    "gains": st.lists(st.floats(0, 1e300) | st.integers(0, 100), min_size=1, max_size=5).map(
        lambda gains: (0, *sorted(gains))
    ),
}


@st.composite
def measures(draw):
    name = draw(st.sampled_from(list(KINDS)))
    kind = KINDS[name]
    chosen = draw(st.sets(st.sampled_from(sorted(kind.parameters)))) if kind.parameters else ()
    measure = Measure(name)(**{key: draw(VALUES[key]) for key in sorted(chosen)})
    if kind.cutoff == "one":
        return measure @ 1
    if kind.cutoff == "recall":
        return measure @ draw(VALUES["recall"])
    if kind.cutoff == "required" or (kind.cutoff == "optional" and draw(st.booleans())):
        return measure @ draw(st.integers(1, 10**6))
    return measure


@reproducible
@given(measures())
def test_every_measure_can_be_written_and_read_again(measure):
    again = parse_measure(repr(measure))
    assert again == measure
    assert repr(again) == repr(measure)
    assert parse_measure(repr(measure).replace(",", ", ").replace("=", " = ")) == measure


def test_numbers_of_numpy_s_are_numbers():
    assert repr(Measure("RBP")(p=np.float64(0.5))) == "RBP(p=0.5)"
    assert repr(Measure("P")(rel=np.int64(2)) @ np.int64(10)) == "P(rel=2)@10"
    assert repr(Measure("nDCG")(gains=np.array([0, 1, 3]))) == "nDCG(gains=(0,1,3))"


@pytest.mark.parametrize("between", [" ", ",", ", ", "  ,\n"])
def test_several_measures_may_stand_in_one_text(between):
    names = [
        *("AP", "nDCG(dcg='exp-log2')@10", "Q(beta=0.3,gains=(0,1,3,7.5))@7", "R-prec", "P.5,10"),
        *("RBP(p=0.8, rel=2)", "Pplus( gains=(0, 1), judged_only=True )", "iprec_at_recall_0.10"),
    ]
    assert parse_measures(between.join(names)) == parse_measures(names)
    assert len(parse_measures(names)) == len(names) + 1
