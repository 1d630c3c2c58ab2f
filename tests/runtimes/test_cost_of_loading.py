"""TensorFlow optimizes the operations of a submission, and not those that set the weights and wrap the data."""

import json
from pathlib import Path

import pytest
from each_runtime import run

from harness.sandbox import selftest
from harness.worker.runtimes import RUNTIMES


@pytest.mark.parametrize("name", ["tensorflow", "keras2"])
def test_loading_a_model_optimizes_nothing(name: str, tmp_path: Path) -> None:
    if RUNTIMES[name].missing():
        pytest.skip(f"runtime {name}: not installed")
    selftest._write_model(tmp_path)
    selftest._write_data(tmp_path)
    loaded, called = json.loads(run(name, "functions", tmp_path))
    assert loaded == []
    assert called, "a submission's operations are run as ever"
