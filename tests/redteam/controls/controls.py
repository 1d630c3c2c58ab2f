"""Honest submissions: each returns its value in every sandbox."""

import multiprocessing
import os
import subprocess
import tempfile
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import jax
import keras
import numpy as np
import tensorflow as tf
import torch
from attack_suite import expected
from scipy import linalg, optimize, stats
from torch.utils.data import DataLoader


@tf.function
def total(n):
    result = 0.0
    for i in tf.range(n):
        result += tf.cast(i, tf.float32)
    return result


@expected("OK", runtime="tensorflow", value=45.0)
def control_compiled_function(model, dataset):
    """Runs a compiled TensorFlow function with a loop in it."""
    return total(tf.constant(10))


@expected("OK", runtime="tensorflow", value=24.0)
def control_data_pipeline(model, dataset):
    """Runs a tf.data pipeline with shuffling, parallel maps and prefetching, which starts threads."""
    pipeline = dataset.shuffle(16).map(lambda x, y: (x * 2, y), num_parallel_calls=tf.data.AUTOTUNE)
    return sum(len(labels) for _, labels in pipeline.batch(5).prefetch(2))


@expected("OK", runtime="tensorflow", value=1.0)
def control_gradients(model, dataset):
    """Computes gradients of the loss by the inputs and by the weights."""
    inputs, labels = next(iter(dataset.batch(8)))
    with tf.GradientTape() as tape:
        tape.watch(inputs)
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels, model(inputs)))
    gradients = tape.gradient(loss, [inputs, *model.trainable_weights])
    return float(all(gradient is not None for gradient in gradients))


@expected("OK", runtime="jax", value=1.0)
def control_reduction_of_jax(model, dataset):
    """Adds many numbers in XLA, whose kernels for this read /proc/cpuinfo."""
    return float(jax.numpy.ones((16, 8, 8, 16)).sum(axis=(1, 2)).mean() / 64)


@expected("OK", runtime="jax", value=1.0)
def control_gradients_of_jax(model, dataset):
    """Computes gradients of each example's loss by the input, compiled and vectorized by JAX."""

    def loss(sample, label):
        return -jax.nn.log_softmax(model(sample[None])[0])[label]

    gradients = jax.jit(jax.vmap(jax.grad(loss)))(*next(dataset.batches(8)))
    return float(gradients.shape == dataset[:8].inputs.shape)


@expected("OK", runtime="torch", value=1.0)
def control_gradients_of_torch(model, dataset):
    """Computes gradients of the loss by the inputs and by the weights, in PyTorch."""
    inputs, labels = next(iter(DataLoader(dataset, batch_size=8)))
    inputs.requires_grad_()
    loss = torch.nn.functional.cross_entropy(model(inputs), labels)
    gradients = torch.autograd.grad(loss, [inputs, *model.parameters()])
    return float(all(gradient is not None for gradient in gradients))


# semaphores are files in /dev/shm, which all calls would share
@expected("OK", runtime="torch", under_landlock=("EXCEPTION", "FORBIDDEN"), value=24.0)
def control_loader_processes(model, dataset):
    """Starts two worker processes of PyTorch's data loader, which pass tensors through shared memory."""
    return float(sum(len(labels) for _, labels in DataLoader(dataset, batch_size=5, num_workers=2)))


@expected("OK", value=35.0)
def control_numpy_norms(model, dataset):
    """Returns the number of weights as a NumPy scalar."""
    return np.sum([w.size for w in model.get_weights()])


@expected("OK", value=6.0)
def control_scientific_python(model, dataset):
    """Uses SciPy: linear algebra, statistics and an optimiser."""
    minimum = optimize.minimize(lambda x: float((x[0] - 3) ** 2), np.zeros(1)).x[0]
    return round(float(linalg.norm([3.0]) + minimum * stats.kendalltau([1, 2, 3], [1, 2, 3])[0]), 3)


@expected("OK", value=10.0)
def control_scratch_files(model, dataset):
    """Writes scratch files, by their paths and with the module tempfile."""
    with tempfile.NamedTemporaryFile(suffix=".npy") as file:
        np.save(file.name, np.arange(5))
        copy = Path(os.environ["TMPDIR"], "copy.npy")
        copy.write_bytes(Path(file.name).read_bytes())
    return float(np.load(copy).sum())


def fill(array):
    array[:] = range(10)


@expected("OK", under_landlock=("FORBIDDEN",), value=45.0)  # /dev/shm is shared by all calls
def control_shared_arrays(model, dataset):
    """Shares an array with another process, which fills it: a file in /dev/shm without a name."""
    context = multiprocessing.get_context("fork")
    array = context.RawArray("d", 10)
    child = context.Process(target=fill, args=(array,))
    child.start()
    child.join()
    return sum(array)


@expected("OK", value=3.0)
def control_subprocess(model, dataset):
    """Runs another program of the machine."""
    done = subprocess.run(["/bin/echo", "3"], capture_output=True, text=True, check=True)
    return float(done.stdout)


@expected("OK", value=285.0)
def control_threads(model, dataset):
    """Uses threads, and locks between them."""
    lock = threading.Lock()
    with ThreadPoolExecutor(4) as pool, lock:
        return float(sum(pool.map(lambda i: i * i, range(10))))


@expected("OK", runtime="tensorflow", value=1.0)
def control_trains(model, dataset):
    """Makes a training step with Keras on a copy of the model."""
    copy = tf.keras.models.clone_model(model)
    copy.compile("sgd", tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    history = copy.fit(dataset.batch(8), epochs=1, verbose=0)
    return float(history.history["loss"][0] > 0)


@expected("OK", runtime="torch", value=1.0)
def control_trains_in_torch(model, dataset):
    """Makes a training step with Keras in PyTorch on a copy of the model."""
    copy = keras.models.clone_model(model)
    copy.compile("sgd", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    history = copy.fit(DataLoader(dataset, batch_size=8), epochs=1, verbose=0)
    return float(history.history["loss"][0] > 0)


def square(number):
    return number * number


# semaphores are files in /dev/shm, which all calls would share
@expected("OK", under_landlock=("FORBIDDEN",), value=285.0)
def control_worker_processes(model, dataset):
    """Uses a pool of processes, with the semaphores and pipes that it needs."""
    with multiprocessing.get_context("fork").Pool(2) as pool:
        return float(sum(pool.map(square, range(10))))
