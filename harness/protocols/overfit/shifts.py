"""Shifts images, and checks the overfitting test's assumption that shifted images are as probable as the originals."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

Images = NDArray[np.float32]

SPREAD = 2  #: a note is written if positions vary by less than this multiple of the largest shift
EDGES = 0.05  #: a note is written if more than this fraction of images have content at their edges
NO_PREFERENCE = 0.2  #: positions count as uniform if the mean of their unit vectors is shorter


def black_of(images: Images) -> NDArray[np.float32]:
    """Return the value of black in each channel: 0 if images are in [0, 1], otherwise the channel's minimum."""
    lowest = images.min(axis=(0, 1, 2))
    if lowest.min() >= 0 and images.max() <= 1:
        return np.zeros_like(lowest)
    return np.asarray(lowest)


class Shifts:
    """All shifts of images (n_images, height, width, channels) by at most `reach` pixels, computed on demand.

    Pixels left empty get the values `black`, one for each channel. If `black` is None, images wrap around instead.
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
        """Yield batches of shifted images: the images' indices in `wanted` (images, rows, columns), and the images.

        `wanted` is a mask, shape (n_images, 2 * reach + 1, 2 * reach + 1). The unshifted image is in the middle; rows
        above it are shifts up, columns to the left of it shifts to the left. Every batch has `size` images, because
        frameworks compile a model for each size: the last batch is filled up with copies, for which no indices are
        returned.
        """
        images, rows, columns = np.nonzero(wanted)
        for start in range(0, len(images), size):
            part = slice(start, start + size)
            own = images[part], rows[part], columns[part]
            filled = [np.resize(index, size) for index in own]
            shifted = self._windows[filled[0], 2 * self._reach - filled[1], 2 * self._reach - filled[2]]
            yield own, np.ascontiguousarray(np.moveaxis(shifted, 1, -1))


@dataclass(frozen=True)
class Positions:
    """How much the position of the content varies over a dataset's images."""

    #: standard deviation of the centre of mass in pixels, along the axis where it is smaller; for images that wrap
    #: around, the circular standard deviation, or infinity if positions are uniform
    spread: float
    touching: float  #: fraction of images with content in the outermost pixels; 0 if images wrap around

    def notes(self, radii: Sequence[int]) -> Iterator[str]:
        """Yield a note for each reason why shifted images may be less probable than the original images."""
        affected = [radius for radius in radii if self.spread < SPREAD * radius]
        if affected:
            yield (
                f"Note: the images are centred: their centre of mass varies by {self.spread:.1f} pixels (standard "
                f"deviation), so that shifts by {affected[0]} or more make images that the data do not contain. "
                "A small p-value does not prove overfitting then: the models may merely err on such images."
            )
        if self.touching > EDGES:
            yield (
                f"Note: {self.touching:.0%} of the images are not black at their edges: a shift cuts something off, "
                "and brings in black that the data do not contain."
            )


def find_positions(images: Images, black: NDArray[np.float32] | None) -> Positions:
    """Measure how much the position of the content varies over images (n_images, height, width, channels).

    `black` is the value of black in each channel. If it is None, images wrap around, and a channel's minimum is black.
    """
    wraps = black is None
    dark = images.min(axis=(0, 1, 2)) if black is None else black
    masses = np.abs(images - dark).sum(axis=-1, dtype=np.float64)
    masses = masses[masses.sum(axis=(1, 2)) > 0]
    if not len(masses):
        return Positions(0.0, 0.0)
    spread = min(_spread(masses.sum(axis=axis), wraps) for axis in (1, 2))
    inside = masses[:, 1:-1, 1:-1].sum(axis=(1, 2))
    touching = masses.sum(axis=(1, 2)) > inside * (1 + 1e-9)  # a sum depends on the order of its terms
    return Positions(spread, 0.0 if wraps else float(touching.mean()))


def _spread(profiles: NDArray[np.float64], wraps: bool) -> float:
    side = profiles.shape[1]
    shares = profiles / profiles.sum(axis=1, keepdims=True)
    if not wraps:
        return float((shares @ np.arange(side)).std())
    centres = shares @ np.exp(2j * np.pi * np.arange(side) / side)
    directions = centres / np.maximum(np.abs(centres), 1e-12)
    length = float(np.abs(directions.mean()))
    if length < NO_PREFERENCE:
        return math.inf
    return math.sqrt(-2 * math.log(min(length, 1.0))) * float(side) / (2 * math.pi)
