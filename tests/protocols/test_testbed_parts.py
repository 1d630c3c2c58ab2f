"""Tests of parts of the testbed: noise that gives images a wanted structural similarity, the linear probe, and ties."""

import numpy as np
import pytest
import xarray as xr
from hypothesis import given
from hypothesis import strategies as st

from harness.errors import UserError
from harness.protocols.testbed import backbone_program, noise
from harness.protocols.testbed.backbone_program import probe
from harness.protocols.testbed.noise import noisy_images, number_of_parts, similarity, write_noisy_images
from harness.protocols.testbed.results import CELL
from harness.protocols.testbed.summary import check_consistency

IMAGES = np.random.default_rng(0).uniform(0, 1, (5, 16, 13, 3)).astype(np.float32)
TARGETS = (0.05, 0.6, 0.85, 0.99)


def test_the_moments_give_the_similarity_of_scikit_image():
    draws, clean = np.random.default_rng(1).normal(size=IMAGES.shape), IMAGES.astype(np.float64)
    local = noise._LocalStatistics(clean, draws)
    for strength in (1e-3, 0.1, 2.0):
        expected = [similarity(image, image + strength * draw) for image, draw in zip(clean, draws, strict=True)]
        np.testing.assert_allclose(local.similarity(np.full(len(IMAGES), strength)), expected, rtol=1e-9)


@pytest.mark.rest
@given(st.integers(0, 10_000), st.sampled_from([1, 3, 4]), st.floats(0.01, 0.999))
def test_every_image_gets_the_wanted_similarity(seed, channels, target):
    random = np.random.default_rng(seed)
    images = random.uniform(0, 1, (3, 11, 14, channels)).astype(np.float32)
    images[0] *= random.uniform(0, 1)
    found = noisy_images(images, [target], seed)[0]
    for image, noisy in zip(images, found, strict=True):
        assert similarity(image, noisy) == pytest.approx(target, abs=0.005)


def test_images_that_are_black_or_not_finite(tmp_path):
    black = np.zeros((1, 11, 11, 1), np.float32)
    assert similarity(black[0], noisy_images(black, [0.7], 0)[0, 0]) == pytest.approx(0.7, abs=0.005)
    images = IMAGES.copy()
    images[4, 3, 3] = np.nan
    with pytest.raises(UserError, match=r"noise on test image 4: expected an SSIM of 0.6, found nan"):
        write_noisy_images(images, [0.6], 0, tmp_path, lambda: None)


def test_an_image_has_one_draw_that_is_scaled() -> None:
    first, *others = noisy_images(IMAGES, TARGETS, 7) - IMAGES
    for other in others:
        ratio = first / other
        np.testing.assert_allclose(ratio, np.broadcast_to(ratio[:, :1, :1, :1], ratio.shape), rtol=0.02)
        assert (abs(ratio[:, 0, 0, 0]) > 1).all(), "the smaller the similarity, the more noise"


def test_the_draw_depends_on_seed_and_position_alone(tmp_path, monkeypatch):
    whole = noisy_images(IMAGES, TARGETS, 3)
    monkeypatch.setattr(noise, "CHUNK", 2 * IMAGES[0].size)
    steps = []
    files = write_noisy_images(IMAGES, TARGETS, 3, tmp_path, lambda: steps.append(1))
    assert len(steps) == number_of_parts(IMAGES) == 3
    for file, expected in zip(files, whole, strict=True):
        np.testing.assert_allclose(np.load(file), expected, rtol=1e-6)
    assert not np.allclose(whole, noisy_images(IMAGES, TARGETS, 4), atol=0.01)


def blobs(n_per_class: int, seed: int, n_classes: int = 4) -> tuple[np.ndarray, np.ndarray]:
    labels = np.tile(np.arange(n_classes, dtype=np.int32), n_per_class)
    points = np.eye(n_classes)[labels] * 1e4 + np.random.default_rng(seed).normal(size=(len(labels), n_classes))
    return points, labels


def test_separable_features_are_told_apart_beside_features_that_never_vary(monkeypatch, recwarn):
    (train, labels), (test, test_labels) = blobs(10, 0), blobs(5, 1)
    counts, converged = probe(train, labels, [test, test], test_labels, [2, 4])
    assert counts.shape == (2, 2, 4, 4)
    for level, number in enumerate((2, 4)):
        expected = np.diag([5] * number + [0] * (4 - number))
        assert (counts[level] == expected).all(), "only the classes of the level, each of its test images once"
    assert converged.all()
    expected, _ = probe(train, labels, [test], test_labels, [4])
    wide, other = (np.hstack([points, np.zeros((len(points), 2))]) for points in (train, test))
    assert (probe(wide, labels, [other], test_labels, [4])[0] == expected).all()
    monkeypatch.setattr(backbone_program, "ITERATIONS", 1)
    assert not probe(train, labels, [train], labels, [4])[1].any(), "a probe that does not converge says so"


def test_backbones_with_equal_mean_errors_tie_in_whichever_order_the_errors_are_summed():
    errors = CELL, [[[0.1], [0.2], [0.3]], [[0.3], [0.2], [0.1]]]
    places = {"model": ["first", "second"], "ssim": [0.8, 0.9, 1.0], "unseen": [0.0]}
    dataset = xr.Dataset({"error_mean": errors, "error_p10": errors}, places)
    (found,) = check_consistency(dataset, {"measure": {"first": 1.0, "second": 2.0}})
    assert [found.errors["unseen 0 %", name] for name in ("error_mean", "error_p10")] == [0.5, 0.5]
