"""Tests of the linear probe of the testbed."""

import numpy as np

from harness.protocols.testbed import backbone_program
from harness.protocols.testbed.backbone_program import probe


def blobs(n_per_class: int, seed: int, n_classes: int = 4) -> tuple[np.ndarray, np.ndarray]:
    labels = np.tile(np.arange(n_classes, dtype=np.int32), n_per_class)
    points = np.eye(n_classes)[labels] * 1e4 + np.random.default_rng(seed).normal(size=(len(labels), n_classes))
    return points, labels


def test_separable_features_are_told_apart_beside_features_that_never_vary():
    (train, labels), (test, test_labels) = blobs(10, 0), blobs(5, 1)
    counts, converged = probe(train, labels, [test, test], test_labels, [2, 4])
    assert counts.shape == (2, 2, 4, 4)
    for level, number in enumerate((2, 4)):
        expected = np.diag([5] * number + [0] * (4 - number))
        assert (counts[level] == expected).all(), "only the classes of the level, each of its test images once"
    assert converged.all()
    expected, _ = probe(train, labels, [test], test_labels, [4])
    train, test = (np.hstack([points, np.zeros((len(points), 2))]) for points in (train, test))
    assert (probe(train, labels, [test], test_labels, [4])[0] == expected).all()


def test_a_probe_that_does_not_converge_says_so(monkeypatch, recwarn):
    monkeypatch.setattr(backbone_program, "ITERATIONS", 1)
    points, labels = blobs(10, 0)
    assert not probe(points, labels, [points], labels, [4])[1].any()
