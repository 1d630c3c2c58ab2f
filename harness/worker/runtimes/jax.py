"""The runtime `jax`: JAX with Keras 3."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, overload

from harness.worker.runtimes.runtime import Alike, Runtime, map_arrays

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Inputs = NDArray[np.float32]
    Labels = NDArray[np.int32]


class Jax(Runtime):
    """JAX. The training data are a sequence of NumPy arrays in host memory."""

    name = "jax"
    summary = "JAX with Keras 3"
    framework = "jax"
    distributions = ("jax", "jaxlib", "keras")
    extra = "jax"
    gpu_install = "'jax[cuda12]'"
    alike: ClassVar[Alike] = {("UpSampling2D", "interpolation"): ("nearest", "bilinear")}

    def environment(self, threads: int, *, gpu: bool) -> dict[str, str]:
        """Return environment variables that set up Keras, device, threads, GPU memory and precision."""
        return super().environment(threads, gpu=gpu) | {
            "JAX_PLATFORMS": "" if gpu else "cpu",
            "NPROC": str(threads),  # the size of XLA's thread pools
            "TF_CPP_MIN_LOG_LEVEL": "3",  # messages of XLA
            "XLA_PYTHON_CLIENT_PREALLOCATE": "false",
            "JAX_DEFAULT_MATMUL_PRECISION": "highest",  # by default, matrix products on a GPU have ten bits
        }

    def device(self) -> str:
        """Return the name of the GPU that JAX uses by default, or `cpu`."""
        import jax

        found = jax.devices()[0]
        return "cpu" if found.platform == "cpu" else str(found.device_kind)

    def build_model(self, architecture: dict[str, Any]) -> Any:
        """Return a model whose weights are zeros. JAX would compile random initializers anew for every shape."""
        with _zeros_as_initial_weights(self.keras):
            return super().build_model(architecture)

    def load_dataset(self, directory: Path) -> "Samples":
        """Return the training data. An example is read from the disk when it is used."""
        return Samples(*map_arrays(directory))


@contextmanager
def _zeros_as_initial_weights(keras: Any) -> Iterator[None]:
    import numpy as np

    def zeros(_: Any, shape: Any, dtype: Any = None, **_more: Any) -> Any:
        return np.zeros(shape, dtype)

    found = [getattr(keras.initializers, name) for name in dir(keras.initializers)]
    kinds: set[Any] = {
        base for kind in found if isinstance(kind, type) for base in kind.__mro__ if "__call__" in vars(base)
    }
    calls = {kind: vars(kind)["__call__"] for kind in kinds}
    try:
        for kind in kinds:
            kind.__call__ = zeros
        yield
    finally:
        for kind, call in calls.items():
            kind.__call__ = call


class Samples(Sequence[Any]):
    """Training data: a sequence of (float32 input, int32 label) in host memory.

    Attributes:
        inputs: all inputs, shape (n, *input_shape).
        labels: all labels, shape (n,).
    """

    def __init__(self, inputs: "Inputs", labels: "Labels") -> None:
        self.inputs, self.labels = inputs, labels

    def __len__(self) -> int:
        return len(self.labels)

    @overload
    def __getitem__(self, index: int) -> "tuple[Inputs, np.int32]": ...
    @overload
    def __getitem__(self, index: slice) -> "Samples": ...
    def __getitem__(self, index: int | slice) -> Any:
        if isinstance(index, slice):
            return Samples(self.inputs[index], self.labels[index])
        return self.inputs[index], self.labels[index]

    def batches(self, size: int) -> "Iterator[tuple[Inputs, Labels]]":
        """Yield (inputs, labels) of `size` consecutive examples; the last batch may be smaller."""
        if size < 1:
            raise ValueError(f"size: expected a positive number, found {size}")
        for start in range(0, len(self), size):
            yield self.inputs[start : start + size], self.labels[start : start + size]
