"""Eigenvalues of the layers' correlation matrices X = W'W, as in WeightWatcher 0.7.7, Martin and Mahoney's program.

The layers are dense layers, convolutions and embeddings. Normalization is not folded, and a shared layer counts once. A
convolution has a matrix W (inputs, outputs), divided by sqrt(2), for each position of its window; its eigenvalues are
those of all its matrices. In a depthwise or grouped convolution, W has the inputs of a single group. Layers with fewer
than 8 or more than 15,000 eigenvalues, zeros included, or with a side above 50,000 are left out.

WeightWatcher has no rules for one- and three-dimensional convolutions and for multi-head attention. Here such
convolutions are treated like two-dimensional convolutions, and an attention like four dense layers.
"""

from functools import cached_property

import numpy as np

from baselines.core.needs import MeasureUnavailable
from baselines.core.sample import Array
from baselines.core.subject import Subject, shared
from baselines.network import WrittenKernel, written_kernels
from baselines.norm.operator_norm import gram

#: WeightWatcher's default limits: of the number of eigenvalues, and of the longer side of a layer's matrices.
MOST_EIGENVALUES, LONGEST_SIDE = 15_000, 50_000


class Layer:
    """A layer as matrices (window positions, inputs, outputs)."""

    def __init__(self, matrices: Array) -> None:
        self.matrices = matrices

    @property
    def sides(self) -> tuple[int, int]:
        """The shorter and the longer side of each matrix."""
        shorter, longer = sorted(self.matrices.shape[1:])
        return shorter, longer

    @property
    def n_eigenvalues(self) -> int:
        """Number of eigenvalues of all matrices, zeros included."""
        return len(self.matrices) * self.sides[0]

    @cached_property
    def eigenvalues(self) -> Array:
        """Eigenvalues (n_eigenvalues,) of all correlation matrices, ascending."""
        found: Array = np.sort(np.maximum(np.linalg.eigvalsh(gram(self.matrices)), 0.0), axis=None)
        return found

    def permuted(self, rng: np.random.Generator) -> "Layer":
        """Return a layer with the weights of each matrix in random order."""
        rows = self.matrices.reshape(len(self.matrices), -1)
        return Layer(rng.permuted(rows, axis=1).reshape(self.matrices.shape))


@shared
def counted_layers(subject: Subject, min_eigenvalues: int) -> list[Layer]:
    """Return the layers with nonzero weights and a size within the limits; raises `MeasureUnavailable` without such."""
    found = [_layer(kernel) for kernel in written_kernels(subject.model, subject.weights) if kernel.array.any()]
    found = [layer for layer in found if min_eigenvalues <= layer.n_eigenvalues <= MOST_EIGENVALUES]
    found = [layer for layer in found if layer.sides[1] <= LONGEST_SIDE]
    if not found:
        raise MeasureUnavailable(f"needs a layer with {min_eigenvalues} eigenvalues, which this network lacks")
    return found


def _layer(kernel: WrittenKernel) -> Layer:
    matrices = kernel.array.astype(np.float64).reshape(-1, *kernel.array.shape[-2:])
    return Layer(matrices / np.sqrt(2) if "Conv" in kernel.kind else matrices)
