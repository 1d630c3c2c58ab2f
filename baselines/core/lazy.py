"""TensorFlow, imported at its first use, so that listing the measures takes no seconds."""

import importlib
from typing import Any


class _Lazy:
    def __getattr__(self, name: str) -> Any:
        return getattr(importlib.import_module("tensorflow"), name)


tf: Any = _Lazy()
