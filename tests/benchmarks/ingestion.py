"""The competition's ingestion program in short, for comparison: a measure on every model of a task, in one process.

    python tests/benchmarks/ingestion.py MEASURE.py TASK OUTPUT

It stands for the program of the competition's organisers that called submissions in 2020, and takes the same steps in
the same order: it imports TensorFlow and the submission, reads the training data through `tf.data` from the shards, and
for one model after another builds the network from `config.json`, loads the initial weights and then the weights from
HDF5, calls `complexity(model, dataset)`, and in the end writes the values. No sandbox, no check, no limit, no record.

It runs in Keras 3, as calls of the harness do; the program of 2020 ran in Keras 2. Left out are its messages, its look
at the clock between models, and its imports of pandas and SciPy, which it does not use.
"""

import importlib.util
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import tensorflow as tf


def main(measure: Path, task: Path, output: Path) -> None:
    """Write the measure's value on each model of a task."""
    complexity, data, values = function_of(measure), training_data(task), {}
    for directory in sorted(path for path in task.iterdir() if path.name.startswith("model_") and path.is_dir()):
        tf.keras.backend.clear_session()
        values[directory.name] = float(complexity(load_model(directory), data))
    output.write_text(json.dumps(values, sort_keys=True, indent=4))


def function_of(measure: Path) -> Callable[[Any, Any], Any]:
    """Import a submission of one file, and return its function."""
    spec = importlib.util.spec_from_file_location("complexity", measure)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    complexity: Callable[[Any, Any], Any] = module.complexity
    return complexity


def training_data(task: Path) -> Any:
    """Return the examples of the training shards, read and parsed whenever they are iterated over."""

    def parsed(example: Any) -> tuple[Any, Any]:
        feature = tf.io.FixedLenFeature([], tf.string)
        found = tf.io.parse_single_example(example, {"inputs": feature, "output": feature})
        return tf.io.parse_tensor(found["inputs"], tf.float32), tf.io.parse_tensor(found["output"], tf.int32)

    return tf.data.TFRecordDataset(sorted(map(str, task.glob("dataset_1/train/shard_*.tfrecord")))).map(parsed)


def load_model(directory: Path) -> Any:
    """Build a model and load its weights; those before training are its `initial_weights`."""
    config = json.loads((directory / "config.json").read_text())
    model = Watching([layer_of(**layer) for layer in config["model_config"]])
    model.build([None, *config["input_shape"]])
    if (initial := directory / "weights_init.hdf5").exists():
        model.load_weights(initial)
        object.__setattr__(model, "initial_weights", model.get_weights())
    model.load_weights(directory / "weights.hdf5")
    return model


class Watching(tf.keras.Sequential):  # type: ignore[misc]
    """A model that lets a gradient tape watch its input."""

    def __call__(self, inputs: Any, *arguments: Any, tape: Any = None, **keywords: Any) -> Any:
        """Call the model on inputs (n, ...)."""
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
