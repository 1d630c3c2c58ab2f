"""Moves the inputs of calls to the machines of a cluster: `Supply` in the planning process, `Store` on a machine."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from harness.configuration import GIB
from harness.errors import UserError
from harness.execution.cluster.cache import Cache, digests_of, require_digests
from harness.execution.cluster.messages import Bundle, InputKind, OrderNeed, Supplies, needs_of
from harness.execution.order import Inputs, Order
from harness.outcome import StoppedError

#: Seconds that a call waits for its inputs.
SUPPLY_S = 3600.0

#: Maximum size in bytes of the files that the engine keeps for further machines.
KEPT_BYTES = 4 * GIB


class Store:
    """The inputs of calls on a machine. `files`, `write_model` and `write_data` wait until `supply` has stored them."""

    def __init__(self, cache: Cache, fetch: Callable[[Any], Sequence[bytes]]) -> None:
        """`fetch` converts a reference of the cluster's engine to the bytes that the reference stands for."""
        self._cache, self._fetch = cache, fetch
        self._submissions: dict[str, Mapping[str, bytes]] = {}
        self._bundles: dict[OrderNeed, Bundle] = {}
        self._lacking: set[OrderNeed] = set()
        self._changed = threading.Condition()
        self._is_closed = False

    def close(self) -> None:
        """Make all threads that wait for inputs raise `StoppedError`."""
        with self._changed:
            self._is_closed = True
            self._changed.notify_all()

    @property
    def needs(self) -> tuple[OrderNeed, ...]:
        """The inputs that the machine lacks."""
        with self._changed:
            return tuple(self._lacking)

    def announce(self, orders: Sequence[Order]) -> None:
        """Add to `needs` those inputs of these orders that are not on the machine."""
        wanted = {need for order in orders for need in needs_of(order)}
        with self._changed:
            self._lacking |= {need for need in wanted if not self._has(need)}

    def _has(self, need: OrderNeed) -> bool:
        if need.kind == "submission":
            return need.digest in self._submissions
        return need in self._bundles or self._cache.entry(need.kind, need.digest) is not None

    def supply(self, supplies: Supplies) -> None:
        """Store inputs that the planning process has sent."""
        with self._changed:
            for need, content in supplies.items():
                if isinstance(content, Bundle):
                    self._bundles[need] = content
                else:
                    self._submissions[need.digest] = content
                self._lacking.discard(need)
            self._changed.notify_all()

    def files(self, submission: str) -> Mapping[str, bytes]:
        """Wait for the files of a submission, and return them by path."""
        self._await(OrderNeed("submission", submission), lambda: submission in self._submissions)
        return self._submissions[submission]

    def write_model(self, digest: str, directory: Path) -> None:
        """Wait for a model, and link its files into a directory."""
        self._write("model", digest, directory)

    def write_data(self, digest: str, directory: Path) -> None:
        """Wait for training data, and link their files into a directory."""
        self._write("data", digest, directory)

    def _write(self, kind: InputKind, digest: str, directory: Path) -> None:
        need = OrderNeed(kind, digest)
        while not self._cache.link(kind, digest, directory):
            self._await(need, lambda: need in self._bundles)
            with self._changed:
                bundle = self._bundles.pop(need)  # lets the engine free the bytes
            self._cache.add(kind, digest, partial(self._unpack, bundle))
        with self._changed:
            self._bundles.pop(need, None)  # another process on the machine has stored it meanwhile

    def _unpack(self, bundle: Bundle, directory: Path) -> None:
        for name, content in zip(bundle.digests, self._fetch(bundle.content), strict=True):
            (directory / name).write_bytes(content)
        require_digests(directory, bundle.digests)

    def _await(self, need: OrderNeed, is_here: Callable[[], bool]) -> None:
        with self._changed:
            if not is_here():
                self._lacking.add(need)
            came = self._changed.wait_for(lambda: self._is_closed or is_here(), SUPPLY_S)
            if self._is_closed:
                raise StoppedError
            if not came:
                raise UserError(f"the driver did not send a {need.kind} within {SUPPLY_S:g} s")


class Supply:
    """Sends inputs to machines on request. Models and data are first put into the planning process' own cache."""

    def __init__(self, put: Callable[[Sequence[Any]], Any], kept_bytes: int = KEPT_BYTES) -> None:
        """`put` stores bytes in the cluster's engine, and returns a reference to them."""
        self._put, self._kept_bytes = put, kept_bytes
        self._cache = Cache()
        self._sources: dict[OrderNeed, Inputs] = {}
        self._bundles: OrderedDict[OrderNeed, tuple[Bundle, int]] = OrderedDict()  #: the least recently used first

    def add(self, orders: Sequence[Order], inputs: Inputs) -> None:
        """Store `inputs` as the source of the files for these orders."""
        self._sources |= {need: inputs for order in orders for need in needs_of(order)}

    def answer(self, needs: Sequence[OrderNeed]) -> Supplies:
        """Return the inputs that a machine needs. Raise `UserError` if they cannot be read or stored."""
        return {
            need: dict(self._sources[need].files(need.digest)) if need.kind == "submission" else self._bundle(need)
            for need in needs
        }

    def _bundle(self, need: OrderNeed) -> Bundle:
        if need not in self._bundles:
            self._bundles[need] = self._make(need)
        self._bundles.move_to_end(need)
        bundle, _ = self._bundles[need]
        total = sum(kept for _, kept in self._bundles.values())
        while total > self._kept_bytes and len(self._bundles) > 1:
            _, (_, freed) = self._bundles.popitem(last=False)
            total -= freed
        return bundle

    def _make(self, need: OrderNeed) -> tuple[Bundle, int]:
        inputs = self._sources[need]
        write = inputs.write_model if need.kind == "model" else inputs.write_data
        while True:
            path = self._cache.add(need.kind, need.digest, lambda directory: write(need.digest, directory))
            try:
                digests = digests_of(path)
                contents = [_bytes(path / name) for name in digests]
                path.stat()  # entries disappear in one step: if the path exists, all files were read
            except FileNotFoundError:  # another process has just made room
                continue
            return Bundle(digests, self._put(contents)), sum(content.nbytes for content in contents)


def _bytes(file: Path) -> Any:
    """Return a file's bytes as an array that is read from the disk only when it is used."""
    return np.memmap(file, np.uint8, mode="r") if file.stat().st_size else np.empty(0, np.uint8)
