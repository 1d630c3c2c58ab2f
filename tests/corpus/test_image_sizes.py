"""Tests of the smallest images that a family's network takes."""

import pytest

from harness.corpus.families import FAMILIES
from harness.corpus.network import training_network
from harness.corpus.trainer import smallest_side

pytestmark = pytest.mark.rest


@pytest.mark.parametrize(
    ("family", "settings", "side"),
    [
        ("vgg", {"n_blocks": 3, "n_filters": 4}, 8),
        ("vgg", {"depth": 11, "n_filters": 4}, 32),
        ("nin", {"n_convolutions": 9, "n_filters": 2}, 1),
        ("fully_convolutional", {"n_parameters": 100}, 1),
        ("resnet", {"depth": 18, "n_filters": 2}, 1),
        ("convnext", {"n_blocks": 1, "n_filters": 2, "patch": 9}, 9),
        ("mlp", {"width": 2}, 1),
    ],
)
def test_keras_builds_from_images_of_the_smallest_side_and_from_none_smaller(family, settings, side) -> None:
    layers = FAMILIES[family](2, **settings)
    assert smallest_side(layers) == side
    training_network(layers, (side, side, 3), 0.0, "glorot_uniform")
    if side > 1:
        with pytest.raises(ValueError, match="size would be"):
            training_network(layers, (side - 1, side - 1, 3), 0.0, "glorot_uniform")
