"""Names of the files and directories of a task."""

from pathlib import Path

from harness.errors import UserError
from harness.format.files import natural

#: Of the full layout: what holds the tasks' models and data, and what holds their reference data.
INPUTS, REFERENCES = "input_data", "reference_data"

#: A task's training and test data.
TRAIN, TEST = Path("dataset_1", "train"), Path("dataset_1", "test")

#: The files of a model's directory.
CONFIG, WEIGHTS, INITIAL_WEIGHTS = "config.json", "weights.hdf5", "weights_init.hdf5"

#: All of them, in the order in which they are digested.
MODEL_FILES = (CONFIG, WEIGHTS, INITIAL_WEIGHTS)

#: Hyperparameters and accuracies of a task's models.
REFERENCE = "model_configs.json"

#: The names under which the mark of a hidden task is looked for; any of them counts, so that no ending unmarks a task.
MARKS = ("metadata", "metadata.yaml", "metadata.yml")

_SHARDS = "shard_*.tfrecord"


def model_name(model: str) -> str:
    """Name of the directory of the model that the reference data calls `model`, by the competition's rule."""
    return model if "model" in model else f"model_{model}"


def shard_name(number: int) -> str:
    """Name of a shard."""
    return f"shard_{number}.tfrecord"


def has_shards(directory: Path) -> bool:
    """Whether there are any shards in a directory."""
    return any(directory.glob(_SHARDS))


def find_shards(directory: Path) -> list[Path]:
    """The shards in a directory, shard_2 before shard_10; raises `UserError` if there are none."""
    shards = sorted(directory.glob(_SHARDS), key=lambda path: natural(path.name))
    if not shards:
        found = "none" if directory.is_dir() else "no such directory"
        raise UserError("no shards", file=directory, expected=_SHARDS, found=found)
    return shards
