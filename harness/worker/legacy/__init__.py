"""Restores names of Python, NumPy and Keras that measures of 2020 use but today's versions lack."""

import warnings

from harness.worker.legacy.advice import would_be_cured
from harness.worker.legacy.devices import accept_settings
from harness.worker.legacy.ingestion_program import offer_modules
from harness.worker.legacy.keras_modules import KERAS_2, KERAS_3, alias_keras, use_legacy_optimizers
from harness.worker.legacy.names import restore_names
from harness.worker.legacy.ragged import accept_ragged_lists

__all__ = ["refuse_what_is_ignored", "restore", "would_be_cured"]


def restore() -> None:
    """Restore the names that Python, NumPy and Keras had in 2020, in this process. Keras 2 must be active."""
    restore_names()
    offer_modules()
    accept_settings()
    accept_ragged_lists()
    alias_keras(KERAS_2)
    use_legacy_optimizers()


def refuse_what_is_ignored() -> None:
    """Make Keras 3 raise an error for calls that it would silently interpret differently from the Keras of 2020."""
    alias_keras(KERAS_3)
    accept_settings()
    warnings.filterwarnings("error", message="Argument `decay` is no longer supported")
