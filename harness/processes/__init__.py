"""Processes of the harness that run models: a client that asks questions, a service that answers them by a program.

A program is a module with a function `prepare` (`harness.processes.service`). Other rooms use the names exported here.
"""

from harness.processes.client import FaultError, NoAnswerError, Process, UnableError
from harness.processes.models import Answer, Program, Question, Say, batch_size, faults_of_the_model, of_models, plain
from harness.processes.runtimes import PREFERRED, QUICKEST, installed_runtime, require_runtime
from harness.processes.several import Reply, ask_all, cannot_be_run, share_out
from harness.processes.shapes import describe
from harness.worker.runtimes.runtime import KERAS_DEFAULTS

__all__ = [
    "KERAS_DEFAULTS", "PREFERRED", "QUICKEST", "Answer", "FaultError", "NoAnswerError", "Process", "Program",
    "Question", "Reply", "Say", "UnableError", "ask_all", "batch_size", "cannot_be_run", "describe",
    "faults_of_the_model", "installed_runtime", "of_models", "plain", "require_runtime", "share_out",
]  # fmt: skip
