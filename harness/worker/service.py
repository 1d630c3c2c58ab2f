"""Answers questions about models in a process of its own: the other end of `harness.model_process`.

One JSON object per line comes from standard input, and one per line goes to standard output, in the same order: the
answer, or `{"error": MESSAGE}`. The process has a limit on its memory: the models may come from strangers.
"""

import json
import math
import os
import resource
import sys
from collections.abc import Callable
from typing import Any

from harness.worker.limits import die_with_parent
from harness.worker.runtimes import RUNTIMES, Runtime
from harness.worker.runtimes.runtime import without

Question = dict[str, Any]
Answer = dict[str, Any]

#: Part of the machine's memory that a process may use.
MEMORY = 0.6

#: Numbers of inputs in a batch, and most examples.
BATCH_NUMBERS, BATCH = 2**22, 512


def serve(answer: Callable[[Runtime, Question], Answer]) -> None:
    """Answer until the input ends; output printed by the libraries goes to standard error.

    The name of the runtime is the program's argument. `answer` may raise `ArchitectureError` or `ArithmeticError` for
    a model that cannot be run; other errors are answered with their type.
    """
    die_with_parent()
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    limit = int(MEMORY * os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
    runtime = RUNTIMES[sys.argv[1]]
    with without("sklearn"):  # Keras would import it if installed: a third of the seconds until the first answer
        runtime.import_libraries()
    runtime.prepare_devices()
    for number, line in enumerate(sys.stdin):
        if number % 8 == 0:
            runtime.keras.backend.clear_session()  # frees earlier models
        answers.write(json.dumps(_answer(answer, runtime, json.loads(line))) + "\n")


def batch_size(input_shape: tuple[int, ...]) -> int:
    """Return a number of examples that a batch may hold."""
    return max(1, min(BATCH, BATCH_NUMBERS // math.prod(input_shape)))


def _answer(answer: Callable[[Runtime, Question], Answer], runtime: Runtime, question: Question) -> Answer:
    from harness.worker.architecture import ArchitectureError

    try:
        return answer(runtime, question)
    except MemoryError:
        return {"error": "out of memory"}
    except (ArchitectureError, ArithmeticError) as error:
        return {"error": str(error)}
    except Exception as error:  # the frameworks have many types for layers that fail as they compute
        return {"error": " ".join(f"{type(error).__name__}: {error}".split())[:300]}
