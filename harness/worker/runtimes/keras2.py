"""TensorFlow with Keras 2, for measure files of 2020."""

import importlib

from harness.worker.runtimes.tensorflow import TensorFlow

#: Name of a submission's module; the modules of the harness' own measures have other names.
SUBMISSION = "complexity"


class Keras2(TensorFlow):
    """`tf.keras` is Keras 2, and submissions get back names that Python and NumPy have removed since 2020."""

    name = "keras2"
    summary = "TensorFlow with Keras 2, for measure files of 2020"
    distributions = ("tensorflow", "tf-keras")

    def environment(self, threads: int, *, gpu: bool) -> dict[str, str]:
        """Return TensorFlow's, with Keras 2."""
        return super().environment(threads, gpu=gpu) | {"TF_USE_LEGACY_KERAS": "1"}

    def import_libraries(self) -> None:
        """Import also the names of 2020: in the sandbox of a fork the worker's code is at another path."""
        super().import_libraries()
        importlib.import_module("harness.worker.of_2020")

    def admit(self, module: str) -> None:
        """Restore the names of 2020 for a participant's submission."""
        if module == SUBMISSION:
            from harness.worker.of_2020 import restore_names

            restore_names()
