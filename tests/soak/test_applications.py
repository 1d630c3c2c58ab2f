"""A network of keras.applications as a backbone: half a minute, most of which Keras builds it."""

from pathlib import Path

import numpy as np
import pytest

from harness.protocols.testbed import backbones
from harness.protocols.testbed.run import evaluate_applications
from harness.protocols.testbed.settings import Settings
from harness.protocols.testbed.summary import summarize


def test_networks_of_keras_with_random_weights(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first half of the classes are seen."""
    monkeypatch.setenv("PGDL_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(backbones, "PREFERRED", ("torch", "jax", "tensorflow"))  # PyTorch compiles nothing
    random = np.random.default_rng(0)
    arrays = {}
    for part, n in (("train", 4), ("test", 2)):
        labels = np.tile(np.arange(4), n)
        arrays |= {f"x_{part}": random.integers(0, 256, (len(labels), 12, 12, 3), dtype=np.uint8), f"y_{part}": labels}
    np.savez(tmp_path / "data.npz", **arrays)
    settings = Settings(ssim=(0.8, 1.0), unseen=(0, 2))
    found = evaluate_applications(["MobileNetV2"], str(tmp_path / "data.npz"), settings, weights=None)
    assert found["size"].values.tolist() == [3_538_984]
    assert found["is_seen"].values.tolist() == [True, True, False, False]
    assert np.isfinite(found["objective"].values).all()
    assert summarize(found).point.size == 3_538_984
