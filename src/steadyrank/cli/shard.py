"""`steadyrank shard`: make instances of a selective-search system."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from steadyrank.cli.making import (
    check_places,
    keep_scores,
    keeping_options,
    rows_of,
    source_options,
    text_of_rows,
    wants_scores,
)
from steadyrank.cli.options import output_options, together
from steadyrank.cli.output import (
    choose_format,
    emit,
    progress_bar,
    tell_if_compiling,
    terminal_looks,
    told_on_stderr,
)

if TYPE_CHECKING:
    from steadyrank.data.scores import Scores
    from steadyrank.render.tables import Table


def _share(ctx: click.Context, param: click.Parameter, value: str) -> float:
    try:
        return float(value.strip().removesuffix("%")) / (100 if "%" in value else 1)
    except ValueError:
        message = f"{value!r} is not a share such as 0.1 or 10%."
        raise click.BadParameter(message, ctx, param) from None


def _rates(ctx: click.Context, param: click.Parameter, values: tuple[str, ...]) -> list[float]:
    texts = [text for value in values for text in value.split(",") if text.strip()]
    try:
        return [
            float(text.strip().removesuffix("%")) / (100 if "%" in text else 1) for text in texts
        ]
    except ValueError:
        message = f"{','.join(values)!r} is not a list of rates such as 0.01,0.02 or 1%,2%."
        raise click.BadParameter(message, ctx, param) from None


design_options = together(
    click.option("--shards", type=int, default=50, show_default=True, metavar="K",
                 help="Shards of the collection."),
    click.option("--sample-rate", multiple=True, default=("0.01",), callback=_rates, metavar="R,…",
                 help="Share of each shard in a central sample [default: 0.01]."),
    click.option("--cluster-samples", type=int, default=2, show_default=True, metavar="S",
                 help="Samples of documents that are clustered."),
    click.option("--partitions", type=int, default=5, show_default=True, metavar="P",
                 help="Partitions into shards by each of them."),
    click.option("--csi", type=int, default=10, show_default=True, metavar="C",
                 help="Central samples of each partition and rate."),
    click.option("--sample", "cluster_share", callback=_share, default="1%", show_default=True,
                 metavar="SHARE", help="Share of the documents in a sample that is clustered."),
    click.option("--top-shards", type=int, default=5, show_default=True, metavar="T",
                 help="Shards searched for a topic, at most."),
    click.option("--csi-depth", type=int, default=50, show_default=True, metavar="N",
                 help="Best documents of a central sample that choose the shards."),
    click.option("--distance", type=click.Choice(["cosine", "kl"]), default="cosine",
                 show_default=True, help="Of documents from the centres of clusters."),
    click.option("--random-shards", is_flag=True, help="Shards at random, for contrast."),
    click.option("--statistics", type=click.Choice(["global", "shard"]), default="global",
                 show_default=True, help="Of the collection, or of each shard by itself."),
    click.option("--model", default="BM25", show_default=True, help="What ranks the documents."),
    click.option("--stop-list", default="lucene", show_default=True, help="A name or a file."),
    click.option("--lexical", default="porter", show_default=True, help="Stemmer or n-grams."),
)  # fmt: skip


@click.command("shard")
@source_options
@design_options
@keeping_options
@click.option("--digits", type=click.IntRange(0, 15), default=4, show_default=True,
              help="Decimals in tables.")  # fmt: skip
@output_options
def command(
    corpus: str,
    out: str | None,
    topics: str | None,
    qrels: str | None,
    measures: tuple[str, ...],
    scores_file: str | None,
    missing: Any,
    no_relevant: Any,
    store: str | None,
    digits: int,
    form: str | None,
    output: str | None,
    seed: int,
    quiet: bool,
    **options: Any,
) -> None:
    """Make instances of selective search, and exhaustive search beside them.

    CORPUS is a file of JSON lines (id, title, text) or of TREC's <DOC>, a folder of
    them or of text files, a folder with docs.jsonl, topics.tsv and qrels.txt, or
    irds:NAME. Documents are clustered into shards; ReDDE picks those that are searched
    for a topic. S × P × C instances a rate; `steadyrank instances` compares them.
    """
    kind = choose_format(form, output)
    check_places(output, scores_file)
    scored = wants_scores(out, qrels, measures, scores_file, store)
    with (
        told_on_stderr(quiet),
        progress_bar("bytes of documents", quiet) as reading,
        progress_bar("runs", quiet) as progress,
    ):
        from steadyrank.measures.evaluate import DEFAULT_MEASURES
        from steadyrank.retrieval.search_kernels import search_one
        from steadyrank.retrieval.selective import shard, write_shards

        tell_if_compiling(quiet, search_one)
        options |= {"reading": reading, "progress": progress, "rng": seed}
        if scored:
            scores = shard(
                corpus, topics, qrels=qrels, measures=measures or DEFAULT_MEASURES,
                missing=missing, no_relevant=no_relevant, out=out, store=store, **options,
            )  # fmt: skip
            if scores_file is not None:
                keep_scores(scores, scores_file)
            rows, table = rows_of(scores), _summary(scores, digits)
        else:
            result = write_shards(corpus, topics, out=str(out), **options)
            rows, table = result.rows(), _written(result)
    emit(text_of_rows(rows, table, kind, out, terminal_looks(output)), output)


def _summary(scores: Scores, digits: int) -> Table:
    """Means of each system's and rate's instances, and how far they spread."""
    import numpy as np

    from steadyrank.render.tables import Table

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
        rows=rows,
        caption=(
            f"Means over {len(scores.topics)} topics and all instances of a rate; sd: between "
            "instances."
        ),
    )


def _written(result: Any) -> Table:
    """How many runs there are of each system and rate."""
    from collections import Counter

    from steadyrank.render.tables import Table

    counts = Counter((info["system"], info["rate"]) for info in result.run_info)
    return Table(
        header=["system", "rate", "instances"],
        rows=[[system, rate or "–", str(count)] for (system, rate), count in counts.items()],
        caption=(
            f"{len(result.runs)} runs on {result.n_topics} topics and {result.n_documents} "
            f"documents in {result.folder}, {result.written} of them made now."
        ),
    )
