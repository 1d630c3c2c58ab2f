"""The inputs and settings of one sandbox."""

from dataclasses import dataclass
from pathlib import Path

from harness.sandbox.devices import Gpu


@dataclass(frozen=True)
class Job:
    """Directories and settings of one call; every directory is a staged copy under an anonymous name."""

    worker: Path  #: contains the package `harness.worker`
    submission: Path  #: contains complexity.py
    model: Path  #: architecture.json, weights.npz, initial_weights.npz
    data: Path  #: inputs.npy, labels.npy
    keras: int = 3  #: 2 makes `tf.keras` mean Keras 2
    threads: int = 1  #: cores that TensorFlow may use
    gpu: Gpu | None = None  #: the only GPU visible to the call

    @property
    def directories(self) -> tuple[Path, ...]:
        """The directories, in the order of the worker's arguments."""
        return self.worker, self.submission, self.model, self.data

    def environment(self, home: str) -> dict[str, str]:
        """Return the complete environment of the worker; none of the harness' own variables is inherited."""
        threads = str(self.threads)
        return {
            "PATH": "/usr/bin:/bin",
            "HOME": home,
            "TMPDIR": home,
            "USER": "nobody",
            "LANG": "C.UTF-8",
            "PYTHONHASHSEED": "0",
            "KERAS_BACKEND": "tensorflow",
            "TF_USE_LEGACY_KERAS": "1" if self.keras == 2 else "0",
            "TF_CPP_MIN_LOG_LEVEL": "3",
            "TF_NUM_INTRAOP_THREADS": threads,
            "TF_NUM_INTEROP_THREADS": threads,
            "OMP_NUM_THREADS": threads,
            "OPENBLAS_NUM_THREADS": threads,
            "TF_FORCE_GPU_ALLOW_GROWTH": "true",
            "CUDA_CACHE_PATH": home,
            "HDF5_USE_FILE_LOCKING": "FALSE",  # the sandbox has no flock
            "CUDA_VISIBLE_DEVICES": "-1" if self.gpu is None else self.gpu.uuid,
        }


#: Program of the worker's interpreter. Its arguments are the control descriptor and the directories of the
#: worker, the submission, the model and the data. The worker's own directory is removed from `sys.path` at once.
BOOTSTRAP = (
    "import sys; from pathlib import Path; descriptor, trusted, *job = sys.argv[1:]; sys.path.insert(0, trusted); "
    "from harness.worker.main import main; sys.path.pop(0); main(int(descriptor), *map(Path, job))"
)
