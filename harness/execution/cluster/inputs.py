"""What the driver sends to machines: files of submissions, and bundles of models and training data."""

from collections import OrderedDict
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from harness.configuration import GIB
from harness.execution.cluster.cache import Cache, digests_of
from harness.execution.cluster.messages import Bundle, Need, Supplies, needs_of
from harness.execution.order import Inputs, Order

#: Bytes of bundles that the engine keeps for further machines.
KEPT_BYTES = 4 * GIB


class Supply:
    """Answers the needs of machines; files are written once, into the driver's own cache."""

    def __init__(self, put: Callable[[Sequence[Any]], Any], kept_bytes: int = KEPT_BYTES) -> None:
        """`put` has the engine keep the bytes of some files, and returns its reference."""
        self._put, self._kept_bytes = put, kept_bytes
        self._cache = Cache()
        self._sources: dict[Need, Inputs] = {}
        self._bundles: OrderedDict[Need, tuple[Bundle, int]] = OrderedDict()  #: in the order of their last use

    def add(self, orders: Sequence[Order], inputs: Inputs) -> None:
        """Take note of where the inputs of orders come from."""
        self._sources |= {need: inputs for order in orders for need in needs_of(order)}

    def answer(self, needs: Sequence[Need]) -> Supplies:
        """Return what is needed; raises `UserError` if it cannot be read or kept."""
        return {need: self._files(need) if need.kind == "submission" else self._bundle(need) for need in needs}

    def _files(self, need: Need) -> dict[str, bytes]:
        return dict(self._sources[need].files(need.digest))

    def _bundle(self, need: Need) -> Bundle:
        if need not in self._bundles:
            self._bundles[need] = self._make(need)
        self._bundles.move_to_end(need)
        bundle, _ = self._bundles[need]
        total = sum(kept for _, kept in self._bundles.values())
        while total > self._kept_bytes and len(self._bundles) > 1:
            _, (_, freed) = self._bundles.popitem(last=False)
            total -= freed
        return bundle

    def _make(self, need: Need) -> tuple[Bundle, int]:
        inputs = self._sources[need]
        write = inputs.write_model if need.kind == "model" else inputs.write_data
        while True:
            path = self._cache.add(need.kind, need.digest, lambda directory: write(need.digest, directory))
            try:
                digests = digests_of(path)
                contents = [_bytes(path / name) for name in digests]
                path.stat()  # an entry goes at once: what is still there was whole
            except FileNotFoundError:  # another process has just made room
                continue
            return Bundle(digests, self._put(contents)), sum(content.nbytes for content in contents)


def _bytes(file: Path) -> Any:
    """Return a file's bytes without reading them before they are needed."""
    return np.memmap(file, np.uint8, mode="r") if file.stat().st_size else np.empty(0, np.uint8)
