"""Tests of mapped training data: a call uses memory only for pages that it writes, and other calls never see them."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matrix import full
from real_runs import records, write_submission
from throwaway import N_CLASSES, Layer, dense_weights, write_json, write_shards, write_weights

from harness.configuration import MIB
from harness.format.architecture import layer_list
from harness.format.layout import CONFIG, TRAIN, WEIGHTS
from harness.sandbox.kinds.landlock import Landlock
from harness.worker.runtimes import RUNTIMES

pytestmark = [pytest.mark.usefixtures("sandbox"), pytest.mark.rest]

#: Numbers of each input, and inputs: 96 MiB in all.
WIDTH, LARGE, SMALL = 3072, 8192, 64
SIZE = LARGE * WIDTH * 4

PASSES = {
    "tensorflow": "sum(float(x.numpy().sum(dtype='f8')) for x, _ in dataset.batch(64))",
    "torch": "sum(float(x.numpy().sum(dtype='f8')) for x, _ in torch.utils.data.DataLoader(dataset, batch_size=64))",
    "jax": "sum(float(x.sum(dtype='f8')) for x, _ in dataset.batches(64))",
}
PASSES["keras2"] = PASSES["tensorflow"]
ARRAYS = {"tensorflow": "dataset.arrays[0]", "torch": "dataset.tensors[0].numpy()", "jax": "dataset.inputs"}
ARRAYS["keras2"] = ARRAYS["tensorflow"]


def in_runtimes(tried: str) -> pytest.MarkDecorator:
    """Return a mark that runs a test with the runtime `tried`, and in `make test-all` with all runtimes."""
    return pytest.mark.parametrize("runtime", [name if name == tried else full(name) for name in RUNTIMES])


@pytest.fixture(scope="module", params=["fast", full("fresh"), full("landlock")])
def kind(request: pytest.FixtureRequest) -> str:
    if request.param == "landlock" and (problem := Landlock().problem()):
        pytest.skip(f"no Landlock here: {problem}")
    return str(request.param)


def make_task(directory: Path, name: str, n_inputs: int) -> Path:
    """Write a task with one linear model and no reference data; return `directory`."""
    random, layers = np.random.default_rng(0), [Layer(layer_name="Dense", units=float(N_CLASSES))]
    model, labels = directory / name / "model_0", np.arange(n_inputs) % N_CLASSES
    write_json(model / CONFIG, layer_list(layers, (WIDTH,)))
    write_weights(model / WEIGHTS, dense_weights(layers, random, WIDTH))
    write_shards(directory / name / TRAIN, draw_inputs(n_inputs), labels)
    return directory


def draw_inputs(number: int) -> Any:
    return np.random.default_rng(1).random((number, WIDTH), np.float32)


@pytest.fixture(scope="module")
def tasks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("tasks")
    make_task(directory, "large", LARGE)
    return make_task(directory, "small", SMALL)


def run(
    program: Any, directory: Path, tasks: Path, runtime: str, kind: str, *bodies: str, more: tuple[str, ...] = ()
) -> list[dict[str, Any]]:
    if missing := RUNTIMES[runtime].missing():
        pytest.skip(f"runtime {runtime}: not installed: {', '.join(missing)}")
    files = [write_submission(directory, f"measure_{i}", f"import {RUNTIMES[runtime].framework}\n{body}")
             for i, body in enumerate(bodies)]  # fmt: skip
    done = program(
        "run", *files, "--tasks", tasks, "--results", directory / "r.db", "--runtime", runtime, "--sandbox", kind,
        "--workers", 1, *more,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return records(directory / "r.db")


@in_runtimes("tensorflow")
def test_a_call_takes_memory_for_what_it_writes_to_alone(
    tmp_path: Path, tasks: Path, program: Any, runtime: str, kind: str
) -> None:
    bodies = ["return 0.0", f"return {PASSES[runtime]}", f"{ARRAYS[runtime]}[:] += 1\nreturn {PASSES[runtime]}"]
    rows = run(program, tmp_path, tasks, runtime, kind, *bodies)
    peaks = {(row["submission"], row["task"]): row["peak_memory_bytes"] for row in rows}
    idle, passing, writing = (peaks[f"measure_{i}", "large"] - peaks[f"measure_{i}", "small"] for i in range(3))
    assert idle < 10 * MIB
    assert passing < 40 * MIB
    assert SIZE - 5 * MIB < writing < SIZE + 40 * MIB


#: Writes to a page in three ways; the last one is not possible everywhere.
WRITE = """
import ctypes, os
array = ARRAY
array[:64] = -1
ctypes.memset(array[64:].ctypes.data, 255, array[64:128].nbytes)
try:
    os.pwrite(os.open('/proc/self/mem', os.O_RDWR), bytes(4096), array[128:].ctypes.data)
except OSError:
    pass
return float(array[0, 0])
"""


@in_runtimes("torch")
def test_no_call_sees_what_another_writes(tmp_path: Path, tasks: Path, program: Any, runtime: str, kind: str) -> None:
    options = ("--task", "large")
    (writing,) = run(program, tmp_path, tasks, runtime, kind, WRITE.replace("ARRAY", ARRAYS[runtime]), more=options)
    assert writing["value"] == -1.0
    _, reading = run(program, tmp_path, tasks, runtime, kind, f"return {PASSES[runtime]}", more=options)
    assert reading["value"] == pytest.approx(draw_inputs(LARGE).sum(dtype=float), rel=1e-12)
