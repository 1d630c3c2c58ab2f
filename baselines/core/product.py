"""Matrix products of NumPy arrays by TensorFlow."""

from baselines.core.lazy import tf
from baselines.core.sample import Array


def product(left: Array, right: Array) -> Array:
    """Return the matrix product, computed by TensorFlow: NumPy's threads would compete with TensorFlow's."""
    flipped = [array.flags.f_contiguous and not array.flags.c_contiguous for array in (left, right)]
    stored = [array.T if flip else array for array, flip in zip((left, right), flipped, strict=True)]
    found: Array = tf.matmul(*stored, transpose_a=flipped[0], transpose_b=flipped[1]).numpy()
    return found
