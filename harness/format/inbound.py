"""Reads the calls of layers from the JSON of a functional Keras model, and sorts layers as Keras does."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from harness.errors import UserError
from harness.format.equivalent_layers import MERGES

#: Stands for the model's input, in place of the number of a call.
INPUT = -1

#: Class of a layer with several named inputs -> names of the inputs in Keras' order.
NAMED_INPUTS = {"MultiHeadAttention": ("query", "value", "key")}

#: Class of a layer with named inputs -> names of its further arguments, which are true or false.
SWITCHES = {"MultiHeadAttention": ("use_causal_mask",)}

_EXPECTED = "other layers' outputs only"


@dataclass(frozen=True)
class LayerCall:
    """A call of a layer. Several calls of the same layer share its weights."""

    layer: int
    inputs: tuple[int, ...]  #: numbers of the calls whose outputs are the inputs, or `INPUT`
    keywords: Mapping[str, int | bool] = field(default_factory=dict)  #: further arguments: number of a call, or bool

    @property
    def sources(self) -> tuple[int, ...]:
        """Numbers of all calls whose outputs this call uses, in the order in which Keras visits them."""
        named = (self.keywords[name] for name in sorted(self.keywords))
        return (*self.inputs, *(source for source in named if not isinstance(source, bool)))


def keras_order(calls: Sequence[LayerCall], output: int) -> list[int]:
    """Return the numbers of the calls that lead to call number `output`, in the order in which Keras lists layers.

    In `calls`, each call comes after the calls that compute its inputs. Layers with a longer path to the output come
    first; the path of a layer is the longest of any of its calls. Ties are in the order of a depth-first walk from the
    output. So the first calls of all layers are in the order of the model's `get_weights()`.
    """
    visited: dict[int, int] = {}  # layer -> number, in the order of the walk
    upstream_first: list[int] = []
    seen: set[int] = set()
    pending = [(output, False)]
    while pending:
        call, is_finished = pending.pop()
        if is_finished:
            upstream_first.append(call)
        elif call != INPUT and call not in seen:
            seen.add(call)
            visited.setdefault(calls[call].layer, len(visited))
            pending.append((call, True))
            pending.extend((source, False) for source in reversed(calls[call].sources))
    distance = dict.fromkeys(upstream_first, 0)
    farthest: dict[int, int] = {}  # layer -> largest distance of its calls
    for call in reversed(upstream_first):
        layer = calls[call].layer
        distance[call] = farthest[layer] = max(distance[call], farthest.get(layer, 0))
        for source in calls[call].sources:
            if source != INPUT:
                distance[source] = max(distance[source], distance[call] + 1)
    return sorted(upstream_first, key=lambda call: (-distance[call], visited[calls[call].layer]))


@dataclass(frozen=True)
class LayerOutput:
    """A reference to an output of a layer: output number `tensor` of call number `call`, in Keras' numbering."""

    layer: str
    call: int
    tensor: int


@dataclass(frozen=True)
class Inbound:
    """The arguments of a call of a layer: its inputs, and further arguments by name (`keywords`)."""

    inputs: tuple[LayerOutput, ...]
    keywords: Mapping[str, LayerOutput | bool]

    @property
    def outputs(self) -> tuple[LayerOutput, ...]:
        """All references to outputs of layers among the arguments."""
        return (*self.inputs, *(value for value in self.keywords.values() if isinstance(value, LayerOutput)))


def inbound(layer: Mapping[str, Any]) -> list[Inbound]:
    """Return the arguments of each call of a layer; empty for an `InputLayer`.

    Arguments without effect, such as `training=False`, are left out. Raises `UserError` if another argument is neither
    an output of a layer nor a switch such as `use_causal_mask`.
    """
    return [_keras_3(layer, node) if isinstance(node, dict) else _keras_2(layer, node)
            for node in layer.get("inbound_nodes", [])]  # fmt: skip


def ends(reference: Any) -> list[LayerOutput]:
    """Return the layers' outputs in `reference`, which is `input_layers` or `output_layers` of a model's JSON."""
    if isinstance(reference, list) and reference and isinstance(reference[0], str):
        return [_reference(reference)]
    return [end for one in _members(reference) for end in ends(one)]


def _keras_3(layer: Mapping[str, Any], node: Mapping[str, Any]) -> Inbound:
    args, given = _listed(node.get("args", [])), dict(node.get("kwargs", {}))
    if layer["class_name"] in MERGES and len(args) > 1:  # an operation: a layer gets its inputs as a list
        ranks = [len(_listed(tensor["config"]["shape"])) for tensor in args if isinstance(tensor, dict)]
        if len(ranks) != 2 or ranks[0] != ranks[1]:
            found = f"{len(ranks)} outputs of {ranks} axes"
            raise UserError("operation", expected="two outputs with as many axes", found=found)
    return _arranged(layer, args, given)


def _keras_2(layer: Mapping[str, Any], node: Any) -> Inbound:
    entries = [node] if node and isinstance(node[0], str) else node
    given = {key: value for entry in entries if len(entry) > 3 for key, value in entry[3].items()}
    tensors = [_reference(entry) for entry in entries]
    named = NAMED_INPUTS.get(layer["class_name"], ())
    for name in named:
        if isinstance(given.get(name), list):
            given[name] = _reference(given[name])
    return _arranged(layer, tensors if named else [tensors], given)


def _arranged(layer: Mapping[str, Any], args: list[Any], given: dict[str, Any]) -> Inbound:
    """Divide the arguments of a call into inputs and keywords; leave out arguments without effect."""
    class_name = layer["class_name"]
    given = {key: value for key, value in given.items() if not _is_idle(class_name, key, value)}
    names, switches = NAMED_INPUTS.get(class_name, ()), SWITCHES.get(class_name, ())
    if not names:
        if given:
            raise UserError("call of the layer", expected=_EXPECTED, found=f"also {given}")
        return Inbound(tuple(_output(tensor) for tensor in _flatten(args)), {})
    unknown = {key: value for key, value in given.items() if key not in (*names, *switches)}
    if unknown or len(args) > len(names):
        raise UserError("call of the layer", expected=_EXPECTED, found=f"also {unknown or args[len(names) :]}")
    by_name = {**dict(zip(names, args, strict=False)), **given}
    keywords = {key: value if key in switches else _output(value) for key, value in by_name.items()}
    wrong = [key for key in switches if not isinstance(keywords.get(key, False), bool)]
    if wrong or names[0] not in keywords:
        raise UserError("call of the layer", expected=f"{', '.join(names)}", found=", ".join(by_name) or "none")
    first = keywords.pop(names[0])
    assert isinstance(first, LayerOutput)
    return Inbound((first,), keywords)


def _is_idle(class_name: str, name: str, value: Any) -> bool:
    """Whether a keyword argument has no effect after training."""
    if name == "training" and class_name.startswith("Random"):
        return True  # true is the default of these layers in Keras 3, and has no effect here
    if name in ("training", "use_causal_mask", "return_attention_scores"):
        return value is None or value is False
    return all(part is None for part in _flatten([value]))


def _flatten(arguments: list[Any]) -> list[Any]:
    found: list[Any] = []
    pending = list(reversed(arguments))
    while pending:
        argument = pending.pop()
        if isinstance(argument, list) or (isinstance(argument, dict) and "class_name" not in argument):
            pending.extend(reversed(_members(argument)))
        else:
            found.append(argument)
    return found


def _output(argument: Any) -> LayerOutput:
    if isinstance(argument, LayerOutput):
        return argument
    if not isinstance(argument, dict) or argument.get("class_name") != "__keras_tensor__":
        raise UserError("call of the layer", expected=_EXPECTED, found=f"also {argument!r}")
    return _reference(argument["config"]["keras_history"])


def _reference(entry: Any) -> LayerOutput:
    match entry:
        case [str(layer), int(call), int(tensor), *_]:
            return LayerOutput(layer, call, tensor)
    raise UserError("reference to a layer", expected="name and two numbers", found=repr(entry)[:100])


def _members(value: Any) -> list[Any]:
    """Return the members of a list, or the values of a JSON object sorted by key, as Keras does."""
    return [value[name] for name in sorted(value)] if isinstance(value, dict) else _listed(value)


def _listed(value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise UserError("arguments of a call", expected="a list", found=repr(value)[:100])
    return value
