"""TensorFlow, imported when it is first used, so that listing the measures is fast."""

import importlib
from typing import Any


class _Lazy:
    def __getattr__(self, name: str) -> Any:
        return getattr(importlib.import_module("tensorflow"), name)


tf: Any = _Lazy()
