"""Questions about the models of a task, whose files lie on the disk only while they are asked."""

import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from harness.errors import UserError
from harness.processes import ask_all
from harness.processes.models import Question
from harness.protocols.subject import StudiedTask
from harness.task.model import Model
from harness.worker.runtimes import Runtime


def write_parts(
    program: str,
    runtime: Runtime,
    subject: StudiedTask,
    files: Mapping[str, Path],
    place: Path,
    shared: Mapping[str, Any],
    on_model: Callable[[], object],
    change: Callable[[Path], None] = lambda _: None,
) -> dict[str, UserError]:
    """Have a program write a file for each of some models; returns model id -> why there is none.

    A question holds what all share, `model`, the directory of a model in canonical form, and `target`, the file.

    Args:
        program: the program.
        runtime: the framework in which it runs models.
        subject: the task.
        files: model id -> file.
        place: an existing directory for the models' files.
        shared: what all questions hold.
        on_model: called for each model.
        change: changes a model's files once they are written.
    """
    models = [model for model in subject.models if model.id in files]
    questions = [_asking(subject, one, place, {**shared, "target": str(files[one.id])}, change) for one in models]
    failures = {}
    with closing(ask_all(program, runtime, questions)) as answers:
        for position, answer in answers:
            if isinstance(answer, UserError):
                failures[models[position].id] = answer
            on_model()
    return failures


@contextmanager
def _asking(
    subject: StudiedTask, model: Model, place: Path, question: Question, change: Callable[[Path], None]
) -> Iterator[Question]:
    """Yield the question while the model's files exist."""
    directory = subject.write_model(model, place / "models")
    try:
        change(directory)
        yield question | {"model": str(directory)}
    finally:
        shutil.rmtree(directory, ignore_errors=True)
