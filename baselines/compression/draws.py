"""Random numbers for examples that are the same in batches of any size."""

from collections.abc import Callable, Sequence
from typing import Any

from baselines.core.lazy import tf

#: Examples whose numbers are drawn at once; one by one takes long.
BLOCK = 8


def whole_blocks(size: int) -> int:
    """The number of examples of a batch, at most `size` if that is a block or more: only whole blocks."""
    return max(size // BLOCK, 1) * BLOCK


def drawn(draw: Callable[[Sequence[int], Any], Any], examples: Any, shape: Sequence[int]) -> Any:
    """Numbers (n, *shape) for a batch of examples.

    Args:
        draw: returns numbers of a shape for the block whose first example it is given.
        examples: their positions (n,) among all, one after the other, from the beginning of a block.
        shape: of one example's numbers.
    """
    blocks = tf.map_fn(lambda first: draw((BLOCK, *shape), first), examples[::BLOCK], fn_output_signature=tf.float32)
    return tf.reshape(blocks, (-1, *shape))[: tf.size(examples)]
