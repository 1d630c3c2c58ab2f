"""The outcome of a test: a row for each model and group of models, and each radius."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from harness.errors import UserError
from harness.protocols.overfit.settings import OverfitSettings
from scoring import RiskEstimates, bernstein_interval, pairwise_independence_test
from scoring.overfitting import TRANSLATION


class OverfitGroup(StrEnum):
    """The models of a row."""

    MODEL = "model"
    ARCHITECTURE = "architecture"
    ALL = "all"


@dataclass(frozen=True)
class Group:
    """Models that are tested together (the N-model test, if there are several)."""

    kind: OverfitGroup
    name: str
    models: tuple[str, ...]


@dataclass(frozen=True)
class OverfitRow:
    """The test of a group with shifts by at most `epsilon` pixels; rates are means over its models."""

    group: Group  #: the models
    epsilon: int  #: largest shift
    n_images: int  #: number of images
    error_rate: float  #: ordinary error rate, in [0, 1]
    error_interval: tuple[float, float]  #: Bernstein interval of the risk at 95 %, from the error rate
    adversarial_error_rate: float  #: share of misclassified images after the generator has moved them
    adversarial_estimate: float  #: the share weighted by densities, which estimates the risk
    adversarial_interval: tuple[float, float]  #: Bernstein interval of the risk at 95 %, from that estimate
    statistic: float  #: adversarial estimate minus error rate (T)
    p_value: float  #: at most the probability of a |T| as large, if models and images are independent


@dataclass(frozen=True)
class OverfitResult:
    """The result of a test."""

    task: str  #: name of the task
    settings: OverfitSettings  #: the choices, with the radii that were used
    #: by group, all models first, then architectures, then models; within a group by radius
    rows: tuple[OverfitRow, ...]
    failures: Mapping[str, UserError]  #: model -> reason why it could not be run
    notes: tuple[str, ...]  #: lines about the assumption that shifts preserve the density of the images

    def row(self, name: str, epsilon: int) -> OverfitRow:
        """Return the row of a model (`model_0`), an architecture (`architecture 1`) or `all`; raises `KeyError`."""
        for row in self.rows:
            if (row.group.name, row.epsilon) == (name, epsilon):
                return row
        raise KeyError(f"no row {name!r} with epsilon {epsilon}")


def groups_of(architectures: Mapping[str, str]) -> list[Group]:
    """Return the groups of models; the argument has the digest of the architecture of each model."""
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
    """Return the row of a group from the estimates of its models."""
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
