"""Computes accuracies of imported models, as a measure would see them."""

from collections.abc import Sequence
from pathlib import Path

from harness.task.model_process import PREFERRED, ModelProcess
from harness.task.shapes import installed_runtime


class AccuracyProcess(ModelProcess):
    """A process that computes accuracies; a context that ends it."""

    def __init__(self) -> None:
        super().__init__("harness.worker.accuracies", installed_runtime(PREFERRED))

    def accuracies(self, model: Path, data: Sequence[Path]) -> list[float]:
        """Return the accuracy, in [0, 1], of the canonical model in a directory on each of the data.

        Raises:
            UserError: the model cannot be run.
        """
        answer = self.ask({"model": str(model), "data": [str(path) for path in data]})
        return [float(value) for value in answer["accuracies"]]
