"""`steadyrank stability`: how stable is this collection, by generalizability theory?"""

from __future__ import annotations

from typing import Any

from steadyrank.cli import options as opt
from steadyrank.cli.command import subcommand
from steadyrank.cli.inputs import Inputs, load_scores, scores_options
from steadyrank.cli.judges import judge_option, named_files
from steadyrank.cli.output import Output
from steadyrank.errors import InputError

study_options = opt.options(
    {
        "--topics n_topics N,N,…": "Estimate stability for these numbers of topics.",
        "--levels L,L,… = 0.8,0.9,0.95": "Find the topics that these levels of stability require.",
        "--facet COLUMN = auto": "Add a third facet: a run-info column whose values all systems "
        "have, such as assessor; auto: the runs of a system are its instances; none.",
        "--instances n_instances K,K,…": "Estimate stability for these numbers of instances "
        "[default: 1,2,5,10].",
        "--confidence = 0.95": "Compute intervals at this level of confidence.",
        "--alpha (0,1) = 0.05": "Test at this level of significance which runs could be first.",
    }
)


@subcommand("stability")
@scores_options
@study_options
@judge_option("Rank the order of documents by another assessor's grades among the runs.")
@opt.plot_option("coefficients against topics")
@opt.digits_option
@opt.output_options
def command(inputs: Inputs, output: Output, judge_files: tuple[str, ...], **options: Any) -> None:
    """Decompose the variance of scores into systems, topics and the rest.

    Takes QRELS RUN... or --scores FILE. E rho² says how reliably the topics order systems like
    these, and Phi how reliably they measure them; both are shown for other numbers of topics, with
    the topics required for given levels. Where --run-info or --system-from say that runs are
    instances of systems, instances are a third facet, and both coefficients depend on their number
    as well. CSV holds the coefficients by number of topics and instances. It also says whether
    these topics can separate the runs that could be first.
    """
    opt.check_level("--alpha", options["alpha"])
    judges = named_files("--judge", judge_files)
    if judges and inputs.has_scores:
        raise InputError("--judge requires QRELS RUN...: scores alone do not order documents")
    scores = load_scores(inputs, output)
    from steadyrank.studies.stability.study import StabilityTable, stability
    from steadyrank.studies.stability.view import VIEW

    options |= {"n_topics": options["n_topics"] or [], "rng": output.seed}
    if judges:
        options |= {"qrels": inputs.files[0], "judges": judges}
    results = tuple(stability(scores, measure=name, **options) for name in scores.measures)
    output.show(VIEW.text, results)
    output.draw(results[0] if len(results) == 1 else StabilityTable(results=results))
