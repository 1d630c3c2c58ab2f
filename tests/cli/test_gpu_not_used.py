"""Tests of GPUs that the framework cannot use: calls run without the GPU, and one message names the remedy."""

import json
from pathlib import Path

import pytest
from in_process import Pgdl

from harness.extras import install_for_gpu
from harness.gpus import find_gpus
from harness.worker.runtimes import RUNTIMES
from tests.gpu_files import machine
from tests.throwaway import make_task

WARNING = (
    "pgdl: runtime torch: calls run on the processor, not on the GPU (NVIDIA H200); install a build with CUDA: "
    f"{install_for_gpu('torch --force-reinstall --index-url https://download.pytorch.org/whl/cu126')}; "
    "pgdl doctor tries it"
)


@pytest.fixture
def gpu(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, folder: Path, sandbox: None) -> None:
    """A machine with a GPU that no framework here can use, a task and a submission."""
    root = machine(tmp_path / "machine", ("3b", 0, "aaaa"))
    monkeypatch.setattr(find_gpus, "__defaults__", (root,))  # modules bind the function, whenever they are imported
    make_task(folder, n_models=2)
    (folder / "mine").mkdir()
    (folder / "mine" / "complexity.py").write_text("def complexity(model, dataset):\n    return model.count_params()\n")
    (folder / "mine" / "metadata").write_text("name: mine\nruntime: torch\n")


@pytest.mark.rest
@pytest.mark.usefixtures("gpu", "known_shapes")
@pytest.mark.parametrize("command", [("run",), ("check", "--models", 2)], ids=["run", "check"])
def test_calls_warn_once_and_records_say_it(command: tuple[object, ...], pgdl: Pgdl, folder: Path) -> None:
    ended = pgdl(*command, "mine", "--tasks", folder)
    assert ended.code == 0, ended
    assert ended.err.splitlines().count(WARNING) == 1
    if command == ("run",):
        environment = json.loads(pgdl("results", "--format", "json").lines[0])["environment"]
        assert (environment["gpu"], environment["device"]) == ("NVIDIA H200", "cpu")


@pytest.mark.rest
@pytest.mark.usefixtures("gpu")
def test_doctor_tries_every_runtime(pgdl: Pgdl, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, runtime in RUNTIMES.items():
        monkeypatch.setattr(type(runtime), "missing", lambda _, name=name: [] if name == "torch" else [name])
    monkeypatch.setattr("harness.sandbox.devices.driver_library", lambda: None)
    found = {line["item"]: line for line in json.loads(pgdl("doctor", "--format", "json").out)}
    assert "torch and the GPU" in found, found
    assert found["torch and the GPU"]["found"] == "runs on the processor"
    assert "download.pytorch.org" in found["torch and the GPU"]["consequence"]
    assert found["GPU device nodes"]["found"] == "missing: /dev/nvidia-uvm, /dev/nvidia0, /dev/nvidiactl"
    assert found["GPU driver"]["state"] == "note"
    assert "libcuda.so.1: not found" in found["GPU driver"]["found"]
