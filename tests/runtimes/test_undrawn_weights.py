"""A model is built without drawing weights that its own replace, and its initializers draw as ever."""

import json
from pathlib import Path

from each_runtime import each, run

from harness.sandbox import selftest


@each
def test_no_weights_are_drawn_while_a_model_is_built(name: str, tmp_path: Path) -> None:
    selftest._write_model(tmp_path)
    built, spread, own = json.loads(run(name, "weights", tmp_path))
    assert built == [[0.0, 0.0]] * 3
    assert abs(spread - 0.02**0.5) < 0.01, "Glorot: variance 2 / (50 + 50)"
    assert own == [[1.0, 1.0]] * 3
