"""What `judges` found, in sentences: the judge alone, what holds after correction, its worth.

For the command, the page and the paper alike; every sentence names its family of decisions.
"""

from __future__ import annotations

import math

from steadyrank.stats.judges.ranking import Ranking
from steadyrank.stats.ranks.intervals import TauInterval
from steadyrank.studies.judges.result import JudgeResult, JudgesResult, names_of
from steadyrank.words import by_number, counted, interval, pvalue_words, some

PEOPLE_NEEDED = (
    "The correction requires people: it makes their judgments go further and does not replace them."
)
RANDOM_SAMPLE = (
    "It assumes that the topics that people judged are a random sample of all topics, not "
    "chosen by difficulty or by the judge's uncertainty."
)
NO_REPAIR = (
    "It does not repair the measure, nor does it say anything about documents that nobody judged."
)


SMALLEST = 0.0005
"""What is shown as 0.001 at least."""


def judge_sentences(result: JudgesResult, judge: JudgeResult) -> list[str]:
    """What a reader of one judge's results must not miss, the most important first."""
    sentences = [alone_sentence(result, judge), corrected_sentence(result, judge)]
    sentences += [width_sentence(result, judge)]
    sentences += [first_sentence(result, judge), worth_sentence(result, judge)]
    sentences += [bias_sentence(judge), tau_sentence(judge), confirmed_sentence(judge)]
    if judge.kin is not None:
        sentences.append(kin_sentence(judge))
    return [sentence for sentence in sentences if sentence]


def alone_sentence(result: JudgesResult, judge: JudgeResult) -> str:
    """What the judge would have said, had its judgments been taken for people's."""
    total = len(result.pairs)
    n_topics = len(result.topics) + judge.n_judge_topics
    claimed = judge.alone.significant
    said = (
        f"Taken alone, as if its judgments were people's, {judge.judge} calls "
        f"{_different(int(claimed.sum()), total)} on other topics, by its "
        f"{counted(n_topics, 'topic', form=',')}"
    )
    if not claimed.any():
        return f"{said}."
    lost = round(judge.lost_share * claimed.sum())
    reversed_pairs = round(judge.reversed_share * claimed.sum())
    by = "after correction by people" if judge.n_judge_topics else "by people"
    held = f"{lost:,} {by_number(lost, 'is', 'are')} not" if lost else "all are"
    return f"{said}; of these, {held} significant {by}, and {_opposite(reversed_pairs)}."


def corrected_sentence(result: JudgesResult, judge: JudgeResult) -> str:
    """What holds after correction, beside what people's judgments alone show."""
    by_people = int(result.human.significant.sum())
    n, total = len(result.topics), len(result.pairs)
    if not judge.n_judge_topics:
        return (
            f"{judge.judge} judged no topic that people did not, so there is nothing to correct: "
            f"people's judgments of {counted(n, 'topic')} leave {_different(by_people, total)} on "
            f"{result.about_words()}."
        )
    corrected = int(judge.corrected.significant.sum())
    said = (
        f"Corrected by people's judgments of {counted(n, 'topic')}, {judge.judge} leaves "
        f"{_different(corrected, total)} on {result.about_words()}"
    )
    if total == 1:
        said += f"; people's judgments alone leave {_different(by_people, total)}"
    else:
        said += f", against {_none(by_people)} by people's judgments alone"
    followed = f"; nothing that {judge.judge} says is followed (lambda 0)"
    return f"{said}{followed if judge.weight.value == 0.0 else ''}."


def width_sentence(result: JudgesResult, judge: JudgeResult) -> str:
    """How much narrower the intervals are, in topics, and how many are wider."""
    if math.isnan(judge.width_ratio) or judge.weight.value == 0.0:
        return ""
    total = len(result.pairs)
    narrower = "narrower" if judge.width_ratio < 1 else "wider"
    times = result.topics_like(judge)
    said = (
        f"The interval of a difference on {result.about_words()} is "
        f"{abs(1.0 - judge.width_ratio):.0%} {narrower} than people's own"
        + (" (median over pairs)" if total > 1 else "")
        + (f", as with {times:.2f} times as many of their topics" if math.isfinite(times) else "")
    )
    if total == 1:
        return f"{said}."
    wider = f", at worst {judge.largest_width_ratio:.2f} times" if judge.n_wider else ""
    return f"{said}. It is wider for {_none(judge.n_wider)} of {total:,} pairs{wider}."


def first_sentence(result: JudgesResult, judge: JudgeResult) -> str:
    """Who could be first by each of the three rankings."""
    after = "After correction" if judge.n_judge_topics else "By people's judgments"
    after += f", on {result.about_words()}"
    ranking = judge.corrected if judge.n_judge_topics else result.human
    said = f"{after}, {_candidates(result, ranking)}; {judge.judge} alone would have said that "
    alone = names_of(result.runs, judge.alone.could_be_first)
    said += f"{_candidates(result, judge.alone)}."
    missing = set(names_of(result.runs, ranking.could_be_first)) - set(alone)
    if missing:
        ruled_out = some([run for run in result.runs if run in missing], 3)
        said += f" It would have ruled out {ruled_out}."
    return said


def _candidates(result: JudgesResult, ranking: Ranking) -> str:
    names = [result.runs[i] for i in ranking.order if ranking.could_be_first[i]]
    if len(names) == 1:
        return f"only {names[0]} could be first"
    return f"any of {len(names)} runs could be first ({some(names, 3)})"


def worth_sentence(result: JudgesResult, judge: JudgeResult) -> str:
    """What the judge is worth in topics of people."""
    worth, n = judge.worth, len(result.topics)
    if math.isnan(worth.correlation):
        return ""
    said = (
        f"Topic by topic, its differences between runs follow people's with a correlation of "
        f"{worth.correlation:.2f} {_ends(worth.interval)}"
    )
    if not judge.n_judge_topics:
        return f"{said}."
    if judge.weight.value == 0.0:
        return f"{said}: it adds nothing to people's {counted(n, 'topic')}."
    return f"{said}."


def bias_sentence(judge: JudgeResult) -> str:
    """Of the bias only its spread over runs moves ranks."""
    bias = judge.bias
    higher = "higher" if bias.mean >= 0 else "lower"
    if max(abs(bias.mean), bias.spread) < SMALLEST:
        return "On the topics of both it scores every run as people do."
    return (
        f"On the topics of both it scores runs {abs(bias.mean):.3f} {higher} than people do on "
        "average, which moves no rank; what may move ranks is how this bias differs over runs: its "
        f"standard deviation is {bias.spread:.3f}, where {bias.spread_by_chance:.3f} is expected "
        "by chance if all runs have the same bias."
    )


def tau_sentence(judge: JudgeResult) -> str:
    """tau with its interval, of all runs and of the best."""
    every, best = judge.taus[0], judge.taus[-1]
    if math.isnan(every.tau.tau):
        return ""
    said = f"On such topics Kendall's tau with people's ranking is {_tau(every.tau)} for all runs"
    if not math.isnan(best.tau.tau) and best.tau.n > 1:
        how_many = f" ({counted(best.tau.n, 'run')})" if best.runs == "best half" else ""
        said += f" and {_tau(best.tau)} for the {best.runs}{how_many}"
    return f"{said}; a high tau does not make the judge's significant differences right."


def confirmed_sentence(judge: JudgeResult) -> str:
    """On the same topics, which of the judge's decisions people make as well."""
    claimed = int(judge.on_human_topics.significant.sum())
    if not claimed:
        return ""
    unconfirmed, opposite = (
        round(share * claimed) for share in (judge.unconfirmed_share, judge.opposite_share)
    )
    confirmed = (
        f"do not confirm {unconfirmed:,} of these ({judge.unconfirmed_share:.0%})"
        if unconfirmed
        else f"confirm {by_number(claimed, 'it', 'all of these')}"
    )
    return (
        f"On the topics of both it calls {counted(claimed, 'pair', form=',')} significantly "
        f"different; people's judgments of the same topics {confirmed}, and by people's means "
        f"{_opposite(opposite)}."
    )


def kin_sentence(judge: JudgeResult) -> str:
    """Whether the judge favours its kin, by a test over topics."""
    assert judge.kin is not None
    kin, test = judge.kin, judge.kin.test
    others = "runs about as good" if kin.near else "the other runs"
    more = "more" if test.difference >= 0 else "less"
    return (
        f"{judge.judge} gives {counted(len(kin.runs), 'run')} of its kin (/{kin.pattern}/) "
        f"{abs(test.difference):.3f} {more} than people do, compared with {len(kin.others)} of "
        f"{others} ({_ends(test.interval, 3)} on other topics, t test, "
        f"{pvalue_words(test.pvalue)})."
    )


def sample_sentence(judge: JudgeResult) -> str:
    """Whether people's topics look like a random sample."""
    if math.isnan(judge.pvalue_of_sample):
        return ""
    words = pvalue_words(judge.pvalue_of_sample)
    return f"By its scores, people's topics and the others differ with {words} (Welch's t test)."


def paper_sentence(result: JudgesResult, judge: JudgeResult) -> str:
    """What a paper has to say of judgments and decisions, ready to paste."""
    kappa = judge.confusion.coefficients["kappa_relevant"] if judge.confusion else None
    agreed = f" (Cohen's kappa with people {kappa.value:.2f}, relevant or not)" if kappa else ""
    n, more = len(result.topics), judge.n_judge_topics
    judged = f"these and {counted(more, 'further topic', form=',')}" if more else "the same topics"
    method = f"means of {result.measure} are by people's judgments alone"
    if judge.weight.value > 0.0:
        method = (
            f"mean {result.measure} by {judge.judge} is corrected by people's judgments "
            f"(prediction-powered inference, lambda = {judge.weight.value:.2f})"
        )
    return (
        f"People judged {counted(n, 'topic')}, assumed to be a random sample, "
        f"{judge.judge}{agreed} {judged}; {method}, and {_tested(result, judge.corrected)}, about "
        f"{result.about_words()}."
    )


def _tested(result: JudgesResult, ranking: Ranking) -> str:
    significant, total = int(ranking.significant.sum()), len(result.pairs)
    if total == 1:
        return (
            f"the two runs {'differ' if significant else 'do not differ'} significantly "
            f"(studentized sign flips, alpha {result.alpha:g})"
        )
    return (
        f"all {total:,} pairs of runs are tested at once (studentized sign flips, family-wise "
        f"alpha {result.alpha:g}): {_none(significant)} of {total:,} pairs "
        f"{by_number(significant, 'differs', 'differ')} significantly, and "
        f"{counted(int(ranking.could_be_first.sum()), 'run')} could be first"
    )


def _different(number: int, total: int) -> str:
    """What is called, or left, significantly different."""
    if total == 1:
        return f"the two runs {'' if number else 'not '}significantly different"
    return f"{_none(number)} of {total:,} pairs significantly different"


def _none(number: int) -> str:
    return f"{number:,}" if number else "none"


def _opposite(number: int) -> str:
    return f"{_none(number)} {by_number(number, 'has', 'have')} the opposite sign"


def _ends(ends: tuple[float, float], digits: int = 2) -> str:
    return interval(ends, f".{digits}f")


def _tau(tau: TauInterval) -> str:
    return f"{tau.tau:.2f} {interval((tau.low, tau.high), '.2f')}"
