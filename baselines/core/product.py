"""Matrix products of arrays."""

from baselines.core.lazy import tf
from baselines.core.sample import Array


def product(left: Array, right: Array) -> Array:
    """Matrix product, in TensorFlow's threads: NumPy's own would wait for those, for longer than it takes."""
    found: Array = tf.matmul(left, right).numpy()
    return found
