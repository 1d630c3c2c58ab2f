"""Shifted images."""

from collections.abc import Iterator

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

Images = NDArray[np.float32]


def black_of(images: Images) -> NDArray[np.float32]:
    """Return the value of black in each channel: 0 in images within [0, 1], otherwise the channel's minimum."""
    lowest = images.min(axis=(0, 1, 2))
    if lowest.min() >= 0 and images.max() <= 1:
        return np.zeros_like(lowest)
    return np.asarray(lowest)


class Shifts:
    """All shifts of some images by at most `reach` pixels, made when they are asked for.

    Args:
        images: shape (n_images, height, width, channels).
        reach: largest shift in rows and in columns.
        black: value of each channel where a shift leaves an image empty; None to fill it from the other side.
    """

    def __init__(self, images: Images, reach: int, black: NDArray[np.float32] | None) -> None:
        width = ((0, 0), (reach, reach), (reach, reach), (0, 0))
        if black is None:
            canvas = np.pad(images, width, mode="wrap")
        else:
            canvas = np.pad(images - black, width) + black
            canvas[:, reach:-reach, reach:-reach] = images  # exactly, without rounding
        self._windows = sliding_window_view(canvas, images.shape[1:3], axis=(1, 2))
        self._reach = reach

    def batches(self, wanted: NDArray[np.bool_], size: int) -> Iterator[tuple[tuple[NDArray[np.intp], ...], Images]]:
        """Yield the positions of wanted shifts, and the shifted images, in batches.

        Args:
            wanted: shape (n_images, 2 * reach + 1, 2 * reach + 1); in the middle is the image itself, above it the
                image shifted up, to the left of it the image shifted left.
            size: most images of a batch. Smaller batches are filled up with copies, since frameworks compile a model
                for each size of a batch; the positions do not include these.
        """
        images, rows, columns = np.nonzero(wanted)
        for start in range(0, len(images), size):
            part = slice(start, start + size)
            own = images[part], rows[part], columns[part]
            filled = [np.resize(index, size) for index in own]
            shifted = self._windows[filled[0], 2 * self._reach - filled[1], 2 * self._reach - filled[2]]
            yield own, np.ascontiguousarray(np.moveaxis(shifted, 1, -1))
