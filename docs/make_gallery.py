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
from steadyrank.studies.stability.study import StabilityTable

track = sr.simulated_track(n_teams=5, runs_per_team=2, n_topics=24, depth=80, pool_depth=40)
scores = sr.evaluate(track.runs, track.qrels, ["AP", "nDCG@10", "P@10", "RR"], no_relevant="skip")
few = scores.select(topics=scores.topics[:16])

# People on every third topic, and a judge who errs now and then on all.
people = sr.qrels_from_dict({t: track.qrels.judgments(t) for t in track.qrels.topics[::3]})
err = np.random.default_rng(5).integers(-1, 2, len(track.qrels))
model = sr.qrels_from_dict({
    t: {d: min(2, max(0, g + int(err[(i + 7 * k) % len(err)]))) if k % 3 == 0 else g
        for k, (d, g) in enumerate(track.qrels.judgments(t).items())}
    for i, t in enumerate(track.qrels.topics)})

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

# Eight models on seven collections with topics of their own.
collections = {
    name: sr.Scores(measures=["nDCG@10"], runs=[f"model-{c}" for c in "ABCDEFGH"],
                    topics=range(size),
                    values=[np.clip(draw.beta(4, 4, size) + draw.normal(0, 0.03, (8, 1))
                                    + draw.normal(0, 0.1, (8, size))
                                    + np.linspace(0.2, 0, 8)[:, None], 0, 1)])
    for name, size in {"news": 50, "web": 43, "health": 30, "law": 20, "code": 60,
                       "patents": 25, "chat": 35}.items()}

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
    "gated": "sr.gate(track.runs[0], track.runs[1], track.qrels, "
    'measures={"AP": 0.05, "nDCG@10": 0.05}, missing="zero")',
    "history": 'sr.GateHistory(folder="gates", gates=tuple(nights))',
    "planned": "sr.plan(few, minimum_difference=0.1, systems=10)",
    "design": 'sr.plan_instances({"instance": 0.0004, "system_topic": 0.0064, "residual": 0.0036}, '
    "difference=0.03)",
    "judged": 'sr.judges(track.runs, people, {"model": model}, kin="^team1-", n_samples=1000)',
    "stable": 'sr.stability(scores, measure="AP")',
    "stable_early": 'sr.stability(scores, measure="P@10")',
    "graded": "sr.stability(sr.simulated_facets(n_answers=3, rng=2))",
}
"""What is drawn more than once, in the order in which it is made."""

YANG = "Yang, Zhang & Song, SIGIR 2018"
LIN = "Lin & Hauptmann, SIGIR 2005"
FERRO = "Ferro, IIR 2018"
JAYASINGHE = "Jayasinghe et al., IP&M 2015"
SAKAI = "Sakai & Shang, EVIA 2016"
OWN = "no paper's figure"


@dataclass(frozen=True, slots=True)
class Entry:
    """One figure: its question, whose figure it is, and the call that draws it."""

    question: str
    source: str
    call: str


ENTRIES: dict[tuple[str, str], Entry] = {
    ("Scores", "means"): Entry("How good is each run, on average?", OWN, "sr.plot(scores)"),
    ("Scores", "heatmap"): Entry(
        "Which topics are hard, and for whom?", OWN, 'sr.plot(scores, kind="heatmap")'
    ),
    ("CompareResult", "intervals"): Entry(
        "By how much does the best run lead, and how surely?", OWN, "sr.plot(compared)"
    ),
    ("CompareResult", "differences"): Entry(
        "From which difference on is one significant?", OWN, 'sr.plot(compared, kind="differences")'
    ),
    ("CompareResult", "asl"): Entry(
        "How many pairs differ significantly, at which level?",
        "the curves of Sakai, SIGIR 2006, and Figure 10 of Jayasinghe et al., for pairs of runs",
        'sr.plot(compared, kind="asl")',
    ),
    ("CompareResult", "heatmap"): Entry(
        "Which pairs of runs differ significantly?", OWN, 'sr.plot(compared, kind="heatmap")'
    ),
    ("CompareResult", "ranks"): Entry(
        "Where would each run stand with other topics?", OWN, 'sr.plot(compared, kind="ranks")'
    ),
    ("CompareResult", "topics"): Entry(
        "On which topics does a run win, and by how much?", OWN, 'sr.plot(compared, kind="topics")'
    ),
    ("CompareResult", "segments"): Entry(
        "Does the best run lead in every segment of the topics?",
        OWN,
        'sr.plot(segmented["AP"], kind="segments")',
    ),
    ("CompareTable", "intervals"): Entry(
        "Which runs differ from the baseline, by several measures?", OWN, "sr.plot(table)"
    ),
    ("CompareTable", "topics"): Entry(
        "On which topics do runs differ from the baseline?", OWN, 'sr.plot(table, kind="topics")'
    ),
    ("CompareTable", "heatmap"): Entry(
        "Which pairs differ by which measure?", OWN, 'sr.plot(table, kind="heatmap")'
    ),
    ("CompareTable", "segments"): Entry(
        "Does the best run lead in every segment, by several measures?",
        OWN,
        'sr.plot(segmented, kind="segments")',
    ),
    ("DiscriminativePower", "asl"): Entry(
        "Which measure separates more pairs of runs?",
        "Sakai, SIGIR 2006",
        'sr.plot(sr.discriminative_power(scores, test="t"))',
    ),
    ("AuditResult", "rates"): Entry(
        "Which test holds its level on these scores?", OWN, "sr.plot(audit)"
    ),
    ("SimulateResult", "error_rate"): Entry(
        "Would another document collection turn two runs round?",
        f"Figure 2 of {YANG}",
        "sr.plot([simulated, smooth])",
    ),
    ("SimulateResult", "topics"): Entry(
        "How much do scores on a topic vary?",
        f"Figure 1 of {YANG}",
        'sr.plot([simulated, smooth], kind="topics", run=simulated.runs[0])',
    ),
    ("SimulateResult", "ranks"): Entry(
        "Where would each run stand in another collection?", OWN, 'sr.plot(simulated, kind="ranks")'
    ),
    ("SimulateResult", "means"): Entry(
        "How much would each run's mean change?", OWN, 'sr.plot(simulated, kind="means")'
    ),
    ("SimulateResult", "tau"): Entry(
        "How alike are the rankings of simulated collections?",
        f"the KRCC row of Table 1, {YANG}",
        'sr.plot([simulated, smooth], kind="tau")',
    ),
    ("SimulateResult", "significance"): Entry(
        "Which pairs differ significantly in most collections, which in few?",
        f"the PCT row of Table 1, {YANG}",
        'sr.plot(simulated, kind="significance")',
    ),
    ("TopicsResult", "error_rate"): Entry(
        "How often do two sets of topics contradict each other?",
        f"the model that {LIN}, derive, on the experiment of Voorhees & Buckley, SIGIR 2002",
        "sr.plot(reversed_)",
    ),
    ("TopicsResult", "theory"): Entry(
        "What does theory say, and how near is its exponential form?",
        f"equations (8) and (13) of {LIN}",
        'sr.plot(reversed_, kind="theory")',
    ),
    ("TopicsResult", "variances"): Entry(
        "Does the variance grow with the difference?",
        f"Table 1 of {LIN}",
        'sr.plot(reversed_, kind="variances")',
    ),
    ("TopicsResult", "pairs"): Entry(
        "Which of these differences would other topics reverse?",
        OWN,
        'sr.plot(reversed_, kind="pairs")',
    ),
    ("AgreeResult", "sizes"): Entry(
        "How do two measures' rankings correlate as systems are added?",
        f"Figure 1 of {FERRO}",
        'sr.plot(agreement, pair=("AP", "P@10"))',
    ),
    ("AgreeResult", "topics"): Entry(
        "And as topics are added?",
        f"Figure 1 of {FERRO}, the other way round",
        'sr.plot(agreement, kind="topics", pair=("AP", "P@10"))',
    ),
    ("AgreeResult", "pairs"): Entry(
        "Do tau and tau_AP see the same agreement?",
        f"Figure 2, right, of {FERRO}",
        'sr.plot(agreement, kind="pairs")',
    ),
    ("AgreeResult", "ranks"): Entry(
        "Do tau and tau_AP rank pairs of measures alike?",
        f"Figure 2, left, of {FERRO}",
        'sr.plot(agreement, kind="ranks")',
    ),
    ("AgreeResult", "effects"): Entry(
        "What drives the correlation: measures, topics or systems?",
        f"Tables 1 and 2 of {FERRO}",
        'sr.plot(agreement, kind="effects")',
    ),
    ("AgreeResult", "measures"): Entry(
        "Which measures say the same?", OWN, 'sr.plot(agreement, kind="measures")'
    ),
    ("ComponentsResult", "levels"): Entry(
        "Which stemmer, which model is best?",
        "the main effects of Ferro & Silvello, JASIST 2018",
        "sr.plot(components)",
    ),
    ("ComponentsResult", "effects"): Entry(
        "Which component matters most?",
        "the effect sizes of Ferro & Silvello, JASIST 2018",
        'sr.plot(components, kind="effects")',
    ),
    ("InstancesTable", "margin"): Entry(
        "From which setting on is the system no worse?",
        f"Figures 12 and 13 of {JAYASINGHE}",
        "sr.plot(sweep)",
    ),
    ("InstancesTable", "means"): Entry(
        "How much do instances of one setting differ?",
        f"Figure 6 of {JAYASINGHE}",
        'sr.plot(sweep, kind="means")',
    ),
    ("InstancesTable", "topics"): Entry(
        "On which topics do they differ?",
        f"Figure 8 of {JAYASINGHE}",
        'sr.plot(sweep, kind="topics", system="rate=0.5")',
    ),
    ("InstancesResult", "margin"): Entry(
        "Is one system no worse than another?",
        f"one interval of Figure 12, {JAYASINGHE}",
        "sr.plot(pair)",
    ),
    ("InstancesResult", "means"): Entry(
        "Could one instance have said otherwise?",
        f"one box of Figure 6, {JAYASINGHE}",
        'sr.plot(pair, kind="means")',
    ),
    ("InstancesResult", "topics"): Entry(
        "How much does one system vary on a topic?",
        f"Figure 8 of {JAYASINGHE}",
        'sr.plot(pair, kind="topics")',
    ),
    ("InstancePlan", "power"): Entry(
        "How many topics and instances does a comparison need?", OWN, "sr.plot(design)"
    ),
    ("PowerTable", "power"): Entry(
        "What do more instances gain?",
        OWN,
        "sr.plot(design.table([10, 25, 50, 100], [2, 5, 10, 20, 50]), target=0.8)",
    ),
    ("HolesResult", "bounds"): Entry(
        "How far could scores move with complete judgments?", OWN, "sr.plot(holed)"
    ),
    ("HolesResult", "decided"): Entry(
        "Which pairs does no judgment turn?", OWN, 'sr.plot(holed, kind="decided")'
    ),
    ("PoolsResult", "variance"): Entry(
        "How many teams does a pilot need?", f"Figures 1 and 2 of {SAKAI}", "sr.plot(pooled)"
    ),
    ("PoolsResult", "topics"): Entry(
        "How far do pilots of few teams mislead a plan?",
        f"Table 3 of {SAKAI}, for every number of teams left out",
        'sr.plot(pooled, kind="topics")',
    ),
    ("PoolsResult", "similarity"): Entry(
        "Do the measures rank runs alike?",
        f"Table 2 of {SAKAI}",
        'sr.plot(pooled, kind="similarity")',
    ),
    ("PoolsResult", "bias"): Entry(
        "What do runs owe to their own team's documents?", OWN, 'sr.plot(pooled, kind="bias")'
    ),
    ("JudgesResult", "ranks"): Entry(
        "What does a judge alone say, and what holds after correction?", OWN, "sr.plot(judged)"
    ),
    ("JudgesResult", "means"): Entry(
        "Does the judge rank runs as people do?", OWN, 'sr.plot(judged, kind="means")'
    ),
    ("JudgesResult", "confusion"): Entry(
        "Which grades does the judge give?", OWN, 'sr.plot(judged, kind="confusion")'
    ),
    ("JudgesResult", "bias"): Entry(
        "Whom does the judge favour?", OWN, 'sr.plot(judged, kind="bias")'
    ),
    ("JudgesResult", "topics"): Entry(
        "How many topics does the judge save people?", OWN, 'sr.plot(judged, kind="topics")'
    ),
    ("DatasetsResult", "ranks"): Entry(
        "Which ranks may each run have on other datasets?",
        "the rank sets of Mogstad et al. 2024",
        "sr.plot(boards)",
    ),
    ("DatasetsResult", "forest"): Entry(
        "By how much do two runs differ, dataset by dataset, and on the next one?",
        "the forest plot of meta-analyses",
        'sr.plot(boards, kind="forest")',
    ),
    ("DatasetsResult", "critical_difference"): Entry(
        "What do average ranks say?",
        "the critical-difference diagram of Demšar, JMLR 2006, one row per run",
        'sr.plot(boards, kind="critical_difference")',
    ),
    ("DatasetsResult", "influence"): Entry(
        "Which datasets carry the ranking?", OWN, 'sr.plot(boards, kind="influence")'
    ),
    ("GateResult", "gate"): Entry("May this change ship?", OWN, "sr.plot(gated)"),
    ("GateHistory", "history"): Entry("Do small losses add up?", OWN, "sr.plot(history)"),
    ("PlanResult", "curves"): Entry(
        "What do the topics of a plan depend on?",
        f"the design of {SAKAI}, Section 3",
        "sr.plot(planned)",
    ),
    ("PlanResult", "curve"): Entry(
        "How do topics fall as the difference grows?", OWN, 'sr.plot(planned, kind="curve")'
    ),
    ("PlanCurve", "curve"): Entry(
        "What power do topics give?", OWN, 'sr.plot(planned.curve("topics"))'
    ),
    ("FacetsResult", "shares"): Entry(
        "Whose share of a difference of two systems is it: topics, judges or answers?",
        OWN,
        "sr.plot(graded)",
    ),
    ("StabilityResult", "coefficients"): Entry(
        "How stable is this collection, and with how many topics is it stable enough?",
        "generalizability theory, as in Urbano, Marrero & Martín, SIGIR 2013",
        "sr.plot(stable)",
    ),
    ("StabilityResult", "e_rho2"): Entry(
        "Is the order of the runs stable?", "the same", 'sr.plot(stable, kind="e_rho2")'
    ),
    ("StabilityResult", "phi"): Entry(
        "Are the scores themselves stable?", "the same", 'sr.plot(stable, kind="phi")'
    ),
    ("StabilityTable", "coefficients"): Entry(
        "By which measure is the collection most stable?",
        "the same",
        "sr.plot(StabilityTable(results=(stable, stable_early)))",
    ),
}

INTRODUCTION = """\
# Gallery

*For authors who look for a figure.*

Every kind of figure, on small simulated data: `sr.plot(result)` draws the default of a result's
class, `sr.plot(result, kind=…)` another; `steadyrank.present.figures.save_figure` writes SVG, PNG
or PDF.
Papers' figures are drawn on data of our own here: the same computation, not the same numbers.
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
        parts.append(
            f"![{alt}]({picture(key)})\n\n"
            f"**{entry.question}**\\\n{entry.source[0].upper()}{entry.source[1:]}.\\\n"
            f"`{entry.call}`\n"
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
