"""Translates max pooling and average pooling in windows."""

from typing import Any

from harness.torch_import.network import TranslatedNetwork
from harness.torch_import.operations.convolutions import each, pad_places
from harness.torch_import.registry import UntranslatableError, translates
from harness.torch_import.values import Value, sizes_of


@translates("max_pool1d", "max_pool2d", "max_pool3d")
def _max_pool(
    network: TranslatedNetwork, x: Value, kernel_size: Any, stride: Any = None, padding: Any = 0, dilation: Any = 1,
    ceil_mode: bool = False,
) -> Value:  # fmt: skip
    """Translate max pooling. PyTorch pads with minus infinity; if no input is negative, zeros have the same effect."""
    if max(each(dilation, 1)) > 1:
        raise UntranslatableError("has dilation, which pooling in Keras does not have")
    pool = _Pool(network, x, "MaxPooling", kernel_size, stride, padding, ceil_mode)
    return pool.with_zeros() if network.is_not_negative(x) else pool.without_padding()


@translates("avg_pool1d", "avg_pool2d", "avg_pool3d")
def _avg_pool(
    network: TranslatedNetwork, x: Value, kernel_size: Any, stride: Any = None, padding: Any = 0,
    ceil_mode: bool = False, count_include_pad: bool = True, divisor_override: Any = None,
) -> Value:  # fmt: skip
    if divisor_override is not None:
        raise UntranslatableError("has a divisor_override, which Keras does not have")
    pool = _Pool(network, x, "AveragePooling", kernel_size, stride, padding, ceil_mode)
    if count_include_pad and any(right > left for left, right in pool.pads):
        raise UntranslatableError("counts only a part of its padding, in ceil mode")
    return pool.with_zeros() if count_include_pad else pool.without_padding()


class _Pool:
    """A pooling of a feature map. `pads` has (before, after) for each spatial axis: how far windows exceed the map."""

    def __init__(
        self, network: TranslatedNetwork, x: Value, kind: str, size: Any, stride: Any, padding: Any, ceil_mode: bool
    ) -> None:
        self._network, self._value = network, network.channels_last(x)
        rank = len(self._value.stored) - 1
        self._kind = f"{kind}{rank}D"
        self._size = each(size, rank)
        self._strides = each(stride, rank) if stride else self._size
        self._places, self.pads = [], []
        places = sizes_of(self._value.stored)
        for n, width, step, pad in zip(places, self._size, self._strides, each(padding, rank), strict=False):
            room = n + 2 * pad - width
            count = (room + (step - 1) * ceil_mode) // step + 1
            if ceil_mode and (count - 1) * step >= n + pad:  # PyTorch drops a window that begins after the end
                count -= 1
            self._places.append(count)
            self.pads.append((pad, max(pad, (count - 1) * step + width - n - pad) if ceil_mode else pad))

    def with_zeros(self) -> Value:
        return self._pooled(pad_places(self._network, self._value, self.pads), self._size, self._strides, "valid")

    def without_padding(self) -> Value:
        """Return the pooled feature map. Means and maxima ignore the padding, as in Keras with padding "same"."""
        if not any(map(any, self.pads)):
            return self.with_zeros()
        sizes = sizes_of(self._value.stored)[:-1]
        is_inside = [-(-n // step) for n, step in zip(sizes, self._strides, strict=True)] == self._places
        if is_inside and [self._same(n, k) for k, n in enumerate(sizes)] == self.pads:
            return self._pooled(self._value, self._size, self._strides, "same")
        if not is_inside or any(2 * left != width - 1 for (left, _), width in zip(self.pads, self._size, strict=True)):
            raise UntranslatableError("pads in a way that Keras does not have")
        ones = [1] * len(self._size)  # pool around every position, then keep every n-th
        everywhere = self._network.after(self._value, self._kind, self._config(self._size, ones, "same"))
        return self._pooled(everywhere, ones, self._strides, "valid", kind=f"MaxPooling{len(ones)}D")

    def _same(self, n: int, axis: int) -> tuple[int, int]:
        step = self._strides[axis]
        total = max((-(-n // step) - 1) * step + self._size[axis] - n, 0)
        return total // 2, total - total // 2

    def _config(self, size: list[int], strides: list[int], padding: str) -> dict[str, Any]:
        return {"pool_size": size, "strides": strides, "padding": padding}

    def _pooled(self, value: Value, size: list[int], strides: list[int], padding: str, kind: str = "") -> Value:
        config = self._config(size, strides, padding)
        return self._network.map_after(value, kind or self._kind, config, self._places)
