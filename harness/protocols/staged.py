"""Questions about the models of a task, whose files lie on the disk only while they are asked."""

import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, overload

from harness.protocols.subject import Subject
from harness.task.model import Model


class ModelQuestions(Sequence[dict[str, Any]]):
    """One question for each model, for `harness.protocols.processes.ask_all`.

    A question holds what all share, `model`, the directory of the model in canonical form, and `target`, the file for
    the answer's arrays.

    Args:
        subject: the task.
        models: the models to ask about.
        targets: model id -> file.
        place: an existing directory for the models' files.
        shared: what all questions hold.
        change: changes a model's files once they are written.
    """

    def __init__(
        self,
        subject: Subject,
        models: Sequence[Model],
        targets: Mapping[str, Path],
        place: Path,
        shared: Mapping[str, Any],
        change: Callable[[Path], None] = lambda _: None,
    ) -> None:
        self.models = models
        self._subject, self._targets, self._place = subject, targets, place
        self._shared, self._change = shared, change

    def __len__(self) -> int:
        return len(self.models)

    @overload
    def __getitem__(self, position: int) -> dict[str, Any]: ...
    @overload
    def __getitem__(self, position: slice) -> Sequence[dict[str, Any]]: ...
    def __getitem__(self, position: int | slice) -> dict[str, Any] | Sequence[dict[str, Any]]:
        if isinstance(position, slice):
            return [self[one] for one in range(*position.indices(len(self)))]
        model = self.models[position]
        directory = self._subject.write_model(model, self._place / "models")
        self._change(directory)
        return {**self._shared, "model": str(directory), "target": str(self._targets[model.id])}

    def forget(self, position: int) -> None:
        """Remove a model's files."""
        shutil.rmtree(self._place / "models" / self.models[position].id, ignore_errors=True)
