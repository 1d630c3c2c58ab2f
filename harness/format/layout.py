"""Names of a task's files and directories."""

from pathlib import Path

from harness.errors import UserError
from harness.format.files import natural

#: Directories with a subdirectory for each task: models and data, and reference data.
INPUTS, REFERENCES = "input_data", "reference_data"

#: Directory for tasks whose models are still being trained.
BUILDING = "building"

TRAIN, TEST = Path("dataset_1", "train"), Path("dataset_1", "test")

CONFIG, WEIGHTS, INITIAL_WEIGHTS = "config.json", "weights.hdf5", "weights_init.hdf5"

#: The files of a model, in the order in which they enter the model's digest.
MODEL_FILES = (CONFIG, WEIGHTS, INITIAL_WEIGHTS)

#: The file with hyperparameters and accuracies of a task's models.
REFERENCE = "model_configs.json"

#: The file beside the reference data with digests of models and data, so that records can be scored without models.
CONTENTS = "contents.json"

#: Possible names of the file beside the reference data that says whether the task is hidden.
MARKS = ("metadata", "metadata.yaml", "metadata.yml")

_SHARDS = "shard_*.tfrecord"


def model_name(model: str) -> str:
    """Return the directory name of a model whose key in the reference data is `model`: `model_3` for `3`."""
    return model if "model" in model else f"model_{model}"


def shard_name(number: int) -> str:
    """Return the file name of shard `number`."""
    return f"shard_{number}.tfrecord"


def has_shards(directory: Path) -> bool:
    """Whether a directory contains shards."""
    return any(directory.glob(_SHARDS))


def find_shards(directory: Path) -> list[Path]:
    """Return the shards in a directory, sorted with shard_2 before shard_10; raises `UserError` if there is none."""
    shards = sorted(directory.glob(_SHARDS), key=lambda path: natural(path.name))
    if not shards:
        found = "none" if directory.is_dir() else "no such directory"
        raise UserError("no shards", file=directory, expected=_SHARDS, found=found)
    return shards
