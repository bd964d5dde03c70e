"""`steadyrank agree`: do the measures agree, at which numbers of topics and systems?"""

from __future__ import annotations

from typing import Any

from steadyrank.cli import options as opt
from steadyrank.cli.command import subcommand
from steadyrank.cli.inputs import Inputs, load_scores, scores_options
from steadyrank.cli.output import Output

study_options = opt.options(
    {
        "--topic-sizes 10,20,…": "Sample this many topics [default: 10,20,…,70, as far as there "
        "are topics].",
        "--system-sizes 10,20,…": "Sample this many systems [default: 10,20,50,75,…,500, as far as "
        "there are systems].",
        "--samples n_samples 2.. = 100": "Draw this many samples of every size.",
        "--coefficient [tau|tau_ap] = tau": "Show this rank correlation in tables; both are "
        "computed.",
        "--reference [both|first|second] = both": "Average both directions of tau_AP, or use this "
        "measure of each pair as the reference.",
        "--tau-ap-ties [a|b] = a": "Treat ties in tau_AP as unknown orders (a), or as equal ranks "
        "(b).",
        "--mode [sound|paper] = sound": "Report effect sizes with intervals and no tests, or the "
        "published F and p.",
        "--resamples n_interval_samples 0.. = 100": "Resample topics and systems this many times "
        "for these intervals; 0 for none.",
        "--strata [none|sample|subject]": "Take F against these errors in mode paper [default: "
        "none, as published; subject in mode sound, which has no F].",
        "--factors F,F,…": "Also correlate the measures within levels of these run-info columns.",
        "--factors-from PATTERN": "Take such columns from the runs' names, by a pattern such as "
        "'stop_stemmer_model_…' (… is any text) or a regular expression with named groups.",
        "--level confidence (0,1) = 0.95": "Compute intervals at this level of confidence.",
    }
)

showing_options = opt.together(
    opt.plot_option(),
    opt.output_options_of(
        {
            "--figure drawing [sizes|pairs|measures] = sizes": "Draw one pair by numbers of "
            "systems and topics, all pairs by correlation, or the measures by their similarity.",
            "--pair": (
                "Draw this pair of measures [default: the first].",
                {"nargs": 2, "metavar": "M M"},
            ),
        }
    ),
    opt.digits_option,
)


@subcommand("agree")
@scores_options
@study_options
@showing_options
@opt.output_options
def command(
    inputs: Inputs,
    output: Output,
    drawing: str,
    pair: tuple[str, str] | None,
    tau_ap_ties: str,
    **options: Any,
) -> None:
    """Correlate measures on samples of topics and systems, and show what drives the correlation.

    Takes QRELS RUN... or scores (--scores FILE, or -m NAME=FILE for each measure), and at least two
    measures (by default the paper's eight). Shows which measures rank these systems similarly, and
    how much that depends on the measures, the number of topics and the number of systems: effect
    sizes, with intervals over other topics and systems.
    """
    from steadyrank.data.scores import position
    from steadyrank.studies.agree.study import MEASURES, agree
    from steadyrank.studies.agree.view import VIEW

    scores = load_scores(inputs, output, default_measures=MEASURES)
    for name in pair or ():
        position(name, scores.measures, "measure")
    options |= {"ties": tau_ap_ties, "rng": output.seed, **output.machine}
    with output.progress("blocks of samples") as progress:
        result = agree(scores, progress=progress, **options)
    output.show(VIEW.text, result)
    chosen = {"pair": pair} if drawing == "sizes" and pair else {}
    output.draw(result, kind=drawing, **chosen)
