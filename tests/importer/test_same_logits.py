"""Models of every kind, from every form of file, compute the same after the import as in plain Keras."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from plain_keras import FORMS

from harness.format.layout import CONFIG
from harness.importer.model import StoredModel
from harness.importer.run import write_model
from harness.importer.table import Row
from harness.task.model import read_model
from harness.task.shapes import infer_shapes

HERE = Path(__file__).parent


def run(program, *arguments, legacy="0"):
    environment = {**os.environ, "TF_USE_LEGACY_KERAS": legacy, "CUDA_VISIBLE_DEVICES": "-1"}
    ended = subprocess.run([sys.executable, program, *arguments], env=environment, capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr[-3000:]


def stored(directory, form):
    file, weights = FORMS[form]
    weights = None if weights is None else directory / weights
    return StoredModel(Row("models.csv: line 2", directory / file, weights, {}, None, None))


@pytest.fixture(scope="module")
def imported(tmp_path_factory, shared_cache):
    """The canonical form of each model in each form of file, beside the inputs: name -> form -> directory."""
    folder = tmp_path_factory.mktemp("imported")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PGDL_CACHE", str(shared_cache))
        run(HERE / "plain_keras.py", folder / "plain")
        sources = sorted((folder / "plain").iterdir())
        models = {(source, form): stored(source, form) for source in sources for form in FORMS}
        shapes = infer_shapes(model.architecture for model in models.values())
        for (source, form), model in models.items():
            directory, canonical = (folder / part / source.name / form for part in ("tasks", "canonical"))
            shape = shapes[model.architecture.digest]
            assert not isinstance(shape, str), shape
            write_model(model, shape, directory)
            canonical.mkdir(parents=True)
            read_model(directory, model.architecture, shape).write_canonical(canonical)
            (canonical / "inputs.npy").symlink_to(source / "inputs.npy")
    return folder


@pytest.mark.parametrize("legacy", ["0", "1"], ids=["Keras 3", "Keras 2"])
def test_logits_are_those_of_plain_keras(imported, legacy):
    directories = sorted((imported / "canonical").glob("*/*"))
    assert len(directories) == 10 * len(FORMS)
    run(HERE.parent / "task" / "keras_programs.py", "forward", *directories, legacy=legacy)
    for directory in directories:
        expected = np.load(imported / "plain" / directory.parent.name / "logits.npy")
        found = np.load(directory / "outputs.npy")
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5, err_msg=str(directory))
        assert np.ptp(expected, axis=0).min() > 1e-3  # which would not notice weights that are mixed up


def test_the_form_of_a_file_leaves_no_trace(imported):
    """All forms of a model give the same architecture and weights."""
    for name in sorted((imported / "canonical").iterdir()):
        architectures = {(form / "architecture.json").read_text() for form in name.iterdir()}
        assert len(architectures) == 1, name
        assert all((imported / "tasks" / name.name / form / CONFIG).exists() for form in FORMS)
