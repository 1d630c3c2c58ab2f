"""Settings and fixtures of all tests."""

import os

#: A single thread for each test process and its children, because they share the cores. Set before the import of
#: TensorFlow and NumPy.
for _name in ("TF_NUM_INTRAOP_THREADS", "TF_NUM_INTEROP_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(_name, "1")
#: The same TensorFlow kernels as in workers, on every CPU.
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "1")

import functools  # noqa: E402 - after the settings
import gc  # noqa: E402
from collections.abc import Iterator  # noqa: E402
from contextlib import ExitStack, nullcontext  # noqa: E402
from pathlib import Path  # noqa: E402
from types import SimpleNamespace  # noqa: E402

import compared_measures  # noqa: E402
import pytest  # noqa: E402
from durations import Costs, longest_first  # noqa: E402
from forks import forks  # noqa: E402
from hypothesis import settings  # noqa: E402
from in_process import Pgdl, in_process  # noqa: E402
from shared_zygotes import SharedZygotes  # noqa: E402

# The same examples in every run, so that only a change of the code changes results; other examples are drawn with
# --hypothesis-profile=default. No deadline: the time of one example on a busy machine says nothing about the code.
settings.register_profile("same", derandomize=True, deadline=None)
settings.load_profile("same")


gc.disable()  # until all tests are collected, see `harness.worker.runtimes.runtime.uncollected`


def pytest_collection_modifyitems(items):
    longest_first(items)
    gc.freeze()
    gc.enable()


def pytest_configure(config):
    compared_measures.watch()
    config.pluginmanager.register(compared_measures.Watch())
    config.pluginmanager.register(Costs())


@pytest.fixture(scope="session", autouse=True)
def _forked_processes() -> Iterator[None]:
    """Start the harness' own processes as forks, which is faster; the fixture `new_processes` undoes this."""
    from harness import children
    from harness.processes import client

    with pytest.MonkeyPatch.context() as patch:
        forked = {**vars(children), "start": forks.start_child}
        patch.setattr(client, "children", SimpleNamespace(**forked))
        yield
    forks.end()


@pytest.fixture
def new_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Start the harness' own processes as new interpreters, as users do."""
    from harness import children
    from harness.processes import client

    monkeypatch.setattr(client, "children", children)


@pytest.fixture
def pgdl(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Pgdl:
    """Return a function that runs `pgdl ARGUMENTS` in this process, 120 columns wide by default."""
    monkeypatch.setenv("COLUMNS", os.environ.get("COLUMNS", "120"))
    return in_process(monkeypatch, capsys)


@pytest.fixture(scope="session")
def zygotes() -> Iterator[SharedZygotes]:
    """Zygotes that all commands of this test process share."""
    shared = SharedZygotes()
    yield shared
    shared.end()


@pytest.fixture(scope="session", autouse=True)
def _shared_keras() -> Iterator[None]:
    """Let one process, started when it is first needed, compute all shapes of layers for this test process."""
    from harness.task import shapes

    with ExitStack() as stack, pytest.MonkeyPatch.context() as patch:
        start = functools.cache(lambda keras=shapes.keras_process: stack.enter_context(keras()))
        patch.setattr(shapes, "keras_process", lambda: nullcontext(start()))
        yield


@pytest.fixture(scope="session")
def shared_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache directory with the shapes of the throw-away models, computed once per test process."""
    from throwaway import make_task

    from harness.task.layout import TaskDirectory
    from harness.task.task import read_tasks

    directory = tmp_path_factory.mktemp("shared")
    make_task(directory)
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("PGDL_CACHE", str(directory / "cache"))
        read_tasks(TaskDirectory(directory).runnable())
    return directory / "cache"
