"""Fork and Ctrl-C: no hang, no lost key press, no traceback of a worker. Timeouts only guard against hanging."""

import gc
import os
import signal
import subprocess
import sys

import pytest

from clusterkit._jit import _undisturbed, njit
from clusterkit.estimators._search_run import _deaf_to_ctrl_c

pytestmark = pytest.mark.skipif(os.name != "posix", reason="fork and signals of POSIX")

HANGS = 500
"""Seconds after which a subprocess counts as hanging."""

FORK = """
import os, sys
import numpy as np
from clusterkit import recipe

X = np.random.default_rng(0).normal(size=({rows}, 30))
(X @ X.T) @ X  # the threads of the linear algebra run
if {before}:
    first = recipe({name!r}, random_state=0, **{params}).fit(X).labels_
children = []
for _ in range({forks}):
    child = os.fork()
    if not child:
        code = 1
        try:
            labels = recipe({name!r}, random_state=0, **{params}).fit(X).labels_
            code = 0 if len(labels) == {rows} and (not {before} or (labels == first).all()) else 2
        finally:
            os._exit(code)
    children.append(child)
recipe({name!r}, random_state=0, **{params}).fit(X)
print([os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children])
"""


@pytest.mark.parametrize(
    ("name", "params", "before", "rows", "forks"),
    [
        ("kmeans", {"n_clusters": 2}, True, 100, 1),
        pytest.param("emmc", {"n_clusters": 2}, False, 400, 2, marks=pytest.mark.deep),
        pytest.param("svc", {"featuremap__gamma": 0.02}, False, 400, 2, marks=pytest.mark.deep),
        pytest.param("svc", {"featuremap__gamma": 0.02}, True, 400, 2, marks=pytest.mark.deep),
    ],
    ids=["kmeans, after a fit", "emmc, before the first fit", "svc, before the first fit", "svc, after a fit"],
)
def test_a_fork_fits_like_its_parent(name, params, before, rows, forks):
    code = FORK.format(name=name, params=params, before=before, rows=rows, forks=forks)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=HANGS, check=False)
    assert done.stdout == f"{[0] * forks}\n", done.stderr


class TestWhileCompiling:
    def test_ctrl_c_is_not_lost(self):
        finished = []

        def compile(signature):
            try:
                signal.raise_signal(signal.SIGINT)
            except KeyboardInterrupt:
                """What becomes of it in a callback of LLVM."""
            finished.append(signature)
            return "code"

        with pytest.raises(KeyboardInterrupt):
            _undisturbed(compile)("signature")
        assert finished == ["signature"]
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler

    def test_nor_in_a_compilation_within_another(self):
        inner = _undisturbed(lambda signature: signal.raise_signal(signal.SIGINT))
        finished = []
        outer = _undisturbed(lambda signature: finished.append(inner(signature)))
        with pytest.raises(KeyboardInterrupt):
            outer("signature")
        assert finished == [None]

    def test_no_cycles_are_looked_for_and_later_they_are_again(self):
        seen = []
        inner = _undisturbed(lambda signature: seen.append(gc.isenabled()))
        outer = _undisturbed(lambda signature: (inner(signature), seen.append(gc.isenabled())))
        outer("signature")
        assert seen == [False, False]
        assert gc.isenabled()
        with pytest.raises(ValueError, match="signature"):
            _undisturbed(lambda signature: int(signature))("signature")
        assert gc.isenabled()

    def test_every_compiled_function_has_it(self):
        @njit(cache=False)
        def double(x):
            return 2 * x

        assert double(3) == 6
        assert double(0.5) == 1.0
        assert double.compile.__name__ == "compile"
        assert "compile_first" in double.compile.__code__.co_name


SEARCH = """
import os, signal, sys
from pathlib import Path
import numpy as np
from sklearn.base import BaseEstimator, ClusterMixin
from clusterkit import search

class Presses(ClusterMixin, BaseEstimator):
    def __init__(self, k=1):
        self.k = k

    def fit(self, X, y=None):
        if self.k == 3:
            os.killpg(os.getpgid(0), signal.SIGINT)  # as a terminal does, to all processes
            signal.pause()
        self.labels_ = np.arange(len(X)) % self.k
        return self

try:
    search(Presses(), {"k": [2, 3, 4, 5]}, np.random.default_rng(0).normal(size=(40, 2)), "silhouette", n_jobs=2)
except KeyboardInterrupt:
    pass
print("ended")
"""


@pytest.mark.deep
def test_a_search_in_several_processes_ends_without_their_tracebacks():
    done = subprocess.run(
        [sys.executable, "-c", SEARCH],
        capture_output=True,
        text=True,
        timeout=HANGS,
        check=False,
        start_new_session=True,
    )
    assert done.stdout == "ended\n", done.stderr
    assert "Traceback" not in done.stderr
    assert "KeyboardInterrupt" not in done.stderr


@pytest.mark.skipif(not hasattr(signal, "pthread_sigmask"), reason="signals cannot be blocked here")
def test_ctrl_c_waits_until_workers_are_started_and_does_not_reach_them():
    code = "import signal; print(signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, []))"
    reached = []

    def start_a_process():
        with _deaf_to_ctrl_c():
            os.kill(os.getpid(), signal.SIGINT)
            reached.append(subprocess.check_output([sys.executable, "-c", code], text=True).strip())

    with pytest.raises(KeyboardInterrupt):
        start_a_process()
    assert reached == ["True"]
    assert signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, [])
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
