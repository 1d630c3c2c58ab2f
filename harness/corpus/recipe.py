"""Recipes: TOML files that describe the models to train. Every key is explained at its definition."""

import hashlib
import inspect
import itertools
import json
import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Self, get_args, get_type_hints

from pydantic import Field, TypeAdapter, ValidationError, model_validator

from harness.corpus.families import FAMILIES
from harness.errors import UserError, UserErrors
from harness.hints import did_you_mean
from harness.parsing import parse_toml
from harness.toml import Section, checked, read_toml, require
from harness.validation import first_problem

Parametric = Literal["rotation", "translate_x", "translate_y", "color_jitter"]
PARAMETRIC = get_args(Parametric)

#: Version of this room, which enters a recipe's digest. It is raised when the same recipe gives other models.
BUILDER = 3

#: Maximum number of models of a recipe.
MAX_CELLS = 10_000

#: Sources of data that need the key `path`.
OWN_SOURCES = ("npz", "directory", "cinic10")

#: Arguments of a family's function that `[architecture]` cannot set.
_NOT_SETTINGS = {"n_classes", "dropout"}


class DataRecipe(Section):
    """Section `[data]` of a recipe: the training and test data."""

    source: Literal[
        "digits", "mnist", "fashion_mnist", "cifar10", "cifar100", "svhn", "cinic10", "oxford_flowers102",
        "oxford_iiit_pet", "npz", "directory",
    ] = Field(description="The dataset (pgdl help datasets).")  # fmt: skip
    path: str | None = Field(
        None, description="File or directory with the data of `npz`, `directory` or `cinic10`; relative to the recipe."
    )
    classes: int | None = Field(
        None, ge=2, description="Number of classes: the first classes are used; default: all. A source without test "
        "images is divided into training and test images before classes are left out."
    )  # fmt: skip
    n_train: int | None = Field(None, ge=1, description="Number of training images, sampled by class; default: all.")
    train_share: float | None = Field(None, gt=0, le=1, description="Share of training images, instead of `n_train`.")
    n_test: int | None = Field(None, ge=1, description="Number of test images, sampled by class; default: all.")
    resize: int | None = Field(None, ge=1, description="Side of the images in pixels; default: unchanged.")
    channels: Literal[1, 3, 4] | None = Field(
        None, description="1 is grey, 3 colour, 4 colour with an opaque fourth channel."
    )
    test_perturbation: Parametric | Literal["none"] = Field(
        "none", description="Perturbs every test image by an amount drawn from the whole `perturbation_range`."
    )
    perturbation_range: tuple[float, float] | None = Field(
        None, strict=False, description="Smallest and largest amount: degrees, shares of a side, shares of full colour."
    )
    seed: int = Field(0, ge=0, description="Seed of subsets, label noise and test perturbations.")

    @model_validator(mode="after")
    def _fit(self) -> Self:
        require(self.n_train is None or self.train_share is None, "data.train_share", "not together with n_train")
        own = self.source in OWN_SOURCES
        require(own or self.path is None, "data.path", f"with {', '.join(OWN_SOURCES)} only")
        require(not own or self.path is not None, "data.path", f"the file or directory of {self.source}, found none")
        parametric = self.test_perturbation != "none"
        require(
            not parametric or self.perturbation_range is not None, "data.perturbation_range", "for test_perturbation"
        )
        limits = self.perturbation_range
        require(limits is None or limits[0] < limits[1], "data.perturbation_range", "the smaller number first")
        return self


class Stop(Section):
    """Key `training.stop` of a recipe: when a training ends, judged on the training set in inference mode."""

    cross_entropy: float | None = Field(None, gt=0, description="Maximum mean cross-entropy, in nats.")
    train_accuracy: float | None = Field(None, gt=0, le=1, description="Minimum accuracy.")

    @model_validator(mode="after")
    def _require_one_criterion(self) -> Self:
        found = {0: "both", 1: None, 2: "neither"}[[self.cross_entropy, self.train_accuracy].count(None)]
        require(found is None, "training.stop", f"either cross_entropy or train_accuracy, found {found}")
        return self


class Training(Section):
    """Section `[training]` of a recipe: the settings of the training."""

    optimizer: Literal["sgd", "adam", "rmsprop"] = Field("sgd", description="Keras optimizer.")
    momentum: float = Field(0.0, ge=0, lt=1, description="Momentum of sgd and rmsprop.")
    learning_rate: float = Field(gt=0, description="Initial learning rate.")
    drop_epochs: list[int] = Field(
        [], description="Epochs after which the learning rate is multiplied by `drop_factor`."
    )
    drop_factor: float = Field(0.2, gt=0, lt=1, description="Factor of the learning rate after each of `drop_epochs`.")
    reduce_on_plateau: bool = Field(
        False, description="Divides the learning rate by 10 after 10 epochs without a lower loss."
    )
    batch_size: int = Field(ge=1, description="Images per step.")
    weight_decay: float = Field(0.0, ge=0, description="Factor of the L2 penalty on every kernel.")
    dropout: float = Field(0.0, ge=0, lt=1, description="Rate of the family's dropout layers; they are never saved.")
    label_noise: float = Field(
        0.0, ge=0, lt=1, description="Share of the training labels that are replaced by another class."
    )
    augmentation: Parametric | Literal["none", "crop_flip", "cifar10_policy"] = Field(
        "none", description="Augmentation of training images; parametric augmentations use `perturbation_range`."
    )
    augmentation_share: float = Field(1.0, ge=0, le=1, description="Share of the images that are augmented.")
    augmentation_level: float = Field(
        1.0, ge=0, le=1, description="Share of the range from which parametric augmentations draw."
    )
    max_epochs: int = Field(ge=1, description="Maximum number of epochs, whether or not the criterion is met.")
    stop: Stop = Field(description="The stopping criterion: { cross_entropy = X } or { train_accuracy = X }.")
    check_every: int = Field(1, ge=1, description="Epochs between two checks of the criterion.")
    unreached: Literal["keep", "error"] = Field(
        "keep", description="Treatment of models that do not meet the criterion."
    )
    initializer: Literal["glorot_uniform", "he_normal"] = Field("glorot_uniform", description="Initializer of kernels.")
    mixed_precision: bool = Field(False, description="Compute in float16; weights stay float32.")
    seed: int = Field(2020, ge=0, description="Model number N draws its weights and batches from `seed` and N.")


@dataclass(frozen=True)
class Cell:
    """A cell of the grid: a model to train."""

    number: int  #: position in the grid, last axis fastest; the model's name is `model_<number>`
    hyperparameters: dict[str, Any]  #: axis of the grid -> value, in the order of the file
    architecture: dict[str, Any]  #: arguments of the family's function
    training: Training  #: all settings, including those from the grid


@dataclass(frozen=True)
class Recipe:
    """A valid recipe, with the keys of its file and the cells of its grid."""

    name: str
    description: str
    file: Path
    text: str  #: content of the file
    digest: str  #: SHA-256 of all that affects the models
    hidden: bool
    threads: int
    data: DataRecipe
    family: str  #: a key of `FAMILIES`
    grid: dict[str, list[Any]]
    cells: tuple[Cell, ...]

    def difference(self, file: Path) -> str:
        """Return how the recipe in `file` differs from this recipe, such as `a recipe with another grid.width`."""
        ours, theirs = _flat(parse_toml(self.text)), _flat(read_toml(file)[0])
        keys = [key for key in ours | theirs if key != "hidden" and ours.get(key) != theirs.get(key)]
        return f"a recipe with another {', '.join(keys)}" if keys else "the same recipe of another version"


def _flat(content: dict[str, Any]) -> dict[str, Any]:
    """Return `section.key` -> value, for the keys of a recipe."""
    return {
        f"{name}.{key}".removesuffix("."): one
        for name, value in content.items()
        for key, one in (value.items() if isinstance(value, dict) else [("", value)])
    }


class _File(Section):
    name: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_-]*$", description="Name of the task: letters, digits, _ and -.")
    description: str = Field("", description="One line about the task.")
    hidden: bool = Field(False, description="Whether the task is marked as hidden.")
    threads: int = Field(
        1, ge=1, description="Threads of a training on a CPU. Another number adds in another order, and so gives other "
        "weights."
    )  # fmt: skip
    data: DataRecipe
    architecture: dict[str, Any]
    training: dict[str, Any]
    grid: dict[str, list[Any]] = Field(
        description="Axis -> its values, at least two; a key of [architecture] or [training]."
    )


def read_recipe(path: Path) -> Recipe:
    """Read and check a recipe. Raise `UserError` with all problems of the file, one line each."""
    content, text = read_toml(path)
    file = checked(_File, content, "", path)
    _raise(path, [*_family_problems(file), *_grid_problems(file)])
    cells = tuple(_cells(file, path))
    of_models = {key: value for key, value in content.items() if key != "hidden"}
    digest = hashlib.sha256(json.dumps([BUILDER, of_models], sort_keys=True).encode()).hexdigest()
    _raise(path, (problem for cell in cells for problem in _impossible(file, cell)))
    family = file.architecture["family"]
    return Recipe(
        file.name, file.description, path, text, digest, file.hidden, file.threads, file.data, family, file.grid, cells
    )  # fmt: skip


def _settings(family: str) -> dict[str, Any]:
    parameters = inspect.signature(FAMILIES[family]).parameters
    return {name: p.default for name, p in parameters.items() if name not in _NOT_SETTINGS}


def _family_problems(file: _File) -> Iterator[UserError]:
    family = file.architecture.get("family")
    if family not in FAMILIES:
        remedy = did_you_mean(str(family), set(FAMILIES))
        yield UserError("architecture.family", expected=", ".join(FAMILIES), found=repr(family), remedy=remedy)
        return
    for name, value in file.architecture.items():
        if name != "family":
            yield from _setting_problems(f"architecture.{name}", name, [value], family)
    for name in file.training:
        if name in _settings(family):
            yield UserError(f"training.{name}: unknown key", remedy="move it to [architecture]")


def _setting_problems(key: str, name: str, values: list[Any], family: str) -> Iterator[UserError]:
    """Yield a problem if a family has no setting `name`, and a problem for each value of a wrong type."""
    known = _settings(family)
    if name not in known:
        close = did_you_mean(name, {*known, *Training.model_fields})
        remedy = "move it to [training]" if name in Training.model_fields else close
        yield UserError(f"{key}: unknown key", remedy=remedy)
        return
    setting: TypeAdapter[Any] = TypeAdapter(get_type_hints(FAMILIES[family], include_extras=True)[name])
    for value in values:
        try:
            setting.validate_python(value, strict=True)
        except ValidationError as error:
            problem = first_problem(error)
            yield UserError(key, expected=problem.expected, found=problem.found)


def _grid_problems(file: _File) -> Iterator[UserError]:
    family = file.architecture.get("family")
    for name, values in file.grid.items():
        key = f"grid.{name}"
        if len(values) < 2:
            yield UserError(
                key, expected="at least two values", found=values, remedy="put a single value into its section"
            )
        if len({json.dumps(value) for value in values}) < len(values):
            yield UserError(key, expected="different values", found=values)
        section = "training" if name in Training.model_fields else "architecture"
        if name in getattr(file, section):
            yield UserError(key, expected=f"in the grid or in [{section}]", found="both")
        if name not in Training.model_fields and family in FAMILIES:
            yield from _setting_problems(key, name, values, str(family))
    if not file.grid:
        yield UserError("grid", expected="at least one hyperparameter", found="none")
    n_cells = math.prod(map(len, file.grid.values()))
    if n_cells > MAX_CELLS:
        yield UserError("grid", expected=f"at most {MAX_CELLS} models", found=n_cells if n_cells < 1e15 else "more")


def _cells(file: _File, path: Path) -> Iterator[Cell]:
    axes = file.grid
    for number, values in enumerate(itertools.product(*axes.values())):
        chosen = dict(zip(axes, values, strict=True))
        trained = {name: value for name, value in chosen.items() if name in Training.model_fields}
        training = checked(Training, {**file.training, **trained}, "training", path)
        built = {name: value for name, value in {**file.architecture, **chosen}.items() if name not in trained}
        architecture = {name: value for name, value in built.items() if name != "family"}
        yield Cell(number, chosen, architecture, training)


def _impossible(file: _File, cell: Cell) -> Iterator[UserError]:
    """Yield a problem for each combination of settings with which a model cannot be trained."""
    training, data = cell.training, file.data
    if data.n_train is not None and training.batch_size > data.n_train:
        yield UserError("training.batch_size", expected=f"at most n_train, {data.n_train}", found=training.batch_size)
    epochs = training.drop_epochs
    if sorted(set(epochs)) != epochs or (epochs and epochs[-1] >= training.max_epochs):
        yield UserError("training.drop_epochs", expected="increasing numbers below max_epochs", found=epochs)
    if epochs and training.reduce_on_plateau:
        yield UserError("training.reduce_on_plateau", expected="not together with drop_epochs", found="both")
    if training.augmentation in PARAMETRIC and data.perturbation_range is None:
        yield UserError("data.perturbation_range", expected=f"two numbers for {training.augmentation}", found="none")
    try:
        FAMILIES[file.architecture["family"]](2, **cell.architecture)
    except (ValueError, KeyError, TypeError) as error:
        yield UserError(f"architecture: {error}" if str(error) else "architecture", found=cell.architecture)


def _raise(path: Path, problems: Iterable[UserError]) -> None:
    """If there are problems, raise a `UserErrors` with a line for each distinct problem of the file at `path`."""
    if lines := dict.fromkeys(f"{path}: {problem}" for problem in problems):
        raise UserErrors(*lines)
