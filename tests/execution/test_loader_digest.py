"""Tests of the loader's digest: records that another loader made do not count."""

import shutil
from pathlib import Path

import pytest
from planned_things import NOWHERE_TO_RUN, SETTINGS, make_submission, make_task

from harness.execution import settings
from harness.execution.plan import plan_calls
from harness.execution.settings import loader_digest
from harness.worker.runtimes import RUNTIMES


@pytest.fixture
def copied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the harness, whose files decide the digest."""
    copy = tmp_path / "harness"
    for folder in ("worker", "format", "sandbox"):
        shutil.copytree(Path(settings.__file__).parents[1] / folder, copy / folder)
    monkeypatch.setattr(settings, "_HARNESS", copy)
    loader_digest.cache_clear()
    yield copy
    loader_digest.cache_clear()


def keys() -> set[str]:
    loader_digest.cache_clear()
    return {call.key for call in plan_calls([make_submission()], [make_task(2)], SETTINGS, NOWHERE_TO_RUN)}


def edit(file: Path) -> None:
    file.write_text(file.read_text() + "\nANOTHER = 1\n")


@pytest.mark.parametrize(
    "file", ["worker/runtimes/runtime.py", "worker/main.py", "format/layers.py", "sandbox/staging.py"]
)
def test_every_key_changes_with_what_loads_and_calls(file: str, copied: Path) -> None:
    before = keys()
    assert keys() == before
    edit(copied / file)
    assert not keys() & before


def test_a_runtime_depends_on_no_other(copied: Path) -> None:
    before = {name: loader_digest(name) for name in RUNTIMES}
    assert len(set(before.values())) == len(RUNTIMES)
    edit(copied / "worker" / "runtimes" / "torch.py")
    loader_digest.cache_clear()
    assert [name for name in RUNTIMES if loader_digest(name) != before[name]] == ["torch"]
    edit(copied / "worker" / "runtimes" / "tensorflow.py")
    loader_digest.cache_clear()
    changed = {name for name in RUNTIMES if loader_digest(name) != before[name]}
    assert changed == {"torch", "tensorflow", "keras2"}, "Keras 2 is built on TensorFlow"


def test_what_only_isolates_changes_no_key(copied: Path) -> None:
    before = keys()
    edit(copied / "sandbox" / "seccomp.py")
    assert keys() == before
