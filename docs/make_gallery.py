"""Draw the gallery: one picture for every kind of plot, and the page that shows them.

python docs/make_gallery.py
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import steadyrank as sr
from steadyrank.present.svg import svg_text
from steadyrank.studies.plotting import alt_text
from steadyrank.studies.registry import all_plots

DOCS = Path(__file__).parent
PICTURES = Path("images") / "gallery"

DATA = """\
import numpy as np
import steadyrank as sr

track = sr.simulated_track(n_teams=5, runs_per_team=2, n_topics=24, depth=80, pool_depth=40)
scores = sr.evaluate(track.runs, track.qrels, ["AP", "nDCG@10", "P@10", "RR"], no_relevant="skip")
few = scores.select(topics=scores.topics[:16])

# Ninety topics: people on every third, and a judge who errs now and then on all.
wide = sr.simulated_track(n_teams=5, runs_per_team=2, n_topics=90, depth=80, pool_depth=40)
people = sr.qrels_from_dict({t: wide.qrels.judgments(t) for t in wide.qrels.topics[::3]})
err = np.random.default_rng(5).integers(-1, 2, len(wide.qrels))
model = sr.qrels_from_dict({
    t: {d: min(2, max(0, g + int(err[(i + 7 * k) % len(err)]))) if k % 3 == 0 else g
        for k, (d, g) in enumerate(wide.qrels.judgments(t).items())}
    for i, t in enumerate(wide.qrels.topics)})

# A system with three settings, 12 instances of each, and a baseline.
draw = np.random.default_rng(7)
easy = draw.beta(2, 3, 25)
noise = {rate: draw.normal(0, 0.02, (12, 1)) + draw.normal(0, 0.06, (12, 25))
         for rate in ("0.5", "1", "4")}
setting = {rate: np.clip(easy + noise[rate] + shift, 0, 1)
           for rate, shift in zip(noise, (-0.03, 0.0, 0.02))}
baseline = np.clip(easy + draw.normal(0, 0.04, 25), 0, 1)
values = np.vstack([*setting.values(), baseline])
names = [f"{rate}%-{i}" for rate in setting for i in range(1, 13)] + ["full"]
rates = [rate for rate in setting for _ in range(12)] + [""]
sampled = sr.Scores(measures=["AP"], runs=names, topics=range(25), values=[values],
                    run_info={"system": ["sampled"] * 36 + ["full"], "rate": rates})
grid = sr.Scores(measures=["AP"], runs=range(12), topics=range(20),
                 values=[np.clip(draw.beta(2, 3, 20) + draw.normal(0, 0.05, (12, 20))
                                 + np.repeat([0, 0.05, 0.08], 4)[:, None], 0, 1)],
                 run_info={"stemmer": np.repeat(["none", "weak", "Porter"], 4).tolist(),
                           "model": ["BM25", "PL2", "DPH", "LGD"] * 3})

# Eight models on twelve collections with topics of their own.
collections = {
    name: sr.Scores(measures=["nDCG@10"], runs=[f"model-{c}" for c in "ABCDEFGH"],
                    topics=range(size),
                    values=[np.clip(draw.beta(4, 4, size) + draw.normal(0, 0.03, (8, 1))
                                    + draw.normal(0, 0.1, (8, size))
                                    + np.linspace(0.2, 0, 8)[:, None], 0, 1)])
    for name, size in {"news": 50, "web": 43, "health": 30, "law": 20, "code": 60,
                       "patents": 25, "chat": 35, "finance": 40, "science": 55, "sports": 30,
                       "travel": 24, "music": 32}.items()}

# Six nights, each a little worse than the one before.
nights = [
    {"date": f"2026-01-0{d}T02:00:00+00:00", "baseline": f"night{d - 1}",
     "candidate": f"night{d}", "sha256": "", "verdict": "pass", "alpha": 0.05,
     "measures": [{"measure": "nDCG@10", "margin": 0.01, "verdict": "pass",
                   "difference": -0.003, "interval": [-0.008, 0.002],
                   "total": -0.003 * d,
                   "total_interval": [-0.003 * d - 0.008, -0.003 * d + 0.008]}]}
    for d in range(1, 7)]
"""

RESULTS = {
    "simulated": 'sr.simulate(track.runs, track.qrels, n_samples=400, no_relevant="skip")',
    "smooth": 'sr.simulate(track.runs, track.qrels, model="kde", n_samples=400, '
    'no_relevant="skip")',
    "compared": 'sr.compare(scores, measure="AP")',
    "table": 'sr.compare(scores.select(measures=["AP", "nDCG@10"]), baseline="team3-s1")',
    "segmented": "sr.compare(scores.with_topic_info(kind="
    '["short" if int(topic) % 3 else "long" for topic in scores.topics]), '
    'measures=["AP", "nDCG@10"], by="kind")',
    "audit": 'sr.audit_tests(scores, measure="AP", n_trials=300)',
    "reversed_": 'sr.topics(scores, measure="AP", n_trials=300)',
    "agreement": "sr.agree(scores, topic_sizes=[6, 12, 18], system_sizes=[4, 6, 8, 10], "
    "n_samples=40)",
    "components": 'sr.components(grid, factors=["stemmer", "model"])',
    "pair": 'sr.instances(sampled, a="sampled", b="full", n_samples=200, samples_per_instance=20)',
    "sweep": 'sr.instances(sampled, a="sampled", b="full", sweep="rate", n_samples=200, '
    "samples_per_instance=20)",
    "holed": 'sr.holes(track.runs, track.qrels, measure="nDCG@50", n_samples=200)',
    "pooled": 'sr.pools(track.runs, track.qrels, measures=["AP", "nDCG@10", "P@10"], '
    "pool_depth=40, "
    'no_relevant="skip", pilot_topics=[20, 10], minimum_difference=0.1, systems=10)',
    "boards": "sr.datasets(collections)",
    "fought": "sr.battles(sr.simulated_battles(6, 60, spread=0.6, n_judges=3, judge_sd=0.3, "
    "position=0.3, rng=3))",
    "gated": "sr.gate(track.runs[0], track.runs[1], track.qrels, "
    'measures={"AP": 0.05, "nDCG@10": 0.05}, missing="zero")',
    "history": 'sr.GateHistory(folder="gates", gates=tuple(nights))',
    "planned": "sr.plan(few, minimum_difference=0.1, systems=10)",
    "judged": 'sr.judges(wide.runs, people, {"model": model}, kin="^team1-", n_samples=1000)',
    "stable": 'sr.stability(scores, measure="AP")',
    "graded": "sr.stability(sr.simulated_facets(n_answers=3, rng=2))",
}
"""What is drawn more than once, in the order in which it is made."""

YANG = "Yang, Zhang & Song, SIGIR 2018"
LIN = "Lin & Hauptmann, SIGIR 2005"
FERRO = "Ferro, IIR 2018"
JAYASINGHE = "Jayasinghe et al., IP&M 2015"
SAKAI = "Sakai & Shang, EVIA 2016"
GENERALIZABILITY = "Urbano, Marrero & Martín, SIGIR 2013"


@dataclass(frozen=True, slots=True)
class Entry:
    """One figure: its question, what to see, the call that draws it, and whose figure it is."""

    question: str
    shows: str
    call: str
    source: str = ""


ENTRIES: dict[tuple[str, str], Entry] = {
    ("Scores", "means"): Entry(
        "How good is each run, on average?",
        "Dots are means over topics and lines their intervals, one run at a time: neighbours "
        "overlap widely, which says nothing yet about their difference.",
        "sr.plot(scores)",
    ),
    ("CompareResult", "intervals"): Entry(
        "By how much does the best run lead, and how surely?",
        "Each line is the interval of a run's difference to the best run; orange ones exclude"
        " 0, simultaneously for all pairs.",
        "sr.plot(compared)",
    ),
    ("CompareResult", "ranks"): Entry(
        "Where would each run stand with other topics?",
        "The dot is a run's rank, the line all ranks that the tests leave to it, "
        "simultaneously; every run whose line reaches the left edge may have rank 1.",
        'sr.plot(compared, kind="ranks")',
    ),
    ("CompareResult", "topics"): Entry(
        "On which topics does a run win, and by how much?",
        "Every dot is one topic, the bar their mean: a mean left of 0 that rests on few dots "
        "far to the left is one to look at.",
        'sr.plot(compared, kind="topics")',
    ),
    ("CompareResult", "segments"): Entry(
        "Does the best run lead in every segment of the topics?",
        "The same differences on all topics and in each segment: intervals grow as topics "
        "become fewer, and a segment whose lines lie elsewhere would show an interaction.",
        'sr.plot(segmented["AP"], kind="segments")',
    ),
    ("CompareTable", "intervals"): Entry(
        "Which runs differ from the baseline, by several measures?",
        "One panel per measure, one row per run: orange intervals exclude 0, so that a run "
        "which is orange in one panel alone differs significantly by that measure alone.",
        "sr.plot(table)",
    ),
    ("CompareTable", "topics"): Entry(
        "On which topics do runs differ from the baseline?",
        "One panel per measure: dots are differences to the baseline on single topics, bars "
        "their means, orange where significant.",
        'sr.plot(table, kind="topics")',
    ),
    ("AuditResult", "rates"): Entry(
        "Which test holds its level on these scores?",
        "Blue and orange are rejections where nothing differs and should lie at the dashed "
        "level; green is the power observed on the runs as they are.",
        "sr.plot(audit)",
    ),
    ("SimulateResult", "error_rate"): Entry(
        "Would another document collection turn two runs round?",
        "The rate at which simulated collections reverse two runs falls as their difference "
        "grows, here to almost nothing above .05; one curve per model.",
        "sr.plot([simulated, smooth])",
        f"Figure 2 of {YANG}",
    ),
    ("SimulateResult", "topics"): Entry(
        "How much do scores on a topic vary?",
        "Each topic has its observed score below and the mean of the simulated ones, ± their "
        "deviation, beside: marks off the diagonal are topics on which the model is biased.",
        'sr.plot([simulated, smooth], kind="topics", run=simulated.runs[0])',
        f"Figure 1 of {YANG}",
    ),
    ("SimulateResult", "ranks"): Entry(
        "Where would each run stand in another collection?",
        "The dot is the observed rank, the line 95 % of the ranks in other collections: lines"
        " that overlap are runs that may change places.",
        'sr.plot(simulated, kind="ranks")',
    ),
    ("TopicsResult", "error_rate"): Entry(
        "How often do two sets of topics contradict each other?",
        "Two sets of topics contradict each other less often the larger they are and the "
        "larger the difference (one colour each); dots are observed, lines fitted and by "
        "theory.",
        "sr.plot(reversed_)",
        f"the model that {LIN}, derive, on the experiment of Voorhees & Buckley, SIGIR 2002",
    ),
    ("AgreeResult", "sizes"): Entry(
        "How do two measures' rankings correlate as systems are added?",
        "One panel per number of topics: lines are mean correlations with intervals, the "
        "shaded bands hold 95 % of the single samples.",
        'sr.plot(agreement, pair=("AP", "P@10"))',
        f"Figure 1 of {FERRO}",
    ),
    ("AgreeResult", "pairs"): Entry(
        "Do tau and tau_AP see the same agreement?",
        "Pairs of measures by their mean correlation, centred: where the two curves coincide,"
        " both coefficients see the same agreement.",
        'sr.plot(agreement, kind="pairs")',
        f"Figure 2, right, of {FERRO}",
    ),
    ("AgreeResult", "measures"): Entry(
        "Which measures say the same?",
        "Bright cells are measures that rank runs alike; similar measures are adjacent.",
        'sr.plot(agreement, kind="measures")',
    ),
    ("ComponentsResult", "levels"): Entry(
        "Which stemmer, which model is best?",
        "One panel per component: levels whose intervals lie outside the shaded one of the "
        "best level differ from it significantly.",
        "sr.plot(components)",
        "the main effects of Ferro & Silvello, JASIST 2018",
    ),
    ("ComponentsResult", "effects"): Entry(
        "Which component matters most?",
        "The longest bar is the component that explains most of the variance between runs; "
        "interactions come last.",
        'sr.plot(components, kind="effects")',
        "the effect sizes of Ferro & Silvello, JASIST 2018",
    ),
    ("InstancesTable", "margin"): Entry(
        "From which setting on is the system no worse?",
        "One interval per setting, and 0 is the baseline: the further an interval lies above "
        "the dashed margin, the surer it is that the setting is no worse.",
        "sr.plot(sweep)",
        f"Figures 12 and 13 of {JAYASINGHE}",
    ),
    ("InstancesTable", "means"): Entry(
        "How much do instances of one setting differ?",
        "Each dot is an instance's mean: where a box straddles the line of the baseline, one "
        "instance alone could have decided either way.",
        'sr.plot(sweep, kind="means")',
        f"Figure 6 of {JAYASINGHE}",
    ),
    ("InstancesTable", "topics"): Entry(
        "On which topics do they differ?",
        "Topics by their median: tall lines are topics on which instances of one system "
        "differ much.",
        'sr.plot(sweep, kind="topics", system="rate=0.5")',
        f"Figure 8 of {JAYASINGHE}",
    ),
    ("InstancesResult", "margin"): Entry(
        "Is one system no worse than another?",
        "The interval of the difference reaches below the dashed margin, so non-inferiority "
        "is not shown here.",
        "sr.plot(pair)",
        f"one interval of Figure 12, {JAYASINGHE}",
    ),
    ("InstancesResult", "means"): Entry(
        "Could one instance have said otherwise?",
        "Each dot is an instance's mean, the line is the other system: dots on both sides "
        "mean that a single instance could have said either.",
        'sr.plot(pair, kind="means")',
        f"one box of Figure 6, {JAYASINGHE}",
    ),
    ("InstancesResult", "topics"): Entry(
        "How much does one system vary on a topic?",
        "Topics by their median: the thick part holds half of the instances, the thin line "
        "all of them.",
        'sr.plot(pair, kind="topics")',
        f"Figure 8 of {JAYASINGHE}",
    ),
    ("HolesResult", "bounds"): Entry(
        "How far could scores move with complete judgments?",
        "Grey bars span all completions of the judgments; marks are three ways to score now, "
        "which lie close together within bars that are wide.",
        "sr.plot(holed)",
    ),
    ("PoolsResult", "variance"): Entry(
        "How many teams does a pilot need?",
        "One panel per measure; vertical lines are the range of the trials, so a pilot of few"
        " teams may lie far from the dashed line of all data.",
        "sr.plot(pooled)",
        f"Figures 1 and 2 of {SAKAI}",
    ),
    ("JudgesResult", "ranks"): Entry(
        "What does a judge alone say, and what holds after correction?",
        "Three lines per run: people alone, the judge corrected by people, and the judge "
        "alone, whose ranks are only right if it judges as people do.",
        "sr.plot(judged)",
    ),
    ("DatasetsResult", "ranks"): Entry(
        "Which ranks may each run have on other datasets?",
        "The dot is a run's rank, the line the ranks that other datasets of this kind leave "
        "to it, simultaneously.",
        "sr.plot(boards)",
        "the rank sets of Mogstad et al. 2024",
    ),
    ("DatasetsResult", "forest"): Entry(
        "By how much do two runs differ, dataset by dataset, and on the next one?",
        "One interval per dataset, below them the mean, and last the interval in which the "
        "next dataset's difference is expected.",
        'sr.plot(boards, kind="forest")',
        "the forest plot of meta-analyses",
    ),
    ("BattlesResult", "ranks"): Entry(
        "Which ranks may each model have on other prompts?",
        "The dot is the rank by strength, the line the ranks that other prompts leave to a model; "
        "lines that reach the left edge belong to models that could be first.",
        "sr.plot(fought)",
    ),
    ("BattlesResult", "matrix"): Entry(
        "How often does each model win against each other one?",
        "Bright cells are shares above one half, and the number below a share counts the battles "
        "of the two models.",
        'sr.plot(fought, kind="matrix")',
    ),
    ("BattlesResult", "judges"): Entry(
        "Do the judges agree about the models?",
        "One marker per judge and a bar for all of them: wide rows are models about which judges "
        "disagree.",
        'sr.plot(fought, kind="judges")',
    ),
    ("GateResult", "gate"): Entry(
        "May this change ship?",
        "One row per measure: a line that crosses its bar, the margin, leaves the verdict open.",
        "sr.plot(gated)",
    ),
    ("GateHistory", "history"): Entry(
        "Do small losses add up?",
        "Every gate passed, and yet the sum of the steps falls below the margin: drift that "
        "no single gate shows.",
        "sr.plot(history)",
    ),
    ("PlanResult", "curves"): Entry(
        "What do the topics of a plan depend on?",
        "Topics against the difference to detect, against the number of systems, and power "
        "against topics, with the plan marked on each curve.",
        "sr.plot(planned)",
        f"the design of {SAKAI}, Section 3",
    ),
    ("FacetsResult", "shares"): Entry(
        "Whose share of a difference of two systems is it: topics, judges or answers?",
        "Three quarters of the variance of a difference are the judges': more topics would shrink "
        "the blue part, and not the orange one.",
        "sr.plot(graded)",
    ),
    ("StabilityResult", "coefficients"): Entry(
        "How stable is this collection, and with how many topics is it stable enough?",
        "The dot is this collection; where the curve crosses a dashed level, so many topics "
        "would be stable enough, and the band says how sure that is.",
        "sr.plot(stable)",
        GENERALIZABILITY,
    ),
}

INTRODUCTION = """\
# Gallery

*For authors who look for a figure.*

Every kind of figure, on small simulated data: `sr.plot(result)` draws the default of a result's
class, `sr.plot(result, kind=…)` another; `steadyrank.present.figures.save_figure` writes SVG, PNG
or PDF.
Each caption has a question, what to see, the paper's figure if there is one (drawn on data of our
own: the same computation, not the same numbers), and the call that draws it.
Made by `python docs/make_gallery.py`.
"""


@cache
def names() -> dict[str, Any]:
    """The data and the results that the calls name."""
    found: dict[str, Any] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sr.SteadyrankWarning)
        exec(DATA, found)
        for name, call in RESULTS.items():
            found[name] = eval(call, found)
    return found


def drawn(entry: Entry, known: dict[str, Any]) -> tuple[Any, Any, str | None]:
    """What an entry's call draws: the figure, the first result in it, and the kind."""
    seen: list[Any] = []

    class Watched:
        """The package, which remembers what is plotted."""

        def __getattr__(self, name: str) -> Any:
            return getattr(sr, name)

        def plot(self, result: Any, *, kind: str | None = None, **options: Any) -> Any:
            seen.extend([result[0] if isinstance(result, list) else result, kind])
            return sr.plot(result, kind=kind, **options)

    figure = eval(entry.call, {**known, "sr": Watched()})
    return figure, seen[0], seen[1]


def picture(key: tuple[str, str]) -> str:
    """Where the picture of a class and kind is, beside the page."""
    return (PICTURES / f"{key[0]}-{key[1]}.svg").as_posix()


def page(alts: dict[tuple[str, str], str]) -> str:
    """The page, a section for each class of results."""
    parts, last = [INTRODUCTION], ""
    for key, entry in ENTRIES.items():
        if key[0] != last:
            parts.append(f"## {key[0]}\n")
            last = key[0]
        alt = alts[key].replace("[", "(").replace("]", ")")
        after = f" After {entry.source}." if entry.source else ""
        parts.append(
            f"![{alt}]({picture(key)})\n\n"
            f"**{entry.question}**\\\n{entry.shows}{after}\\\n`{entry.call}`\n"
        )
    results = "\n".join(f"{name} = {call}" for name, call in RESULTS.items())
    parts.append(f"## What the calls name\n\n```python\n{DATA}\n{results}\n```\n")
    return "\n".join(parts)


def make(folder: Path) -> None:
    """Draw everything into a folder, and write the page beside it."""
    known, alts = names(), {}
    (folder / PICTURES).mkdir(parents=True, exist_ok=True)
    for key, entry in ENTRIES.items():
        figure, result, kind = drawn(entry, known)
        alts[key] = alt_text(result, kind)
        text = svg_text(figure, alt=alts[key], background="#ffffff")
        (folder / picture(key)).write_text(text, "utf-8")
    (folder / "gallery.md").write_text(page(alts), "utf-8")


def missing() -> list[tuple[str, str]]:
    """Kinds of plot that the gallery does not show."""
    every = [(name, kind) for name, kinds in all_plots().items() for kind in kinds]
    return [key for key in every if key not in ENTRIES]


if __name__ == "__main__":
    make(DOCS)
    for key in missing():
        print("not in the gallery:", *key)
