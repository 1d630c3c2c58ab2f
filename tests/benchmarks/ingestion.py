"""A short version of the competition's ingestion program, for comparison: a measure on every model, in one process.

    python tests/benchmarks/ingestion.py MEASURE.py TASK OUTPUT

The competition's organisers called submissions with that program in 2020. This version takes the same steps in the same
order: it imports TensorFlow and the submission, and reads the training data through `tf.data` from the shards. For each
model, it builds the network from `config.json`, loads the initial and then the trained weights from HDF5, and calls
`complexity(model, dataset)`. At the end it writes the values. It has no sandbox, checks, limits or records.

It uses Keras 3, as the harness does; the program of 2020 used Keras 2. It prints no messages, does not look at the
clock between models, and does not import pandas and SciPy, which the program imported without need.
"""

import importlib.util
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import tensorflow as tf


def main(measure: Path, task: Path, output: Path) -> None:
    complexity, data, values = function_of(measure), training_data(task), {}
    for directory in sorted(path for path in task.iterdir() if path.name.startswith("model_") and path.is_dir()):
        tf.keras.backend.clear_session()
        values[directory.name] = float(complexity(load_model(directory), data))
    output.write_text(json.dumps(values, sort_keys=True, indent=4))


def function_of(measure: Path) -> Callable[[Any, Any], Any]:
    spec = importlib.util.spec_from_file_location("complexity", measure)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    complexity: Callable[[Any, Any], Any] = module.complexity
    return complexity


def training_data(task: Path) -> Any:
    """Return a dataset that reads and parses the training shards whenever it is iterated over."""

    def parsed(example: Any) -> tuple[Any, Any]:
        feature = tf.io.FixedLenFeature([], tf.string)
        found = tf.io.parse_single_example(example, {"inputs": feature, "output": feature})
        return tf.io.parse_tensor(found["inputs"], tf.float32), tf.io.parse_tensor(found["output"], tf.int32)

    return tf.data.TFRecordDataset(sorted(map(str, task.glob("dataset_1/train/shard_*.tfrecord")))).map(parsed)


def load_model(directory: Path) -> Any:
    """Build a model and load its trained weights; its `initial_weights` are the weights before training."""
    config = json.loads((directory / "config.json").read_text())
    model = Watching([layer_of(**layer) for layer in config["model_config"]])
    model.build([None, *config["input_shape"]])
    if (initial := directory / "weights_init.hdf5").exists():
        model.load_weights(initial)
        object.__setattr__(model, "initial_weights", model.get_weights())
    model.load_weights(directory / "weights.hdf5")
    return model


class Watching(tf.keras.Sequential):  # type: ignore[misc]
    """A model whose input a gradient tape watches."""

    def __call__(self, inputs: Any, *arguments: Any, tape: Any = None, **keywords: Any) -> Any:
        if tape is not None:
            tape.watch(inputs)
        return super().__call__(inputs, *arguments, **keywords)


def layer_of(layer_name: str, **settings: Any) -> Any:
    """Make a layer that remembers its last input."""

    class Remembering(getattr(tf.keras.layers, layer_name)):  # type: ignore[misc]
        def __call__(self, inputs: Any, *arguments: Any, **keywords: Any) -> Any:
            object.__setattr__(self, "_last_seen_input", inputs)
            return super().__call__(inputs, *arguments, **keywords)

    whole = {name: int(one) if isinstance(one, float) and one.is_integer() else one for name, one in settings.items()}
    return Remembering(**whole)


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
