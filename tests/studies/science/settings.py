"""The settings in which claims are tried: images, and corpora of networks on them."""

from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[3]

RECORDED = ROOT / "task_data" / "recorded"


@dataclass(frozen=True)
class Setting:
    """Where claims are tried: corpora of networks on one kind of images, by the names of their tasks.

    Attributes:
        name: name of the directory with the evidence, and of the file with the findings.
        title: heading on the page.
        data: lines of `[data]` in recipes.
        held_out: tasks whose models were never used for tuning.
        shipped: where reference data and records of the held-out tasks are shipped, or None if these are trained.
        errors: the task whose errors are analysed image by image.
        invariance: the task of networks that were trained with more and less augmentation.
        testbed: the task of networks that have seen half of the classes.
        testbed_data: dataset with all classes, for `pgdl testbed --data`: a name, or a file beside the recipes.
        n_seeds: number of networks per combination of hyperparameters, in tasks on stages of training.
    """

    name: str
    title: str
    data: str = ""
    held_out: tuple[str, ...] = ()
    shipped: Path | None = None
    errors: str = ""
    invariance: str = ""
    testbed: str = ""
    testbed_data: str = ""
    n_seeds: int = 1


#: scikit-learn's digits; held-out tasks are like the shipped ones, of other models on another split.
DIGITS = Setting(
    name="digits",
    title="digits",
    data='source = "digits"',
    held_out=("held_out_vgg", "held_out_nin", "held_out_fcn_bn"),
    errors="held_out_vgg",
    invariance="invariance_digits_rotation",
    testbed="digits_half",
    testbed_data="digits",
)

#: Fashion-MNIST; the networks of its held-out tasks are not in the repository, but their records are.
FASHION = Setting(
    name="fashion_mnist",
    title="Fashion-MNIST",
    data='source = "fashion_mnist"\nresize = 14',
    shipped=RECORDED,
    held_out=tuple(sorted(path.name for path in (RECORDED / "reference_data").iterdir())),
    errors="errors",
    invariance="invariance_fashion_rotation",
    testbed="fashion_half",
    testbed_data="half.npz",
    n_seeds=4,
)

#: The synthetic experiment, which has no images.
SYNTHETIC = Setting(name="synthetic", title="no images")

#: All settings by name, in the order of the page.
SETTINGS = {setting.name: setting for setting in (DIGITS, FASHION, SYNTHETIC)}
