"""What code of 2020 expects of Python, NumPy and Keras, and today's versions no longer offer."""

from harness.worker.legacy.advice import would_be_cured
from harness.worker.legacy.keras_modules import alias_keras, use_legacy_optimizers
from harness.worker.legacy.names import restore_names
from harness.worker.legacy.ragged import accept_ragged_lists

__all__ = ["restore", "would_be_cured"]


def restore() -> None:
    """Restore it in this process, for its lifetime; Keras 2 must be what runs."""
    restore_names()
    accept_ragged_lists()
    alias_keras()
    use_legacy_optimizers()
