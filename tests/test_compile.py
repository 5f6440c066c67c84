"""Kernels are cached where they can be, and compiled without a cache elsewhere."""

import os
import shutil
import signal
import subprocess
import sys
import threading
from pathlib import Path

import numba
import pytest
from numba.core import event

import protoset
from protoset.cli._work import watching
from protoset.kernels._compile import watch

PACKAGE = Path(protoset.__file__).parent

PROGRAM = """
import warnings
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    import numpy as np
    from protoset import kernels
    assert kernels.euclidean.__file__.startswith({folder!r})
    kernels.euclidean.nan_distance_block(np.array([[0.0, 1.0]]), np.array([[0.0, 0.5], [2.0, np.nan]]))
    kernels.sparse  # a second file does not warn again
print([(warning.category.__name__, "NUMBA_CACHE_DIR" in str(warning.message)) for warning in caught])
"""


def run(folder, prefix=(), **environment):
    environment = {"PATH": os.environ["PATH"], "HOME": "/dev/null", "PYTHONPATH": str(folder), **environment}
    command = [*prefix, sys.executable, "-c", PROGRAM.format(folder=str(folder))]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


@pytest.fixture
def package(tmp_path):
    """A copy of the package without compiled code."""
    shutil.copytree(PACKAGE, tmp_path / "protoset", ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path


@pytest.fixture
def read_only(package):
    """The words before a command that make the package read-only for it: a mount for root, else the file modes."""
    if os.getuid() != 0:
        for folder in [package, *package.rglob("*/")]:
            folder.chmod(0o555)
        yield ()
        for folder in [package, *package.rglob("*/")]:
            folder.chmod(0o755)
        return
    mount = f"mount --bind {package} {package} && mount -o remount,bind,ro {package}"
    if subprocess.run(["unshare", "-m", "sh", "-c", mount], capture_output=True, check=False).returncode:
        pytest.skip("root may not mount folders here")
    yield ("unshare", "-m", "sh", "-c", f'{mount} && exec "$@"', "sh")


def test_a_read_only_package_without_a_home_compiles_without_a_cache(package, read_only):
    result = run(package, read_only)
    assert result.returncode == 0, result.stderr
    assert result.stdout == "[('CompilationCacheWarning', True)]\n"
    assert not list(package.rglob("*.nbi"))


def test_a_cache_folder_of_the_user_is_taken(package, read_only, tmp_path_factory):
    folder = tmp_path_factory.mktemp("cache")
    result = run(package, read_only, NUMBA_CACHE_DIR=str(folder))
    assert result.stdout == "[]\n", result.stderr
    assert list(folder.rglob("*.nbi"))


def _double(number):
    return 2 * number


_double.__module__ = "protoset.kernels.example"


class _CtrlC(event.Listener):
    """Presses Ctrl-C when a compilation starts."""

    def on_start(self, event):
        signal.raise_signal(signal.SIGINT)

    def on_end(self, event):
        pass


def test_ctrl_c_waits_for_the_end_of_a_compilation():
    """Inside the compiler, Python would print the interruption with a traceback, and go on."""

    kernel = numba.njit(_double)
    with watching() as interruption, event.install_listener("numba:compile", _CtrlC()):
        with pytest.raises(KeyboardInterrupt):
            kernel(1)
        assert interruption.seen
    assert len(kernel.signatures) == 1
    assert watch.names[-1] == "_double"
    assert kernel(1) == 2


def test_ctrl_c_does_not_wait_for_the_compilation_of_another_thread():
    compiling, pressed = threading.Event(), threading.Event()

    class Pause(event.Listener):
        def on_start(self, event):
            compiling.set()
            pressed.wait()

        def on_end(self, event):
            pass

    kernel, results = numba.njit(_double), []
    thread = threading.Thread(target=lambda: results.append(kernel(3)))
    with event.install_listener("numba:compile", Pause()):
        thread.start()
        compiling.wait()
        with watching(), pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
        pressed.set()
        thread.join()
    assert results == [6]
