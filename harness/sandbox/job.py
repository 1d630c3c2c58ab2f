"""The inputs and settings of one sandbox."""

from dataclasses import dataclass
from pathlib import Path

from harness.cores import THREADS
from harness.sandbox.devices import Gpu, search_path
from harness.worker.runtimes import DEFAULT, RUNTIMES


@dataclass(frozen=True)
class Job:
    """Directories and settings of one call; every directory is a staged copy under an anonymous name."""

    worker: Path  #: contains the package `harness.worker`
    submission: Path  #: contains complexity.py
    model: Path  #: architecture.json, weights.npz, initial_weights.npz
    data: Path  #: inputs.npy, labels.npy
    runtime: str = DEFAULT  #: name of the framework's runtime
    threads: int = 1  #: cores that the framework may use
    gpu: Gpu | None = None  #: the only GPU visible to the call

    @property
    def directories(self) -> tuple[Path, ...]:
        """The directories, in the order of the worker's arguments."""
        return self.worker, self.submission, self.model, self.data

    def environment(self, home: str) -> dict[str, str]:
        """Return the complete environment of the worker; none of the harness' own variables is inherited."""
        # Where the GPU's driver is, if the loader would not find it.
        driver = ":".join(map(str, [] if self.gpu is None else search_path()))
        return {
            "PATH": "/usr/bin:/bin",
            "HOME": home,
            "TMPDIR": home,
            "USER": "nobody",
            "LANG": "C.UTF-8",
            "PYTHONHASHSEED": "0",
            **dict.fromkeys(THREADS, str(self.threads)),
            "CUDA_CACHE_PATH": home,
            "NVIDIA_TF32_OVERRIDE": "0",  # float32 on a GPU as on a processor
            "HDF5_USE_FILE_LOCKING": "FALSE",  # the sandbox has no flock
            "CUDA_VISIBLE_DEVICES": "-1" if self.gpu is None else self.gpu.uuid,
            **({"LD_LIBRARY_PATH": driver} if driver else {}),
            **RUNTIMES[self.runtime].environment(self.threads, gpu=self.gpu is not None),
        }


#: Program of the worker's interpreter. Its arguments are the runtime, and the directories of the worker, the
#: submission, the model and the data; its standard input is the control channel. The worker's own directory is removed
#: from `sys.path` at once.
BOOTSTRAP = (
    "import sys; from pathlib import Path; runtime, trusted, *job = sys.argv[1:]; "
    "sys.path.insert(0, trusted); from harness.worker.main import main; "
    "sys.path.pop(0); main(runtime, *map(Path, job))"
)
