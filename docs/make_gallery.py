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
from steadyrank.present.figures import svg_text
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

# Eight models on twelve collections with different topics.
collections = {
    name: sr.Scores(measures=["nDCG@10"], runs=[f"model-{c}" for c in "ABCDEFGH"],
                    topics=range(size),
                    values=[np.clip(draw.beta(4, 4, size) + draw.normal(0, 0.03, (8, 1))
                                    + draw.normal(0, 0.1, (8, size))
                                    + np.linspace(0.2, 0, 8)[:, None], 0, 1)])
    for name, size in {"news": 50, "web": 43, "health": 30, "law": 20, "code": 60,
                       "patents": 25, "chat": 35, "finance": 40, "science": 55, "sports": 30,
                       "travel": 24, "music": 32}.items()}
"""

RESULTS = {
    "simulated": 'sr.simulate(track.runs, track.qrels, n_samples=400, no_relevant="skip")',
    "smooth": 'sr.simulate(track.runs, track.qrels, model="kde", n_samples=400, '
    'no_relevant="skip")',
    "compared": 'sr.compare(scores, measure="AP")',
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
    "planned": "sr.plan(few, minimum_difference=0.1, systems=10)",
    "judged": 'sr.judges(wide.runs, people, {"model": model}, kin="^team1-", n_samples=1000)',
    "stable": 'sr.stability(scores, measure="AP")',
    "graded": "sr.stability(sr.simulated_facets(n_answers=3, rng=2))",
}
"""Results that the calls name, in the order in which they are computed."""

YANG = "Yang, Zhang & Song, SIGIR 2018"
LIN = "Lin & Hauptmann, SIGIR 2005"
FERRO = "Ferro, IIR 2018"
JAYASINGHE = "Jayasinghe et al., IP&M 2015"
SAKAI = "Sakai & Shang, EVIA 2016"
GENERALIZABILITY = "Urbano, Marrero & Martín, SIGIR 2013"


@dataclass(frozen=True, slots=True)
class Entry:
    """A figure: its question, what it shows, the call that draws it, and its source."""

    question: str
    shows: str
    call: str
    source: str = ""


ENTRIES: dict[tuple[str, str], Entry] = {
    ("Scores", "means"): Entry(
        "How good is each run, on average?",
        "Dots are means over topics, lines their intervals, one run at a time.",
        "sr.plot(scores)",
    ),
    ("CompareResult", "intervals"): Entry(
        "By how much does the best run lead, and how surely?",
        "Each line is the interval of a run's difference to the best run; orange intervals "
        "exclude 0, simultaneously for all pairs.",
        "sr.plot(compared)",
    ),
    ("CompareResult", "ranks"): Entry(
        "What rank would each run have with other topics?",
        "The dot is a run's rank, the line all ranks that it may have; runs whose line reaches "
        "the left edge could be first.",
        'sr.plot(compared, kind="ranks")',
    ),
    ("CompareResult", "topics"): Entry(
        "On which topics does a run win, and by how much?",
        "Each bar is one topic, the line their mean: look at a mean that rests on few topics.",
        'sr.plot(compared, kind="topics")',
    ),
    ("SimulateResult", "error_rate"): Entry(
        "Would another document collection reverse two runs?",
        "The rate at which simulated collections reverse two runs falls as their difference "
        "grows; one curve per model.",
        "sr.plot([simulated, smooth])",
        f"Figure 2 of {YANG}",
    ),
    ("SimulateResult", "topics"): Entry(
        "How much do scores on a topic vary?",
        "Each topic has its observed score on one axis and the mean of its simulated scores, ± "
        "their deviation, on the other.",
        'sr.plot([simulated, smooth], kind="topics", run=simulated.runs[0])',
        f"Figure 1 of {YANG}",
    ),
    ("SimulateResult", "ranks"): Entry(
        "What rank would each run have in another collection?",
        "The dot is the observed rank, the line 95% of the ranks in other collections.",
        'sr.plot(simulated, kind="ranks")',
    ),
    ("TopicsResult", "error_rate"): Entry(
        "How often do two sets of topics contradict each other?",
        "Dots are observed rates, lines fitted and theoretical ones, one colour per size of the "
        "difference.",
        "sr.plot(reversed_)",
        f"the model that {LIN}, derive, on the experiment of Voorhees & Buckley, SIGIR 2002",
    ),
    ("AgreeResult", "sizes"): Entry(
        "How do two measures' rankings correlate as systems are added?",
        "One panel per number of topics: lines are mean correlations with intervals, bands "
        "contain 95% of the samples.",
        'sr.plot(agreement, pair=("AP", "P@10"))',
        f"Figure 1 of {FERRO}",
    ),
    ("AgreeResult", "pairs"): Entry(
        "Do tau and tau_AP see the same agreement?",
        "Pairs of measures by their mean correlation, centred: where the curves coincide, both "
        "coefficients agree.",
        'sr.plot(agreement, kind="pairs")',
        f"Figure 2, right, of {FERRO}",
    ),
    ("AgreeResult", "measures"): Entry(
        "Do measures rank runs alike?",
        "Bright cells are measures that rank runs alike; similar measures are adjacent.",
        'sr.plot(agreement, kind="measures")',
    ),
    ("ComponentsResult", "levels"): Entry(
        "What are the best stemmer and the best model?",
        "One panel per component: levels whose intervals are outside the shaded one differ "
        "significantly from the best level.",
        "sr.plot(components)",
        "the main effects of Ferro & Silvello, JASIST 2018",
    ),
    ("ComponentsResult", "effects"): Entry(
        "How much does each component matter?",
        "The longest bar is the component that explains most of the variance between runs.",
        'sr.plot(components, kind="effects")',
        "the effect sizes of Ferro & Silvello, JASIST 2018",
    ),
    ("InstancesTable", "margin"): Entry(
        "From which setting on is the system no worse?",
        "One interval per setting, with the baseline at 0: a setting is not worse if its "
        "interval is above the dashed margin.",
        "sr.plot(sweep)",
        f"Figures 12 and 13 of {JAYASINGHE}",
    ),
    ("InstancesTable", "means"): Entry(
        "How much do instances of one setting differ?",
        "Each dot is an instance's mean: if a box contains the line of the baseline, one "
        "instance could have decided either way.",
        'sr.plot(sweep, kind="means")',
        f"Figure 6 of {JAYASINGHE}",
    ),
    ("InstancesTable", "topics"): Entry(
        "On which topics do they differ?",
        "Topics by their median: tall lines are topics on which instances of one system differ "
        "much.",
        'sr.plot(sweep, kind="topics", system="rate=0.5")',
        f"Figure 8 of {JAYASINGHE}",
    ),
    ("InstancesResult", "margin"): Entry(
        "Is one system no worse than another?",
        "If the interval reaches below the dashed margin, non-inferiority is not shown.",
        "sr.plot(pair)",
        f"one interval of Figure 12, {JAYASINGHE}",
    ),
    ("InstancesResult", "means"): Entry(
        "Could one instance have said otherwise?",
        "Each dot is an instance's mean, the line is the other system.",
        'sr.plot(pair, kind="means")',
        f"one box of Figure 6, {JAYASINGHE}",
    ),
    ("InstancesResult", "topics"): Entry(
        "How much does one system vary on a topic?",
        "Topics by their median: the thick part contains half of the instances, the thin line "
        "all of them.",
        'sr.plot(pair, kind="topics")',
        f"Figure 8 of {JAYASINGHE}",
    ),
    ("HolesResult", "bounds"): Entry(
        "How far could scores move with complete judgments?",
        "Grey bars span all completions of the judgments; marks are three ways to score.",
        "sr.plot(holed)",
    ),
    ("PoolsResult", "variance"): Entry(
        "How many teams does a pilot need?",
        "One panel per measure: vertical lines are the range of the trials, the dashed line is "
        "the variance with all data.",
        "sr.plot(pooled)",
        f"Figures 1 and 2 of {SAKAI}",
    ),
    ("JudgesResult", "ranks"): Entry(
        "What does a judge alone say, and what holds after correction?",
        "Three lines per run: people alone, the judge corrected by people, and the judge alone.",
        "sr.plot(judged)",
    ),
    ("DatasetsResult", "ranks"): Entry(
        "What ranks may each run have on other datasets?",
        "The dot is a run's rank, the line the ranks that it may have on other datasets.",
        "sr.plot(boards)",
        "the rank sets of Mogstad et al. 2024",
    ),
    ("DatasetsResult", "forest"): Entry(
        "By how much do two runs differ, dataset by dataset, and on the next one?",
        "One interval per dataset, then the mean, then the interval for the next dataset's "
        "difference.",
        'sr.plot(boards, kind="forest")',
        "the forest plot of meta-analyses",
    ),
    ("BattlesResult", "ranks"): Entry(
        "What ranks may each model have on other prompts?",
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
    ("GateResult", "gate"): Entry(
        "May this change ship?",
        "One row per measure: a line that crosses its bar, the margin, leaves the verdict open.",
        "sr.plot(gated)",
    ),
    ("PlanResult", "curves"): Entry(
        "What do the topics of a plan depend on?",
        "Topics against the difference to detect and the number of systems, and power against "
        "topics, with the plan marked.",
        "sr.plot(planned)",
        f"the design of {SAKAI}, Section 3",
    ),
    ("FacetsResult", "shares"): Entry(
        "Is a difference of two systems due to topics, judges or answers?",
        "Shares of the variance of a difference: more topics would shrink the blue part, more "
        "judges the orange one.",
        "sr.plot(graded)",
    ),
    ("StabilityResult", "coefficients"): Entry(
        "How stable is this collection, and with how many topics is it stable enough?",
        "The dot is this collection, the curve other numbers of topics, the dashed lines levels "
        "to reach.",
        "sr.plot(stable)",
        GENERALIZABILITY,
    ),
}

INTRODUCTION = """\
# Gallery

*For authors who look for a figure.*

All figures, on small simulated data. `sr.plot(result)` draws the default of a result,
`sr.plot(result, kind=…)` another; `steadyrank.present.figures.save_figure` writes SVG, PNG or PDF.
Figures after a paper repeat its computation, not its data. `docs/make_gallery.py` has the data and
makes this page.
"""


@cache
def names() -> dict[str, Any]:
    """Return the data and the results that the calls name."""
    found: dict[str, Any] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sr.SteadyrankWarning)
        exec(DATA, found)
        for name, call in RESULTS.items():
            found[name] = eval(call, found)
    return found


def drawn(entry: Entry, known: dict[str, Any]) -> tuple[Any, Any, str | None]:
    """Return the figure of an entry's call, the first result in it, and the kind."""
    seen: list[Any] = []

    class Watched:
        """The package; `plot` also records its arguments."""

        def __getattr__(self, name: str) -> Any:
            return getattr(sr, name)

        def plot(self, result: Any, *, kind: str | None = None, **options: Any) -> Any:
            seen.extend([result[0] if isinstance(result, list) else result, kind])
            return sr.plot(result, kind=kind, **options)

    figure = eval(entry.call, {**known, "sr": Watched()})
    return figure, seen[0], seen[1]


def picture(key: tuple[str, str]) -> str:
    """Return the path of the picture of a class and kind, relative to the page."""
    return (PICTURES / f"{key[0]}-{key[1]}.svg").as_posix()


def page() -> str:
    """Return the page, a section for each class of results; the captions describe the pictures."""
    parts, last = [INTRODUCTION], ""
    for key, entry in ENTRIES.items():
        if key[0] != last:
            parts.append(f"## {key[0]}\n")
            last = key[0]
        after = f" After {entry.source}." if entry.source else ""
        parts.append(
            f"![{key[0]}, {key[1]}]({picture(key)})\n\n"
            f"**{entry.question}**\\\n{entry.shows}{after}\\\n`{entry.call}`\n"
        )
    results = "\n".join(f"{name} = {call}" for name, call in RESULTS.items())
    parts.append(f"## Results that the calls name\n\n```python\n{results}\n```\n")
    return "\n".join(parts)


def make(folder: Path) -> None:
    """Draw all pictures into a folder, and write the page there."""
    known = names()
    (folder / PICTURES).mkdir(parents=True, exist_ok=True)
    for key, entry in ENTRIES.items():
        figure, result, kind = drawn(entry, known)
        text = svg_text(figure, alt=alt_text(result, kind), background="#ffffff")
        (folder / picture(key)).write_text(text, "utf-8")
    (folder / "gallery.md").write_text(page(), "utf-8")


def missing() -> list[tuple[str, str]]:
    """Return the kinds of plot that the gallery does not show."""
    every = [(name, kind) for name, kinds in all_plots().items() for kind in kinds]
    return [key for key in every if key not in ENTRIES]


if __name__ == "__main__":
    make(DOCS)
    for key in missing():
        print("not in the gallery:", *key)
