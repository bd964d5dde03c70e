"""What each section of a report asks, what its answer means, and what it does not mean."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Text:
    """The words of a section that do not depend on the data."""

    title: str
    question: str
    means: str
    means_not: str


TEXTS: Mapping[str, Text] = {
    "evaluate": Text(
        title="Leaderboard",
        question="Who leads, and who might?",
        means=(
            "Runs are ordered by their mean over topics. Every two runs are compared by a paired t "
            "test, corrected for all pairs together; letters, marks, intervals of differences and "
            "ranks all tell these same decisions. A run could be first if no run is significantly "
            "better."
        ),
        means_not=(
            "Intervals of two means that overlap do not make two runs equal: topics are hard or "
            "easy for all runs together, which the paired tests take into account and the "
            "intervals do not. Sharing a letter is no proof of equality. The leader was picked by "
            "the very scores that its mean is taken from, which is why less is expected of it on "
            "new topics."
        ),
    ),
    "compare": Text(
        title="Pairs of runs",
        question="Who beats whom, how surely, by how much?",
        means=(
            "A significant difference would be unusual if two runs were equally good on topics "
            "like these. The corrected p-value allows for the number of pairs looked at. The "
            "effect size is the mean difference in standard deviations of the topics' differences."
        ),
        means_not=(
            "It says nothing about other documents, other judgments or other random instances of "
            "the runs, and a small p-value does not make a difference large. A measure that tells "
            "more pairs apart is more sensitive, not more right."
        ),
    ),
    "simulate": Text(
        title="Other documents",
        question="Would another document collection change the table?",
        means=(
            "Each run's scores of relevant and of other documents are drawn anew, topic by topic. "
            "The share of simulated collections in which a run keeps its place says how far the "
            "table depends on the documents that happened to be in the collection. The t tests "
            "here are not corrected for their number."
        ),
        means_not=(
            "It says nothing about other topics. Runs are simulated independently of each other "
            "although they share documents, which overstates how much their differences vary. "
            "Simulated documents have no grades: a measure that needs them is simulated with "
            "documents that are relevant or not, which is another measure and is called binary."
        ),
    ),
    "topics": Text(
        title="Other topics",
        question="Would other topics change the table?",
        means=(
            "The predictive rate is the chance that a second experiment, on as many other topics "
            "from the same population, puts two runs the other way round, given the difference "
            "that was observed. For the two best of many runs it is too small, since they were "
            "picked because they came out on top: the rate as picked allows for that."
        ),
        means_not="It says nothing about other documents or judgments.",
    ),
    "agree": Text(
        title="Other measures",
        question="Do the measures agree about the ranking?",
        means=(
            "Kendall's tau compares two rankings: 1 is the same order, 0 no relation. Samples of "
            "topics and runs of several sizes show from how many on the measures agree as much as "
            "they ever do. Intervals of omega squared say how far its values could differ with "
            "other topics and runs."
        ),
        means_not=(
            "Measures that agree may both miss what users care about; measures that differ may "
            "both be right about different things. All samples are drawn from the same topics and "
            "runs, and drawing more of them tells no more about others: there are no p-values."
        ),
    ),
    "instances": Text(
        title="Other instances",
        question="Would other random instances of the systems change it?",
        means=(
            "Runs of one system are instances of it, such as seeds. The mixed model takes topics "
            "and instances as random, so its p-values speak of other topics and other instances. "
            "Within the margin means: shown to be equal up to the margin."
        ),
        means_not=(
            "A difference that was not shown is not shown to be absent: see the margin. Nothing "
            "is said about other documents or judgments."
        ),
    ),
    "components": Text(
        title="Components",
        question="Which component of the systems matters?",
        means=(
            "Omega squared is the share of the variance that a component explains when all others "
            "are taken out: 0.14 is called large, 0.06 medium, 0.01 small."
        ),
        means_not=(
            "Where components act together, no choice is best by itself. Components that were not "
            "varied are not judged."
        ),
    ),
    "plan": Text(
        title="Topics to build",
        question="How many topics would settle it?",
        means=(
            "Topics with which a paired t test of two runs finds the given difference with "
            "probability 0.8, if differences vary as they do here; and the smallest difference "
            "that the topics at hand show with that probability."
        ),
        means_not=(
            "It is a forecast: if the true differences are smaller than the observed ones, as is "
            "usual for winners, more topics are needed. A difference of one size is not as large "
            "on every measure."
        ),
    ),
    "stability": Text(
        title="Stability of the collection",
        question="How well do these topics rank and measure systems like these?",
        means=(
            "E rho² is how well the order of systems would be kept by other topics, Phi how well "
            "their scores would be: 1 is perfect. Below: how many topics reach a level."
        ),
        means_not=(
            "Systems count as a sample too: with systems that are close to each other the "
            "coefficients are low although every score is known well."
        ),
    ),
    "pools": Text(
        title="Other teams",
        question="Would the judgments and the plan be the same without some teams?",
        means=(
            "Teams are left out together with the judged documents that only they brought in, and "
            "the variance that plans rest on is estimated again. Pool bias is what a run's score "
            "owes to documents of its own team."
        ),
        means_not=(
            "It takes all runs as pooled to the given depth, which may not be how the judgments "
            "were made. Nothing is said about teams unlike these."
        ),
    ),
    "hardest": Text(
        title="Topic by topic",
        question="Which topics are hard, and which set the runs apart?",
        means=(
            "A topic with a low mean is hard for all runs; one with a large spread decides the "
            "order. Open a row to see every run on the topic."
        ),
        means_not=(
            "A hard topic is not a bad one. A topic on which all runs score 0 may have no "
            "relevant document among the judged ones."
        ),
    ),
    "check": Text(
        title="The files",
        question="What is wrong or odd with these files?",
        means=(
            "What is marked wrong would make results wrong; what is odd is worth a look before "
            "anything is concluded."
        ),
        means_not="That nothing was found does not make judgments complete or runs comparable.",
    ),
}
"""Studies in the order of the page."""

NOTES: Mapping[str, str] = {
    "max-t correction": (
        "Compares every difference with the largest that chance alone shows among all pairs, by "
        "flipping the signs of topics, so that the chance of any false claim stays below alpha."
    ),
    "ranks": (
        "A run's best possible rank is 1 + the number of runs significantly better than it, its "
        "worst the number of runs less those that it is significantly better than."
    ),
    "expected": (
        "Empirical Bayes estimate of a run's mean on new topics, given how far all runs lie apart."
    ),
    "predictive rate": (
        "The chance that a second experiment on other topics reverses an observed difference."
    ),
    "simulated document collections": (
        "Collections in which each run's relevant and other documents have been drawn anew from "
        "its own scores."
    ),
    "omega squared": "Share of the variance that an effect explains, corrected for chance.",
    "E rho²": "Generalizability coefficient: how well the order of systems is kept.",
    "Phi": "Index of dependability: how well the scores themselves are kept.",
    "tau": "Kendall's rank correlation: 1 for the same order, −1 for the reverse.",
    "power": "The chance that a test finds a difference that is there.",
    "HPD": "The shortest interval that holds a given share of the posterior probability.",
}
"""Terms of the page, explained."""
