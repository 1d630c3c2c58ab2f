"""Redirects imports of Keras in measures of 2020 to the active Keras, and restores optimizers of that time.

Without aliases, importing `tensorflow.python.keras` (with Keras 2 also `keras`) would import a second Keras, and layers
of the model would not be instances of its classes.
"""

import importlib
import sys
from abc import abstractmethod
from collections.abc import Iterable, Iterator
from contextlib import suppress
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any, NamedTuple


class Packages(NamedTuple):
    """The packages of the active Keras, and the packages that become its aliases."""

    public: str  #: package of its public modules
    sources: str  #: package of all its modules, public or not
    names: tuple[str, ...]

    def has(self, module: str) -> bool:
        """Return whether a module is in `names`, or inside a package in `names`."""
        return bool(self.among([module]))

    def among(self, modules: Iterable[str]) -> list[str]:
        """Return the modules for which `has` is true."""
        packages = tuple(f"{package}." for package in self.names)
        return [module for module in modules if f"{module}.".startswith(packages)]


KERAS_2 = Packages("tf_keras.api._v2.keras", "tf_keras.src", ("keras", "tensorflow.keras", "tensorflow.python.keras"))
KERAS_3 = Packages("keras", "keras.src", ("tensorflow.python.keras",))


def alias_keras(packages: Packages) -> None:
    """Make every package in `packages.names` an alias of the active Keras."""
    for name in packages.among(sys.modules):
        del sys.modules[name]  # parts of TensorFlow keep references to their private copy
    sys.meta_path.insert(0, _Aliases(packages))
    sys.meta_path.append(_Moved(packages))
    for name in packages.names:
        importlib.import_module(name)  # also binds the name in the package
    public: Any = importlib.import_module(packages.public)
    public.__version__ = importlib.import_module(packages.public.partition(".")[0]).__version__


def use_legacy_optimizers() -> None:
    """Replace Keras 2's optimizers by those of 2020, such as `SGD(lr=0.1, decay=1e-4)`.

    Strings such as "sgd" then name the optimizers of 2020, too.
    """
    names = ("optimizers", "optimizers.legacy")
    public, legacy = (importlib.import_module(f"{KERAS_2.public}.{name}") for name in names)
    for name in vars(legacy):
        if name[0].isupper():
            setattr(public, name, getattr(legacy, name))
    sources: Any = importlib.import_module(f"{KERAS_2.sources}.optimizers")
    sources.is_arm_mac = lambda: True  # on such a machine, Keras 2 chooses them for names such as "sgd"


class _Finder(MetaPathFinder, Loader):
    """Finds modules by their names of 2020. The import of such a name gives today's module itself, not a copy."""

    def __init__(self, packages: Packages) -> None:
        self.packages = packages

    @abstractmethod
    def places(self, fullname: str) -> Iterator[str]:
        """Yield names that the module `fullname` of 2020 may have today."""

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        return None if self._found(fullname) is None else ModuleSpec(fullname, self)

    def exec_module(self, module: ModuleType) -> None:
        found = self._found(module.__name__)
        assert found is not None
        sys.modules[module.__name__] = found

    def _found(self, fullname: str) -> ModuleType | None:
        for name in self.places(fullname):
            with suppress(ModuleNotFoundError):
                return importlib.import_module(name)
        return None


class _Aliases(_Finder):
    """Finds the packages in `packages.names`, and their modules."""

    def places(self, fullname: str) -> Iterator[str]:
        if fullname in self.packages.names:
            yield self.packages.public
        elif self.packages.has(fullname):
            package, _, name = fullname.rpartition(".")
            today = sys.modules[package].__name__
            is_layers = today == f"{self.packages.public}.layers" and name != "experimental"
            yield today if is_layers else f"{today}.{name}"  # modules of layers had other names, such as layers.core


class _Moved(_Finder):
    """Finds modules that are no longer public, such as `keras.utils.np_utils`, unless another finder finds them."""

    def places(self, fullname: str) -> Iterator[str]:
        public, sources = f"{self.packages.public}.", f"{self.packages.sources}."
        if fullname.startswith(public) and not fullname.startswith(sources):  # `sources` may be inside `public`
            yield sources + fullname.removeprefix(public)
