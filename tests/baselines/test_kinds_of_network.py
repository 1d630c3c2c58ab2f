"""Kinds of networks and what measures make of them: the values of the same function written plainly, or a refusal."""

import numpy as np
import pytest
import tensorflow as tf
from measure_values import values
from small_networks import dataset, layers

from baselines import MEASURES
from baselines.core.measure import Need

#: Every cheap measure, and some of each other family.
NAMES = sorted(
    {name for name, measure in MEASURES.items() if measure.is_cheap and measure.family != "control"}
    | {"asam_sharpness", "fisher_trace", "geometric_complexity", "gi_intra_l1", "input_jacobian_norm", "jacobian_norm"}
    | {"kv_margin", "layer_margin_log_mean", "noise_sensitivity", "pacbayes_flatness", "relative_flatness", "tic_trace"}
)

#: Measures that look at the outputs.
OF_OUTPUTS = [name for name in NAMES if MEASURES[name].needs & {Need.LABELS, Need.CLASSES}]

#: Count the layers of the model as they are written, Reshape and Flatten at its end, too.
LAYERS_AS_WRITTEN = {"jacobian_norm", "vpm", "vr", "wcv"}

IMAGES = np.random.default_rng(1).random((40, 6, 6, 1))
DATA = dataset(IMAGES, np.arange(40) % 3)


def drawn(model, seed=0):
    """The model with weights that are neither small nor large, and others that training began with."""
    for _ in range(2):
        model.initial_weights = model.get_weights()
        rng = np.random.default_rng(seed)
        model.set_weights([rng.normal(size=w.shape) / max(np.sqrt(w[..., 0].size), 1) for w in model.get_weights()])
    return model


def chain(*end, shape=(6, 6, 1)):
    front = [layers.Conv2D(4, 3, activation="relu"), layers.Flatten(), layers.Dense(8, "relu")]
    return drawn(tf.keras.Sequential([tf.keras.Input(shape), *front, *end]))


def assert_same(model, plain, names=NAMES, data=DATA):
    assert_alike(values(model, data, names), values(plain, data, names))


def assert_alike(found, expected):
    """Values or refusals are the same, and most are values."""
    wanted = {name: expected[name] for name in found}
    assert found == {n: pytest.approx(v, rel=1e-4, abs=1e-9) if isinstance(v, float) else v for n, v in wanted.items()}
    assert sum(isinstance(value, float) for value in found.values()) > len(found) / 2


def softmax_of_mine(x):
    return tf.nn.softmax(x)


def log_softmax_of_mine(x):
    return tf.nn.log_softmax(x)


#: Ends of a network that are dropped, since measures look at logits.
ENDS = {
    "softmax in the layer": lambda: [layers.Dense(3, "softmax")],
    "softmax layer": lambda: [layers.Dense(3), layers.Softmax()],
    "softmax, then linear in another precision": lambda: [
        layers.Dense(3, dtype="mixed_float16"), layers.Activation("softmax", dtype="mixed_float16"),
        layers.Activation("linear", dtype="float32"), layers.Reshape((3,)), layers.Identity(dtype="float32"),
    ],
    "softmax along another axis": lambda: [
        layers.Dense(3), layers.Reshape((3, 1)), layers.Softmax(axis=1), layers.Dropout(0.5), layers.Flatten(),
    ],
    "log-softmax": lambda: [layers.Dense(3, "log_softmax"), layers.Activation("linear")],
}  # fmt: skip


@pytest.fixture(scope="module")
def of_logits():
    return values(chain(layers.Dense(3)), DATA, NAMES)


@pytest.mark.parametrize("end", ENDS.values(), ids=ENDS)
def test_an_end_that_makes_probabilities_of_logits_changes_nothing(end, of_logits):
    names = [name for name in NAMES if name not in LAYERS_AS_WRITTEN]
    assert_alike(values(chain(*end()), DATA, names), of_logits)


def test_a_sigmoid_at_the_end_of_one_output_is_that_of_one_logit():
    assert_same(chain(layers.Dense(1, "sigmoid")), chain(layers.Dense(1)), [n for n in NAMES if n not in OF_OUTPUTS])


#: Ends of a network behind which there are no logits, with what says so.
NO_LOGITS = {
    "sigmoids": (lambda: [layers.Dense(3, "sigmoid", name="end")], "lost in layer end activation (sigmoid)"),
    "tempered": (lambda: [layers.Dense(3), layers.Softmax(name="end"), layers.Rescaling(0.5)], "layer end (softmax)"),
    "pooled": (
        lambda: [
            layers.Reshape((4, 2)), layers.Dense(3), layers.Softmax(name="end"), layers.GlobalAveragePooling1D(),
        ],
        "layer end (softmax)",
    ),
    "several softmaxes": (
        lambda: [layers.Reshape((2, 4)), layers.Dense(3), layers.Softmax(name="end"), layers.Flatten()],
        "layer end (softmax)",
    ),
    "a softmax of my own": (lambda: [layers.Dense(3, softmax_of_mine)], "values are probabilities"),
    "a log-softmax of my own": (
        lambda: [layers.Dense(3, log_softmax_of_mine)], "values are logarithms of probabilities"
    ),
}  # fmt: skip


@pytest.mark.parametrize(("end", "said"), NO_LOGITS.values(), ids=NO_LOGITS)
def test_outputs_that_are_no_logits_are_refused_with_the_layer_or_what_they_are(end, said):
    model = chain(*end())
    for found in values(model, DATA, [*OF_OUTPUTS, "input_jacobian_norm", "noise_sensitivity"]).values():
        assert all(
            part in found for part in ("MeasureUnavailable", "needs logits", said, "end the network with logits")
        )


def test_what_needs_no_logits_works_without():
    names = ["num_params", "log_prod_of_fro", "rankme"]
    assert_same(chain(layers.Dense(3, "sigmoid")), chain(layers.Dense(3)), names)
