"""Kernels that cannot be kept, tasks that fail, files that are never half there."""

from __future__ import annotations

import hashlib
import os
import pickle
import stat
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numba
import numpy as np
import pytest
from threadpoolctl import ThreadpoolController, threadpool_limits

import steadyrank as sr
from steadyrank.compute import blas, kernels, numba_cache, random_kernels
from steadyrank.compute.blas import one_blas_thread
from steadyrank.compute.executors import map_in_order, workers
from steadyrank.compute.files import whole_file, write_whole
from steadyrank.compute.random import block_stream, blocks_of


def test_without_a_place_to_keep_them_kernels_still_work(monkeypatch):
    def nowhere(self):
        raise RuntimeError("cannot cache function: no locator available for file")

    monkeypatch.setattr(numba.core.dispatcher.Dispatcher, "enable_caching", nowhere)
    double = kernels.kernel(lambda x: 2 * x)
    assert double(21) == 42
    assert not numba_cache.is_kept(double)


def test_other_failures_of_the_cache_are_not_swallowed(monkeypatch):
    def broken(self):
        raise RuntimeError("something else")

    monkeypatch.setattr(numba.core.dispatcher.Dispatcher, "enable_caching", broken)
    with pytest.raises(RuntimeError, match="something else"):
        kernels.kernel(lambda x: x)


def test_which_sources_are_behind_a_kernel():
    sources = {
        "steadyrank.a": b"from steadyrank.compute.kernels import (\n    WORD,\n    part,\n)\n"
        b"from steadyrank import b\n",
        "steadyrank.b": b"from steadyrank.c.d import LIMIT\n",
        "steadyrank.c.d": b"",
        "steadyrank.e": b"from steadyrank.compute.kernels import WORD\nfrom steadyrank import a\n",
        "steadyrank.compute.kernels": b"from steadyrank import a\n",
    }
    behind_a = {name: source for name, source in sources.items() if name != "steadyrank.e"}
    assert numba_cache._behind({"steadyrank.a"}, sources.get) == behind_a
    assert numba_cache._behind({"steadyrank.c.d"}, sources.get) == {"steadyrank.c.d": b""}
    assert numba_cache._behind({"elsewhere"}, sources.get) == {}


def test_sources_of_the_package_and_of_other_modules_are_found():
    behind = numba_cache._behind({"steadyrank.data.read.lines"}, numba_cache._source)
    assert {
        "steadyrank.data.ids",
        "steadyrank.data.read.numbers",
        "steadyrank.compute.kernels",
        "steadyrank.compute.numba_cache",
    } <= behind.keys()
    assert "steadyrank.measures.scoring" not in behind
    assert numba_cache._source(__name__) == Path(__file__).read_bytes()


def test_kernels_that_a_template_is_made_with_count_as_its_sources():
    from steadyrank.retrieval.engine.models import weights_kernel

    modules = numba_cache._modules_of(weights_kernel("BM25").py_func)
    assert {
        "steadyrank.retrieval.engine.search_kernels",
        "steadyrank.retrieval.engine.model_kernels",
    } <= modules


def test_a_change_in_a_source_behind_kernels_makes_them_stale():
    stamp = numba_cache._sources_stamp(frozenset({__name__}))
    assert len(stamp) == 64
    identity = kernels.kernel(lambda x: x)
    assert identity(3) == 3
    assert identity._cache._cache_file._source_stamp == stamp


def test_specialised_kernels_differ_by_what_their_globals_stand_for():
    def template(x):
        return operation(x)  # noqa: F821

    twice = kernels.specialised(
        template, "twice", how=numba.njit, operation=numba.njit(lambda x: 2 * x)
    )
    half = kernels.specialised(
        template, "half", how=numba.njit, operation=numba.njit(lambda x: x / 2)
    )
    assert (twice(8), half(8)) == (16, 4.0)


def test_words_and_bytes_by_their_bits():
    data = np.arange(128, dtype=np.uint8)

    @numba.njit
    def masks(data, words):
        return (
            kernels.bytes_up_to(data, 3, 7),
            kernels.bytes_equal(data, 0, 5),
            kernels.words_alike(words, 0, np.uint64(0xFF02), np.uint64(0xFF)),
            kernels.load_word(data, 1),
            kernels.high_product(np.uint64(1 << 63), np.uint64(6)),
        )

    low, equal, alike, word, high = masks(data, np.arange(8, dtype=np.uint64))
    assert low == 0b11111
    assert equal == 1 << 5
    assert alike == 1 << 2
    assert word == int.from_bytes(bytes(range(1, 9)), "little")
    assert high == 3


def test_bits_are_counted_and_bytes_held_against_a_form():
    data = np.frombuffer(bytearray(b"x32.219482 run0" + bytes(16)), np.uint8)
    form = np.zeros(32, np.uint8)
    form[:9] = np.frombuffer(b"00.000000", np.uint8)
    form[16:] = [9, 9, 0, *[9] * 6, *[255] * 7]

    @numba.njit
    def looked_at(data, form, word):
        return (
            kernels.bytes_within(data, 1, form),
            kernels.bytes_within(data, 0, form),
            kernels.bytes_within(data, 2, form),
            kernels.count_ones(word),
            kernels.trailing_zeros(word),
            kernels.trailing_zeros(word ^ word),
        )

    assert looked_at(data, form, np.uint64(0b10110000)) == (True, False, False, 3, 4, 64)


@pytest.mark.skipif(not kernels.READS_FILES, reason="kernels read no files on this system")
def test_kernels_read_files_by_their_number(tmp_path):
    (tmp_path / "a").write_bytes(b"steadyrank")
    data = np.full(16, 7, np.uint8)

    @numba.njit
    def read(number, data):
        return kernels.read_file(number, data, 2, 6)

    with open(tmp_path / "a", "rb", buffering=0) as file:
        number = file.fileno()
        assert [read(number, data) for _ in range(3)] == [6, 4, 0]
    assert data.tobytes() == b"\x07\x07rankdy" + b"\x07" * 8
    assert read(-1, data) == -1


def test_bytes_from_some_positions_on_are_added_to_wider_totals():
    rng = np.random.default_rng(0)
    data = rng.integers(0, 64, 1000).astype(np.uint8)
    totals = np.arange(64, dtype=np.int32) + 1_000_000
    positions = (0, 17, 936, 17)

    @numba.njit
    def add(totals, data, positions):
        kernels.add_bytes(totals, data, positions)

    expected = totals + sum(data[at : at + 64].astype(np.int32) for at in positions)
    add(totals, data, positions)
    np.testing.assert_array_equal(totals, expected)


def test_shares_that_random_numbers_reach_are_counted_side_by_side():
    """Against SplitMix64 and a search in plain NumPy; the second stream's halves are all small."""

    @numba.njit
    def reached(start, shares, out):
        return random_kernels.count_reached(start, shares, out, 3)

    for start, highest in ((np.uint64(2**64 - 5), 0xF0000000), (np.uint64(9), 2**32 - 1)):
        words = start + np.arange(1, 33, dtype=np.uint64) * random_kernels.GOLDEN
        words = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        words = (words ^ (words >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        words ^= words >> np.uint64(31)
        halves = np.concatenate([words & np.uint64(0xFFFFFFFF), words >> np.uint64(32)])
        shares = (np.uint32(halves[7]), np.uint32(0x80000000), np.uint32(highest))
        out = np.full(70, 9, np.uint8)
        are_all_reached = reached(start, shares, out)
        expected = sum((halves >= share).astype(np.uint8) for share in shares)
        np.testing.assert_array_equal(out[3:67], expected)
        assert out[:3].tolist() == out[67:].tolist() == [9, 9, 9]
        assert (are_all_reached != 0) == (halves >= highest).any() == (highest < 2**32 - 1)


@pytest.fixture(params=["threads of our own", "threads of the caller"])
def pool(request):
    own = request.param == "threads of our own"
    with workers(jobs=3) if own else ThreadPoolExecutor(3) as threads:
        yield threads


def test_answers_come_in_order_and_the_earliest_failure_is_told(pool):
    def task(i):
        time.sleep(0.02 if i == 2 else 0.0)
        if i in (2, 5):
            raise sr.InputError(f"task {i}")
        return i * i

    assert map_in_order(lambda i: i * i, range(10), pool) == [i * i for i in range(10)]
    assert map_in_order(task, [], pool) == []
    for _ in range(5):
        with pytest.raises(sr.InputError, match="task 2"):
            map_in_order(task, range(9), pool)


def test_progress_is_told_by_the_caller_and_ends_with_a_failure(pool):
    told = []

    def progress(finished, total):
        told.append((finished, total, threading.get_ident()))

    assert map_in_order(str, range(7), pool, progress=progress) == [*"0123456"]
    assert told == [(k, 7, threading.get_ident()) for k in range(1, 8)]
    with pytest.raises(ZeroDivisionError):
        map_in_order(lambda i: 1 // i, range(7), pool, progress=progress)
    assert len(told) < 14


def test_after_a_failure_no_task_is_begun(pool):
    begun = []

    def task(i):
        begun.append(i)
        if i == 0:
            raise sr.InputError("at once")
        time.sleep(0.05)

    with pytest.raises(sr.InputError, match="at once"):
        map_in_order(task, range(1000), pool)
    assert len(begun) < 100


def test_who_fails_to_tell_progress_stops_the_tasks(pool):
    begun = []

    def progress(finished, total):
        raise sr.InputError("nobody listens")

    def task(i):
        begun.append(i)
        time.sleep(0.01)

    with pytest.raises(sr.InputError, match="nobody listens"):
        map_in_order(task, range(1000), pool, progress=progress)
    assert len(begun) < 100


def test_too_few_jobs_are_refused():
    with (
        pytest.raises(sr.InputError, match="jobs must be a whole number of at least 1, got 0"),
        workers(jobs=0),
    ):
        pass


def test_files_are_whole_or_not_there(tmp_path):
    target = tmp_path / "result.txt"
    write_whole(target, "first")

    def fail_halfway():
        with whole_file(target) as temporary:
            temporary.write_text("half")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail_halfway()
    assert target.read_text() == "first"
    assert list(tmp_path.iterdir()) == [target]


def test_files_get_the_permissions_that_other_programs_would_give(tmp_path):
    mask = os.umask(0o027)
    try:
        write_whole(tmp_path / "x", b"")
    finally:
        os.umask(mask)
    assert stat.S_IMODE((tmp_path / "x").stat().st_mode) == 0o640


def test_a_stream_is_that_of_its_key_and_can_be_sent_elsewhere():
    key = np.frombuffer(hashlib.sha256(b"5/signs/7").digest()[:16], np.uint64)
    expected = np.random.Generator(np.random.Philox(key=key)).random(9)
    stream = block_stream(5, "signs", 7)
    elsewhere = pickle.loads(pickle.dumps(stream))
    np.testing.assert_array_equal(stream.random(9), expected)
    np.testing.assert_array_equal(elsewhere.random(9), expected)


def test_more_blocks_than_memory_can_hold_are_refused_at_once():
    with pytest.raises(sr.InputError, match="9,999,999,999 samples are too many: draw at most"):
        blocks_of(9_999_999_999)


def blas_threads():
    libraries = ThreadpoolController().select(user_api="blas").info()
    return {library["num_threads"] for library in libraries}


def test_one_blas_thread_holds_in_every_library_and_ends_with_its_block():
    with threadpool_limits(2, user_api="blas"):
        with one_blas_thread():
            assert blas_threads() == {1}
        assert blas_threads() == {2}


def test_libraries_of_blas_are_looked_for_again_where_modules_are_new(monkeypatch):
    looked = []

    def look():
        looked.append(len(sys.modules))
        return ThreadpoolController()

    monkeypatch.setattr(blas, "ThreadpoolController", look)
    blas._libraries.cache_clear()
    for expected in (1, 2):
        for _ in range(3):
            with one_blas_thread():
                pass
        assert len(looked) == expected
        monkeypatch.setitem(sys.modules, "a module that was imported since", None)
