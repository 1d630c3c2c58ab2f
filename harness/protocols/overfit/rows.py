"""The rows of the overfitting test's result: one for each largest shift and each group of models."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import numpy as np

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

    @property
    def label(self) -> str:
        """The name of the group with its number of models, such as `all 3 models`."""
        number = len(self.models)
        if self.kind is OverfitGroup.ALL:
            return f"all {number} models"
        return f"{self.name} ({number} models)" if number > 1 else self.name


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

    @property
    def figures(self) -> dict[str, Any]:
        """All results as a dictionary, for CSV and JSON."""
        group, (low, high), (adversarial_low, adversarial_high) = (
            self.group, self.error_interval, self.adversarial_interval,
        )  # fmt: skip
        return {
            "kind": group.kind, "name": group.name, "n_models": len(group.models), "models": group.models,
            "epsilon": self.epsilon, "n_images": self.n_images, "error_rate": self.error_rate, "error_low": low,
            "error_high": high, "adversarial_error_rate": self.adversarial_error_rate,
            "adversarial_estimate": self.adversarial_estimate, "adversarial_low": adversarial_low,
            "adversarial_high": adversarial_high, "T": self.statistic, "p_value": self.p_value,
        }  # fmt: skip


def groups_of(architectures: Mapping[str, str]) -> list[Group]:
    """Return the groups to test: a group of all models, a group for each architecture, a group for each model.

    `architectures` maps model ids to digests of architectures. Of groups with exactly the same models, only one is
    returned.
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
