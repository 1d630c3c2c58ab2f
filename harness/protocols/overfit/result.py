"""The result of the overfitting test: a row for each largest shift and each group of models."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from harness.errors import UserError
from harness.protocols.overfit.settings import OverfitSettings
from scoring import RiskEstimates, bernstein_interval, pairwise_independence_test
from scoring.overfitting import TRANSLATION


class OverfitGroup(StrEnum):
    """The kinds of groups: a single model, all models of an architecture, or all models of the task."""

    MODEL = "model"
    ARCHITECTURE = "architecture"
    ALL = "all"


@dataclass(frozen=True)
class Group:
    """Models that are tested together."""

    kind: OverfitGroup
    name: str
    models: tuple[str, ...]


@dataclass(frozen=True)
class OverfitRow:
    """The result for a group of models and shifts by at most `epsilon` pixels; rates are means over the models."""

    group: Group
    epsilon: int  #: largest shift in pixels
    n_images: int
    error_rate: float  #: error rate on the original images
    error_interval: tuple[float, float]  #: 95 % Bernstein interval of the risk, around `error_rate`
    adversarial_error_rate: float  #: error rate on the shifted images
    adversarial_estimate: float  #: weighted error rate on the shifted images, which estimates the risk
    adversarial_interval: tuple[float, float]  #: 95 % Bernstein interval of the risk, around `adversarial_estimate`
    statistic: float  #: T, `adversarial_estimate` minus `error_rate`
    p_value: float  #: upper bound of the probability of so large a |T| if models and images are independent


@dataclass(frozen=True)
class OverfitResult:
    """The result of the overfitting test of a task's models."""

    task: str  #: name of the task
    settings: OverfitSettings  #: the user's settings, with the largest shifts that were possible
    rows: tuple[OverfitRow, ...]  #: sorted by group (all models, architectures, single models), then by largest shift
    failures: Mapping[str, UserError]  #: model id -> why the model could not be run
    notes: tuple[str, ...]  #: lines on why shifted images may be less probable than the originals

    def row(self, name: str, epsilon: int) -> OverfitRow:
        """Return the row of the group `name`, such as `model_0`, `architecture 1` or `all`, or raise `KeyError`."""
        for row in self.rows:
            if (row.group.name, row.epsilon) == (name, epsilon):
                return row
        raise KeyError(f"no row {name!r} with epsilon {epsilon}")


def groups_of(architectures: Mapping[str, str]) -> list[Group]:
    """Return the groups to test: all models, models of the same architecture, single models.

    `architectures` maps model ids to digests of architectures. Two groups never have the same models.
    """
    models = tuple(architectures)
    members: dict[str, list[str]] = {}
    for model, digest in architectures.items():
        members.setdefault(digest, []).append(model)
    groups = [Group(OverfitGroup.ALL, "all", models)] if len(models) > 1 else []
    if len(members) > 1:
        for number, (_, names) in enumerate(members.items(), start=1):
            if len(names) > 1:
                groups.append(Group(OverfitGroup.ARCHITECTURE, f"architecture {number}", tuple(names)))
    return groups + [Group(OverfitGroup.MODEL, model, (model,)) for model in models]


def make_row(group: Group, epsilon: int, estimates: Sequence[RiskEstimates]) -> OverfitRow:
    """Return the result for a group of models; `estimates` has the losses of each model."""
    test = pairwise_independence_test(*estimates, difference_range=TRANSLATION)
    losses, weighted = (
        np.mean([getattr(one, name) for one in estimates], axis=0) for name in ("losses", "weighted_losses")
    )
    return OverfitRow(
        group,
        epsilon,
        len(losses),
        float(losses.mean()),
        bernstein_interval(losses),
        float(np.mean([one.adversarial_error_rate for one in estimates])),
        float(weighted.mean()),
        bernstein_interval(weighted),
        test.statistic,
        test.p_value,
    )
