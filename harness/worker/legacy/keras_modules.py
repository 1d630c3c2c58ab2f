"""Other names of Keras in code of 2020, and its optimizers of then.

`import keras` and `tensorflow.python.keras` would give classes of another Keras, of which no layer of the model is an
instance.
"""

import importlib
import sys
from abc import abstractmethod
from collections.abc import Iterator
from contextlib import suppress
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

#: Packages that are Keras, whichever of their modules is imported.
NAMES = ("keras", "tensorflow.keras", "tensorflow.python.keras")

#: Where Keras 2 has its public modules, and all of its modules.
_PUBLIC, _SOURCES = "tf_keras.api._v2.keras", "tf_keras.src"


def alias_keras() -> None:
    """Make every package of `NAMES` the Keras 2 that runs."""
    for name in filter(_is_keras, list(sys.modules)):
        del sys.modules[name]  # the private copy that parts of TensorFlow use keeps its own references
    sys.meta_path.insert(0, _Aliases())
    sys.meta_path.append(_Moved())
    for name in NAMES:
        importlib.import_module(name)  # which also binds it in the package around it


def use_legacy_optimizers() -> None:
    """Make the optimizers of `tf.keras.optimizers`, by class and by name, those of 2020: `SGD(lr=0.1, decay=1e-4)`."""
    public, legacy = (importlib.import_module(f"{_PUBLIC}.{name}") for name in ("optimizers", "optimizers.legacy"))
    for name in vars(legacy):
        if name[0].isupper():
            setattr(public, name, getattr(legacy, name))
    sources: Any = importlib.import_module(f"{_SOURCES}.optimizers")
    sources.is_arm_mac = lambda: True  # there alone, Keras 2 itself chooses them for "sgd" and the like


def _is_keras(name: str) -> bool:
    return any(f"{name}.".startswith(f"{package}.") for package in NAMES)


class _Finder(MetaPathFinder, Loader):
    """Finds modules in other places; the module there is what is imported, not another copy of it."""

    @abstractmethod
    def places(self, fullname: str) -> Iterator[str]:
        """Yield the names that a module may have today."""

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        """Find a module, if it is in one of the places."""
        return None if self._found(fullname) is None else ModuleSpec(fullname, self)

    def exec_module(self, module: ModuleType) -> None:
        """Put the module itself in the place of the one that the import has made."""
        found = self._found(module.__name__)
        assert found is not None
        sys.modules[module.__name__] = found

    def _found(self, fullname: str) -> ModuleType | None:
        for name in self.places(fullname):
            with suppress(ModuleNotFoundError):
                return importlib.import_module(name)
        return None


class _Aliases(_Finder):
    """Finds the modules of the packages `NAMES`."""

    def places(self, fullname: str) -> Iterator[str]:
        """Yield what belongs to the package around it, as that is called today."""
        if fullname in NAMES:
            yield _PUBLIC
        elif _is_keras(fullname):
            package, _, name = fullname.rpartition(".")
            today = sys.modules[package].__name__
            yield f"{today}.{name}"
            if today == f"{_PUBLIC}.layers":  # its files were others then: layers.core
                yield today


class _Moved(_Finder):
    """Finds modules that are public no longer, such as `keras.utils.np_utils`, if no other finder does."""

    def places(self, fullname: str) -> Iterator[str]:
        """Yield its place among all modules of Keras 2."""
        if fullname.startswith(f"{_PUBLIC}."):
            yield f"{_SOURCES}.{fullname.removeprefix(f'{_PUBLIC}.')}"
