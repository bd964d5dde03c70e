"""Runs and judgments as pandas frames with the columns that another tool expects.

For anyone who goes on in PyTerrier, ir_measures, ranx or trectools. What `as_run` and
`as_qrels` make of such a frame is what it was made from.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from steadyrank.data.ids import Ids, make_ids
from steadyrank.data.qrels import Qrels
from steadyrank.data.run import Run
from steadyrank.errors import InputError, check_choice
from steadyrank.notebook import made_frame

if TYPE_CHECKING:
    import pandas as pd

Tool = Literal["steadyrank", "ir_measures", "pyterrier", "ranx", "trectools"]

_IDS = {
    "steadyrank": ("query_id", "doc_id"),
    "ir_measures": ("query_id", "doc_id"),
    "pyterrier": ("qid", "docno"),
    "ranx": ("q_id", "doc_id"),
    "trectools": ("query", "docid"),
}


def run_frame(run: Run, *, columns: Tool = "steadyrank") -> pd.DataFrame:
    """A run, one row a document, best first, with the columns of the tool named.

    - `steadyrank`: query_id, doc_id, score, rank from 1
    - `ir_measures`: query_id, doc_id, score
    - `pyterrier`: qid, docno, score, rank from 0
    - `ranx`: q_id, doc_id, score; ids of dtype object, as `ranx.Run.from_df` demands
    - `trectools`: query, q0, docid, rank from 1, score, system

    A topic without documents has no row.

    >>> from steadyrank.data.run import run_from_dict
    >>> run = run_from_dict({"301": {"d1": 2.0, "d2": 3.0}}, name="bm25")
    >>> run_frame(run, columns="pyterrier")
       qid docno  score  rank
    0  301    d2    3.0     0
    1  301    d1    2.0     1
    """
    _check_tool(columns)
    topic, document = _IDS[columns]
    topics, documents = _id_columns(run, columns)
    rank = np.arange(len(run)) - np.repeat(run.blocks[:-1], np.diff(run.blocks))
    made: dict[str, Any] = {topic: topics, document: documents, "score": run.scores}
    if columns == "trectools":
        made = {topic: topics, "q0": "Q0", document: documents, "rank": rank + 1}
        made |= {"score": run.scores, "system": run.name}
    elif columns in ("steadyrank", "pyterrier"):
        made["rank"] = rank + (columns == "steadyrank")  # PyTerrier counts from 0
    return made_frame(made)


def qrels_frame(qrels: Qrels, *, columns: Tool = "steadyrank") -> pd.DataFrame:
    """Judgments, one row each, with the columns of the tool named.

    - `steadyrank`: query_id, doc_id, relevance
    - `ir_measures`: query_id, doc_id, relevance, iteration
    - `pyterrier`: qid, docno, label
    - `ranx`: q_id, doc_id, score
    - `trectools`: query, q0, docid, rel

    >>> from steadyrank.data.qrels import qrels_from_dict
    >>> qrels_frame(qrels_from_dict({"301": {"d1": 1}}), columns="pyterrier")
       qid docno  label
    0  301    d1      1
    """
    _check_tool(columns)
    empty = [name for name, size in zip(qrels.topics, qrels.sizes, strict=True) if size == 0]
    if empty:
        raise InputError(f"topic {empty[0]!r} has no judgments, which a frame cannot say")
    topic, document = _IDS[columns]
    topics, documents = _id_columns(qrels, columns)
    grades = qrels.grades if columns == "steadyrank" else qrels.grades.astype(np.int64)
    if columns == "trectools":
        return made_frame({topic: topics, "q0": "0", document: documents, "rel": grades})
    value = {"pyterrier": "label", "ranx": "score"}.get(columns, "relevance")
    made: dict[str, Any] = {topic: topics, document: documents, value: grades}
    if columns == "ir_measures":
        made["iteration"] = "0"
    return made_frame(made)


def _check_tool(columns: str) -> None:
    check_choice("set of columns", columns, get_args(Tool))


def _id_columns(held: Run | Qrels, columns: Tool) -> tuple[pd.Series[Any], pd.Series[Any]]:
    """The topics and documents of every row, of the type that the tool works with."""
    codes = np.repeat(np.arange(len(held.topics)), np.diff(held.blocks))
    topics = _text(make_ids(held.topics)).take(codes)
    return _series(topics, columns), _series(_text(held.documents), columns)


def _text(ids: Ids) -> Any:
    """Ids as an Arrow array of text, or of bytes where some id is not UTF-8."""
    import pyarrow as pa

    buffers = [None, pa.py_buffer(ids.offsets.tobytes()), pa.py_buffer(ids.data.tobytes())]
    raw = pa.Array.from_buffers(pa.large_binary(), len(ids), buffers)
    try:
        return raw.cast(pa.large_string())
    except pa.ArrowInvalid:
        return raw


def _series(array: Any, columns: Tool) -> pd.Series[Any]:
    import pandas as pd
    import pyarrow as pa

    if pa.types.is_large_binary(array.type):
        # pandas' own type of text cannot hold these ids; plain Python objects can.
        names = [raw.decode("utf-8", "surrogateescape") for raw in array.to_pylist()]
        return pd.Series(names, dtype=object)
    if columns == "ranx":
        return pd.Series(array.to_numpy(zero_copy_only=False), dtype=object)
    series: pd.Series[Any] = array.to_pandas()
    return series
