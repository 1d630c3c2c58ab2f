"""Adds Gaussian noise to images until noisy and clean image have a given structural similarity (SSIM)."""

import math
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib.format import open_memmap
from numpy.typing import NDArray

from harness.cores import available_cores
from harness.errors import UserError
from scoring.streams import stream

#: Parameters of SSIM: side and standard deviation of the window in pixels, constants K1 and K2.
WINDOW, WINDOW_DEVIATION, K1, K2 = 11, 1.5, 0.01, 0.03

TOLERANCE = 0.005  #: largest allowed difference between an image's SSIM and its target

#: Powers of 10 between which the noise's standard deviation is searched; maximum number of bisections.
EXPONENTS, HALVINGS = (-6.0, 4.0), 60

CHUNK = 2**16  #: maximum number of elements of a chunk of images, so that it fits into a processor's cache

Images = NDArray[np.float32]
Array = NDArray[np.float64]


def write_noisy_images(
    images: Images, targets: Sequence[float], seed: int, directory: Path, advance: Callable[[], None]
) -> list[Path]:
    """Write a file of noisy images for each target SSIM in (0, 1) into a directory. Return the files.

    Images have the shape (n, height, width, channels), are in [0, 1], and at least 11 pixels high and wide. Each image
    gets a single draw of noise, which depends only on `seed` and the image's position, and is scaled for each target.
    Noisy images are not clipped. `advance` is called as often as `number_of_parts` says. Raise `UserError` if an image
    cannot reach a target SSIM.
    """
    files = [directory / f"noisy_{number}.npy" for number in range(len(targets))]
    stored = [open_memmap(file, "w+", np.float32, images.shape) for file in files]
    size = _part_size(images)

    def work(start: int) -> None:
        noisy = noisy_images(images[start : start + size], targets, seed, start)
        for target, part in zip(stored, noisy, strict=True):
            target[start : start + size] = part

    with ThreadPoolExecutor(available_cores()) as pool:
        futures = [pool.submit(work, start) for start in range(0, len(images), size)]
        try:
            for future in futures:
                future.result()
                advance()
        finally:
            pool.shutdown(cancel_futures=True)
    return files


def number_of_parts(images: Images) -> int:
    """Return how often `write_noisy_images` calls `advance`."""
    return -(-len(images) // _part_size(images))


def noisy_images(images: Images, targets: Sequence[float], seed: int, first: int = 0) -> Images:
    """Return noisy images (n_targets, n, height, width, channels). `first` is the first image's number in the data."""
    draws = [
        stream("noise of the testbed", seed, first + i).standard_normal(images.shape[1:]) for i in range(len(images))
    ]
    noise, clean = np.stack(draws), images.astype(np.float64)
    local = _LocalStatistics(clean, noise)
    noisy = np.empty((len(targets), *images.shape), np.float32)
    for number, target in enumerate(targets):
        deviation = _solve(local.similarity, len(images), target, first)
        noisy[number] = clean + deviation[:, None, None, None] * noise
        for position, image in enumerate(clean):
            found = similarity(image, noisy[number, position])
            if not abs(found - target) <= TOLERANCE:
                raise _unreachable(target, first + position, found)
    return noisy


def similarity(first: NDArray[Any], second: NDArray[Any]) -> float:
    """Return the SSIM (Wang et al. 2004) of two images (height, width, channels) in [0, 1]."""
    from skimage.metrics import structural_similarity

    return float(
        structural_similarity(
            first.astype(np.float64), second.astype(np.float64), data_range=1.0, channel_axis=-1, K1=K1, K2=K2,
            gaussian_weights=True, sigma=WINDOW_DEVIATION, win_size=WINDOW, use_sample_covariance=False,
        )
    )  # fmt: skip


class _LocalStatistics:
    """Local means and variances of images and noise, which determine the SSIM for every strength of the noise."""

    def __init__(self, clean: Array, noise: Array) -> None:
        from scipy.ndimage import gaussian_filter

        margin = WINDOW // 2

        def windowed(values: Array) -> Array:
            filtered = gaussian_filter(values, WINDOW_DEVIATION, axes=(1, 2), radius=margin)
            return filtered[:, margin:-margin, margin:-margin]

        self._clean, self._noise = windowed(clean), windowed(noise)
        self._variance = windowed(clean**2) - self._clean**2
        self._noise_variance = windowed(noise**2) - self._noise**2
        self._covariance = windowed(clean * noise) - self._clean * self._noise

    def similarity(self, deviation: Array) -> Array:
        """Return the SSIM (n,) of clean and noisy images; `deviation` (n,) are the noise's standard deviations."""
        scale = deviation[:, None, None, None]
        mean = self._clean + scale * self._noise
        common = scale * self._covariance
        luminance = (2 * self._clean * mean + K1**2) / (self._clean**2 + mean**2 + K1**2)
        variances = 2 * (self._variance + common) + scale**2 * self._noise_variance
        structure = (2 * (self._variance + common) + K2**2) / (variances + K2**2)
        return (luminance * structure).mean(axis=(1, 2, 3))


def _solve(similarity_at: Callable[[Array], Array], n: int, target: float, first: int) -> Array:
    low, high = (np.full(n, exponent) for exponent in EXPONENTS)
    weakest = similarity_at(10**high)
    if (weakest > target).any():
        position = int(np.argmax(weakest))
        raise _unreachable(target, first + position, float(weakest[position]))
    middle, solved = (low + high) / 2, np.zeros(n, np.bool_)
    for _ in range(HALVINGS):
        found = similarity_at(10**middle)
        solved |= abs(found - target) < min(TOLERANCE, 1 - target) / 5  # an image must not depend on others
        if solved.all():
            break
        low, high = np.where(found > target, middle, low), np.where(found > target, high, middle)
        middle = np.where(solved, middle, (low + high) / 2)
    return 10**middle


def _part_size(images: Images) -> int:
    return max(1, CHUNK // math.prod(images.shape[1:]))


def _unreachable(target: float, position: int, found: float) -> UserError:
    return UserError(f"noise on test image {position}", expected=f"an SSIM of {target:g}", found=f"{found:.4g}")
