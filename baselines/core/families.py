"""The families of measures: packages beside `core` and `network`. Each module of a family is a group of measures."""

import importlib
import pkgutil
from pathlib import Path

#: Packages that all families use.
COMMON = ("core", "network")

#: The first families of the catalogue. All others follow in alphabetical order.
FIRST = (
    "size", "norm", "margin", "sharpness", "gradient", "label_variation", "consistency", "representation",
    "perturbation_response", "neural_activation", "compression", "control",
)  # fmt: skip


def import_families() -> None:
    """Import the modules of every family, so that their measures register themselves."""
    for family in families():
        package = importlib.import_module(f"baselines.{family}")
        for module in _modules(Path(package.__path__[0])):
            importlib.import_module(f"baselines.{family}.{module}")


def families() -> list[str]:
    """Return the families in the order of the catalogue; in a sandbox, only those that the sandbox's measures need."""
    there = set(_modules(Path(__file__).parents[1])) - {*COMMON}
    return [*(family for family in FIRST if family in there), *sorted(there - {*FIRST})]


def _modules(package: Path) -> list[str]:
    return sorted(module.name for module in pkgutil.iter_modules([str(package)]))


def family_of(module: str) -> str:
    """Return the name of a module's family, such as `label variation` for the package `label_variation`."""
    return module.split(".")[-2].replace("_", " ")
