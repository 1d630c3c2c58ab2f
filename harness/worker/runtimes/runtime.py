"""The interface of a runtime: a framework with a version of Keras."""

import gc
import importlib
import inspect
import json
import os
import random
import sys
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import Any, ClassVar, NoReturn

#: The modules of all frameworks. A call can import only its own: the others would need a seed, threads and GPU memory.
FRAMEWORKS = ("tensorflow", "jax", "torch")

#: Name of a participant's module; modules of baselines have other names.
SUBMISSION = "complexity"

#: Keras' defaults for settings that users can change in `keras.json`.
KERAS_DEFAULTS = {"floatx": "float32", "epsilon": 1e-7, "image_data_format": "channels_last"}

#: (class name of a layer, setting) -> allowed values, the default first.
Alike = dict[tuple[str, str], tuple[Any, ...]]


class Runtime(ABC):
    """A framework, with a version of Keras, in which workers run submissions.

    `environment`, `missing` and the attributes of the class need no framework.
    """

    name: ClassVar[str]  #: `--runtime NAME`
    summary: ClassVar[str]  #: short description for `--help`
    framework: ClassVar[str]  #: the framework's module
    distributions: ClassVar[tuple[str, ...]]  #: packages of framework and Keras, whose versions affect values
    extra: ClassVar[str]  #: extra of pgdl-harness that installs the packages
    gpu_install: ClassVar[str] = ""  #: arguments of pip for the framework with CUDA; empty: this project's extra `gpu`
    #: Settings of layers -> values with which Keras computes the same as on TensorFlow. Other values are refused,
    #: because on this framework Keras would silently compute something else.
    alike: ClassVar[Alike] = {}
    versions: dict[str, str]  #: versions of Python, `distributions` and NumPy, set by `import_libraries`

    def environment(self, threads: int, *, gpu: bool) -> dict[str, str]:
        """Return environment variables for `threads` cores. The user's own settings of Keras have no effect.

        A GPU computes in float32, like a processor, and not in TensorFloat-32.
        """
        return {"KERAS_BACKEND": self.framework, "KERAS_HOME": os.devnull, "NVIDIA_TF32_OVERRIDE": "0"}

    @abstractmethod
    def load_dataset(self, directory: Path) -> Any:
        """Return the training data in `inputs.npy` (float32) and `labels.npy` (int32), in the framework's form."""

    @abstractmethod
    def device(self) -> str:
        """Initialise the framework's devices, and return the name of the GPU, or `cpu`."""

    @property
    def keras(self) -> Any:
        """The module of Keras for this framework."""
        return importlib.import_module("keras")

    def missing(self) -> list[str]:
        """Return the packages in `distributions` that are not installed. No package is imported."""
        return [name for name in self.distributions if version_of(name) is None]

    def import_libraries(self) -> None:
        """Import the framework and Keras, without initialising a device, and set `versions`."""
        others = tuple(framework for framework in FRAMEWORKS if framework != self.framework)
        sys.meta_path.insert(
            0,
            _Hidden(others, f"not available in the runtime {self.name}; choose another with --runtime, or in metadata"),
        )
        # Keras would import both packages, which takes time. matplotlib would also write files, and pandas would start
        # threads of pyarrow, after which the process cannot fork.
        with without("matplotlib"), without("pandas"), uncollected():
            importlib.import_module(self.framework)
            self.keras.layers  # noqa: B018 - imported on first access
        self._draw_no_bars()
        for name in ("architecture", "legacy", "logits"):  # a fork in a sandbox has the worker's code at another path
            importlib.import_module(f"harness.worker.{name}")
        packages = (*self.distributions, "numpy")
        found = {name.removeprefix("tf-"): version_of(name) or "" for name in packages}  # tf-keras is Keras 2
        self.versions = {"python": sys.version.split()[0]} | found

    def _draw_no_bars(self) -> None:
        """Make models draw progress bars only if `verbose` is set: bars would hide other output in a record."""
        for name in ("fit", "evaluate", "predict"):
            method: Any = inspect.unwrap(getattr(self.keras.Model, name))
            method.__defaults__ = tuple(0 if default == "auto" else default for default in method.__defaults__)

    def prepare_devices(self) -> None:  # noqa: B027 - optional
        """Before the model is built, make the framework use only as much GPU memory as it needs."""

    def build_model(self, architecture: dict[str, Any]) -> Any:
        """Return the model of an architecture, with arbitrary weights (`harness.worker.architecture.build_model`)."""
        from harness.worker.architecture import build_model

        return build_model(architecture, self.keras)

    def load_model(self, directory: Path) -> Any:
        """Return the model of `architecture.json` with the weights in `weights.npz`.

        `model.initial_weights` is the list of arrays before training, in the order of `get_weights()`; None if they
        are not known. `model.logits(inputs)` calls the model without a final softmax. Raise `ArchitectureError` if a
        layer has a setting with which Keras computes other outputs on this framework than on TensorFlow.
        """
        from harness.worker.architecture import undrawn
        from harness.worker.logits import add_logits

        architecture = json.loads((directory / "architecture.json").read_bytes())
        self._require_alike(architecture)
        with undrawn(self.keras):
            model = self.build_model(architecture)
        model.set_weights(_arrays(directory / "weights.npz"))
        initial = directory / "initial_weights.npz"
        model.initial_weights = _arrays(initial) if initial.exists() else None
        add_logits(model, architecture, self.keras)
        return model

    def _require_alike(self, architecture: dict[str, Any]) -> None:
        from harness.worker.architecture import ArchitectureError

        for position, layer in enumerate(architecture["layers"]):
            for (class_name, setting), values in self.alike.items():
                value = layer.get("config", {}).get(setting, values[0])
                if layer.get("class_name") == class_name and value not in values:
                    problem = f"Keras computes {setting}={value!r} otherwise on {self.name} than on tensorflow"
                    raise ArchitectureError(f"layer {position} ({class_name}): {problem}")

    def seed(self, seed: int) -> None:
        """Seed Python, NumPy and the framework, each with a different number: equal seeds would give equal draws."""
        import numpy as np

        first, second, third = (int(one) for one in np.random.SeedSequence(seed).generate_state(3))
        self.keras.utils.set_random_seed(first)
        np.random.seed(second)
        random.seed(third)

    def admit(self, module: str) -> None:  # noqa: B027 - optional
        """Prepare the process to import the module of a submission."""

    def place(self, submission: Path, module: str) -> Path:
        """Return the directory from which a worker imports a submission's module: `submission`, or a copy of it."""
        return submission

    def advice(self, error: BaseException, submission: Path) -> str:
        """Return a remedy for an error of a submission, as the end of a message; "" if no remedy is known."""
        from harness.worker.legacy import would_be_cured

        advice = " (code of 2020? `keras: 2`, and no other runtime, in its metadata gives it what it expects)"
        return advice if would_be_cured(error, submission) else ""


def version_of(distribution: str) -> str | None:
    """Return the version of an installed package, or of its variant `-cpu`; None if neither is installed."""
    from importlib.metadata import distributions

    found = (next(iter(distributions(name=name)), None) for name in (distribution, f"{distribution}-cpu"))
    return next((one.version for one in found if one is not None), None)


class _Hidden(MetaPathFinder, Loader):
    """Makes imports of some modules fail, with the reason as message."""

    def __init__(self, modules: tuple[str, ...], reason: str) -> None:
        self._modules, self._reason = modules, reason

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        """Return a spec for a hidden module, so that libraries can ask whether it exists."""
        return ModuleSpec(fullname, self) if fullname in self._modules else None

    def exec_module(self, module: ModuleType) -> NoReturn:
        raise ModuleNotFoundError(f"{module.__name__} is {self._reason}", name=module.__name__)


@contextmanager
def without(module: str) -> Iterator[None]:
    """Make imports of `module` fail within the context."""
    modules: dict[str, Any] = sys.modules  # None marks a module as missing
    modules[module] = None
    try:
        yield
    finally:
        del modules[module]


@contextmanager
def uncollected() -> Iterator[None]:
    """Pause garbage collection: imports make hardly any garbage, and the search for it takes a fifth of their time."""
    collects = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collects:
            gc.enable()


def map_arrays(directory: Path) -> tuple[Any, Any]:
    """Return the arrays of `inputs.npy` and `labels.npy`, memory-mapped. Writing changes only the process' copy."""
    import numpy as np

    inputs, labels = (np.asarray(np.load(directory / name, mmap_mode="c")) for name in ("inputs.npy", "labels.npy"))
    return inputs, labels


def _arrays(path: Path) -> list[Any]:
    import numpy as np

    with np.load(path) as archive:
        return [archive[f"w{i}"] for i in range(len(archive.files))]
