"""The runtimes in which submissions run. A runtime is a framework with a version of Keras, and has its own file."""

from harness.worker.runtimes.jax import Jax
from harness.worker.runtimes.keras2 import Keras2
from harness.worker.runtimes.runtime import Runtime, version_of
from harness.worker.runtimes.tensorflow import TensorFlow
from harness.worker.runtimes.torch import Torch

#: All runtimes by name.
RUNTIMES: dict[str, Runtime] = {runtime.name: runtime for runtime in (TensorFlow(), Keras2(), Jax(), Torch())}

#: Name of the runtime of baselines, and of submissions that do not choose a runtime.
DEFAULT = TensorFlow.name

__all__ = ["DEFAULT", "RUNTIMES", "Runtime", "version_of"]
