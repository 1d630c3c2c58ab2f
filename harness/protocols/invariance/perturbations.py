"""The perturbations of a study of invariance and their magnitudes."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from baselines.perturbation_response.invariance import PERTURBATIONS
from harness.errors import UserError
from harness.hints import did_you_mean

#: Mixtures of two training examples of the same class (intra) or of two classes (inter), in the input (l0) or in the
#: first hidden layer (l1).
MIXTURES = ("intra_l0", "inter_l0", "intra_l1", "inter_l1")

DEFAULT = (*PERTURBATIONS, "intra_l0", "inter_l0")  #: all changes of images, and both mixtures of inputs
LARGEST = 360.0  #: largest allowed magnitude: a full rotation in degrees; others are far smaller
N_MAGNITUDES, N_SHARES = 25, 11  #: number of magnitudes of a curve: for changes of images, for mixtures


@dataclass(frozen=True)
class ChosenMagnitudes:
    """A perturbation, and the range of its magnitudes."""

    name: str  #: a key of `PERTURBATIONS`, or an entry of `MIXTURES`
    low: float  #: lowest magnitude; 0 for a mixture
    high: float  #: highest magnitude; for a mixture 0.5, which means half of each example

    @property
    def is_mixture(self) -> bool:
        """Whether pairs of examples are mixed; all other perturbations change single images."""
        return self.name in MIXTURES

    @property
    def magnitudes(self) -> NDArray[np.float64]:
        """Equally spaced magnitudes (n,) from `low` to `high`. For mixtures of two classes, `high` is left out."""
        if self.is_mixture:
            return np.linspace(self.low, self.high, N_SHARES, endpoint=self.name.startswith("intra"))
        return np.linspace(self.low, self.high, N_MAGNITUDES)

    @property
    def question(self) -> dict[str, Any]:
        """The perturbation as a dictionary for JSON."""
        return vars(self) | {"is_mixture": self.is_mixture, "magnitudes": self.magnitudes.tolist()}


def choose(names: Sequence[str], ranges: Sequence[str]) -> list[ChosenMagnitudes]:
    """Return the perturbations `names`, by default the perturbations in `DEFAULT`.

    A text in `ranges`, such as `rotation=-90..90`, sets the lowest and highest magnitude of a perturbation, but not of
    a mixture. Raise `UserError` for an unknown name or an invalid range.
    """
    known = [*PERTURBATIONS, *MIXTURES]
    for unknown in (name for name in names if name not in known):
        hint = did_you_mean(unknown, known) or f"choose among {', '.join(known)}"
        raise UserError(f"--perturbations: no perturbation {unknown!r}", remedy=hint)
    given = dict(map(_parse, ranges))
    chosen = [name for name in known if name in (names or DEFAULT)]
    for unused in given.keys() - set(chosen):
        raise UserError(f"--range: {unused} is not among the perturbations", remedy=f"choose among {', '.join(chosen)}")
    limits = {name: (one.low, one.high) for name, one in PERTURBATIONS.items()}
    limits |= dict.fromkeys(MIXTURES, (0.0, 0.5)) | given
    return [ChosenMagnitudes(name, *limits[name]) for name in chosen]


def _parse(text: str) -> tuple[str, tuple[float, float]]:
    number = r"([+-]?(?:\d+\.?\d*|\.\d+))"
    match = re.fullmatch(rf"(\w+)={number}\.\.{number}", text)
    expected = f"PERTURBATION=LOW..HIGH with one of {', '.join(PERTURBATIONS)}, e.g. rotation=-90..90"
    if match is None or match[1] not in PERTURBATIONS:
        raise UserError("--range", expected=expected, found=repr(text))
    low, high = float(match[2]), float(match[3])
    if not -LARGEST <= low < high <= LARGEST:
        raise UserError("--range", expected=f"LOW below HIGH, both from -{LARGEST:g} to {LARGEST:g}", found=repr(text))
    return match[1], (low, high)
