"""What a network's outputs are, whichever layers are behind its softmax."""

from pathlib import Path
from typing import Any

import pytest

from harness.errors import UserError
from harness.format.architecture import Architecture, parse_architecture
from harness.format.output import Output


def chain(*layers: dict[str, Any]) -> Architecture:
    return parse_architecture({"model_config": [*layers], "input_shape": [4]}, Path("config.json"))


def layer(name: str, **settings: Any) -> dict[str, Any]:
    return {"layer_name": name, **settings}


def graph(*layers: tuple[str, str, dict[str, Any], list[str]], calls: int = 1) -> Architecture:
    """A functional model of layers: name, class, settings, and the layers that they take in; the last is the output.

    The last layer is called several times, each time with its own output.
    """
    shape = {"name": "input", "class_name": "InputLayer", "config": {"name": "input", "batch_shape": [None, 4]}}
    entries = [shape | {"inbound_nodes": []}]
    for name, class_name, settings, sources in layers:
        nodes = [[[source, 0, 0, {}] for source in sources]]
        if name == layers[-1][0]:
            nodes += [[[name, call, 0, {}]] for call in range(calls - 1)]
        entries.append(
            {"name": name, "class_name": class_name, "config": {"name": name, **settings}, "inbound_nodes": nodes}
        )
    ends = {"input_layers": [["input", 0, 0]], "output_layers": [[layers[-1][0], calls - 1, 0]]}
    content = {"class_name": "Functional", "config": {"name": "model", "layers": entries, **ends}}
    return parse_architecture(content, Path("config.json"))


DENSE = layer("Dense", units=3)

#: Layers behind a dense one, and the position of the softmax.
WITH_SOFTMAX: list[tuple[list[dict[str, Any]], int]] = [
    ([layer("Softmax")], 1),
    ([layer("Activation", activation="softmax")], 1),
    ([layer("Softmax"), layer("Flatten")], 1),
    ([layer("Softmax"), layer("Reshape", target_shape=[3, 1]), layer("Identity"), layer("Flatten")], 1),
    ([layer("Softmax"), layer("Dropout", rate=0.5), layer("Activation", activation="linear")], 1),
    ([layer("Dense", units=3, activation="softmax"), layer("Permute", dims=[1])], 1),
]


@pytest.mark.parametrize(("ending", "position"), WITH_SOFTMAX)
def test_a_softmax_behind_which_nothing_is_computed(ending: list[dict[str, Any]], position: int) -> None:
    architecture = chain(DENSE, *ending)
    assert (architecture.output, architecture.canonical["softmax"]) == (Output.PROBABILITIES, position)


@pytest.mark.parametrize(
    ("ending", "output"),
    [
        ([], Output.LOGITS),
        ([layer("Softmax"), DENSE], Output.LOGITS),
        ([layer("Activation", activation="tanh")], Output.LOGITS),
        ([layer("Dense", units=3, activation="sigmoid"), layer("Flatten")], Output.NO_LOGITS),
        ([layer("Dense", units=3, activation="softmax"), layer("Rescaling", scale=0.5)], Output.NO_LOGITS),
        ([DENSE, layer("Softmax"), layer("UnitNormalization")], Output.NO_LOGITS),
        ([layer("Dense", units=3, activation="sigmoid"), DENSE], Output.LOGITS),
    ],
)
def test_other_ends(ending: list[dict[str, Any]], output: Output) -> None:
    architecture = chain(DENSE, *ending)
    assert (architecture.output, "softmax" in architecture.canonical) == (output, False)


def test_only_passing_layers() -> None:
    assert chain(layer("Flatten"), layer("Dropout", rate=0.5)).output is Output.LOGITS


@pytest.mark.parametrize(
    ("ending", "is_of_all"),
    [
        ([layer("Reshape", target_shape=[2, 2]), layer("Softmax"), layer("Flatten")], False),
        ([layer("Reshape", target_shape=[2, 2]), layer("Softmax", axis=[1, 2]), layer("Flatten")], True),
        ([layer("Reshape", target_shape=[4, 1]), layer("Softmax"), layer("Flatten")], False),
        ([layer("Reshape", target_shape=[4, 1]), layer("Softmax", axis=1), layer("Flatten")], True),
        ([layer("Dense", units=1, activation="sigmoid")], True),
    ],
)
def test_what_is_taken_off_is_of_all_outputs(ending: list[dict[str, Any]], is_of_all: bool) -> None:
    architecture = chain(layer("Dense", units=4), *ending)
    assert architecture.output is (Output.PROBABILITIES if is_of_all else Output.NO_LOGITS)
    assert ("softmax" in architecture.canonical) == is_of_all


@pytest.mark.parametrize("gate", ["sigmoid", "softmax"])
def test_a_gate_takes_no_logits_away(gate: str) -> None:
    dense = [("one", "Dense", {"units": 3}, ["input"]), ("gate", "Dense", {"units": 3, "activation": gate}, ["input"])]
    assert graph(*dense, ("end", "Multiply", {}, ["one", "gate"])).output is Output.LOGITS


@pytest.mark.parametrize("combining", ["Average", "Add", "Concatenate", "Multiply"])
def test_several_softmaxes_have_no_logits(combining: str) -> None:
    dense = [(name, "Dense", {"units": 3, "activation": "softmax"}, ["input"]) for name in ("one", "other")]
    architecture = graph(*dense, ("flat", "Flatten", {}, ["one"]), ("end", combining, {}, ["flat", "other"]))
    assert (architecture.output, "softmax" in architecture.canonical) == (Output.NO_LOGITS, False)


def test_a_softmax_that_is_called_twice_cannot_be_left_out() -> None:
    dense = ("dense", "Dense", {"units": 3}, ["input"])
    assert graph(dense, ("end", "Softmax", {}, ["dense"])).canonical["softmax"] == 1
    architecture = graph(dense, ("end", "Softmax", {}, ["dense"]), calls=2)
    assert (architecture.output, "softmax" in architecture.canonical) == (Output.NO_LOGITS, False)


def test_a_layer_without_effect_that_is_called_twice_hides_no_softmax() -> None:
    layers = [("idle", "Dropout", {"rate": 0.5}, ["input"]), ("dense", "Dense", {"units": 3}, ["idle"])]
    softmax = ("end", "Softmax", {}, ["dense"])
    assert graph(*layers, softmax, ("last", "Dropout", {"rate": 0.5}, ["end"]), calls=2).output is Output.PROBABILITIES


def test_keras_writes_the_default_of_layers_that_augment() -> None:
    """`training=True` of a layer that somebody wants to be active is refused, as before."""

    def written(class_name: str, settings: dict[str, Any]) -> Architecture:
        source = {"class_name": "__keras_tensor__", "config": {"keras_history": ["input", 0, 0], "shape": [None, 4]}}
        nodes = [{"args": [source], "kwargs": {"training": True}}]
        layers = [
            {"name": "input", "class_name": "InputLayer", "config": {"batch_shape": [None, 4]}, "inbound_nodes": []},
            {"name": "end", "class_name": class_name, "config": settings, "inbound_nodes": nodes},
        ]
        ends = {"input_layers": [["input", 0, 0]], "output_layers": [["end", 0, 0]]}
        content = {"class_name": "Functional", "config": {"name": "model", "layers": layers, **ends}}
        return parse_architecture(content, Path("config.json"))

    assert written("RandomFlip", {}).canonical["layers"][0]["class_name"] == "RandomFlip"
    with pytest.raises(UserError, match="training"):
        written("Dropout", {"rate": 0.5})


def test_a_log_softmax_is_taken_off_as_a_softmax_is():
    architecture = chain(DENSE, layer("Activation", activation="log_softmax"), layer("Reshape", target_shape=[3]))
    assert (architecture.output, architecture.canonical["softmax"]) == (Output.LOG_PROBABILITIES, 1)
