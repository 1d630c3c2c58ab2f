"""Tests of recipes: where they are found, their meaning, and errors with file, key, expected and found."""

import inspect
import json
from pathlib import Path

import pytest

from harness.corpus.catalogue import find_recipe, recipes
from harness.corpus.families import FAMILIES
from harness.corpus.recipe import DataRecipe, Stop, Training, _settings, read_recipe
from harness.errors import UserError

ROOT = Path(__file__).parents[2]
RECIPES = sorted((ROOT / "task_data" / "recipes").glob("*.toml"))

#: Models per task: of the competition (Jiang et al. 2020, 1.3.1) and of the invariance study (Schiff et al. 2021, 4.2).
CELLS = {
    "invariance_digits": 24, "1": 96, "2": 54, "4": 64, "5": 64, "6": 96, "7": 48, "8": 32, "9": 32, "vgg": 144,
    "resnet": 54, "digits": 32, "half": 8, "fashion": 64,
}  # fmt: skip

GOOD = """
name = "tiny"
[data]
source = "digits"
n_train = 60
[architecture]
family = "vgg"
n_dense = 1
[training]
learning_rate = 0.1
batch_size = 10
max_epochs = 100
drop_epochs = [10, 20]
stop = { cross_entropy = 0.3 }
[grid]
n_blocks = [1, 2]
dropout = [0.0, 0.5]
"""


def write(directory: Path, text: str) -> Path:
    path = directory / "tiny.toml"
    path.write_text(text)
    return path


def test_cells_are_numbered_with_the_last_axis_running_fastest(tmp_path):
    cells = read_recipe(write(tmp_path, GOOD)).cells
    expected = [{"n_blocks": blocks, "dropout": dropout} for blocks in (1, 2) for dropout in (0.0, 0.5)]
    assert [(cell.number, cell.hyperparameters) for cell in cells] == list(enumerate(expected))
    assert cells[3].architecture == {"n_dense": 1, "n_blocks": 2}
    assert (cells[3].training.dropout, cells[3].training.batch_size) == (0.5, 10)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("learning_rate", "learnign_rate", "training.learnign_rate: unknown key; did you mean 'learning_rate'?"),
        ("learning_rate = 0.1\n", "", "training.learning_rate: expected a value, found none"),
        ("batch_size = 10", 'batch_size = "ten"', "training.batch_size: expected integer, found 'ten'"),
        ("batch_size = 10", "batch_size = 0", "training.batch_size: expected greater than or equal to 1, found 0"),
        ("batch_size = 10", "batch_size = 100", "training.batch_size: expected at most n_train, 60, found 100"),
        ('source = "digits"', 'source = "digist"', "data.source: expected 'digits', 'mnist'"),
        ("n_train = 60", "n_train = 60\ntrain_share = 0.5", "data.train_share: expected not together with n_train"),
        ('source = "digits"', 'source = "npz"', "data.path: expected the file or directory of npz, found none"),
        ("n_train = 60", 'path = "x.npz"', "data.path: expected with npz, directory, cinic10 only"),
        ('family = "vgg"', 'family = "vgg16"', "architecture.family: expected vgg, nin, fully"),
        ("n_dense = 1", "n_denes = 1", "architecture.n_denes: unknown key; did you mean 'n_dense'?"),
        ("n_dense = 1", "n_dense = 1.5", "architecture.n_dense: expected integer, found 1.5"),
        ("n_dense = 1", "dense_units = 0", "architecture.dense_units: expected greater than or equal to 1, found 0"),
        ("n_dense = 1", "depth = 12", "architecture.depth: expected 0, 11, 13, 16 or 19, found 12"),
        ("n_dense = 1", "batch_norm = 1", "architecture.batch_norm: expected boolean, found 1"),
        ("n_blocks = [1, 2]", "n_blocks = [1, -1]", "grid.n_blocks: expected greater than or equal to 0, found -1"),
        ("n_blocks = [1, 2]", "n_blocks = [1]", "grid.n_blocks: expected at least two values, found [1]"),
        ("n_blocks = [1, 2]", "n_blocks = [2, 2]", "grid.n_blocks: expected different values, found [2, 2]"),
        ("n_blocks = [1, 2]", "batch_size = [1, 2]", "grid.batch_size: expected in the grid or in [tr"),
        ("drop_epochs = [10, 20]", "drop_epochs = [10, 200]", "training.drop_epochs: expected increasing"),
        ("max_epochs", "n_blocks = 1\nmax_epochs", "training.n_blocks: unknown key; move it to [architecture]"),
        ("n_dense = 1", "seed = 1", "architecture.seed: unknown key; move it to [training]"),
        ("stop = { cross_entropy = 0.3 }", "stop = {}", "training.stop: expected either cross_entropy or"),
        ("{ cross", "{ train_accuracy = 1, cross", "training.stop: expected either cross_entropy or train_accuracy, f"),
        ("max_epochs", 'augmentation = "rotation"\nmax_epochs', "data.perturbation_range: expected two numbers"),
        ('"tiny"', '"../tiny"', "name: expected text of the pattern ^[A-Za-z0-9][A-Za-z0-9_-]*$, found '../tiny'"),
        ("n_train = 60", "perturbation_range = [1, 2, 3]", "data.perturbation_range: expected at most 2 items"),
        ("n_train = 60", "perturbation_range = [1]", "data.perturbation_range.1: expected a value, found none"),
        ("n_train = 60", "perturbation_range = 1", "data.perturbation_range: expected list, found 1"),
        ("stop = { cross_entropy = 0.3 }", "stop = 3", "training.stop: expected a section, found 3"),
        ("[grid]", "[grid", "not TOML: found"),
        ("n_dense = 1", f"n_dense = {10**9}", "architecture.n_dense: expected less than or equal to 1000, found 10000"),
        ("n_blocks = [1, 2]", f"n_blocks = [1, {10**9}]", "grid.n_blocks: expected less than or equal to 1000, found"),
        ("n_blocks = [1, 2]", f"n_blocks = {list(range(1, 1000))}\nseed = {list(range(99))}", "grid: expected at most"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_refused(tmp_path, old, new, message):
    assert old in GOOD
    path = write(tmp_path, GOOD.replace(old, new, 1))
    with pytest.raises(UserError) as refused:
        read_recipe(path)
    assert any(line.startswith(f"{path}: {message}") for line in str(refused.value).splitlines()), refused.value
    if new == "n_denes = 1":  # all problems are named at once
        write(tmp_path, path.read_text().replace("[1, 2]", "[1]"))
        with pytest.raises(UserError) as refused:
            read_recipe(path)
        assert len(str(refused.value).splitlines()) == 2


@pytest.mark.parametrize("path", RECIPES, ids=lambda path: path.stem)
def test_shipped_recipes_describe_networks_of_every_cell(path):
    recipe = read_recipe(path)
    words = recipe.name.removeprefix("pgdl_task").split("_")
    kind = "digits" if words[0] == "digits" and words[1] != "half" else next(k for k in reversed(CELLS) if k in words)
    kind = "invariance_digits" if recipe.name.startswith("invariance_digits") else kind
    assert recipe.name == path.stem
    assert len(recipe.cells) == CELLS[kind]
    for cell in recipe.cells:
        layers = FAMILIES[recipe.family](10, **cell.architecture, dropout=cell.training.dropout)
        assert layers[-1]["units"] == 10
        assert "activation" not in layers[-1], "logits"


def test_every_key_and_every_family_is_explained():
    text = (ROOT / "docs" / "recipes.md").read_text()
    for section in (DataRecipe, Training, Stop):
        for name, field in section.model_fields.items():
            assert f"| `{name}` |" in text
            assert field.description in text
    for family in FAMILIES:
        section = text.partition(f"### `{family}`\n")[2].partition("\n### ")[0]
        assert inspect.getdoc(FAMILIES[family]) in section
        for name, value in _settings(family).items():
            assert f"`{name}` ({json.dumps(value)})" in section


def test_every_recipe_of_the_repository_has_a_name_and_is_listed(pgdl):
    assert recipes() == {path.stem: path for path in RECIPES}
    assert find_recipe("digits_vgg") == recipes()["digits_vgg"]
    listed = pgdl("task", "recipes").lines
    assert [line.split()[0] for line in listed[1:]] == list(recipes())
    assert listed[1].split()[:3] == ["digits_fcn_bn", "32", "digits"]


def test_a_file_goes_before_a_name_and_what_is_neither_is_refused(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "digits_vgg").touch()
    assert find_recipe("digits_vgg") == Path("digits_vgg")
    (tmp_path / "digits_vgg").unlink()
    (tmp_path / "digits_nin").mkdir()  # a task that was built here
    assert find_recipe("digits_nin") == recipes()["digits_nin"]
    for argument, problem in (
        (str(tmp_path), "a directory;"),
        ("digit_vgg", "neither; did you mean 'digits_vgg'?"),
        ("task_data/recipes/digits_vgg.toml", "neither; did you mean 'digits_vgg'?"),
        ("zzz", "neither; `pgdl task recipes` lists the recipes in the package"),
    ):
        with pytest.raises(UserError) as refused:
            find_recipe(argument)
        said = f"{argument}: no such recipe: expected a file, or a name, found {problem}"
        assert str(refused.value).startswith(said)
