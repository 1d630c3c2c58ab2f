"""Hoards tensors, which Python's allocator knows nothing of."""

import tensorflow as tf

RUNTIME = "tensorflow"
EXPECT = ("MEMORY", "TIMEOUT")  # the latter where the machine is slow


def complexity(model, dataset):
    hoard = []
    for _ in range(512):
        hoard.append(tf.ones([1 << 20]) * float(len(hoard)))
    print("BREACH: 2 GiB")
    return 0.0
