"""The corpora of the claims: recipes, and data of recipes that are not shipped."""

from pathlib import Path

from tests.studies.science.images import write_testbed, write_torus
from tests.studies.science.settings import DIGITS, FASHION, ROOT, Setting
from tests.studies.science.templates import ERRORS, STAGE, TORUS, WRONG_LABELS

SHIPPED = ROOT / "task_data" / "recipes"

#: Seeds of the split and of the first model of held-out tasks.
SPLIT_SEED, FIRST_SEED = 11, 70_000

#: Epochs after which networks are saved. Draws depend only on the number of a model and the seed of the recipe, so
#: models with the same number are checkpoints of a single training.
STAGES = (1, 3, 8, 25, 80)


def write_recipes(directory: Path, setting: Setting) -> dict[str, Path]:
    """Write the recipes of a setting that are not shipped, and their data; return name -> recipe, shipped or not."""
    directory.mkdir(parents=True, exist_ok=True)
    own = _of_digits() if setting is DIGITS else _of_fashion(directory)
    write_torus(directory / "torus.npz", setting)
    filled = {"title": setting.title, "data": setting.data}
    seeds = f"seed = {list(range(1, setting.n_seeds + 1))}" if setting.n_seeds > 1 else ""
    for epochs in STAGES:
        own[stage_name(epochs)] = STAGE.format(name=stage_name(epochs), epochs=epochs, seeds=seeds, **filled)
    own |= {"torus": TORUS.format(**filled), "wrong_labels": WRONG_LABELS.format(**filled)}
    shipped = {name: SHIPPED / f"{name}.toml" for name in (setting.invariance, setting.testbed)}
    written = {name: _write(directory / f"{name}.toml", text.lstrip()) for name, text in own.items()}
    return {name: path for name, path in shipped.items() if path.exists()} | written


def stage_name(epochs: int) -> str:
    """Return the name of the task with all networks after a number of epochs."""
    return f"stage_{epochs}"


def _of_digits() -> dict[str, str]:
    """Return the shipped recipes with another seed of the data's split and other seeds of models."""
    texts = {name: _shipped(name.replace("held_out", "digits"), name) for name in DIGITS.held_out}
    return {
        name: text.replace("[data]", f"[data]\nseed = {SPLIT_SEED}", 1).replace(
            "[training]", f"[training]\nseed = {FIRST_SEED}", 1
        )
        for name, text in texts.items()
    }


def _of_fashion(directory: Path) -> dict[str, str]:
    """Return the recipes of invariance and the testbed on Fashion-MNIST, and the recipe `errors`."""
    write_testbed(directory / FASHION.testbed_data)
    data = {FASHION.invariance: FASHION.data, FASHION.testbed: f'source = "npz"\npath = "{FASHION.testbed_data}"'}
    of_digits = {FASHION.invariance: DIGITS.invariance, FASHION.testbed: DIGITS.testbed}
    texts = {name: _shipped(like, name).replace(DIGITS.data, data[name]) for name, like in of_digits.items()}
    return texts | {"errors": ERRORS.format(title=FASHION.title, data=FASHION.data)}


def _shipped(like: str, name: str) -> str:
    """Return the text of a shipped recipe under another name."""
    text = (SHIPPED / f"{like}.toml").read_text()
    head = f'name = "{name}"\ndescription = "Networks like those of {like}"\n'
    return head + text[text.index("\n[data]") :]


def _write(file: Path, text: str) -> Path:
    file.write_text(text)
    return file
