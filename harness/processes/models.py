"""Helpers for programs that answer questions about models."""

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

#: Maximum number of array elements in a batch of inputs; maximum number of its examples.
BATCH_NUMBERS, BATCH = 2**22, 512

#: Number of questions after which earlier models are freed, which takes longer than building a model.
CLEAR = 8


def of_models(answer: Callable[[Runtime, Question], Answer]) -> Callable[[str], Program]:
    """Return the function `prepare` of a program that answers questions about models in a runtime."""

    def prepare(name: str) -> Program:
        runtime, count = RUNTIMES[name], itertools.count()
        with (
            faults_of_the_model(),
            without("sklearn"),
        ):  # imported slowly by Keras
            runtime.import_libraries()
            runtime.prepare_devices()

        def program(question: Question, _say: Say) -> Answer:
            if next(count) % CLEAR == 0:
                runtime.keras.backend.clear_session()
            return answer(runtime, question)

        return program

    return prepare


def plain(answer: Callable[[Question], Answer]) -> Callable[[str], Program]:
    """Return the function `prepare` of a program that needs no runtime and reports no events."""
    return lambda _runtime: lambda question, _say: answer(question)


@contextmanager
def faults_of_the_model() -> Iterator[None]:
    """Turn errors in the context into a `UserError`: with an invalid model, a framework may raise any error.

    `MemoryError` and `FloatingPointError` stay as they are.
    """
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
    """Return the number of examples in a batch; `input_shape` is the shape of one example."""
    return max(1, min(BATCH, BATCH_NUMBERS // math.prod(input_shape)))
