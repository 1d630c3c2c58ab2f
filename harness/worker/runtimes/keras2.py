"""TensorFlow with Keras 2, for measure files of 2020."""

import tempfile
from pathlib import Path
from typing import ClassVar

from harness.worker.runtimes.runtime import SUBMISSION, Alike
from harness.worker.runtimes.tensorflow import TensorFlow


class Keras2(TensorFlow):
    """The runtime in which `tf.keras` is Keras 2, with names that Python and NumPy have removed since 2020."""

    name = "keras2"
    summary = "TensorFlow with Keras 2, for measure files of 2020"
    distributions = ("tensorflow", "tf-keras")
    alike: ClassVar[Alike] = {("Conv3DTranspose", "dilation_rate"): (1, [1], [1, 1, 1])}

    def environment(self, threads: int, *, gpu: bool) -> dict[str, str]:
        """Return TensorFlow's environment, with Keras 2."""
        return super().environment(threads, gpu=gpu) | {"TF_USE_LEGACY_KERAS": "1"}

    def import_libraries(self) -> None:
        """Also import the modules of the competition's own program: later, this code may be at another path."""
        super().import_libraries()
        from harness.worker.legacy import ingestion_program

        ingestion_program.import_modules()

    def admit(self, module: str) -> None:
        """Restore what a participant's submission of 2020 expects."""
        if module == SUBMISSION:
            from harness.worker import legacy

            legacy.restore()

    def place(self, submission: Path, module: str) -> Path:
        """Return a copy in the home directory: measures of 2020 may write files beside themselves."""
        if module != SUBMISSION:
            return submission
        copy = Path(tempfile.mkdtemp(prefix="program-"))
        for file in submission.rglob("*"):
            if file.is_file():
                place = copy / file.relative_to(submission)
                place.parent.mkdir(parents=True, exist_ok=True)
                place.write_bytes(file.read_bytes())
        return copy

    def advice(self, error: BaseException, submission: Path) -> str:
        """Return an empty text: the advice of other runtimes is to use this runtime."""
        return ""
