"""Tests that files of Keras 2.0 to 3.15, of every form, give the outputs that their version of Keras computed.

`keras_forms.tar.xz` holds VERSION/MODEL/FILE and io.npz with inputs and outputs of the version. Models are chains,
graphs, models in models, shared layers and attention. Keras 2.0 to 2.3 ran on TensorFlow 2.12 with the interface of
version 1, Keras 2.10 and 2.11 on TensorFlow 2.12, and Keras 3 on JAX; 2.21.0 is tf_keras.
"""

import tarfile
from pathlib import Path

import numpy as np
import pytest
from runtimes.each_runtime import each_of, run
from stored import stored, write_canonical

from harness.errors import UserError
from harness.task.shapes import infer_shapes

pytestmark = pytest.mark.rest

#: The columns `file` and `weights`.
FORMS = (
    ("whole.h5", None), ("model.keras", None), ("config.json", "whole.h5"), ("config.json", "plain.h5"),
    ("config.json", "model.weights.h5"),
)  # fmt: skip

#: Written without the numbers of calls: Keras 3.2 itself cannot load it.
WRONG = "3.2.1/graph"


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """The directory that holds VERSION/MODEL."""
    folder = tmp_path_factory.mktemp("written")
    with tarfile.open(Path(__file__).with_name("keras_forms.tar.xz")) as archive:
        archive.extractall(folder, filter="data")
    return folder


@pytest.fixture(scope="module")
def imported(written, tmp_path_factory, shared_cache):
    """File of a model -> the directory of its canonical form; files with equal forms share a directory."""
    target = tmp_path_factory.mktemp("imported")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PGDL_CACHE", str(shared_cache))
        models = {
            (source, *form): stored(source, *form)
            for source in written.glob("*/*") if not source.match(WRONG)
            for form in FORMS if all((source / file).exists() for file in form if file)
        }  # fmt: skip
        shapes = infer_shapes(model.architecture for model in models.values())
        places, known = {}, {}
        for number, (key, model) in enumerate(models.items()):
            shape = shapes[model.architecture.digest]
            weights = b"".join(array.tobytes() for array in model.weights(shape))
            content = (model.architecture.digest, weights, (inputs := np.load(key[0] / "io.npz")["x"]).tobytes())
            if content not in known:
                known[content] = target / str(number)
                write_canonical(model, shape, target / f"task{number}", known[content])
                np.save(known[content] / "inputs.npy", inputs)
            places[key] = known[content]
    return places


@each_of("tensorflow", "keras2")
def test_outputs_are_those_of_the_keras_that_wrote_the_file(name, imported):
    assert len(imported) == 329
    # On PyTorch the axis of a LayerNormalization is refused as Keras 2 writes it, counted from the front.
    tried = {key: place for key, place in imported.items() if name != "torch" or key[0].name != "attention"}
    run(name, "forward", *sorted(set(tried.values())))
    for (source, *form), place in tried.items():
        expected, found = np.load(source / "io.npz")["y"], np.load(place / f"outputs-{name}.npy")
        np.testing.assert_allclose(found, expected, atol=2e-6, err_msg=f"{source.parent.name}/{source.name} {form}")
        assert np.ptp(expected, axis=0).min() > 1e-3


@pytest.mark.parametrize("form", [("model.keras", None), ("config.json", "model.weights.h5")])
def test_calls_whose_numbers_were_lost_are_refused(written, form):
    with pytest.raises(UserError, match=r"calls of shared: expected all 2 of them to be used, found number 1 unused"):
        stored(written / WRONG, *form)
