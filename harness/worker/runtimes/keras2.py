"""The runtime for measures of 2020: TensorFlow with Keras 2."""

import tempfile
from pathlib import Path
from typing import ClassVar

from harness.worker.runtimes.runtime import SUBMISSION, Alike
from harness.worker.runtimes.tensorflow import TensorFlow


class Keras2(TensorFlow):
    """TensorFlow with Keras 2 as `tf.keras`, and with names that Python and NumPy have removed since 2020."""

    name = "keras2"
    summary = "TensorFlow with Keras 2, for measure files of 2020"
    distributions = ("tensorflow", "tf-keras")
    alike: ClassVar[Alike] = {("Conv3DTranspose", "dilation_rate"): (1, [1], [1, 1, 1])}

    def environment(self, threads: int, *, gpu: bool) -> dict[str, str]:
        """Return TensorFlow's environment variables, with Keras 2 as `tf.keras`."""
        return super().environment(threads, gpu=gpu) | {"TF_USE_LEGACY_KERAS": "1"}

    def import_libraries(self) -> None:
        """Import the libraries and the competition's modules: a forked worker could not find these modules itself."""
        super().import_libraries()
        from harness.worker.legacy import ingestion_program

        ingestion_program.import_modules()

    def admit(self, module: str) -> None:
        """Restore the names that libraries had in 2020, if the measure is a participant's and not a baseline."""
        if module == SUBMISSION:
            from harness.worker import legacy

            legacy.restore()

    def place(self, submission: Path, module: str) -> Path:
        """Return a copy of a participant's submission, because measures of 2020 may write next to their code."""
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
        """Return "": the other runtimes advise to choose this runtime, which has already been chosen."""
        return ""
