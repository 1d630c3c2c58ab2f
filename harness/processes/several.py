"""Distributes questions over several processes."""

import queue
import threading
from collections.abc import Generator, Sequence
from contextlib import AbstractContextManager, ExitStack, closing
from typing import Any, NamedTuple

from harness.cores import available_cores
from harness.errors import UserError
from harness.gpus import find_gpus
from harness.processes.client import NoAnswerError, Process
from harness.processes.models import Answer, Question
from harness.worker.runtimes import Runtime

#: Questions. Each is a context, within which the files of the question exist.
Questions = Sequence[AbstractContextManager[Question]]


class Reply(NamedTuple):
    """A message of a process about the question at `position`: an event, the answer, or why there is no answer."""

    position: int
    event: dict[str, Any] | None = None
    answer: Answer | None = None
    error: NoAnswerError | None = None


def share_out(processes: Sequence[Process], questions: Questions) -> Generator[Reply]:
    """Yield the replies to all questions as they arrive. At the end, the processes are killed."""
    waiting = iter(range(len(questions)))
    replies: queue.SimpleQueue[Reply | BaseException | None] = queue.SimpleQueue()

    def work(process: Process) -> None:
        try:
            for position in waiting:
                replies.put(_ask(process, position, questions, replies))
        except BaseException as error:
            replies.put(error)
        finally:
            replies.put(None)

    threads = [threading.Thread(target=work, args=(process,), daemon=True) for process in processes]
    try:
        for thread in threads:
            thread.start()
        working = len(threads)
        while working:
            reply = replies.get()
            if isinstance(reply, BaseException):
                raise reply
            if reply is None:
                working -= 1
            else:
                yield reply
    finally:
        for _ in waiting:  # skip all remaining questions
            pass
        for process in processes:
            process.cancel()
        for thread in threads:
            if thread.ident:
                thread.join()


def _ask(process: Process, position: int, questions: Questions, replies: "queue.SimpleQueue[Any]") -> Reply:
    try:
        with questions[position] as question:
            answer = process.ask(question, lambda event: replies.put(Reply(position, event=event)))
        return Reply(position, answer=answer)
    except NoAnswerError as error:
        return Reply(position, error=error)


def ask_all(program: str, runtime: Runtime, questions: Questions) -> Generator[tuple[int, Answer | UserError]]:
    """Yield (position of a question, its answer or error). A process for each core answers; with GPUs, a single one."""
    cores = available_cores()
    number = min(1 if find_gpus() else cores, len(questions))
    with ExitStack() as stack:
        processes = [
            stack.enter_context(Process(program, runtime, threads=max(cores // number, 1))) for _ in range(number)
        ]
        for reply in stack.enter_context(closing(share_out(processes, questions))):
            if reply.error is not None:
                yield reply.position, cannot_be_run(reply.error)
            elif reply.answer is not None:
                yield reply.position, reply.answer


def cannot_be_run(error: NoAnswerError) -> UserError:
    """Return an error that says that a model cannot be run, and why."""
    return UserError("cannot be run", found=error)
