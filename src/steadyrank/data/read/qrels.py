"""Judgments come in here: from files, from ir_datasets, from what other tools hold."""

from __future__ import annotations

import os
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from steadyrank.data.interop import datasets
from steadyrank.data.interop.frames import read_columns
from steadyrank.data.interop.objects import as_qrels
from steadyrank.data.order import qrels_in_order
from steadyrank.data.qrels import ContradictingJudgments, Qrels, build_qrels, contradiction_message
from steadyrank.data.read.sources import PathLike, kind_of, line_of_row, open_bytes
from steadyrank.data.read.trec import read_table
from steadyrank.errors import FormatError, SteadyrankWarning


def read_qrels(path: PathLike) -> Qrels:
    """Read judgments.

    Parameters
    ----------
    path : path
        TREC text (plain or gzip), Parquet, JSON lines, or `irds:` and an id of ir_datasets (extra
        `steadyrank[ir]`).
    """
    if datasets.is_dataset(path):
        return datasets.load_qrels(str(path))
    qrels = load_qrels(Path(path))
    for what, count in qrels.oddities.items():
        warnings.warn(f"{path}: {count} {what}", SteadyrankWarning, stacklevel=2)
    return qrels


def judgments_of(source: Any) -> Qrels:
    """The judgments in a file, or in whatever `as_qrels` takes, with topics in order."""
    is_file = isinstance(source, (str, os.PathLike))
    return qrels_in_order(read_qrels(source) if is_file else as_qrels(source))


def load_qrels(path: Path) -> Qrels:
    """Read judgments without warnings; their oddities stay counted."""
    with open_bytes(path) as stream:
        kind = kind_of(stream)
        if kind == "text":
            table = read_table(path, stream, is_run=False)
        else:
            columns = read_columns(path, stream, kind, "relevance")
    try:
        if kind != "text":
            return build_qrels(
                columns.topics,
                np.arange(len(columns.topics)),
                columns.documents,
                columns.values,
                source=path,
            )
        return build_qrels(
            table.topics,
            np.array(table.first_rows),
            table.documents(),
            table.values[: table.n_rows],
            source=path,
            oddities=table.oddities,
        )
    except ContradictingJudgments as error:
        where = f" (first on line {line_of_row(path, error.first)})"
        message = contradiction_message(error.topic, error.document, where)
        raise FormatError(path, message, line_of_row(path, error.second)) from None
