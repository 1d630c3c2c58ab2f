"""Tests that models of every kind, from every form of file, compute the same after the import as in plain Keras."""

from pathlib import Path

import numpy as np
import plain_keras
import pytest
from plain_keras import FORMS
from runtimes.each_runtime import each_of, run, run_python
from stored import stored, write_canonical

from harness.task.shapes import infer_shapes

pytestmark = pytest.mark.rest


@pytest.fixture(scope="module")
def imported(tmp_path_factory, shared_cache):
    """Import each model from each form of file; return name -> form -> directory of the canonical form."""
    folder = tmp_path_factory.mktemp("imported")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PGDL_CACHE", str(shared_cache))
        run_python("tensorflow", Path(plain_keras.__file__), folder / "plain")
        sources = sorted((folder / "plain").iterdir())
        models = {(source, form): stored(source, *FORMS[form]) for source in sources for form in FORMS}
        shapes = infer_shapes(model.architecture for model in models.values())
        for (source, form), model in models.items():
            directory, canonical = (folder / part / source.name / form for part in ("tasks", "canonical"))
            write_canonical(model, shapes[model.architecture.digest], directory, canonical)
            (canonical / "inputs.npy").symlink_to(source / "inputs.npy")
    return folder


@each_of("tensorflow", "torch", "keras2")
def test_logits_are_those_of_plain_keras(imported, name):
    directories = sorted((imported / "canonical").glob("*/keras"))
    assert len(directories) == 11
    run(name, "forward", *directories)
    for directory in directories:
        expected = np.load(imported / "plain" / directory.parent.name / "logits.npy")
        found = np.load(directory / f"outputs-{name}.npy")
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5, err_msg=str(directory))
        assert np.ptp(expected, axis=0).min() > 1e-3  # which would not notice weights that are mixed up


def test_every_form_of_a_file_gives_the_same(imported):
    models = sorted((imported / "canonical").iterdir())
    assert len(models) == 11
    for model in models:
        forms = [model / form for form in FORMS]
        architecture = (forms[0] / "architecture.json").read_text()
        with np.load(forms[0] / "weights.npz") as archive:
            weights = dict(archive)
        for form in forms[1:]:
            assert (form / "architecture.json").read_text() == architecture, form
            with np.load(form / "weights.npz") as archive:
                assert archive.keys() == weights.keys()
                for name, array in weights.items():
                    np.testing.assert_array_equal(archive[name], array, err_msg=f"{form}: {name}")
