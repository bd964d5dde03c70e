"""`steadyrank shard`: make instances of a selective-search system."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from steadyrank.cli import options as opt
from steadyrank.cli.command import subcommand
from steadyrank.cli.output import Output
from steadyrank.words import counted
from steadyrank_lab.cli.make_runs import Maker, keeping_options, make_and_show, source_options

if TYPE_CHECKING:
    from steadyrank.data.scores import Scores
    from steadyrank.present.table import Table


def _shares(
    ctx: click.Context, param: click.Parameter, value: str | tuple[str, ...]
) -> float | list[float]:
    """One share, or those between commas of an option that can be repeated; % allowed."""
    text = value if isinstance(value, str) else ",".join(value)
    parts = [part.strip() for part in text.split(",") if part.strip()]
    try:
        shares = [float(part.removesuffix("%")) / (100 if "%" in part else 1) for part in parts]
        if isinstance(value, str):
            (share,) = shares
            return share
    except ValueError:
        message = f"{text!r} is not a share such as 0.1 or 10%, or several between commas."
        raise click.BadParameter(message, ctx, param) from None
    return shares


design_options = opt.options(
    {
        "--shards K = 50": "Split the collection into K shards.",
        "--sample-rate R,… ...": (
            "Put this share of each shard into a central sample.",
            {"default": ("0.01",), "callback": _shares},
        ),
        "--cluster-samples S = 2": "Cluster S samples of the documents.",
        "--partitions P = 5": "Partition the collection P times by each of these samples.",
        "--csi C = 10": "Draw C central samples per partition and rate.",
        "--sample cluster_share SHARE = 1%": (
            "Cluster this share of the documents in a sample.",
            {"callback": _shares},
        ),
        "--top-shards T = 5": "Search at most T shards for a topic.",
        "--csi-depth N = 50": "Select shards by the best N documents of a central sample.",
        "--selection [redde|rank-s] = redde": "Select shards by the number of these documents, or "
        "by votes that fall with their ranks.",
        "--decay B float = 50": "Divide votes by B for every rank, with --selection rank-s.",
        "--first-exponent E 0..1 = 0": "Divide the best document's vote by B to this power, with "
        "--selection rank-s.",
        "--random-shards": "Assign documents to shards at random, for contrast.",
        "--model = BM25": "Rank documents by this model.",
        "--stop-list = lucene": "Remove the words of this list or file.",
        "--lexical = porter": "Reduce words by this stemmer or to n-grams.",
    }
)


@subcommand("shard")
@source_options
@design_options
@keeping_options
@opt.digits_option
@opt.output_options
def command(output: Output, **options: Any) -> None:
    """Make instances of selective search, and exhaustive search.

    CORPUS is a file of JSON lines (id, title, text) or of TREC's <DOC>, a folder of them, a folder
    with docs.jsonl, topics.tsv and qrels.txt, irds:NAME, or builtin. Documents are clustered into
    shards, and ReDDE or Rank-S selects those searched for a topic. There are S × P × C instances
    per rate, which `steadyrank instances` compares.
    """
    make_and_show(_maker, output=output, rng=output.seed, **options)


def _maker() -> Maker:
    from steadyrank_lab.retrieval.makers.shard import shard, write_shards

    return Maker(shard, write_shards, _summary)


def _summary(scores: Scores, digits: int | None) -> Table:
    import numpy as np

    from steadyrank.present.cells import DIGITS
    from steadyrank.present.table import Table, text_rows

    digits = DIGITS if digits is None else digits
    means = scores.mean()
    groups: dict[tuple[str, str], list[int]] = {}
    for i, key in enumerate(zip(scores.run_info["system"], scores.run_info["rate"], strict=True)):
        groups.setdefault(key, []).append(i)
    rows = []
    for (system, rate), runs in groups.items():
        row = [system, rate or "–", str(len(runs))]
        for values in means[:, runs]:
            spread = f"{np.std(values, ddof=1):.{digits}f}" if len(runs) > 1 else "–"
            row += [f"{np.mean(values):.{digits}f}", spread]
        rows.append(row)
    figures = [text for measure in scores.measures for text in (measure, "sd")]
    return Table(
        header=["system", "rate", "instances", *figures],
        rows=text_rows(rows),
        caption=(
            f"Means over {counted(len(scores.topics), 'topic')} and all instances of a rate; sd: "
            "between instances."
        ),
    )
