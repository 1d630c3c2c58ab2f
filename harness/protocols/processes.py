"""Several processes that answer questions about models, one question each at a time."""

import os
import queue
import threading
from collections.abc import Generator, Sequence
from typing import Any

from harness.errors import UserError
from harness.sandbox import find_gpus
from harness.task.model_process import ModelProcess
from harness.threads import run_threads
from harness.worker.runtimes import Runtime

Answered = tuple[int, dict[str, Any] | UserError]


def ask_all(module: str, runtime: Runtime, questions: Sequence[dict[str, Any]]) -> Generator[Answered]:
    """Yield the position of each question and its answer, or why there is none, in the order of the answers.

    There is a process per core, or one in all if the machine has a GPU. Closing the generator kills them.

    Args:
        module: the program, see `ModelProcess`.
        runtime: the framework in which it runs models.
        questions: those to ask.
    """
    cores = len(os.sched_getaffinity(0))
    number = min(1 if find_gpus() else cores, len(questions))
    waiting: queue.SimpleQueue[int] = queue.SimpleQueue()
    for position in range(len(questions)):
        waiting.put(position)
    answers: queue.SimpleQueue[Answered | BaseException | None] = queue.SimpleQueue()
    processes = [ModelProcess(module, runtime, max(cores // number, 1)) for _ in range(number)]

    def work(own: int) -> None:
        try:
            while True:
                position = waiting.get_nowait()
                try:
                    answers.put((position, processes[own].ask(questions[position])))
                except UserError as error:
                    answers.put((position, error))
                    if processes[own].has_ended:  # out of memory: the next model gets a new one
                        processes[own] = ModelProcess(module, runtime, max(cores // number, 1))
        except queue.Empty:
            pass
        except BaseException as error:
            answers.put(error)
        finally:
            answers.put(None)

    threads = [threading.Thread(target=work, args=(own,), daemon=True) for own in range(number)]
    try:
        yield from run_threads(threads, answers)
    finally:
        while not waiting.empty():
            waiting.get()
        for process in processes:
            process.kill()
