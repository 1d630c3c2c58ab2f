"""The corpora of the claims: recipes, and the data of those that are not shipped."""

import re
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).parents[2]
SHIPPED = ROOT / "task_data" / "recipes"

#: Tasks like the shipped ones, of other models on another split of the digits: nothing was ever tuned on them.
HELD_OUT = ("held_out_vgg", "held_out_nin", "held_out_fcn_bn")

#: Corpora whose recipes are shipped.
SHIPPED_CORPORA = ("invariance_digits_rotation", "digits_half")

#: Seeds of the split and of the first model of held-out tasks.
SPLIT_SEED, FIRST_SEED = 11, 70_000

#: Networks on digits at any place of a torus: shifts in a circle change neither label nor density.
TORUS = """
name = "torus"
description = "Convolutional networks on digits anywhere on a torus of 12 x 12 pixels"

[data]
source = "npz"
path = "torus.npz"

[architecture]
family = "fully_convolutional"
channels = 1

[training]
optimizer = "adam"
learning_rate = 0.005
max_epochs = 150
stop = { cross_entropy = 0.05 }

[grid]
batch_size = [32, 96]
depth = [2, 4]
n_parameters = [4000, 8000]
"""

#: Epochs of the stages of training. A model's draws depend on the recipe's seed and its number alone, so the models of
#: one number are checkpoints of one network.
STAGES = (1, 3, 8, 25, 80)

STAGE = """
name = "{name}"
description = "Perceptrons on digits after {epochs} epochs of training"

[data]
source = "digits"
n_train = 600

[architecture]
family = "mlp"

[training]
optimizer = "adam"
learning_rate = 0.002
batch_size = 32
max_epochs = {epochs}
stop = {{ cross_entropy = 0.0000001 }}

[grid]
depth = [2, 3, 4]
width = [32, 128]
"""

#: Perceptrons fitted to labels of which more and more are wrong.
WRONG_LABELS = """
name = "wrong_labels"
description = "Perceptrons fitted to digits of which up to 60 percent have wrong labels"

[data]
source = "digits"
n_train = 400

[architecture]
family = "mlp"

[training]
optimizer = "adam"
learning_rate = 0.002
batch_size = 32
max_epochs = 600
stop = { train_accuracy = 0.98 }

[grid]
depth = [2, 3, 4]
width = [64, 128]
label_noise = [0.0, 0.2, 0.4, 0.6]
"""

#: Side of the torus; the digits have 8 x 8 pixels.
SIDE = 12


def write_recipes(directory: Path) -> dict[str, Path]:
    """Write the recipes that are not shipped, and their data; returns the recipes of all corpora by name."""
    directory.mkdir(parents=True, exist_ok=True)
    recipes = {name: SHIPPED / f"{name}.toml" for name in SHIPPED_CORPORA}
    for name in HELD_OUT:
        text = (SHIPPED / f"{name.replace('held_out', 'digits')}.toml").read_text()
        text = re.sub(r'^name = ".*"$', f'name = "{name}"', text, count=1, flags=re.MULTILINE)
        text = text.replace("[data]", f"[data]\nseed = {SPLIT_SEED}", 1)
        text = text.replace("[training]", f"[training]\nseed = {FIRST_SEED}", 1)
        recipes[name] = _write(directory / f"{name}.toml", text)
    _write_torus(directory / "torus.npz")
    stages = {stage_name(epochs): STAGE.format(name=stage_name(epochs), epochs=epochs) for epochs in STAGES}
    for name, text in {"torus": TORUS, **stages, "wrong_labels": WRONG_LABELS}.items():
        recipes[name] = _write(directory / f"{name}.toml", text.lstrip())
    return recipes


def stage_name(epochs: int) -> str:
    """Return the name of the task with all networks after a number of epochs."""
    return f"stage_{epochs}"


def _write(file: Path, text: str) -> Path:
    file.write_text(text)
    return file


def _write_torus(file: Path) -> None:
    """Put every digit at a place of its own, uniform over the torus."""
    from sklearn.datasets import load_digits

    digits = load_digits()
    random = np.random.default_rng(0)
    order = random.permutation(len(digits.target))
    images = np.zeros((len(order), SIDE, SIDE, 1), np.float32)
    images[:, :8, :8, 0] = digits.images[order] / 16
    shifts = random.integers(SIDE, size=(len(order), 2))
    images = np.stack([np.roll(image, shift, axis=(0, 1)) for image, shift in zip(images, shifts, strict=True)])
    labels = digits.target[order].astype(np.int32)
    parts = {"train": slice(0, 1000), "test": slice(1000, None)}
    arrays: dict[str, Any] = {
        f"{key}_{name}": values[part] for name, part in parts.items() for key, values in (("x", images), ("y", labels))
    }
    np.savez(file, **arrays)
