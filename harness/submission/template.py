"""The files that `pgdl new` writes, for each runtime."""

COMPLEXITY = '''"""NAME: a complexity measure. It gets a trained network and its training data, nothing else."""

IMPORTS


def complexity(model, dataset):
    """Return one finite number: the larger it is, the larger the generalization gap you predict.

    model: a built Keras model. Calling it gives logits, or probabilities if the network ends in a softmax
        (pgdl task validate says which). In addition to Keras' own attributes it has
        model.logits(x)             calls the model without a final softmax
        model.initial_weights       list of arrays before training, in the order of model.get_weights(), or None
ARGUMENTS
    A parameter called program_dir, if there is one, gets the path of this folder.

    There is no network. Files can be written only under /tmp, where the call starts, and are deleted after it; to see
    what happens in a call, print it. Time and memory are limited (pgdl check shows your usage). Random draws are
    repeatable: Python, NumPy and FRAMEWORK are seeded before the call.
    """
    # As a start: the mean margin of the true class over the best other class, on 512 training examples.
    # Confident networks are expected to generalize better, hence the minus sign.
BODY
'''

METADATA = """# All keys are optional.
name: NAME
team:
description:
paper:
RUNTIME
deterministic:   # true: the value depends on no seed
"""

_TENSORFLOW = {
    "IMPORTS": "import tensorflow as tf",
    "ARGUMENTS": """\
        layer._last_seen_input      the input of the layer's last call
        model(x, tape=tape)         calls the model while the gradient tape watches x
    dataset: a tf.data.Dataset of single training examples (float32 input, int32 label), not yet batched. It has no
        index and no slices:
        dataset.batch(512)          batches (inputs, labels), for loops, next(iter(...)) and model.predict(...)
        dataset.arrays              all inputs and all labels, two NumPy arrays
        len(dataset)                the number of examples""",
    "FRAMEWORK": "TensorFlow",
    "BODY": """\
    inputs, labels = next(iter(dataset.batch(512)))
    logits = model.logits(inputs)
    is_true = tf.one_hot(labels, logits.shape[-1], on_value=True, off_value=False)
    true = tf.reduce_max(tf.where(is_true, logits, logits.dtype.min), axis=-1)
    other = tf.reduce_max(tf.where(is_true, logits.dtype.min, logits), axis=-1)
    return -float(tf.reduce_mean(true - other))""",
    "RUNTIME": "runtime: tensorflow",
}

_JAX = {
    "IMPORTS": "import jax\nimport jax.numpy as jnp",
    "ARGUMENTS": """\
    dataset: a sequence of training examples (float32 array, int32 label) in host memory. In addition it has
        dataset.inputs              all inputs, one array
        dataset.labels              all labels, one array
        dataset.batches(n)          iterates over (inputs, labels) of n examples; the last batch may be smaller""",
    "FRAMEWORK": "Keras",
    "BODY": """\
    inputs, labels = next(dataset.batches(512))
    logits = model.logits(inputs)
    is_true = jax.nn.one_hot(labels, logits.shape[-1], dtype=bool)
    true = jnp.max(jnp.where(is_true, logits, -jnp.inf), axis=-1)
    other = jnp.max(jnp.where(is_true, -jnp.inf, logits), axis=-1)
    return -float(jnp.mean(true - other))""",
    "RUNTIME": "runtime: jax",
}

_TORCH = {
    "IMPORTS": "import torch\nfrom torch.utils.data import DataLoader",
    "ARGUMENTS": """\
        It is an nn.Module in evaluation mode, on the GPU if there is one.
    dataset: a map-style torch.utils.data.Dataset of training examples (float32 tensor, int64 label) in host memory;
        dataset.tensors are all inputs and all labels.""",
    "FRAMEWORK": "PyTorch",
    "BODY": """\
    inputs, labels = next(iter(DataLoader(dataset, batch_size=512)))
    with torch.no_grad():
        logits = model.logits(inputs).cpu()
    is_true = torch.nn.functional.one_hot(labels, logits.shape[-1]).bool()
    true = logits.masked_fill(~is_true, -torch.inf).amax(dim=-1)
    other = logits.masked_fill(is_true, -torch.inf).amax(dim=-1)
    return -float((true - other).mean())""",
    "RUNTIME": "runtime: torch",
}

_PARTS = {
    "tensorflow": _TENSORFLOW,
    "keras2": _TENSORFLOW | {"RUNTIME": "keras: 2   # tf.keras means Keras 2, as in 2020"},
    "jax": _JAX,
    "torch": _TORCH,
}


def template(name: str, runtime: str) -> dict[str, str]:
    """Return file name -> content of a new submission called `name`, for a `runtime` such as `torch`."""
    files = {"complexity.py": COMPLEXITY, "metadata": METADATA}
    for part, text in (_PARTS[runtime] | {"NAME": name}).items():
        files = {file: content.replace(part, text) for file, content in files.items()}
    return files
