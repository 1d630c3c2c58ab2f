"""The frameworks in which submissions run: a file for each, with only the differences between them."""

from harness.worker.runtimes.jax import Jax
from harness.worker.runtimes.keras2 import Keras2
from harness.worker.runtimes.runtime import Runtime, version_of
from harness.worker.runtimes.tensorflow import TensorFlow
from harness.worker.runtimes.torch import Torch

#: All runtimes by name.
RUNTIMES: dict[str, Runtime] = {runtime.name: runtime for runtime in (TensorFlow(), Keras2(), Jax(), Torch())}

#: The runtime of a submission that names no runtime, and of the harness' own measures.
DEFAULT = TensorFlow.name

__all__ = ["DEFAULT", "RUNTIMES", "Runtime", "version_of"]
