"""Threads of BLAS while workers compute."""

import numpy as np
from joblib import delayed
from threadpoolctl import threadpool_info, threadpool_limits

from protoset import adapt
from protoset._blocks import in_threads, one_blas_thread

from conftest import overlapping


def blas_threads():
    return [library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"]


def test_workers_that_come_and_go_leave_one_thread_to_blas():
    def come_and_go():
        with one_blas_thread():
            np.ones((50, 50)) @ np.ones((50, 50))
        return blas_threads()

    with threadpool_limits(2, user_api="blas"):
        before = blas_threads()
        with one_blas_thread():
            seen = in_threads(2)(delayed(come_and_go)() for _ in range(20))
        assert seen == [[1] * len(before)] * 20
        assert blas_threads() == before


def test_moves_in_threads_leave_the_threads_of_blas_as_they_were():
    X, y = overlapping(3000)
    before = blas_threads()
    adapt(X, y, X[:520], y[:520], n_passes=2, n_jobs=2)
    assert blas_threads() == before
