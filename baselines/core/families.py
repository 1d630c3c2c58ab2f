"""The families of measures: one package beside `core` and `network` for each, one module for each group of measures."""

import importlib
import importlib.util
import pkgutil

#: The families in the order of the catalogue.
FAMILIES = (
    "size", "norm", "margin", "sharpness", "gradient", "label_variation", "consistency", "perturbation_response",
    "neural_activation", "compression", "control",
)  # fmt: skip


def import_families() -> None:
    """Import the modules of every family, by name, so that their measures register themselves.

    A sandbox is shown only the families that its measures are made of: the others are not there.
    """
    for family in FAMILIES:
        if importlib.util.find_spec(f"baselines.{family}") is not None:
            package = importlib.import_module(f"baselines.{family}")
            for name in sorted(module.name for module in pkgutil.iter_modules(package.__path__)):
                importlib.import_module(f"baselines.{family}.{name}")


def family_of(module: str) -> str:
    """Return the name of the family whose package holds a module: `label variation` for `label_variation`."""
    return module.split(".")[-2].replace("_", " ")
