"""The families of measures: each is a package beside `core` and `network`, with a module for each group of measures."""

import importlib
import pkgutil
from pathlib import Path

#: Packages that all families share.
COMMON = ("core", "network")

#: The first families of the catalogue; others follow in alphabetical order.
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
    """Return the families in the order of the catalogue; in a sandbox, only the families that its measures need."""
    there = set(_modules(Path(__file__).parents[1])) - {*COMMON}
    return [*(family for family in FIRST if family in there), *sorted(there - {*FIRST})]


def _modules(package: Path) -> list[str]:
    return sorted(module.name for module in pkgutil.iter_modules([str(package)]))


def family_of(module: str) -> str:
    """Return the family of a module: `label variation` for a module in the package `label_variation`."""
    return module.split(".")[-2].replace("_", " ")
