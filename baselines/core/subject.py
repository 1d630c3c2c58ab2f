"""The subject of a measure: a trained network, its training data, and results that measures share.

Asked for several measures of one network, everything that they share (forward passes, spectra, margins) is
computed once: inside `sharing()` the same model and dataset are the same `Subject`. What was not asked for lately and
would need too much memory is computed again.
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

#: Limit in bytes of results kept for other measures, so that no measure runs out of memory because of another.
#: Networks, their compiled functions, and a training set that is not memory-mapped come on top.
RETAINED_BYTES = 256 * 2**20

#: Number of examples that give the scales in front of layer normalization and the like.
OF_SCALES = 256

P = ParamSpec("P")
R = TypeVar("R")


class Subject:
    """A trained network and its training data. What is expensive is computed when it is first asked for."""

    def __init__(self, model: Any, dataset: Any) -> None:
        self.model, self.dataset = model, dataset
        self.found = Retained(RETAINED_BYTES)  #: what `shared` functions returned

    @functools.cached_property
    def weights(self) -> list[Array]:
        """The trained arrays, in the order of `get_weights()`; those of half precision as float32.

        Raises:
            MeasureUnavailable: one of them is not finite.
        """
        found = []
        for layer in self.model.layers:
            own = [in_full_precision(array) for array in layer.get_weights()]
            if not all(np.isfinite(array).all() for array in own):
                raise MeasureUnavailable(f"needs finite weights, which layer {layer.name} lacks")
            found += own
        return found

    @property
    def n_outputs(self) -> int:
        """Length of the network's output; raises `MeasureUnavailable` where the model is no graph of layers."""
        return int(outputs_of(self.model)[0].shape[-1])

    @functools.cached_property
    def nodes(self) -> Nodes:
        """The trained network taken apart: its layers as they are, but activations apart and without final softmax.

        Where it ends otherwise than with logits, `nodes.no_logits` says so.
        """
        return read_nodes(self.model, self.weights)

    @functools.cached_property
    def network(self) -> Network:
        """A copy of the network that runs `nodes`. All weights that training moves are its parameters."""
        return Network(self.nodes)

    @functools.cached_property
    def folded(self) -> Network:
        """The same with normalization and constants folded into the weights, for the measures that see it so.

        A network without them is its own folded form. Its parameters are kernels and biases.

        Raises:
            MeasureUnavailable: there is a normalization that cannot be folded.
        """
        return self._folded(self.nodes)

    @property
    def is_changed_by_folding(self) -> bool:
        """Whether `folded` is another network, or has other parameters."""
        return self.folded is not self.network

    def seen(self, *, folded: bool) -> Network:
        """`folded`, or `network` as it was trained."""
        return self.folded if folded else self.network

    @functools.cached_property
    def folded_at_start(self) -> Network:
        """`folded` with the weights that training began with; raises `MeasureUnavailable` without them."""
        return self._folded(self.nodes_at_start)

    @functools.cached_property
    def nodes_at_start(self) -> Nodes:
        """`nodes` with the weights that training began with; raises `MeasureUnavailable` without them."""
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
        """The arrays that training began with, in the order of `get_weights()`."""
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
        """Draw examples of the training set; the same numbers give the same examples."""
        return _sample(self, min(number, len(self.examples)), seed, by_class=by_class)


def shared(compute: Callable[Concatenate[Subject, P], R]) -> Callable[Concatenate[Subject, P], R]:
    """Make a function of a subject and hashable arguments remember what it returned for them.

    However a call is spelled, by position, by name, or with defaults left out, it is the same call.
    """
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
    """Within it the measures of one model share their work; the model must not change meanwhile."""
    global _current
    before, _current = _current, []
    try:
        yield
    finally:
        _current = before


def share() -> None:
    """Share from now on, until the process ends."""
    global _current
    _current = [] if _current is None else _current


def subject_of(model: Any, dataset: Any) -> Subject:
    """Return the subject of a model and a dataset, within `sharing()` always the same one."""
    for subject in _current or ():
        if subject.model is model and subject.dataset is dataset:
            return subject
    subject = Subject(model, dataset)
    if _current is not None:
        _current.append(subject)
    return subject
