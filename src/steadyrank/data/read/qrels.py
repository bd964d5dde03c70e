"""Judgments come in here: from files, from ir_datasets, from what other tools hold."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from steadyrank.data.interop.objects import as_qrels
from steadyrank.data.order import qrels_in_order
from steadyrank.data.qrels import Qrels
from steadyrank.data.read import datasets
from steadyrank.data.read.run_files import load_qrels
from steadyrank.data.read.sources import PathLike
from steadyrank.data.run import oddity_warning
from steadyrank.errors import InputError, warn


def read_qrels(path: PathLike) -> Qrels:
    """Read judgments.

    Parameters
    ----------
    path : path
        TREC text, three columns with or without BEIR's header, CSV with a header such as
        `query_id,doc_id,relevance`, JSON `{topic: {document: grade}}`, JSON lines or Parquet,
        packed or not; NTCIR's grades `L0`, `L1`, … are numbers; or `irds:` and an id of ir_datasets
        (extra `steadyrank[ir]`).

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
        warn(f"{path}: {oddity_warning(what, count)}", stacklevel=3)
    return qrels


def judgments_of(source: Any) -> Qrels:
    """The judgments in a file, or in whatever `as_qrels` takes, with topics in order."""
    is_file = isinstance(source, (str, os.PathLike))
    if is_file and Path(source).is_dir():
        raise InputError(
            f"{source}: expected a file of judgments, got a folder: are runs and judgments swapped?"
        )
    return qrels_in_order(read_qrels(source) if is_file else as_qrels(source))
