"""The terms from which measures of norms and margins are computed, and the parameters that such measures share.

Symbols: d layers with kernels W_i, initially W0_i; F_i = |W_i|_F^2; S_i the square of W_i's spectral norm, in three
variants; gamma the output margin.
"""

import functools
import inspect
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from baselines.core.measure import MEASURES, Complexity, Need, measure
from baselines.core.normalization import normalized
from baselines.core.output_margin import output_margin
from baselines.core.sample import Array
from baselines.core.subject import Subject
from baselines.norm.linear_map import LinearMap, changed_maps, trained_maps
from baselines.norm.spectral import (
    singular_values,
    squared_fourier_norms,
    squared_frobenius,
    squared_matrix_norms,
    squared_operator_norms,
)

#: Lower bound of squared norms in logarithms and denominators, because a layer may be zero.
TINY = 1e-30

#: Largest argument of an exponential: larger products over layers count as e^600.
LARGEST_LOG = 600.0


@dataclass(frozen=True)
class Variant:
    """One of the three definitions of a convolution's spectral norm."""

    norms: Callable[..., Array]
    of: str  #: the convolutions whose norm it is; empty for kernels as matrices
    work: str


#: Suffix of the measures' names -> variant. Frobenius norms are always those of kernels, as in the code of Dziugaite et
#: al. 2020: the Frobenius norm of a convolution as an operator would count every position.
VARIANTS = {
    "": Variant(squared_matrix_norms, "", "SVD"),
    "_fft": Variant(squared_fourier_norms, "convolutions with periodic borders", "SVD at every frequency"),
    "_op": Variant(squared_operator_norms, "convolutions with their own borders", "SVD, Lanczos on convolutions"),
}


class Terms:
    """Norms and margin of a network, computed when they are read. Arrays (d,) have an entry for each layer."""

    def __init__(self, subject: Subject, spectral: Callable[..., Array], margin: Callable[[Subject], float]) -> None:
        self.subject = subject
        self._spectral, self._margin = spectral, margin

    @property
    def depth(self) -> int:
        """Number of layers d."""
        return len(self.layers)

    @property
    def layers(self) -> list[LinearMap]:
        """The layers with their trained kernels."""
        return trained_maps(self.subject)

    @property
    def changes(self) -> list[LinearMap]:
        """The layers with kernels W_i - W0_i."""
        return changed_maps(self.subject)

    @property
    def singular_values(self) -> list[Array]:
        """Singular values of every layer's kernel as a matrix."""
        return singular_values(self.subject)

    @property
    def fro(self) -> Array:
        """Squared Frobenius norms F_i of the kernels."""
        return squared_frobenius(self.subject)

    @property
    def fro_change(self) -> Array:
        """Squared Frobenius norms |W_i - W0_i|_F^2 of the changes."""
        return squared_frobenius(self.subject, True)

    @property
    def spec(self) -> Array:
        """Squared spectral norms S_i."""
        return self._spectral(self.subject)

    @property
    def spec_change(self) -> Array:
        """Squared spectral norms |W_i - W0_i|_2^2 of the changes."""
        return self._spectral(self.subject, True)

    @property
    def margin(self) -> float:
        """Output margin gamma."""
        return self._margin(self.subject)


def log_prod(values: Array) -> float:
    """Return the logarithm of the product of `values`, each of which counts as at least 1e-30."""
    return float(np.sum(np.log(np.maximum(values, TINY))))


def sum_of_ratios(some: Array, others: Array) -> float:
    """Return sum_i some_i / others_i; denominators count as at least 1e-30."""
    return float(np.sum(some / np.maximum(others, TINY)))


def log_sum_of_ratios(some: Array, others: Array) -> float:
    """Return the logarithm of `sum_of_ratios`, or of 1e-30 if the sum is smaller."""
    return math.log(max(sum_of_ratios(some, others), TINY))


def bounded_exp(value: float) -> float:
    """Return the exponential of `value`, at most e^600."""
    return math.exp(min(value, LARGEST_LOG))


def norm_measure(
    *needs: Need, spectral: bool = False, margin: Callable[..., float] | None = None, normalizable: bool = True
) -> Callable[[Callable[..., float]], Complexity]:
    """Register a function of `Terms` as a measure; if `spectral`, as a measure for each variant of the spectral norm.

    The measure takes the keyword parameters of the function and of all functions that compute norms and margin.

    Args:
        needs: as in `measure`. With a `margin`, the measure also needs labels.
        spectral: whether the function uses spectral norms.
        margin: computes `Terms.margin`; None if the function uses no margin.
        normalizable: whether the measure takes the parameter `normalization`.
    """
    of_margin = (Need.LABELS,) if margin else ()

    def register(compute: Callable[..., float]) -> Complexity:
        name, doc = compute.__name__, inspect.getdoc(compute) or ""
        for suffix, variant in (VARIANTS if spectral else {"": VARIANTS[""]}).items():
            work = ([variant.work] if spectral else []) + (["1 forward pass"] if margin else [])
            meaning, _, rest = doc.partition(".\n\n")
            if variant.of:
                meaning += f"; {variant.of}"
                rest += f"\n\nSpectral norms are those of {variant.of}, Frobenius norms those of kernels."
            compute.__doc__ = f"{meaning}.\n\nWork: {' and '.join(work) or 'none'}. {rest}"
            of_subject = _of_subject(compute, variant.norms if spectral else None, margin, normalizable)
            measure(*needs, *of_margin, name=name + suffix)(of_subject)
        return MEASURES[name].function

    return register


def _of_subject(
    compute: Callable[..., float], spectral: Callable[..., Array] | None, margin: Callable[..., float] | None,
    normalizable: bool,
) -> Callable[..., float]:  # fmt: skip
    is_log = compute.__name__.startswith("log_")
    parts = [part for part in (compute, spectral, margin, normalized if normalizable else None) if part]
    parameters = {name: parameter for part in parts for name, parameter in _keywords(part).items()}
    signature = inspect.Signature([_SUBJECT, *parameters.values()])

    def of_subject(subject: Subject, **given: Any) -> float:
        signature.bind(subject, **given)

        def with_options(part: Callable[..., Any]) -> Callable[..., Any]:
            return functools.partial(part, **{name: given[name] for name in _keywords(part) if name in given})

        terms = Terms(subject, with_options(spectral or squared_matrix_norms), with_options(margin or output_margin))
        value: float = with_options(normalized)(with_options(compute)(terms), subject, is_log)
        return value

    functools.update_wrapper(of_subject, compute)
    of_subject.__signature__ = signature  # type: ignore[attr-defined]
    return of_subject


_SUBJECT = inspect.Parameter("subject", inspect.Parameter.POSITIONAL_OR_KEYWORD)


def _keywords(function: Callable[..., Any]) -> dict[str, inspect.Parameter]:
    found = inspect.signature(function).parameters
    return {name: parameter for name, parameter in found.items() if parameter.kind is parameter.KEYWORD_ONLY}
