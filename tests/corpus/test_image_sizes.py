"""Tests of images that are too small for a network of the recipe: refused before any training."""

from pathlib import Path

import pytest

from harness.corpus.families import FAMILIES
from harness.corpus.network import training_network
from harness.corpus.recipe import read_recipe
from harness.corpus.trainer import require_large_images, smallest_side
from harness.errors import UserError

pytestmark = pytest.mark.rest

RECIPE = """
name = "small"
[data]
source = "digits"
[architecture]
family = "vgg"
n_filters = 2
[training]
learning_rate = 0.05
batch_size = 10
max_epochs = 1
stop = { cross_entropy = 0.3 }
[grid]
n_blocks = [1, 3, 4, 9]
dropout = [0.0, 0.1]
"""


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


def test_one_line_names_the_recipe_and_the_settings_that_need_the_largest_images(tmp_path: Path) -> None:
    file = tmp_path / "small.toml"
    file.write_text(RECIPE)
    recipe = read_recipe(file)
    require_large_images(recipe, 512, 600)
    with pytest.raises(UserError) as refused:
        require_large_images(recipe, 10, 8)
    assert str(refused.value) == (
        f"{file}: images are too small for 4 of 8 models, such as vgg (n_filters 2, n_blocks 9): "
        "expected at least 512 x 512 pixels, found 10 x 8; change the architecture or its grid, or data.resize"
    )
