"""Judgments come in here: from files, from ir_datasets, from what other tools hold."""

from __future__ import annotations

import os
import warnings
from pathlib import Path
from typing import Any

from steadyrank.data.interop import datasets
from steadyrank.data.interop.objects import as_qrels
from steadyrank.data.oddities import oddity_warning
from steadyrank.data.order import qrels_in_order
from steadyrank.data.qrels import ContradictingJudgments, Qrels, build_qrels, contradiction_message
from steadyrank.data.read.run_files import line_of_data, read_rows
from steadyrank.data.read.sources import PathLike, kind_of, open_bytes
from steadyrank.data.read.trec import read_table
from steadyrank.errors import FormatError, InputError, SteadyrankWarning


def read_qrels(path: PathLike) -> Qrels:
    """Read judgments.

    Parameters
    ----------
    path : path
        TREC text, three columns with or without BEIR's header, JSON `{topic: {document: grade}}`,
        JSON lines or Parquet, packed or not; or `irds:` and an id of ir_datasets (extra
        `steadyrank[ir]`).

    Returns
    -------
    Qrels
        The judgments.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import steadyrank as sr
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "qrels.txt"
    >>> _ = file.write_text("301 0 d1 1\\n301 0 d2 0\\n")
    >>> sr.read_qrels(file)
    <Qrels: 1 topics, 2 judgments>
    """
    if datasets.is_dataset(path):
        return datasets.load_qrels(str(path))
    qrels = load_qrels(Path(path))
    for what, count in qrels.oddities.items():
        message = f"{path}: {oddity_warning(what, count)}"
        warnings.warn(message, SteadyrankWarning, stacklevel=2)
    return qrels


def judgments_of(source: Any) -> Qrels:
    """The judgments in a file, or in whatever `as_qrels` takes, with topics in order."""
    is_file = isinstance(source, (str, os.PathLike))
    if is_file and Path(source).is_dir():
        raise InputError(
            f"{source}: expected a file of judgments, got a folder: do runs and judgments stand in "
            "each other's place?"
        )
    return qrels_in_order(read_qrels(source) if is_file else as_qrels(source))


def load_qrels(path: Path) -> Qrels:
    """Read judgments without warnings; their oddities stay counted."""
    with open_bytes(path) as stream:
        kind = kind_of(stream)
        if kind == "text":
            rows = read_table(path, stream, is_run=False).columns()
        else:
            rows = read_rows(path, stream, kind, "relevance")
    try:
        return build_qrels(
            rows.topics,
            rows.first_rows,
            rows.documents,
            rows.values,
            source=path,
            oddities=rows.oddities,
        )
    except ContradictingJudgments as error:
        where = f" (first on line {line_of_data(path, kind, error.first + rows.n_headers)})"
        message = contradiction_message(error.topic, error.document, where)
        line = line_of_data(path, kind, error.second + rows.n_headers)
        raise FormatError(path, message, line) from None
