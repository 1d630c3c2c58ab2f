"""Tests that a runtime imports only its framework, loads models cheaply, and stays safe to fork."""

import json
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from each_runtime import each, each_of, run

from harness.errors import UserError
from harness.extras import install
from harness.inspector.keys import CHOICES
from harness.sandbox import selftest
from harness.sandbox.kinds.kind import library_versions
from harness.worker.runtimes import RUNTIMES
from harness.worker.runtimes.runtime import FRAMEWORKS

pytestmark = pytest.mark.rest


@each_of("tensorflow", "jax", "torch")
def test_no_other_framework_can_be_imported(name: str) -> None:
    runtime = RUNTIMES[name]
    found = json.loads(run(name, "imports", anew=True))
    assert found["loaded"] == [runtime.framework]
    assert found["threads"] == 1, "workers are forked from it"
    assert found["errors"] == {
        other: f"{other} is not available in the runtime {name}; choose another with --runtime, or in metadata"
        for other in set(FRAMEWORKS) - {runtime.framework}
    }
    assert set(found["versions"]) == {"python", "numpy", runtime.framework, "keras"} | set(runtime.distributions) - {
        "tf-keras"
    }


def test_a_runtime_that_is_not_installed_is_named_with_a_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(type(RUNTIMES["torch"]), "distributions", ("torch", "no-such-package"))
    library_versions.cache_clear()
    with pytest.raises(UserError) as raised:
        library_versions("torch")
    library_versions.cache_clear()
    assert str(raised.value) == f"runtime torch: not installed: no-such-package; {install('torch')}"


def test_submissions_may_name_every_runtime() -> None:
    assert set(CHOICES["runtime"]) == set(RUNTIMES)


@pytest.mark.parametrize("name", ["tensorflow", "keras2"])
def test_loading_a_model_optimizes_nothing(name: str, tmp_path: Path) -> None:
    if RUNTIMES[name].missing():
        pytest.skip(f"runtime {name}: not installed")
    selftest._write_model(tmp_path)
    selftest._write_data(tmp_path)
    loaded, called = json.loads(run(name, "functions", tmp_path))
    assert loaded == []
    assert called, "a submission's operations are run as ever"


@each_of("tensorflow", "keras2")
def test_only_a_bar_that_is_asked_for_is_drawn(name: str) -> None:
    unasked, asked = run(name, "bars").split("---\n")
    assert unasked == ""
    assert "1/1" in asked


#: Five standard deviations of the correlation of 2000 independent pairs.
INDEPENDENT = 5 / 2000**0.5


@each
def test_no_two_libraries_draw_the_same(name: str) -> None:
    drawn = json.loads(run(name, "draws"))
    assert {library: len(numbers) for library, numbers in drawn.items()} == dict.fromkeys(drawn, 2000)
    assert set(drawn) >= {"python", "numpy", "keras"}
    for one, other in combinations(drawn.values(), 2):
        assert abs(np.corrcoef(one, other)[0, 1]) < INDEPENDENT


@each
def test_no_weights_are_drawn_while_a_model_is_built(name: str, tmp_path: Path) -> None:
    selftest._write_model(tmp_path)
    built, spread, own = json.loads(run(name, "weights", tmp_path))
    assert built == [[0.0, 0.0]] * 3
    assert abs(spread - 0.02**0.5) < 0.01, "Glorot: variance 2 / (50 + 50)"
    assert own == [[1.0, 1.0]] * 3
