"""Run by test_dataset.py in a process with TensorFlow: seconds of one pass over shards, and over decoded arrays."""

import json
import sys
import time
from pathlib import Path

import tensorflow as tf

from harness.worker.dataset import load_dataset

FEATURES = {name: tf.io.FixedLenFeature([], tf.string) for name in ("inputs", "output")}


def parse(record):
    example = tf.io.parse_single_example(record, FEATURES)
    return tf.io.parse_tensor(example["inputs"], tf.float32), tf.io.parse_tensor(example["output"], tf.int32)


def seconds(dataset):
    times = []
    for _ in range(5):
        start = time.perf_counter()
        for _batch in dataset.batch(256):
            pass
        times.append(time.perf_counter() - start)
    return min(times)  # the least disturbed pass


shards, arrays = (Path(argument) for argument in sys.argv[1:])
parsed = tf.data.TFRecordDataset([str(file) for file in sorted(shards.glob("*.tfrecord"))]).map(parse)
print(json.dumps({"parsing": seconds(parsed), "decoded": seconds(load_dataset(arrays))}))
