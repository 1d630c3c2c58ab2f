"""Prints seconds of a pass over shards and over decoded arrays; test_dataset.py runs it, since it loads TensorFlow."""

import json
import sys
from pathlib import Path

import tensorflow as tf

from harness.worker.runtimes import RUNTIMES
from tests.benchmarks.stopwatch import seconds

FEATURES = {name: tf.io.FixedLenFeature([], tf.string) for name in ("inputs", "output")}


def parse(record):
    example = tf.io.parse_single_example(record, FEATURES)
    return tf.io.parse_tensor(example["inputs"], tf.float32), tf.io.parse_tensor(example["output"], tf.int32)


def seconds_of_a_pass(dataset):
    return seconds(lambda: [None for _ in dataset.batch(256)], repeats=5)


shards, arrays = (Path(argument) for argument in sys.argv[1:])
parsed = tf.data.TFRecordDataset([str(file) for file in sorted(shards.glob("*.tfrecord"))]).map(parse)
decoded = RUNTIMES["tensorflow"].load_dataset(arrays)
print(json.dumps({"parsing": seconds_of_a_pass(parsed), "decoded": seconds_of_a_pass(decoded)}))
