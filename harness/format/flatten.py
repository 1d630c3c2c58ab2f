"""Turns a model in Keras' JSON, which may contain nested models, into a single graph of layers."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from harness.errors import UserError
from harness.format.equivalent_layers import as_layer, channels_last, is_operation
from harness.format.files import located
from harness.format.inbound import INPUT, Inbound, LayerCall, LayerOutput, ends, inbound
from harness.format.layer_settings import TRAINING_ONLY
from harness.format.layers import neutral_layer, require_built_in, require_float32
from harness.format.writer import Writer
from harness.text import printable

#: Maximum number of calls of layers, and of levels of nested models: with nested models, a few lines of JSON can
#: declare any number.
MAX_CALLS = 20_000
MAX_NESTING = 16

_CHAIN = "Sequential"
_GRAPHS = ("Functional", "Model")


@dataclass(frozen=True)
class FlatLayer:
    """A layer of a model or of a nested model."""

    name: str  #: the names of the nested models that contain the layer, then the layer's own name, joined by dots
    group: str  #: the layer's group in a weight file of Keras 3, such as `layers/sequential/layers/dense_1`
    definition: dict[str, Any]  #: class and settings in canonical form
    model: str | None  #: name of the outermost nested model that contains the layer; None if there is none
    is_trained: bool  #: whether training changed the layer's weights


@dataclass(frozen=True)
class Flat:
    """A model without nested models."""

    layers: Sequence[FlatLayer]  #: in the order of the JSON
    calls: Sequence[LayerCall]  #: calls of layers (positions in `layers`), each after the calls that compute its inputs
    output: int  #: number of the call that computes the model's output; `INPUT` if there are no calls
    is_chain: bool  #: whether the model is a Sequential model without nested models


def is_model(class_name: Any) -> bool:
    """Whether a class in Keras' JSON is a model, not a layer."""
    return class_name == _CHAIN or class_name in _GRAPHS


def settings_of(model: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the settings of a model or layer. Keras 2.0 to 2.2 wrote Sequential models as a mere list of layers."""
    config: Any = model["config"]
    return {"layers": config} if isinstance(config, list) else config


def flatten(content: Mapping[str, Any], writer: Writer) -> Flat:
    """Turn a model in Keras' JSON, written by version `writer` of Keras, into a graph without nested models.

    Raises `UserError` if a layer is not supported, if an argument of a call is not a layer's output, or if the model is
    not a single graph with one input and one output.
    """
    flattener = _Flattener(writer)
    model = flattener.read(content, (), "", is_trained=True)
    return flattener.flat(model)


#: A function that calls a layer or nested model: (calls that compute the inputs, keywords) -> calls that compute the
#: outputs. Calls are given by number.
_Member = Callable[[Sequence[int], Mapping[str, int | bool]], list[int]]


@dataclass(frozen=True)
class _Model:
    """A model as its JSON states it: layers and nested models by name, and, if it is functional, their connections."""

    members: Mapping[str, _Member]
    inputs: Sequence[LayerOutput] = ()
    outputs: Sequence[LayerOutput] = ()
    calls: Mapping[tuple[str, int], Inbound] | None = None  # None for a Sequential model


class _Flattener:
    def __init__(self, writer: Writer) -> None:
        self.writer = writer
        self.layers: list[FlatLayer] = []
        self.calls: list[LayerCall] = []
        self.has_models = False
        # (number of a call that permutes to channels first, number of axes) -> number of the call before it
        self._undone: dict[tuple[int, int], int] = {}

    def flat(self, model: _Model) -> Flat:
        if model.calls is not None:
            for references, role in ((model.inputs, "input"), (model.outputs, "output")):
                if len(references) != 1:
                    raise UserError(f"{role}s of the model", expected=f"exactly 1 {role}", found=len(references))
        (output,) = self._run(model, [INPUT])
        return Flat(self.layers, self.calls, output, model.calls is None and not self.has_models)

    # Reading: once for each model

    def read(self, content: Mapping[str, Any], path: tuple[str, ...], group: str, *, is_trained: bool) -> _Model:
        """Read a model and its layers.

        `path` has the names of the nested models that contain the layers. `group` is the model's group in a weight
        file. `is_trained` is False if training did not change the model or a model that contains it.
        """
        if len(path) > MAX_NESTING:
            raise UserError("nested models", expected=f"at most {MAX_NESTING} levels", found="more")
        require_built_in(content["class_name"], content.get("module"), content.get("registered_name"))
        config, is_chain = settings_of(content), content["class_name"] == _CHAIN
        require_float32(config.get("dtype"))
        groups = iter(group_names(layer["class_name"] for layer in config["layers"] if not is_operation(layer)))
        members: dict[str, _Member | None] = {}
        calls = {}
        for position, stored in enumerate(config["layers"]):
            own_group = "" if is_operation(stored) else next(groups)
            layer = as_layer(stored)
            name = str(settings_of(layer).get("name", position) if is_chain else layer["name"])
            where = f"layers[{position}] ({printable(name)})" if is_chain else f"layer {printable(name)}"
            with located(where):
                if name in members:
                    raise UserError("name", expected="distinct names of layers", found="two of this name")
                members[name] = self._member(layer, (*path, name), f"{group}layers/{own_group}", is_trained=is_trained)
                if not is_chain:
                    calls[name] = inbound(layer)
        callable_members = {name: member for name, member in members.items() if member is not None}
        if is_chain:
            return _Model(callable_members)
        inputs, outputs = ends(config["input_layers"]), ends(config["output_layers"])
        return _Model(callable_members, inputs, outputs, _numbered_calls(calls, outputs))

    def _member(
        self, layer: Mapping[str, Any], path: tuple[str, ...], group: str, *, is_trained: bool
    ) -> _Member | None:
        """Read a layer or nested model. Return a function that calls the layer or model; None for an input layer."""
        class_name, config = layer["class_name"], settings_of(layer)
        if class_name == "InputLayer":
            return None
        # in files of Keras 2, the order of weights does not depend on the setting of an outermost nested model itself
        if not (is_model(class_name) and len(path) == 1 and self.writer.major == 2):
            is_trained = is_trained and config.get("trainable", True) is not False
        if is_model(class_name):
            self.has_models = True
            model = self.read(layer, path, f"{group}/", is_trained=is_trained)
            return lambda inputs, _: self._run(model, inputs)
        definition = neutral_layer(class_name, config, layer.get("module"), layer.get("registered_name"), self.writer)
        spatial = channels_last(definition)
        outermost = path[0] if len(path) > 1 else None

        def add(definition: dict[str, Any]) -> int:
            self.layers.append(FlatLayer(".".join(path), group, definition, outermost, is_trained))
            return len(self.layers) - 1

        if spatial is not None:
            to_last, number = add(spatial.to_last), add(spatial.definition)
            to_first = None if spatial.to_first is None else add(spatial.to_first)
            return lambda inputs, _: self._call_between(to_last, number, to_first, inputs)
        number = add(definition)
        if class_name in TRAINING_ONLY:
            return lambda inputs, _: self._call_idle(number, inputs[0])
        return lambda inputs, keywords: self._call(LayerCall(number, tuple(inputs), dict(keywords)))

    # Calling: once for each call of a model

    def _call(self, call: LayerCall) -> list[int]:
        if len(self.calls) == MAX_CALLS:
            raise UserError("calls of layers", expected=f"at most {MAX_CALLS}", found="more")
        self.calls.append(call)
        return [len(self.calls) - 1]

    def _call_between(self, to_last: int, layer: int, to_first: int | None, inputs: Sequence[int]) -> list[int]:
        """Call a layer between permutations: `to_last`, the layer, `to_first` (None: no permutation).

        If a permutation back to channels first has computed the input, the layer reads that permutation's own input
        instead, and `to_last` is left out.
        """
        n_axes = len(self.layers[to_last].definition["config"]["dims"])
        undone = self._undone.get((inputs[0], n_axes))
        last = [undone] if undone is not None else self._call(LayerCall(to_last, tuple(inputs)))
        computed = self._call(LayerCall(layer, tuple(last)))
        if to_first is None:
            return computed
        first = self._call(LayerCall(to_first, tuple(computed)))
        self._undone[first[0], n_axes] = computed[0]
        return first

    def _call_idle(self, layer: int, source: int) -> list[int]:
        """Call a layer that has no effect after training. If its input is permuted, call it before the permutation.

        A next layer that has the channels first then reads the value from before the permutation (`_call_between`).
        """
        found = [(before, n_axes) for (permuted, n_axes), before in self._undone.items() if permuted == source]
        if not found:
            return self._call(LayerCall(layer, (source,)))
        ((before, n_axes),) = found
        self.layers.append(self.layers[self.calls[source].layer])
        (idle,) = self._call(LayerCall(layer, (before,)))
        permuted = self._call(LayerCall(len(self.layers) - 1, (idle,)))
        self._undone[permuted[0], n_axes] = idle
        return permuted

    def _run(self, model: _Model, inputs: Sequence[int]) -> list[int]:
        """Call the layers that a model's outputs need; return the numbers of the calls that compute the outputs."""
        if model.calls is None:
            if len(inputs) != 1:
                raise UserError("call of a Sequential model", expected="1 input", found=len(inputs))
            values = list(inputs)
            for member in model.members.values():
                values = member(values, {})
            return values
        if len(inputs) != len(model.inputs):
            raise UserError("call of a nested model", expected=f"{len(model.inputs)} inputs", found=len(inputs))
        known = {(end.layer, end.call): [value] for end, value in zip(model.inputs, inputs, strict=True)}
        for end in model.outputs:
            self._compute(model, (end.layer, end.call), known)
        return [_take(known, end) for end in model.outputs]

    def _compute(self, model: _Model, wanted: tuple[str, int], known: dict[tuple[str, int], list[int]]) -> None:
        """Add to `known` the outputs of the layer's call `wanted`, and of all calls of layers that it needs."""
        assert model.calls is not None
        waiting: set[tuple[str, int]] = set()
        pending = [wanted]
        while pending:
            key = pending[-1]
            if key in known:
                pending.pop()
                continue
            name = key[0]
            with located(f"layer {printable(name)}"):
                feeding = model.calls.get(key)
                if feeding is None or not feeding.outputs:
                    raise UserError("inbound_nodes", expected="names of layers", found="none")
                unknown = [one for one in feeding.outputs if (one.layer, one.call) not in known]
                missing = [one.layer for one in unknown if (one.layer, one.call) not in model.calls]
                if missing:
                    raise UserError("inbound_nodes", expected="names of layers", found=printable(missing[0]))
                if unknown:
                    waiting.add(key)
                    pending.extend((one.layer, one.call) for one in reversed(unknown))
                    if not waiting.isdisjoint(pending[-len(unknown) :]):
                        found = f"a layer that needs its own output: {printable(name)}"
                        raise UserError("graph of layers", expected="no cycle", found=found)
                    continue
                inputs = [_take(known, one) for one in feeding.inputs]
                keywords = {
                    key: _take(known, value) if isinstance(value, LayerOutput) else value
                    for key, value in feeding.keywords.items()
                }
                known[key] = model.members[name](inputs, keywords)


def _take(known: Mapping[tuple[str, int], Sequence[int]], output: LayerOutput) -> int:
    values = known[output.layer, output.call]
    if not 0 <= output.tensor < len(values):
        found = f"number {output.tensor} of {printable(output.layer)}"
        raise UserError("output of a layer", expected=f"one of {len(values)}", found=found)
    return values[output.tensor]


def _numbered_calls(
    calls: Mapping[str, Sequence[Inbound]], outputs: Sequence[LayerOutput]
) -> dict[tuple[str, int], Inbound]:
    """Return (layer, number of the call) -> arguments of the call. References in the JSON use the same numbers.

    A layer's calls are numbered from the smallest number in a reference to the layer; in some nested models, this is
    not 0. Raises `UserError` if a layer has several calls, and no reference has the number of one of them: Keras 3.2
    wrote the number 0 in all references.
    """
    references = [*outputs, *(one for nodes in calls.values() for node in nodes for one in node.outputs)]
    first: dict[str, int] = {}
    for one in references:
        first[one.layer] = min(first.get(one.layer, one.call), one.call)
    numbered = {(name, first.get(name, 0) + n): node for name, nodes in calls.items() for n, node in enumerate(nodes)}
    used = {(one.layer, one.call) for one in references}
    for name, call in numbered:
        if len(calls[name]) > 1 and (name, call) not in used:
            expected, found = f"all {len(calls[name])} of them to be used", f"number {call} unused"
            remedy = "Keras 3.2 loses the numbers of calls: save the model with another version"
            raise UserError(f"calls of {printable(name)}", expected=expected, found=found, remedy=remedy)
    return numbered


def group_names(class_names: Iterable[str]) -> list[str]:
    """Return the name of each layer's group in a weight file of Keras 3, such as dense, dense_1, max_pooling2d."""
    counts: Counter[str] = Counter()
    names = []
    for class_name in class_names:
        name = re.sub(r"\W+", "", str(class_name))
        name = re.sub("(.)([A-Z][a-z]+)", r"\1_\2", name)
        name = re.sub("([a-z])([A-Z])", r"\1_\2", name).lower()
        names.append(f"{name}_{counts[name]}" if counts[name] else name)
        counts[name] += 1
    return names
