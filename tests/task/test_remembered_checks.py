"""Tests of remembered checks: a file that was checked is not read again until it changes."""

import os
import shutil
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import h5py
import pytest
from throwaway import make_task

from harness.format.problems import InvalidTaskError
from harness.task import digests
from harness.task.contents import read_contents
from harness.task.layout import TaskDirectory
from harness.task.task import Task, read_task

FILES = 16  # weights of 8 models, before and after training


class Opened:
    """Counts how often each file is opened in this process."""

    def __init__(self) -> None:
        self.names: Counter[str] = Counter()
        self.on = True
        sys.addaudithook(self._hear)  # for as long as the process lives

    def _hear(self, event: str, arguments: tuple[object, ...]) -> None:
        if self.on and event == "open" and isinstance(arguments[0], str | os.PathLike):
            self.names[os.fspath(arguments[0])] += 1

    def ending(self, suffix: str) -> list[int]:
        """Return how often each file with this suffix was opened."""
        return [number for name, number in self.names.items() if name.endswith(suffix)]


@pytest.fixture
def counted() -> Iterator[Callable[[], Opened]]:
    """Return a function that starts a new count of opened files, and stops earlier counts."""
    counters: list[Opened] = []

    def start() -> Opened:
        for counter in counters:
            counter.on = False
        counters.append(Opened())
        return counters[-1]

    yield start
    start().on = False


@pytest.fixture
def directory(tmp_path: Path, shared_cache: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A task whose files are old enough to be trusted, with a cache that has only the shapes."""
    shutil.copytree(shared_cache / "shapes", tmp_path / "cache/shapes")
    monkeypatch.setenv("PGDL_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(digests, "SETTLED_S", 0.0)
    return make_task(tmp_path)


def read(directory: Path) -> Task:
    return read_task(TaskDirectory(directory).runnable()[0])


def test_a_board_after_a_run_reads_no_weights_nor_a_run_after_a_board_twice(directory, counted):
    (files,) = TaskDirectory(directory).runnable()
    board = counted()
    contents = read_contents(files)
    assert board.ending(".hdf5") == [1] * FILES
    run = counted()
    task = read(directory)
    assert run.ending(".hdf5") == [1] * FILES
    assert contents.models == {model.id: model.digest for model in task.models}
    again = counted()
    assert read_contents(files) == contents
    assert again.ending(".hdf5") == []
    last = counted()
    assert read(directory).models == task.models
    assert (last.ending(".hdf5"), last.ending(".tfrecord")) == ([], [])


@pytest.mark.parametrize("file", ["weights.hdf5", "weights_init.hdf5"])
def test_weights_that_change_are_read_again(file, directory, counted):
    before = read(directory)
    weights = directory / "model_3" / file
    state = weights.stat()
    with h5py.File(weights, "a") as content:
        content["dense/dense/weight_1:0"][0] += 1
    os.utime(weights, ns=(state.st_atime_ns, state.st_mtime_ns))
    assert weights.stat().st_size == state.st_size
    counter = counted()
    after = read(directory)
    assert counter.ending(".hdf5") == [1, 1]
    changed = [model.id for model, old in zip(after.models, before.models, strict=True) if model != old]
    assert changed == ["model_3"]
    assert after.models[3].shown_digest != before.models[3].shown_digest


def test_weights_are_checked_again_against_another_architecture(directory):
    read(directory)
    shutil.copyfile(directory / "model_7/config.json", directory / "model_0/config.json")
    with pytest.raises(InvalidTaskError, match=r"model_0/weights.hdf5: number of weights"):
        read(directory)


def test_initial_weights_that_are_gone_are_noticed(directory):
    before = read(directory).models[0]
    (directory / "model_0/weights_init.hdf5").unlink()
    after = read(directory).models[0]
    assert (before.has_initial_weights, after.has_initial_weights) == (True, False)
    assert after.shown_digest != before.shown_digest


def test_other_code_checks_again(directory, counted, monkeypatch):
    task = read(directory)
    monkeypatch.setattr(digests, "digest_of_code", lambda *_: "another version")
    counter = counted()
    assert read(directory).models == task.models
    assert counter.ending(".hdf5") == [1] * FILES


def test_a_file_that_was_written_just_now_is_not_trusted(directory, counted, monkeypatch):
    """A second write might not change the file's times."""
    monkeypatch.setattr(digests, "SETTLED_S", 3600.0)
    read(directory)
    counter = counted()
    read(directory)
    assert counter.ending(".hdf5") == [1] * FILES


def test_what_did_not_pass_is_not_remembered(directory):
    with h5py.File(directory / "model_2/weights.hdf5", "a") as content:
        content["dense/dense/weight_0:0"][0] = float("nan")
    test = directory / "dataset_1/test/shard_0.tfrecord"
    test.write_bytes(test.read_bytes()[:-1])
    for _ in range(2):
        with pytest.raises(InvalidTaskError) as refused:
            read(directory)
        assert ["NaN" in refused.value.problems[0], "truncated" in refused.value.problems[1]] == [True, True]


@pytest.mark.rest
@pytest.mark.parametrize("damage", ["", "[]", "{}", '{"digests": [], "findings": 1}', '{"digests": {"a": 1}}'])
def test_a_damaged_memory_is_as_good_as_none(damage, directory, tmp_path):
    task = read(directory)
    for file in (tmp_path / "cache/digests").iterdir():
        file.write_text(damage)
    assert read(directory).models == task.models
