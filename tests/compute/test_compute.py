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

import numba
import numpy as np
import pytest
from plain_tables import refused
from threadpoolctl import ThreadpoolController, threadpool_limits

import steadyrank as sr
from steadyrank.compute import executors, kernel_cache, kernels
from steadyrank.compute.executors import map_in_order, one_blas_thread, workers
from steadyrank.compute.files import whole_file, write_whole
from steadyrank.compute.random import block_stream, blocks_of


def test_without_a_place_to_keep_them_kernels_still_work(monkeypatch):
    def nowhere(self):
        raise RuntimeError("cannot cache function: no locator available for file")

    monkeypatch.setattr(numba.core.dispatcher.Dispatcher, "enable_caching", nowhere)
    double = kernels.kernel(lambda x: 2 * x)
    assert double(21) == 42
    assert not kernel_cache.is_kept(double)


def test_other_failures_of_the_cache_are_not_swallowed(monkeypatch):
    def broken(self):
        raise RuntimeError("something else")

    monkeypatch.setattr(numba.core.dispatcher.Dispatcher, "enable_caching", broken)
    refused("something else", kernels.kernel, lambda x: x, error=RuntimeError)


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


def test_bits_are_counted():
    @numba.njit
    def counted(word):
        return (
            kernels.count_ones(word),
            kernels.trailing_zeros(word),
            kernels.trailing_zeros(word ^ word),
            kernels.leading_zeros(word),
        )

    assert counted(np.uint64(0b10110000)) == (3, 4, 64, 56)
    rng = np.random.default_rng(1)
    for word in rng.integers(1, 2**64, 50, np.uint64) >> rng.integers(0, 63, 50, np.uint64):
        if word:
            bits = f"{word:064b}"
            lowest, highest = 63 - bits.rindex("1"), bits.index("1")
            assert counted(word) == (bits.count("1"), lowest, 64, highest)


def test_words_are_written_and_read_byte_by_byte():
    data = np.full(24, 9, np.uint8)

    @numba.njit
    def through(data, word):
        kernels.store_word(data, 3, word)
        return kernels.load_word(data, 3), kernels.load_byte(data, 4), kernels.bits_to_float(word)

    word = np.uint64(0x4009_21FB_5444_2D18)
    assert through(data, word) == (word, 0x2D, np.pi)
    assert data[3:11].tobytes() == int(word).to_bytes(8, "little")
    assert data[:3].tolist() == [9] * 3
    assert data[11:].tolist() == [9] * 13


def test_the_upper_half_of_a_product():
    @numba.njit
    def product(a, b):
        return kernels.high_product(a, b)

    rng = np.random.default_rng(2)
    edges = [0, 1, 2**32 - 1, 2**32, 2**63, 2**64 - 1]
    words = [*edges, *map(int, rng.integers(0, 2**64, 30, np.uint64))]
    for a in words:
        for b in words:
            assert int(product(np.uint64(a), np.uint64(b))) == a * b >> 64


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
        return kernels.count_reached(start, shares, out, 3)

    for start, highest in ((np.uint64(2**64 - 5), 0xF0000000), (np.uint64(9), 2**32 - 1)):
        words = start + np.arange(1, 33, dtype=np.uint64) * kernels.GOLDEN
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
        refused("task 2", map_in_order, task, range(9), pool)


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

    refused("at once", map_in_order, task, range(1000), pool)
    assert len(begun) < 100


def test_who_fails_to_tell_progress_stops_the_tasks(pool):
    begun = []

    def progress(finished, total):
        raise sr.InputError("nobody listens")

    def task(i):
        begun.append(i)
        time.sleep(0.01)

    refused("nobody listens", map_in_order, task, range(1000), pool, progress=progress)
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
    refused("9,999,999,999 samples are too many: draw at most", blocks_of, 9_999_999_999)


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

    monkeypatch.setattr(executors, "ThreadpoolController", look)
    executors._libraries.cache_clear()
    for expected in (1, 2):
        for _ in range(3):
            with one_blas_thread():
                pass
        assert len(looked) == expected
        monkeypatch.setitem(sys.modules, "a module that was imported since", None)
