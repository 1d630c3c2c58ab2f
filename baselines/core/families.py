"""The families of measures: one package beside `core` and `network` for each, one module for each group of measures."""

import importlib
import pkgutil
from pathlib import Path

#: Packages beside the families, which all of them share.
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
    """Return the families in the order of the catalogue: each package here but `COMMON`.

    A sandbox is shown only the families that its measures are made of: the others are not there.
    """
    there = set(_modules(Path(__file__).parents[1])) - {*COMMON}
    return [*(family for family in FIRST if family in there), *sorted(there - {*FIRST})]


def _modules(package: Path) -> list[str]:
    """Names of the modules in a package's directory."""
    return sorted(module.name for module in pkgutil.iter_modules([str(package)]))


def family_of(module: str) -> str:
    """Return the name of the family whose package holds a module: `label variation` for `label_variation`."""
    return module.split(".")[-2].replace("_", " ")
