"""ANOVA tables against R, exact fractions, projections, statsmodels and a printed paper."""

from __future__ import annotations

import tracemalloc
from itertools import combinations, product

import numpy as np
import pytest
from golden_cases import golden
from plain_tables import close, refused, words
from scipy import stats

from steadyrank.errors import InputError, UnknownNameError
from steadyrank.stats.anova.balanced import (
    anova,
    crossed_strata,
    observed_power,
    table_lines,
    tukey_main_effect,
)
from steadyrank.stats.anova.parts import Amount, Split, balanced_layout
from steadyrank.stats.pairs.result import all_pairs
from steadyrank.stats.pairs.tukey import tukey_hsd


def column(table, names, key):
    return [getattr(table.source(name), key) for name in names]


# R 4.2.2


@pytest.fixture(scope="module")
def ferro():
    """The data of the small four-way case, one axis a factor."""
    inputs = golden("glmm_anova_ferro2018")["inputs"]
    layout = balanced_layout({name: inputs[name] for name in "habc"})
    assert layout.index.shape == (4, 3, 2, 3, 1)
    return np.array(inputs["y"])[layout.index][..., 0]


def test_crossed_model_with_a_block_as_r_has_it(ferro):
    expected = golden("glmm_anova_ferro2018")["expected"]
    table = anova(ferro, factors="habc", block="h")
    sources = [name.replace("Residuals", "error") for name in expected["source"]]
    assert [line.source for line in table.sources] == [*sources, "total"]
    assert column(table, sources, "ss") == pytest.approx(expected["ss"], rel=1e-12)
    assert column(table, sources, "df") == expected["df"]
    assert column(table, sources, "ms") == pytest.approx(expected["ms"], rel=1e-12)
    assert column(table, sources[:-1], "statistic") == pytest.approx(expected["F"][:-1], rel=1e-11)
    assert column(table, sources[:-1], "pvalue") == pytest.approx(expected["p"][:-1], rel=1e-9)
    omega = column(table, expected["omega2_for"], "omega_squared")
    assert omega == pytest.approx(expected["omega2"], rel=1e-11)
    assert np.isnan(table.source("h").omega_squared), "a block has no effect size"
    assert np.isnan(table.source("error").statistic)
    assert table.source("total").df == 71


@pytest.mark.parametrize(
    ("convention", "key"), [("observed", "power_lambda_dfF"), ("omega", "power_lambda_df_Fminus1")]
)
def test_both_conventions_of_power_as_r_has_them(ferro, convention, key):
    expected = golden("glmm_anova_ferro2018")["expected"]
    table = anova(ferro, factors="habc", block="h")
    df_error = table.source("error").df
    found = [
        observed_power(line.statistic, line.df, df_error, convention=convention)
        for line in map(table.source, expected["omega2_for"])
    ]
    assert found == pytest.approx(expected[key], abs=1e-8)


def test_error_strata_as_r_has_them():
    case = golden("anova_error_strata")
    scores = np.array(list(case["inputs"]["scores"].values()))
    for strata in (["topic"], ["topic", "topic:system"]):
        table = anova(scores, factors=["system", "topic"], effects=["system"], strata=strata)
        system, expected = table.source("system"), case["expected"]
        close(system, expected, "statistic=F_system pvalue=p_system ss=SS_sys", rel=1e-10)
        assert table.source("error(topic)").ss == pytest.approx(expected["SS_topic"], rel=1e-10)
        assert table.source("error").ss == pytest.approx(expected["SS_resid"], rel=1e-10)
        assert table.source("error").df == 33


def test_tukey_of_main_effects_as_r_has_it():
    case = golden("anova_twoway_tukey")
    names, scores = zip(*case["inputs"]["scores"].items(), strict=True)
    table = anova(scores, factors=["system", "topic"], effects=["system"], block="topic")
    for name in ("system", "topic", "error"):
        line = table.source(name)
        assert line.ss == pytest.approx(case["expected"]["ss"][name], rel=1e-10)
        assert line.df == case["expected"]["df"][name]
    found = tukey_main_effect(table, "system")
    assert found.n == 12
    by_pair = {
        f"{names[b]}-{names[a]}": (-found.difference[p], -found.interval[p], found.pvalue[p])
        for p, (a, b) in enumerate(found.pairs)
    }
    for expected in case["expected"]["tukey"]:
        difference, (high, low), pvalue = by_pair[expected["pair"]]
        assert difference == pytest.approx(expected["diff"], abs=1e-12)
        assert (low, high) == pytest.approx((expected["lwr"], expected["upr"]), abs=1e-7)
        assert pvalue == pytest.approx(expected["p_adj"], abs=1e-7)
    # Intervals around the means fall apart exactly where a pair is significant.
    gaps = np.abs(found.difference) - 2 * found.half_width
    assert ((gaps > 0) == found.significant).all()


def test_tukey_agrees_with_the_test_of_runs():
    scores = np.random.default_rng(3).normal(size=(6, 15)) + np.arange(6)[:, None] / 4
    table = anova(scores, factors=["run", "topic"], effects=["run"], block="topic")
    found, other = (
        tukey_main_effect(table, "run", confidence=0.9),
        tukey_hsd(scores, all_pairs(6), confidence=0.9),
    )
    np.testing.assert_allclose(found.pvalue, other.pvalue, rtol=1e-8)
    np.testing.assert_allclose(found.difference, other.difference, rtol=1e-8)
    np.testing.assert_allclose(2 * found.half_width, other.half_width, rtol=1e-8)


def test_tukey_reaches_the_normal_limit_of_many_degrees_of_freedom():
    scores = np.random.default_rng(0).normal(size=(4, 40_000))
    table = anova(scores, factors=["level", None])
    found = tukey_main_effect(table, "level")
    q = 2 * found.half_width / np.sqrt(table.source("error").ms / 40_000)
    assert q == pytest.approx(stats.studentized_range.ppf(0.95, 4, np.inf), rel=1e-4)


# Any model, by projections onto spaces spanned by indicators.


def indicators(shape, axes):
    """Columns that tell the cells of a term apart, one row an observation."""
    places = np.indices(shape).reshape(len(shape), -1)
    cells = np.ravel_multi_index(places[sorted(axes)], [shape[a] for a in sorted(axes)])
    return np.eye(cells.max() + 1)[cells]


def projected(y, columns):
    return columns @ np.linalg.lstsq(columns, y, rcond=None)[0]


@pytest.mark.parametrize(
    "effects", ["a", "a c", "a b a:b", "a b c a:b b:c", "a b c a:b a:c b:c a:b:c"]
)
def test_any_model_equals_sequential_least_squares(effects):
    effects = words(effects)
    rng = np.random.default_rng(5)
    shape, names = (3, 2, 4, 3), "abch"
    y = rng.normal(size=shape) + 3 * rng.normal(size=(3, 1, 1, 1)) + 5
    table = anova(y, factors=names, effects=effects, block="h")
    columns, before = np.ones((y.size, 1)), np.full(y.size, y.mean())
    for name in ["h", *effects]:
        axes = {names.index(part) for part in name.split(":")}
        columns = np.hstack([columns, indicators(shape, axes)])
        fitted = projected(y.ravel(), columns)
        assert table.source(name).ss == pytest.approx(((fitted - before) ** 2).sum(), rel=1e-9)
        before = fitted
    rank = np.linalg.matrix_rank(columns)
    error = table.source("error")
    assert error.ss == pytest.approx(((y.ravel() - before) ** 2).sum(), rel=1e-9)
    assert error.df == y.size - rank
    assert sum(line.ss for line in table.sources[:-1]) == pytest.approx(table.source("total").ss)
    assert sum(line.df for line in table.sources[:-1]) == y.size - 1
    for name in ["h", *effects]:
        line = table.source(name)
        f = line.ms / error.ms
        assert line.pvalue == pytest.approx(stats.f.sf(f, line.df, error.df), rel=1e-9)
        axes = sorted(names.index(part) for part in name.split(":"))
        others = tuple(axis for axis in range(4) if axis not in axes)
        np.testing.assert_allclose(table.means[name], y.mean(axis=others), rtol=1e-12)


def test_split_plots_equal_projections():
    """Whole plots h:a, split by b: a is tested among plots, b and a:b within them."""
    rng = np.random.default_rng(6)
    y = rng.normal(size=(3, 4, 5)) + rng.normal(size=(3, 1, 5))
    table = anova(y, factors=["a", "b", "h"], strata=["a:h"], effects=["a", "b", "a:b"])
    plots = y.mean(axis=1)
    ss_plots = 4 * ((plots - plots.mean(axis=1, keepdims=True)) ** 2).sum()
    assert table.source("error(a:h)").ss == pytest.approx(ss_plots)
    assert table.source("error(a:h)").df == 12
    rest = y - y.mean(axis=2, keepdims=True) - plots[:, None] + plots.mean(axis=1)[:, None, None]
    assert table.source("error").ss == pytest.approx((rest**2).sum())
    assert table.source("error").df == 3 * 4 * 3
    assert column(table, ["a", "b", "a:b"], "tested_against") == ["error(a:h)", "error", "error"]
    expected = stats.f_oneway(*plots)
    close(table.source("a"), expected, "statistic pvalue")
    # Effect sizes rest on all errors together, so strata leave them alone.
    plain = anova(y, factors=["a", "b", "h"], effects=["a", "b", "a:b"])
    assert table.source("a").omega_squared_raw == pytest.approx(
        plain.source("a").omega_squared_raw, rel=1e-12
    )


def test_crossed_strata_test_each_effect_against_its_interaction_with_the_unit():
    y = np.random.default_rng(7).normal(size=(6, 3, 4))
    table = anova(y, factors="hab", effects=["a", "b", "a:b"], strata=crossed_strata("h", "ab"))
    assert [line.source for line in table.sources] == words(
        """
        a b a:b error(h) error(h:a) error(h:b) error total
        """
    )
    # A factor alone, over the means of the other, is a two-way layout with the unit.
    for name, axis in (("a", 2), ("b", 1)):
        layout = anova(y.mean(axis=axis), factors=["h", name], block="h", effects=[name])
        line, expected = table.source(name), layout.source(name)
        close(line, expected, "statistic pvalue")
    assert column(table, ["a", "b", "a:b"], "df") == [2, 3, 6]
    assert table.source("error").df == 5 * 6


def test_statsmodels_is_a_witness_of_effects_and_effect_sizes():
    import pandas as pd
    from statsmodels.formula.api import ols
    from statsmodels.stats.anova import anova_lm

    rng = np.random.default_rng(8)
    y = rng.normal(size=(3, 2, 4)) + np.arange(3)[:, None, None]
    cells = np.array(list(product(range(3), range(2), range(4))))
    frame = pd.DataFrame(cells, columns=list("abr")).assign(y=y.ravel())
    expected = anova_lm(ols("y ~ C(a) * C(b)", frame).fit(), typ=2)
    table = anova(y, factors=["a", "b", None])
    for name, other in (("a", "C(a)"), ("b", "C(b)"), ("a:b", "C(a):C(b)")):
        line, mse = table.source(name), expected["sum_sq"]["Residual"] / expected["df"]["Residual"]
        ss, df = expected["sum_sq"][other], expected["df"][other]
        assert line.ss == pytest.approx(ss)
        assert line.statistic == pytest.approx(expected["F"][other])
        assert line.pvalue == pytest.approx(expected["PR(>F)"][other])
        total = expected["sum_sq"].sum()
        assert line.eta_squared == pytest.approx(ss / total)
        assert line.partial_eta_squared == pytest.approx(ss / (ss + expected["sum_sq"]["Residual"]))
        assert line.overall_omega_squared == pytest.approx(
            max(0, (ss - df * mse) / (total + mse)), abs=1e-12
        )
        f = expected["F"][other]
        assert line.omega_squared_raw == pytest.approx(df * (f - 1) / (df * (f - 1) + 24))


# The published tables of Ferro 2018: what follows from their sums of squares.

PUBLISHED = {
    "tau": {
        "subject": (55.8432, 99, 99.6711, None, None),
        "measure_pair": (1666.5150, 27, 10906.3664, 0.0, 0.6004),
        "topic_size": (418.7689, 6, 12332.6910, 0.0, 0.2740),
        "system_size": (2.3875, 9, 46.8753, 3.64e-85, 0.0021),
        "measure_pair:topic_size": (33.1886, 162, 36.2001, 0.0, 0.0283),
        "measure_pair:system_size": (0.9346, 243, 0.6796, 1.0, 0.0),
        "topic_size:system_size": (0.6136, 54, 2.0079, 1.69e-05, 0.0002),
        "error": (1105.8283, 195_399),
        "total": (3284.0798, 195_999),
    },
    "tauap": {
        "subject": (71.0670, 99, 86.7603, None, None),
        "measure_pair": (2536.3318, 27, 11353.5200, 0.0, 0.6100),
        "topic_size": (612.0528, 6, 12328.9432, 0.0, 0.2740),
        "system_size": (12.0979, 9, 162.4638, 4.20e-308, 0.0074),
        "measure_pair:topic_size": (26.9371, 162, 20.0967, 0.0, 0.0155),
        "measure_pair:system_size": (1.2495, 243, 0.6214, 1.0, 0.0),
        "topic_size:system_size": (0.8735, 54, 1.9550, 3.44e-05, 0.0002),
        "error": (1616.7174, 195_399),
        "total": (4877.3271, 195_999),
    },
}
DISCREPANT = "topic_size:system_size"
"""Computes to .0003 in both tables, printed .0002."""


@pytest.mark.parametrize("name", PUBLISHED)
def test_published_tables_follow_from_their_sums_of_squares(name):
    printed, expected = PUBLISHED[name], golden("ferro2018_tables_omega2")["expected"]
    effects = {key: row[:2] for key, row in printed.items() if key not in ("error", "total")}
    amounts = {key: Amount(*row) for key, row in effects.items()}
    error, every = Amount(*printed["error"][:2]), [*amounts.values(), Amount(*printed["error"][:2])]
    split = Split(
        effects=amounts,
        home=dict.fromkeys(amounts, "error"),
        errors={"error": error},
        error=error,
        total=Amount(sum(amount.ss for amount in every), sum(amount.df for amount in every)),
    )
    lines = table_lines(split, "subject")
    total = lines[-1]
    assert (total.source, total.df) == ("total", printed["total"][1])
    assert total.ss == pytest.approx(printed["total"][0], abs=2e-4)
    by_name = {line.source: line for line in lines}
    for key, (ss, _, f, pvalue, omega) in list(printed.items())[:-2]:
        line = by_name[key]
        # All that is printed is rounded to four decimals: F, and the two SS it comes from.
        half = 0.5e-4
        bound = half + f * (half / ss + half / printed["error"][0])
        assert line.statistic == pytest.approx(f, rel=0.0, abs=1.0001 * bound)
        if pvalue is not None and 0.0 < pvalue < 1.0:
            assert np.log10(line.pvalue) == pytest.approx(np.log10(pvalue), abs=0.02)
        elif pvalue is not None:
            assert line.pvalue == pytest.approx(pvalue, abs=5e-5)
        if omega is not None:
            shown = 0.0003 if key == DISCREPANT else omega
            assert round(line.omega_squared, 4) == shown
    assert by_name["measure_pair:system_size"].omega_squared == 0.0
    raw = [line.omega_squared_raw for line in lines[1:7]]
    assert raw == pytest.approx(expected[f"omega2_{name}"], abs=1e-7, rel=2e-3)


def test_printed_power_follows_from_neither_convention():
    inputs = golden("ferro2018_tables_omega2")
    expected, df_error = inputs["expected"], 195_399
    pairs = list(zip(inputs["inputs"]["F_tau"], inputs["inputs"]["df"], strict=True))
    observed = [observed_power(f, df, df_error) for f, df in pairs]
    omega = [observed_power(f, df, df_error, convention="omega") for f, df in pairs]
    assert observed == pytest.approx(expected["observed_power_lambda_dfF_tau"], abs=1e-8)
    assert omega == pytest.approx(expected["observed_power_omega_tau"], abs=1e-8)
    for printed, *found in zip([0.8043, 0.5137], observed[-2:], omega[-2:], strict=True):
        assert all(abs(each - printed) > 0.1 for each in found)


# Invariances, degenerate data, resources, refusals.


def test_shift_scale_and_order_of_levels_change_nothing(ferro):
    table = anova(ferro, factors="habc", block="h")
    shuffled = ferro[::-1][:, [2, 0, 1]][:, :, ::-1].transpose(3, 1, 0, 2)
    for other, scale in (
        (anova(ferro + 1e3, factors="habc", block="h"), 1.0),
        (anova(8.0 * ferro, factors="habc", block="h"), 64.0),
        (
            anova(
                shuffled, factors="cahb", block="h", effects=["a", "b", "c", "a:b", "a:c", "b:c"]
            ),
            1.0,
        ),
    ):
        for line in table.sources:
            found = other.source(line.source)
            assert found.ss == pytest.approx(scale * line.ss, rel=1e-9)
            assert found.statistic == pytest.approx(line.statistic, rel=1e-9, nan_ok=True)


def test_a_negative_omega_counts_as_none_and_is_kept():
    y = np.tile([1.0, 2.0, 3.0, 4.0], (3, 1))
    y[0] = y[0][::-1]
    line = anova(y, factors=["a", None]).source("a")
    assert line.statistic == 0.0
    assert line.omega_squared == 0.0
    assert line.omega_squared_raw == pytest.approx(-2 / 10)
    assert line.overall_omega_squared == 0.0


def test_without_error_variance_f_is_infinite_or_nothing():
    y = np.add.outer([0.1, 0.2, 0.7], [0.0, 0.0, 0.3])[..., None] + np.zeros(2)
    table = anova(y, factors=["a", "b", None], effects=["a", "b", "a:b"])
    assert table.flag == "zero_variance"
    assert (table.source("a").statistic, table.source("a").pvalue) == (np.inf, 0.0)
    assert (table.source("a:b").statistic, table.source("a:b").pvalue) == (0.0, 1.0)
    assert table.source("a").omega_squared == 1.0
    assert observed_power(np.inf, 2, 9) == 1.0
    found = tukey_main_effect(table, "b")
    assert found.pvalue.tolist() == [1.0, 0.0, 0.0]
    assert found.half_width == 0.0
    constant = anova(np.full((3, 4), 0.1), factors=["a", None])
    assert constant.source("a").pvalue == 1.0
    assert constant.source("a").eta_squared == 0.0


def test_a_factor_of_one_level_has_no_test():
    y = np.random.default_rng(1).normal(size=(1, 3, 5))
    table = anova(y, factors=["one", "a", "h"], block="h")
    line = table.source("one:a")
    assert (line.df, line.ss) == (0, 0.0)
    assert np.isnan([line.ms, line.statistic, line.pvalue, line.omega_squared]).all()
    plain = anova(y[0], factors=["a", "h"], block="h")
    assert table.source("a").statistic == pytest.approx(plain.source("a").statistic)


def test_memory_stays_below_ten_megabytes_beyond_the_data():
    y = np.random.default_rng(2).random((28, 7, 10, 100))
    tracemalloc.start()
    table = anova(y, factors=["pair", "topics", "systems", "subject"], block="subject")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 10e6
    assert table.source("error").df == 195_399


def test_p_values_are_uniform_where_nothing_differs():
    """400 tables of noise; Kolmogorov's test fails by chance once in 1,000."""
    y = np.random.default_rng(9).normal(size=(400, 3, 4, 6))
    names = ["a", "b", "a:b"]
    found = np.array([column(anova(each, factors="abh", block="h"), names, "pvalue") for each in y])
    for pvalues in found.T:
        assert stats.kstest(pvalues, "uniform").pvalue > 1e-3 / 3


def test_the_layout_finds_replicates_and_refuses_gaps():
    columns = {"a": list("xxyyxxyy"), "b": [1, 2, 1, 2, 1, 2, 1, 2]}
    layout = balanced_layout(columns)
    assert layout.index.shape == (2, 2, 2)
    assert layout.index[1, 0].tolist() == [2, 6]
    gap = {"a": list("xxy"), "b": [1, 2, 1]}
    message = "1 of 4 combinations of a, b .*first: a=y, b=2, 0 instead of 1"
    refused(message, balanced_layout, gap)
    with pytest.raises(InputError, match="a=y, b=2, 1 instead of 2"):
        balanced_layout({"a": list("xxyyxxy"), "b": [1, 2, 1, 2, 1, 2, 1]})
    many = {name: [f"{i}" for i in range(2000)] for name in "abcdef"}
    refused("unbalanced: .* a=0, b=0, c=0, d=0, e=0, f=1", balanced_layout, many)
    refused("columns of one length", balanced_layout, {"a": [1], "b": [1, 2]})


def test_wrong_input_is_refused_with_a_reason():
    y = np.random.default_rng(0).normal(size=(3, 4))
    refused(r"2 factors need an array of as many axes.*\(3,\)", anova, y[:, 0], factors="ab")
    holed = y.copy()
    holed[2, 1] = np.nan
    message = "unbalanced: 1 of 12 .*a 2, b 1, counted from 0.*order of the effects: omit"
    refused(message, anova, holed, factors="ab", effects="a")
    refused("no degrees of freedom are left for the error with a, b", anova, y, factors="ab")
    with pytest.raises(InputError, match="a:b requires b in the model: add it"):
        anova(y[..., None], factors=["a", "b", None], effects=["a", "a:b"])
    refused("at least one effect, each once", anova, y, factors="ab", effects=["a", "a"])
    with pytest.raises(UnknownNameError, match="unknown factor 'topics': did you mean 'topic'"):
        anova(y, factors=["system", "topic"], block="topics")
    with pytest.raises(UnknownNameError, match="unknown convention of power"):
        observed_power(1.0, 2, 9, convention="post-hoc")
    refused("factor name", anova, y, factors=["a:b", "z"], effects=["z"])
    refused("factor name 'a'", anova, y, factors="aa", effects=["a"])
    table = anova(y, factors="ab", effects="a")
    refused("unknown main effect 'b'", tukey_main_effect, table, "b", error=UnknownNameError)
    assert table.to_frame().columns[:8].tolist() == words(
        """
        source ss df ms f pvalue omega_squared power
        """
    )


def test_every_pair_of_axes_can_be_an_interaction():
    """All 2-way models of a 4-way array, against means computed the long way."""
    y = np.random.default_rng(11).normal(size=(2, 3, 2, 3))
    for i, j in combinations(range(4), 2):
        a, b = "abcd"[i], "abcd"[j]
        table = anova(y, factors="abcd", effects=[a, b, f"{a}:{b}"])
        others = tuple(axis for axis in range(4) if axis not in (i, j))
        m = y.mean(axis=others)
        rest = m - m.mean(axis=0) - m.mean(axis=1, keepdims=True) + m.mean()
        expected = y.size / m.size * (rest**2).sum()
        assert table.source(f"{a}:{b}").ss == pytest.approx(expected)
