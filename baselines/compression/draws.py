"""Random numbers for each example that do not depend on the batch size."""

from collections.abc import Callable, Sequence
from typing import Any

from baselines.core.lazy import tf

#: Number of examples per draw; a draw for each example would be slow.
BLOCK = 8


def whole_blocks(size: int) -> int:
    """Return `size` rounded down to a multiple of `BLOCK`, at least `BLOCK`."""
    return max(size // BLOCK, 1) * BLOCK


def drawn(draw: Callable[[Sequence[int], Any], Any], examples: Any, shape: Sequence[int]) -> Any:
    """Return random numbers (n, *shape) for a batch of n examples.

    `draw(shape, first)` returns numbers of a given shape for the `BLOCK` examples from position `first` on. `examples`
    (n,) are consecutive positions in the sample; the first of them begins a block.
    """
    blocks = tf.map_fn(lambda first: draw((BLOCK, *shape), first), examples[::BLOCK], fn_output_signature=tf.float32)
    return tf.reshape(blocks, (-1, *shape))[: tf.size(examples)]
