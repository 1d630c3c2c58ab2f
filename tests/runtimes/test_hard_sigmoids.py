"""Tests that the hard sigmoids of Keras 2 and Keras 3 follow their definitions in every runtime, and in copies."""

import json
from pathlib import Path

import numpy as np
import pytest
from each_runtime import each_of, run
from throwaway import write_json

DEFINITIONS = {
    "hard_sigmoid_of_keras_2": lambda x: np.clip(0.2 * x + 0.5, 0, 1),
    "hard_sigmoid": lambda x: np.clip(x + 3, 0, 6) / 6,
}


@pytest.fixture(scope="module")
def staged(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder, random = tmp_path_factory.mktemp("models"), np.random.default_rng(0)
    weights = [random.normal(size=shape).astype(np.float32) for shape in ((4, 5), (5,), (5, 3), (3,))]
    for name in DEFINITIONS:
        layers = [
            {"class_name": "Dense", "config": {"units": 5, "activation": name}},
            {"class_name": "Dense", "config": {"units": 3}},
            {"class_name": "Activation", "config": {"activation": name}},
        ]
        write_json(folder / name / "architecture.json", {"format": "layers", "input_shape": [4], "layers": layers})
        np.savez(folder / name / "weights.npz", **{f"w{i}": array for i, array in enumerate(weights)})
        np.save(folder / name / "inputs.npy", 3 * random.normal(size=(50, 4)).astype(np.float32))
    return {name: folder / name for name in DEFINITIONS}


@pytest.mark.rest
@each_of("tensorflow", "keras2")
def test_outputs_are_those_of_the_definition_in_copies_too(name: str, staged: dict[str, Path]) -> None:
    run(name, "forward", *staged.values())
    for activation, directory in staged.items():
        define, (a, b, c, d) = DEFINITIONS[activation], np.load(directory / "weights.npz").values()
        expected = define(define(np.load(directory / "inputs.npy") @ a + b) @ c + d)
        np.testing.assert_allclose(np.load(directory / f"outputs-{name}.npy"), expected, atol=1e-6)
    for found in json.loads(run(name, "modes", *staged.values())):
        del found["differences"]["shares"]
        assert max(found["differences"].values()) < 1e-6
