"""Matrix products of arrays."""

from baselines.core.lazy import tf
from baselines.core.sample import Array


def product(left: Array, right: Array) -> Array:
    """Matrix product, in TensorFlow's threads: NumPy's own would wait for those, for longer than it takes.

    A transposed array is not copied into another order first, which may take as long as the product.
    """
    flipped = [array.flags.f_contiguous and not array.flags.c_contiguous for array in (left, right)]
    stored = [array.T if flip else array for array, flip in zip((left, right), flipped, strict=True)]
    found: Array = tf.matmul(*stored, transpose_a=flipped[0], transpose_b=flipped[1]).numpy()
    return found
