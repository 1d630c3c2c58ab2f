"""Recipes of the package are found by name, in the command line too."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from harness.cli.main import cli
from harness.corpus.catalogue import find_recipe, recipes
from harness.corpus.recipe import read_recipe
from harness.errors import UserError

FILES = Path(__file__).parents[2] / "task_data" / "recipes"


def test_every_recipe_of_the_repository_has_a_name():
    assert set(recipes().values()) == set(FILES.glob("*.toml"))
    assert find_recipe("digits_vgg") == FILES / "digits_vgg.toml"


@pytest.mark.parametrize("name", recipes())
def test_the_file_is_called_as_the_task_that_it_makes(name):
    assert read_recipe(find_recipe(name)).name == name


def test_a_file_goes_before_a_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "digits_vgg").touch()
    assert find_recipe("digits_vgg") == Path("digits_vgg")
    (tmp_path / "digits_nin").mkdir()  # a task that was built here
    assert find_recipe("digits_nin") == FILES / "digits_nin.toml"


@pytest.mark.parametrize(
    ("argument", "remedy"),
    [
        ("digit_vgg", "did you mean 'digits_vgg'?"),
        ("task_data/recipes/digits_vgg.toml", "did you mean 'digits_vgg'?"),
        ("zzz", "`pgdl task recipes` lists the recipes in the package"),
    ],
)
def test_what_is_neither_a_file_nor_a_name(argument, remedy, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UserError) as refused:
        find_recipe(argument)
    assert str(refused.value) == f"{argument}: no such recipe: expected a file, or a name, found neither; {remedy}"


def test_they_are_listed():
    listed = CliRunner().invoke(cli, ["task", "recipes"]).output.splitlines()
    assert [line.split()[0] for line in listed[1:]] == list(recipes())
    assert listed[1].split()[:3] == ["digits_fcn_bn", "32", "digits"]
