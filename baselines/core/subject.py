"""The subject of a measure: a trained network, its training data, and results that measures share.

Inside `sharing()`, all measures of a model and a dataset use the same `Subject`, so they share forward passes, spectra
and margins. Beyond a memory limit, the least recently used results are removed.
"""

import functools
import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Concatenate, ParamSpec, TypeVar

import numpy as np

from baselines.core.needs import MeasureUnavailable
from baselines.core.retained import Retained
from baselines.core.sample import Array, Sample, draw, read_examples
from baselines.network import (
    Network,
    Nodes,
    fold_scales,
    in_full_precision,
    outputs_of,
    read_nodes,
    with_set_scales,
)

#: Maximum size in bytes of cached results, so that measures do not make each other run out of memory. Networks,
#: compiled functions, and training sets that are not memory-mapped come in addition.
RETAINED_BYTES = 256 * 2**20

#: Number of training examples from which `with_set_scales` computes scales.
OF_SCALES = 256

P = ParamSpec("P")
R = TypeVar("R")


class Subject:
    """A trained network and its training data. Attributes are computed when they are first used."""

    def __init__(self, model: Any, dataset: Any) -> None:
        self.model, self.dataset = model, dataset
        self.found = Retained(RETAINED_BYTES)  #: results of functions with the decorator `shared`

    @functools.cached_property
    def weights(self) -> list[Array]:
        """The trained weights, in the order of `get_weights()`; raises `MeasureUnavailable` if they are not finite."""
        found: dict[int, Array] = {}  # by variable: models within the model may share some
        for layer in self.model.layers:
            own = [in_full_precision(array) for array in layer.get_weights()]
            if not all(np.isfinite(array).all() for array in own):
                raise MeasureUnavailable(f"needs finite weights, which layer {layer.name} lacks")
            found.update(zip(map(id, layer.weights), own, strict=True))
        return list(found.values())

    @property
    def n_outputs(self) -> int:
        """Number of the network's outputs; raises `MeasureUnavailable` if the model is not a graph of layers."""
        return int(outputs_of(self.model)[0].shape[-1])

    @functools.cached_property
    def nodes(self) -> Nodes:
        """The trained network as a graph without a final softmax. If outputs are not logits, `no_logits` says why."""
        return read_nodes(self.model, self.weights)

    @functools.cached_property
    def network(self) -> Network:
        """A copy of the trained network. Its parameters are all trained weights, including those of normalizations."""
        return Network(self.nodes)

    @functools.cached_property
    def folded(self) -> Network:
        """The network with normalization and constants folded into kernels and biases, which are its parameters.

        If there is nothing to fold, it is `network` itself. Raises `MeasureUnavailable` if folding fails.
        """
        return self._folded(self.nodes)

    @property
    def is_changed_by_folding(self) -> bool:
        """Whether `folded` differs from `network`."""
        return self.folded is not self.network

    def seen(self, *, folded: bool) -> Network:
        """Return `self.folded` if `folded`, else `self.network`."""
        return self.folded if folded else self.network

    @functools.cached_property
    def folded_at_start(self) -> Network:
        """`folded` with the initial weights; raises `MeasureUnavailable` if the model lacks them."""
        return self._folded(self.nodes_at_start)

    @functools.cached_property
    def nodes_at_start(self) -> Nodes:
        """`nodes` with the initial weights; raises `MeasureUnavailable` if the model lacks them."""
        return read_nodes(self.model, self.initial_weights)

    def _folded(self, nodes: Nodes) -> Network:
        found = fold_scales(nodes)
        folded = self.network if found is self.nodes else Network(found)
        if not nodes.normalizes_examples:
            return folded
        if self.dataset is None:
            raise MeasureUnavailable("needs training data for the scales in front of its normalizations")
        return Network(with_set_scales(folded, self.sample(OF_SCALES).inputs))

    @property
    def initial_weights(self) -> list[Any]:
        """The weights before training, in the order of `get_weights()`; raises `MeasureUnavailable` without them."""
        initial = getattr(self.model, "initial_weights", None)
        if initial is None:
            raise MeasureUnavailable("needs the initial weights, which this model lacks")
        if not all(np.isfinite(array).all() for array in initial):
            raise MeasureUnavailable("needs finite initial weights, which this model lacks")
        return [in_full_precision(array) for array in initial]

    @functools.cached_property
    def examples(self) -> Sample:
        """The whole training set."""
        return read_examples(self.dataset)

    def sample(self, number: int, seed: int = 0, *, by_class: bool = False) -> Sample:
        """Return `number` training examples drawn by `draw`; equal arguments give equal examples."""
        return _sample(self, min(number, len(self.examples)), seed, by_class=by_class)


def shared(compute: Callable[Concatenate[Subject, P], R]) -> Callable[Concatenate[Subject, P], R]:
    """Decorate a function of a subject and hashable arguments, so that the subject caches the function's results."""
    signature = inspect.signature(compute)

    @functools.wraps(compute)
    def remembered(subject: Subject, /, *args: P.args, **kwargs: P.kwargs) -> R:
        call = signature.bind(subject, *args, **kwargs)
        call.apply_defaults()
        key = (compute, *list(call.arguments.values())[1:])
        return subject.found.get(key, lambda: compute(subject, *args, **kwargs))

    return remembered


@shared
def _sample(subject: Subject, number: int, seed: int, *, by_class: bool) -> Sample:
    return draw(subject.examples, number, seed, by_class=by_class)


_current: list[Subject] | None = None


@contextmanager
def sharing() -> Iterator[None]:
    """Let all measures of a model share results within the context. The model must not change meanwhile."""
    global _current
    before, _current = _current, []
    try:
        yield
    finally:
        _current = before


def share() -> None:
    """Let all measures of a model share results until the process ends."""
    global _current
    _current = [] if _current is None else _current


def subject_of(model: Any, dataset: Any) -> Subject:
    """Return the subject of a model and a dataset; within `sharing()`, every call with these two returns the same."""
    for subject in _current or ():
        if subject.model is model and subject.dataset is dataset:
            return subject
    subject = Subject(model, dataset)
    if _current is not None:
        _current.append(subject)
    return subject
