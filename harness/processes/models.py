"""Helpers of programs, and of programs that run models."""

import itertools
import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from harness.errors import UserError
from harness.worker.runtimes import RUNTIMES, Runtime
from harness.worker.runtimes.runtime import without

Question = dict[str, Any]
Answer = dict[str, Any]
Say = Callable[[dict[str, Any]], None]
Program = Callable[[Question, Say], Answer]

#: Maximum number of elements of all inputs in a batch, and of its examples.
BATCH_NUMBERS, BATCH = 2**22, 512

#: Number of questions after which the layers of earlier models are freed, which is slower than building a model.
CLEAR = 8


def of_models(answer: Callable[[Runtime, Question], Answer]) -> Callable[[str], Program]:
    """Return the `prepare` of a program that answers questions about models, in a runtime that it imports."""

    def prepare(name: str) -> Program:
        runtime, count = RUNTIMES[name], itertools.count()
        with faults_of_the_model(), without("sklearn"):  # Keras would import it: a third of the time until it answers
            runtime.import_libraries()
            runtime.prepare_devices()

        def program(question: Question, _say: Say) -> Answer:
            if next(count) % CLEAR == 0:
                runtime.keras.backend.clear_session()
            return answer(runtime, question)

        return program

    return prepare


def plain(answer: Callable[[Question], Answer]) -> Callable[[str], Program]:
    """Return the `prepare` of a program that prepares nothing and reports no events."""
    return lambda _runtime: lambda question, _say: answer(question)


@contextmanager
def faults_of_the_model() -> Iterator[None]:
    """Turn every error into a `UserError`: a model may be a stranger's, and frameworks raise many types of errors."""
    from harness.worker.architecture import ArchitectureError

    try:
        yield
    except (UserError, FloatingPointError, MemoryError):
        raise
    except ArchitectureError as error:
        raise UserError(str(error)) from error
    except Exception as error:
        raise UserError(" ".join(f"{type(error).__name__}: {error}".split())[:300]) from error


def batch_size(input_shape: tuple[int, ...]) -> int:
    """Return the number of examples of a batch."""
    return max(1, min(BATCH, BATCH_NUMBERS // math.prod(input_shape)))
