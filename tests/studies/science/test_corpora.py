"""Tests of the recipes of each setting: they are valid, and use the setting's images."""

from pathlib import Path

import numpy as np
import pytest

from harness.corpus.recipe import read_recipe
from harness.corpus.sources import INSTALLED
from tests.studies.science.commands import commands
from tests.studies.science.corpora import STAGES, stage_name, write_recipes
from tests.studies.science.settings import DIGITS, FASHION, Setting

NEEDS_IMAGES = pytest.mark.skipif(
    not INSTALLED["fashion_mnist"][0].exists(), reason="Fashion-MNIST is not installed on this machine"
)


@pytest.mark.parametrize("setting", [DIGITS, pytest.param(FASHION, marks=NEEDS_IMAGES)], ids=lambda one: one.name)
def test_recipes_are_valid_and_of_the_images_of_their_setting(tmp_path: Path, setting: Setting) -> None:
    files = write_recipes(tmp_path, setting)
    recipes = {name: read_recipe(file) for name, file in files.items()}
    assert [recipe.name for recipe in recipes.values()] == list(recipes)
    assert {recipe.data.source for recipe in recipes.values()} - {"npz"} == {setting.name}
    needed = {*map(stage_name, STAGES), "torus", "wrong_labels", setting.errors, setting.invariance, setting.testbed}
    assert needed | set(() if setting.shipped else setting.held_out) == set(recipes)
    torus = np.load(tmp_path / "torus.npz")
    assert torus["x_train"].shape[0] == len(torus["y_train"]) == 1000
    assert torus["x_test"].max() <= 1


def test_commands_use_the_tasks_and_images_of_their_setting() -> None:
    of_digits, of_fashion = (commands(Path("place"), setting) for setting in (DIGITS, FASHION))
    assert set(of_digits) - set(of_fashion) == {"held out"}, "whose records are shipped"
    assert of_digits["testbed"][:2] == ["testbed", "digits_half"]
    assert of_fashion["testbed"][:2] == ["testbed", "fashion_half"]
    assert of_fashion["testbed"][of_fashion["testbed"].index("--data") + 1] == "place/recipes/half.npz"
