"""`steadyrank topics`: would other topics change the table?"""

from __future__ import annotations

from typing import Any

import click

from steadyrank.cli.inputs import load_scores, scores_options
from steadyrank.cli.options import (
    digits_option,
    measures_option,
    output_options,
    plot_option,
    together,
)
from steadyrank.cli.output import (
    check_files,
    choose_format,
    draw,
    emit,
    progress_bar,
    tell_if_compiling,
    terminal_looks,
    told_on_stderr,
)
from steadyrank.errors import InputError

ELLIPSES = ("…", "...")


def parse_sizes(text: str, half: int) -> list[int]:
    """Numbers between commas; an ellipsis goes on in the same steps, to the next or to `half`.

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
            # Beyond half of the topics there is no size; what stands there will be refused.
            sizes += _between(sizes, min(_number(words[place + 1]) - 1, half), text)
    return sizes


def _between(sizes: list[int], end: int, text: str) -> list[int]:
    """The sizes that an ellipsis stands for: up to `end`, in the step of the last two."""
    if len(sizes) < 2 or sizes[-1] <= sizes[-2]:
        raise InputError(f"--sizes {text}: put two sizes, the smaller first, before an ellipsis")
    step = sizes[-1] - sizes[-2]
    return list(range(sizes[-1] + step, end + 1, step))


def _number(word: str) -> int:
    try:
        return int(word)
    except ValueError:
        raise InputError(
            f"--sizes: {word!r} is no number of topics: write 5,10,20 or 5,10,…,25"
        ) from None


study_options = together(
    click.option("--sizes", metavar="5,10,…", help="Of topic sets [default: 5,10,… to half]."),
    click.option(
        "--trials",
        "n_trials",
        type=click.IntRange(min=1),
        default=1000,
        show_default=True,
        help="Random splits of the topics.",
    ),
    click.option(
        "--target",
        type=click.FloatRange(0, 0.5, min_open=True, max_open=True),
        default=0.05,
        show_default=True,
        help="Count the pairs that are reversed more often than this.",
    ),
    click.option(
        "--alpha",
        type=float,
        default=0.05,
        show_default=True,
        help="Level of significance, of all comparisons together.",
    ),
    click.option(
        "--beta",
        type=float,
        default=0.2,
        show_default=True,
        help="Chance to miss a difference with the topics needed: 1 - power.",
    ),
    click.option(
        "--comparisons",
        type=click.IntRange(min=1),
        metavar="K",
        help="Keep alpha over K comparisons [default: all pairs shown].",
    ),
    click.option("--baseline", metavar="RUN", help="Show every run against this one only."),
    click.option(
        "--binning",
        type=click.Choice(["first", "both"]),
        default="first",
        show_default=True,
        help="Level of a pair in a split: by the first set, or by each in turn.",
    ),
)

showing_options = together(
    click.option("--levels", is_flag=True, help="CSV of rates by level and size, not of pairs."),
    plot_option("error rates against topics"),
    digits_option,
)


@click.command("topics")
@scores_options
@measures_option
@study_options
@showing_options
@output_options
def command(
    files: tuple[str, ...],
    scores_files: tuple[str, ...],
    measures: tuple[str, ...],
    sizes: str | None,
    levels: bool,
    plot: str | None,
    digits: int,
    form: str | None,
    output: str | None,
    seed: int,
    quiet: bool,
    jobs: int | None,
    scheduler: str | None,
    n_trials: int,
    target: float,
    alpha: float,
    beta: float,
    comparisons: int | None,
    baseline: str | None,
    binning: Any,
    **options: Any,
) -> None:
    """See how often other topics would put two runs the other way round.

    Takes QRELS RUN... or --scores FILE, and one measure. Says for every pair of runs how
    often a second experiment would reverse its difference, and how many topics a paired t
    test requires to show it; and, by the size of the difference, how often disjoint sets of
    these topics contradict each other. Speaks of other topics, not of other documents or
    judgments.
    """
    kind = choose_format(form, output)
    check_files(output, plot)
    with told_on_stderr(quiet):
        tell_if_compiling(quiet)
        with progress_bar("runs", quiet) as reading:
            scores = load_scores(
                files,
                scores_files,
                measures,
                progress=reading,
                jobs=jobs,
                scheduler=scheduler,
                **options,
            )
        from steadyrank.studies.topics.study import topics
        from steadyrank.studies.topics.tables import topics_text

        chosen = parse_sizes(sizes, len(scores.topics) // 2) if sizes is not None else None
        with progress_bar("blocks of splits", quiet) as progress:
            result = topics(
                scores,
                sizes=chosen,
                n_trials=n_trials,
                target=target,
                alpha=alpha,
                beta=beta,
                comparisons=comparisons,
                baseline=baseline,
                binning=binning,
                jobs=jobs,
                progress=progress,
                rng=seed,
            )
        text = topics_text(result, kind, levels=levels, digits=digits, **terminal_looks(output))
    emit(text, output)
    draw(result, plot, quiet)
