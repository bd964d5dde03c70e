"""`steadyrank instances`: compare non-deterministic systems; equivalence."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import click

from steadyrank.cli.inputs import load_scores, scores_options
from steadyrank.cli.options import (
    columns_option,
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

if TYPE_CHECKING:
    from steadyrank.compute.executors import Progress
    from steadyrank.data.scores import Scores

pair_options = together(
    click.option("--a", metavar="SYSTEM", help="The first system; its runs are its instances."),
    click.option("--b", metavar="SYSTEM", help="The second system; alone: every other against it."),
    click.option(
        "--delta",
        type=float,
        default=0.01,
        show_default=True,
        help="Margin: the smallest difference that matters.",
    ),
    click.option(
        "--alpha", type=float, default=0.05, show_default=True, help="Level of significance."
    ),
    click.option(
        "--sweep",
        metavar="FACTOR",
        help="Compare each setting of a run-info column with b; find the smallest that "
        "is not worse by delta.",
    ),
    columns_option("--instance-factors", "Run-info columns that instances nest in, largest first."),
    click.option(
        "--mode",
        type=click.Choice(["sound", "paper"]),
        default="sound",
        show_default=True,
        help="Decide by the sound mixed model, or by the paper's.",
    ),
)

sampling_options = together(
    click.option(
        "--posterior/--no-posterior",
        default=True,
        show_default=True,
        help="Takes seconds where instances lack topics.",
    ),
    click.option(
        "--draws",
        "n_draws",
        type=click.IntRange(min=100),
        default=4000,
        show_default=True,
        help="Of the posterior.",
    ),
    click.option(
        "--samples",
        "n_samples",
        type=click.IntRange(min=1),
        default=10_000,
        show_default=True,
        help="Of the two-way bootstrap.",
    ),
    click.option(
        "--samples-per-instance",
        type=click.IntRange(min=1),
        default=1000,
        show_default=True,
        help="Of the paper's bootstrap (Algorithm 2).",
    ),
)

showing_options = together(
    plot_option(),
    click.option(
        "--plot-kind",
        type=click.Choice(["margin", "means", "topics"]),
        default="margin",
        show_default=True,
        help="Differences and margin, instances' means, or spread by topic.",
    ),
    digits_option,
)

plan_options = together(
    click.option(
        "--plan",
        is_flag=True,
        help="How many topics and instances would do, by the variances of a and b?",
    ),
    click.option(
        "--claim",
        type=click.Choice(["equivalent", "non_inferior", "different"]),
        help="To plan for [default: equivalent, at delta].",
    ),
    click.option(
        "--difference",
        type=float,
        metavar="D",
        help="The true one to plan for [default: 0; needed to show that it is there].",
    ),
    click.option("--power", type=float, help="To plan for [default: 0.8]."),
    click.option("--cost-per-topic", type=float, metavar="C", help="[default: 1]"),
    click.option("--cost-per-instance", type=float, metavar="C", help="[default: 1]"),
    click.option(
        "--topics", "n_topics", type=int, metavar="N", help="Given: plan instances alone."
    ),
    click.option(
        "--instances", "n_instances", type=int, metavar="M", help="Given: plan topics alone."
    ),
)

STUDY = (
    "a",
    "b",
    "delta",
    "alpha",
    "sweep",
    "mode",
    "posterior",
    "n_draws",
    "n_samples",
    "samples_per_instance",
)
PLAN = (
    "claim",
    "difference",
    "power",
    "cost_per_topic",
    "cost_per_instance",
    "n_topics",
    "n_instances",
)


@click.command("instances")
@scores_options
@measures_option
@pair_options
@sampling_options
@plan_options
@showing_options
@output_options
def command(
    files: tuple[str, ...],
    scores_files: tuple[str, ...],
    measures: tuple[str, ...],
    instance_factors: tuple[str, ...],
    plan: bool,
    plot: str | None,
    plot_kind: str,
    digits: int,
    form: str | None,
    output: str | None,
    seed: int,
    quiet: bool,
    jobs: int | None,
    **options: Any,
) -> None:
    """Compare systems whose runs are instances: seeds, samples, approximations.

    Takes QRELS RUN... or --scores FILE; --run-info or --system-from say which runs are
    instances of which system. With --a and --b that pair, else a table of all systems
    against --b, or of all pairs, corrected by Holm's method. Speaks of other topics and
    other instances. CSV holds one row a comparison, JSON everything.
    """
    kind = choose_format(form, output)
    check_files(output, plot)
    study = {name: options.pop(name) for name in STUDY}
    asked = {name: value for name in PLAN if (value := options.pop(name)) is not None}
    _check_plan(plan, plot, study, asked)
    study |= {"instance_factors": instance_factors, "jobs": jobs, "rng": seed}
    with told_on_stderr(quiet):
        with progress_bar("runs", quiet) as progress:
            tell_if_compiling(quiet)
            scores = load_scores(
                files, scores_files, measures, progress=progress, jobs=jobs, **options
            )
        if len(scores.measures) > 1 and (plan or plot is not None):
            raise InputError("--plan and --plot take one measure: name it with -m")
        with progress_bar("comparisons", quiet) as progress:
            results = _studied(scores, study, progress)
        looks = terminal_looks(output)
        if plan:
            text = _planned(results[0], asked, kind, looks)
        else:
            from steadyrank.studies.instances.tables import instances_text

            text = instances_text(results, kind, digits=digits, **looks)
    emit(text, output)
    draw(results[0], plot, quiet, kind=plot_kind)


def _studied(scores: Scores, study: dict[str, Any], progress: Progress | None) -> list[Any]:
    """One result a measure."""
    from steadyrank.studies.instances.study import instances

    return [instances(scores, measure=name, progress=progress, **study) for name in scores.measures]


def _check_plan(plan: bool, plot: str | None, study: dict[str, Any], asked: dict[str, Any]) -> None:
    """Refuse what a plan cannot use, and options that only a plan does; plan without sampling."""
    if not plan:
        if asked:
            option = "--" + next(iter(asked)).removeprefix("n_").replace("_", "-")
            raise InputError(f"{option} belongs to --plan: give that as well")
        return
    if study["a"] is None or study["b"] is None or study["sweep"] is not None:
        raise InputError("--plan goes by the variances of one pair: name it with --a and --b")
    if plot is not None:
        raise InputError("--plan has no plot: leave --plot away")
    study |= {"posterior": False, "n_samples": 1, "samples_per_instance": 1}


def _planned(result: Any, asked: dict[str, Any], kind: str, looks: dict[str, Any]) -> str:
    """The plan by the variances found, and by the largest variance of instances if it has one."""
    from steadyrank.studies.instances.tables import instance_plan_text

    plans = [result.plan(**asked)]
    span = result.variance_interval.get("instance")
    if span is not None and math.isfinite(span[1]):
        plans.append(result.plan(cautious=True, **asked))
    return instance_plan_text(result, plans, kind, **looks)
