"""The registry of the functions that translate PyTorch's operations; the functions are in `operations/`."""

import functools
import importlib
from collections.abc import Callable
from typing import Any, TypeVar

from harness.registry import sibling_names

#: Remedies for an operation without a translation, and for a module in training mode.
BY_HAND = "pgdl help your-own-models says what is translated, and how to rebuild the rest in Keras"
EVALUATE = "the module was in training mode: call module.eval() before the export"

#: Function of a `TranslatedNetwork` and the operation's arguments; it returns a `Value`, or a list of them.
Translate = Callable[..., Any]

T = TypeVar("T", bound=Translate)

_TRANSLATIONS: dict[str, Translate] = {}


class UntranslatableError(Exception):
    """An operation cannot be translated. The message, such as "has no translation", follows the operation's name."""

    def __init__(self, reason: str, remedy: str = BY_HAND) -> None:
        super().__init__(reason)
        self.remedy = remedy


def translates(*names: str) -> Callable[[T], T]:
    """Register a function as the translation of operations of PyTorch, and of their in-place forms (`relu_`)."""

    def register(function: T) -> T:
        for name in names:
            if name in _TRANSLATIONS:
                raise ValueError(f"two translations of {name}")
            _TRANSLATIONS[name] = function
        return function

    return register


@functools.cache
def translations() -> dict[str, Translate]:
    """Return name of an operation (such as `conv2d`) -> function that translates it."""
    from harness.torch_import import operations

    for name in sibling_names(operations.__path__):
        importlib.import_module(f"{operations.__name__}.{name}")
    return _TRANSLATIONS
