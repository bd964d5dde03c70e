"""`steadyrank pools`: leave teams out, leave topics out: how safe is the pilot?"""

from __future__ import annotations

from typing import Any

from steadyrank.cli import options as opt
from steadyrank.cli.command import subcommand
from steadyrank.cli.inputs import names_files, run_study, runs_only_options
from steadyrank.cli.output import Output, tell_if_compiling
from steadyrank.errors import InputError

NO_SCORES = (
    "pools removes judgments and scores the runs again, so it requires the runs and the "
    "judgments themselves: give QRELS RUN... instead of scores"
)

study_options = opt.options(
    {
        **opt.POOL_DEPTH,
        "--trials n_trials N = 10": "Leave out N random sets of teams for each k.",
        "--ks K,K,…": "Leave out this many teams [default: 1 to all but one, at most 15].",
        "--mode [sound|paper] = sound": "Report ranges of the trials; with paper, also the "
        "paper's interval of their mean.",
        "--pilot-topics N,N,…": "Cut the pilot to this many topics, such as 50,25,10 [default: "
        "all].",
        "--method [anova|ttest|interval] = anova": "Plan for one-way ANOVA of M systems, a t test "
        "or an interval of two.",
        **opt.PLANNING,
        "--formula [exact|nagata|corrected] = exact": "Use exact distributions, the published "
        "approximations, or the corrected t test of compare.",
    }
)

reading = opt.together(
    opt.missing_option("zero", "skip", "error"),
    opt.no_relevant_option(", in pool bias"),
    opt.reading_options,
    opt.team_options,
)
showing_options = opt.together(opt.plot_option("variances against k"), opt.digits_option)


@subcommand("pools")
@runs_only_options(NO_SCORES)
@opt.measures_option
@opt.rel_option
@study_options
@showing_options
@reading
@opt.output_options
def command(
    qrels: str, runs: tuple[str, ...], measures: tuple[str, ...], output: Output, **options: Any
) -> None:
    """Leave out teams and topics, and show how the pilot's result would have changed.

    Removes the unique documents of k teams from the judgments, scores the other runs again, and
    estimates the variance on which plan is based; with --minimum-difference and --systems, also the
    topics that it requires. Also shows how much of each run's score is due to documents that only
    its team found. CSV holds the variances, JSON everything.
    """
    if names_files(measures):
        raise InputError(NO_SCORES)
    tell_if_compiling(output.quiet)
    from steadyrank.studies.pools.study import pools
    from steadyrank.studies.pools.view import VIEW

    options["measures"] = opt.at_given_level(measures or ("AP",))
    result = run_study(pools, runs, qrels, output, "blocks of trials", **options)
    output.show(VIEW.text, result)
    output.draw(result)
