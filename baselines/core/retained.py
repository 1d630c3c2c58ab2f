"""A least-recently-used cache with a size limit."""

from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator
from dataclasses import fields, is_dataclass
from typing import Any, TypeVar

R = TypeVar("R")


class Retained:
    """A cache of results by key. If their arrays exceed `limit` bytes, the least recently used results are removed.

    An array in several results counts once. A result larger than `limit` is not cached.
    """

    def __init__(self, limit: int) -> None:
        self.nbytes = 0
        self._limit = limit
        self._results: OrderedDict[Hashable, Any] = OrderedDict()
        self._uses: dict[int, int] = {}  #: id of an array -> number of cached results with it

    def __len__(self) -> int:
        return len(self._results)

    def __iter__(self) -> Iterator[Hashable]:
        return iter(self._results)

    def get(self, key: Hashable, compute: Callable[[], R]) -> R:
        """Return the result for `key`. If it is not cached, call `compute`."""
        if key in self._results:
            self._results.move_to_end(key)
            found: R = self._results[key]
            return found
        result = compute()
        self._results[key] = result
        for array, nbytes in arrays_of(result):
            self._uses[array] = self._uses.get(array, 0) + 1
            self.nbytes += nbytes if self._uses[array] == 1 else 0
        while self.nbytes > self._limit:
            self._drop_oldest()
        return result

    def _drop_oldest(self) -> None:
        _, result = self._results.popitem(last=False)
        for array, nbytes in arrays_of(result):
            self._uses[array] -= 1
            if self._uses[array] == 0:
                del self._uses[array]
                self.nbytes -= nbytes


def arrays_of(result: Any) -> Iterator[tuple[int, int]]:
    """Yield id and size in bytes of every array in a result, even inside tuples, lists and dataclasses."""
    if hasattr(result, "nbytes"):
        yield id(result), int(result.nbytes)
    elif isinstance(result, tuple | list):
        for part in result:
            yield from arrays_of(part)
    elif is_dataclass(result):
        for field in fields(result):
            yield from arrays_of(getattr(result, field.name))
