"""Values of all measures on models of the demo task, with the version of Keras that the environment selects.

python measure_values.py MODEL...    prints the library and {model: {measure: value}} as JSON

It reads the competition's format with Keras and TensorFlow alone, without the harness' reader.
"""

import json
import sys
from pathlib import Path

import numpy as np
import tensorflow as tf

import baselines

TASK_DATA = Path(__file__).parents[2] / "task_data"
DEMO = TASK_DATA / "input_data" / "digits_vgg"

#: Number of examples of the demo's training set; with all, some measures would take seconds.
N_EXAMPLES = 64


def read_model(directory: Path):
    """Return the model with its trained weights, and `initial_weights` as the competition's loader sets them."""
    config = json.loads((directory / "config.json").read_text())
    model = tf.keras.Sequential([tf.keras.Input(config["input_shape"])])
    for definition in config["model_config"]:
        options = {name: value for name, value in definition.items() if name != "layer_name"}
        model.add(getattr(tf.keras.layers, definition["layer_name"])(**options))
    model.load_weights(str(directory / "weights_init.hdf5"))
    model.initial_weights = model.get_weights()
    model.load_weights(str(directory / "weights.hdf5"))
    return model


def read_dataset(directory: Path) -> tf.data.Dataset:
    """Return the first `N_EXAMPLES` examples (image, label), unbatched, from the shards in a directory."""
    features = {name: tf.io.FixedLenFeature([], tf.string) for name in ("inputs", "output")}
    images, labels = [], []
    for record in tf.data.TFRecordDataset([str(path) for path in sorted(directory.glob("*.tfrecord"))]):
        example = tf.io.parse_single_example(record, features)
        images.append(tf.io.parse_tensor(example["inputs"], tf.float32))
        labels.append(tf.io.parse_tensor(example["output"], tf.int32))
    return tf.data.Dataset.from_tensor_slices((np.stack(images[:N_EXAMPLES]), np.stack(labels[:N_EXAMPLES])))


def values(model, dataset, names=None, seed=7) -> dict[str, float | str]:
    """Return measure -> value or error text, by default for all measures, which share their work as in the harness."""
    found = {}
    with baselines.sharing():
        for name in names or baselines.MEASURES:
            tf.keras.utils.set_random_seed(seed)
            try:
                found[name] = baselines.load(name)(model, dataset)
            except Exception as error:
                found[name] = repr(error)
    return found


if __name__ == "__main__":
    data = read_dataset(DEMO / "dataset_1" / "train")
    found = {name: values(read_model(DEMO / name), data) for name in sys.argv[1:]}
    print(json.dumps({"library": tf.keras.Sequential.__module__.partition(".")[0], "values": found}))
