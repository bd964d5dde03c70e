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

_RUNS = {
    "steadyrank": "query_id doc_id score rank",
    "ir_measures": "query_id doc_id score",
    "pyterrier": "qid docno score rank",
    "ranx": "q_id doc_id score",
    "trectools": "query q0 docid rank score system",
}
_QRELS = {
    "steadyrank": "query_id doc_id relevance",
    "ir_measures": "query_id doc_id relevance iteration",
    "pyterrier": "qid docno label",
    "ranx": "q_id doc_id score",
    "trectools": "query q0 docid rel",
}


def run_frame(run: Run, *, columns: Tool = "steadyrank") -> pd.DataFrame:
    """A run, one row a document, best first, with the columns of the tool named.

    A topic without documents has no row. PyTerrier's ranks count from 0, others from 1.

    >>> from steadyrank.data.run import run_from_dict
    >>> run = run_from_dict({"301": {"d1": 2.0, "d2": 3.0}}, name="bm25")
    >>> run_frame(run, columns="pyterrier")
       qid docno  score  rank
    0  301    d2    3.0     0
    1  301    d1    2.0     1
    """
    check_choice("set of columns", columns, get_args(Tool))
    rank = np.arange(len(run)) - np.repeat(run.blocks[:-1], np.diff(run.blocks))
    held = {"q0": "Q0", "score": run.scores, "system": run.name}
    held["rank"] = rank if columns == "pyterrier" else rank + 1
    return _frame(run, columns, _RUNS[columns], held)


def qrels_frame(qrels: Qrels, *, columns: Tool = "steadyrank") -> pd.DataFrame:
    """Judgments, one row each, with the columns of the tool named.

    >>> from steadyrank.data.qrels import qrels_from_dict
    >>> qrels_frame(qrels_from_dict({"301": {"d1": 1}}), columns="pyterrier")
       qid docno  label
    0  301    d1      1
    """
    check_choice("set of columns", columns, get_args(Tool))
    empty = [name for name, size in zip(qrels.topics, qrels.sizes, strict=True) if size == 0]
    if empty:
        raise InputError(f"topic {empty[0]!r} has no judgments, which a frame cannot say")
    grades = qrels.grades if columns == "steadyrank" else qrels.grades.astype(np.int64)
    held = dict.fromkeys(("relevance", "label", "score", "rel"), grades)
    return _frame(qrels, columns, _QRELS[columns], {**held, "q0": "0", "iteration": "0"})


def _frame(held: Run | Qrels, columns: str, names: str, values: dict[str, Any]) -> pd.DataFrame:
    codes = np.repeat(np.arange(len(held.topics)), np.diff(held.blocks))
    topics = _series(_text(make_ids(held.topics)).take(codes), columns)
    documents = _series(_text(held.documents), columns)
    known = dict.fromkeys(("query_id", "qid", "q_id", "query"), topics)
    known |= dict.fromkeys(("doc_id", "docno", "docid"), documents)
    return made_frame({name: {**known, **values}[name] for name in names.split()})


def _text(ids: Ids) -> Any:
    import pyarrow as pa

    buffers = [None, pa.py_buffer(ids.offsets.tobytes()), pa.py_buffer(ids.data.tobytes())]
    raw = pa.Array.from_buffers(pa.large_binary(), len(ids), buffers)
    try:
        return raw.cast(pa.large_string())
    except pa.ArrowInvalid:
        return raw


def _series(array: Any, columns: str) -> pd.Series[Any]:
    import pandas as pd
    import pyarrow as pa

    if pa.types.is_large_binary(array.type):
        # pandas' own type of text cannot hold these ids; plain Python objects can.
        names = [raw.decode("utf-8", "surrogateescape") for raw in array.to_pylist()]
        return pd.Series(names, dtype=object)
    if columns == "ranx":  # `ranx.Run.from_df` demands objects
        return pd.Series(array.to_numpy(zero_copy_only=False), dtype=object)
    series: pd.Series[Any] = array.to_pandas()
    return series
