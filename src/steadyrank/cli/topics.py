"""`steadyrank topics`: would other topics change the table?"""

from __future__ import annotations

from typing import Any

from steadyrank.cli import options as opt
from steadyrank.cli.command import subcommand
from steadyrank.cli.inputs import Inputs, load_scores, scores_options
from steadyrank.cli.output import Output
from steadyrank.errors import InputError

ELLIPSES = ("…", "...")


def parse_sizes(text: str, half: int) -> list[int]:
    """Parse numbers; an ellipsis continues in equal steps to the next number or to `half`.

    >>> parse_sizes("5,10,...,25", 50), parse_sizes("10,20,…", 50), parse_sizes("3", 50)
    ([5, 10, 15, 20, 25], [10, 20, 30, 40, 50], [3])
    """
    words = [word.strip() for word in text.split(",")]
    sizes: list[int] = []
    for place, word in enumerate(words):
        if word not in ELLIPSES:
            sizes.append(_number(word))
        elif place + 1 == len(words):
            sizes += _between(sizes, half, text)
        else:
            # A size beyond half of the topics is refused later.
            sizes += _between(sizes, min(_number(words[place + 1]) - 1, half), text)
    return sizes


def _between(sizes: list[int], end: int, text: str) -> list[int]:
    """Return the sizes of an ellipsis: up to `end`, in the step of the last two sizes."""
    if len(sizes) < 2 or sizes[-1] <= sizes[-2]:
        raise InputError(f"--sizes {text}: put two sizes, the smaller first, before an ellipsis")
    step = sizes[-1] - sizes[-2]
    return list(range(sizes[-1] + step, end + 1, step))


def _number(word: str) -> int:
    try:
        return int(word)
    except ValueError:
        raise InputError(
            f"--sizes: {word!r} is not a number of topics: write 5,10,20 or 5,10,…,25"
        ) from None


study_options = opt.options(
    {
        "--sizes 5,10,…": "Split off this many topics [default: 5,10,… to half].",
        "--trials n_trials 1.. = 1000": "Split the topics at random this many times.",
        "--alpha = 0.05": "Test at this level of significance over all comparisons together.",
        "--beta = 0.2": "Compute the topics required for this probability of missing a difference: "
        "1 - power.",
        "--binning [first|both] = first": "Take the difference level of a pair in a split from the "
        "first set, or from each in turn.",
    }
)

showing_options = opt.together(
    opt.output_options_of({"--levels": "Write CSV of rates by level and size instead of pairs."}),
    opt.plot_option("error rates against topics"),
    opt.digits_option,
)


@subcommand("topics")
@scores_options
@study_options
@opt.topic_options
@showing_options
@opt.output_options
def command(
    inputs: Inputs, output: Output, sizes: str | None, levels: bool, **options: Any
) -> None:
    """Estimate how often other topics would reverse the order of two runs.

    Takes QRELS RUN... or --scores FILE, and one measure. Shows for every pair of runs how often a
    second experiment would reverse its difference, how many topics a paired t test requires to
    detect it, and how often disjoint sets of these topics contradict each other, by the size of the
    difference. The results are about other topics, not about other documents or judgments.
    """
    scores = load_scores(inputs, output)
    from steadyrank.studies.topics.study import topics
    from steadyrank.studies.topics.view import LEVELS, PAIRS, VIEW

    chosen = parse_sizes(sizes, len(scores.topics) // 2) if sizes is not None else None
    options |= {"sizes": chosen, "jobs": output.jobs, "rng": output.seed}
    with output.progress("blocks of splits") as progress:
        result = topics(scores, progress=progress, **options)
    output.show(VIEW.text, result, csv=LEVELS.id if levels else PAIRS.id)
    output.draw(result)
