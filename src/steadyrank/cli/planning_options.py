"""Options of the commands that plan topics: what is to be shown, by which test, how surely."""

from __future__ import annotations

import click

from steadyrank.cli.options import alpha_option, choice_option, together

planning_options = together(
    click.option(
        "--minimum-difference",
        type=float,
        metavar="D",
        help="Plan to show this difference between the best and the worst system, or between two.",
    ),
    click.option("--systems", type=int, metavar="M", help="Plan for an ANOVA of M systems."),
    choice_option(
        "--method",
        ["anova", "ttest", "interval"],
        "Plan for one-way ANOVA of M systems, a t test or an interval of two.",
        default="anova",
    ),
    choice_option(
        "--formula",
        ["exact", "nagata"],
        "Use exact distributions, or the published approximations.",
        default="exact",
    ),
    click.option(
        "--paired/--unpaired",
        default=None,
        help="Plan a ttest or interval of systems on the same topics, or on different ones "
        "[default: paired].",
    ),
    click.option(
        "--width", type=float, metavar="W", help="Plan an interval of this expected full width."
    ),
    alpha_option(),
    click.option(
        "--beta",
        type=float,
        default=0.2,
        help="Plan for this chance to miss the minimum difference: 1 - power.",
    ),
    click.option(
        "--confidence",
        type=float,
        default=0.95,
        help="Compute intervals of pilot data at this level of confidence.",
    ),
)
