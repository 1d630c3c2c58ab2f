"""Runs models in processes of the harness: a client sends questions, and a program in the process answers.

A program is a module with a function `prepare` (`harness.processes.service`).
"""

from harness.processes.client import FaultError, NoAnswerError, Process, UnableError
from harness.processes.several import Reply, ask_all, cannot_be_run, share_out
from harness.processes.shapes import describe
from harness.worker.runtimes.runtime import KERAS_DEFAULTS

__all__ = [
    "KERAS_DEFAULTS", "FaultError", "NoAnswerError", "Process", "Reply", "UnableError", "ask_all", "cannot_be_run",
    "describe", "share_out",
]  # fmt: skip

#: Modules that other rooms may import, too; `accuracies` and `models` are for programs.
MODULES = ("accuracies", "models", "runtimes")
