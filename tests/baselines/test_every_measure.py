"""Tests of the registry of measures: entries, work for forecasts, families, a new measure in one file, and Keras 2."""

import ast
import importlib
import json
import math
import os
import re
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
import tensorflow as tf
from forks import forks
from measure_values import DEMO, N_EXAMPLES, read_model, values
from small_networks import T1_DATA, dataset, t1

import baselines
from baselines import MEASURES
from baselines.core.families import COMMON, FIRST, families
from baselines.core.work import Passes, Sizes, passes_of
from baselines.network import Network

PACKAGE = Path(baselines.__file__).parent
DOCS = PACKAGE.parent / "docs" / "measures.md"
FAMILIES = {name: measure.family for name, measure in MEASURES.items()}
SIZES = Sizes(kappa=10, d=8, m=50_000)

NEW = '''"""A measure that was not here before."""

from baselines.core.measure import measure


@measure()
def brand_new(subject):
    """Nothing.

    Formula: 0. Source: a test.
    """
    return 0.0
'''


def test_importing_the_registry_imports_nothing_that_takes_seconds():
    slow = "('tensorflow', 'keras', 'scipy', 'sklearn')"
    program = f"import sys, baselines; print([name for name in {slow} if name in sys.modules])"
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"


def test_names_and_specifications():
    with pytest.raises(KeyError):
        baselines.load("no_such_measure")
    assert baselines.load("vc_dim:image_side=8").keywords == {"image_side": 8}


@pytest.mark.parametrize("measure", MEASURES.values(), ids=MEASURES)
def test_registry_entry(measure):
    assert MEASURES[measure.name] is measure
    for text in (measure.family, measure.meaning, measure.formula, measure.source, measure.cost):
        assert text
        assert "\n" not in text
    assert not {"Formula", "Source"} & set(measure.range.split())
    orders = ("input dimensions", "examples", "input dimensions and of examples")
    assert measure.draws.partition(" if ")[0] in ("", *(f"depend on the order of {order}" for order in orders))
    assert not measure.order or not MEASURES[measure.order].order
    assert all(default is not None for default in measure.parameters.values())
    n_passes = sum(measure.passes(SIZES))
    takes_gradients = "backward pass" in measure.work  # even if only some networks need one
    assert takes_gradients == (baselines.Need.GRADIENTS in measure.needs)
    assert {
        "weights": n_passes == 0 and not takes_gradients,
        "forward": n_passes > 0 and not takes_gradients,
        "gradients": n_passes > 0 and takes_gradients,
        "many": n_passes > 0,
    }[measure.cost]


@pytest.mark.parametrize(
    ("specification", "message"),
    [
        ("vc_dim:side=8", "side: expected one of image_side"),
        ("vc_dim:image_side=big", "image_side: expected a value such as 32, found 'big'"),
        ("vc_dim:image_side=1.5", "image_side: expected int, found 1.5"),
        ("depth:image_side=8", "image_side: expected one of no parameters"),
    ],
)
def test_a_specification_with_a_wrong_parameter_is_refused(specification, message):
    with pytest.raises(ValueError, match=message):
        baselines.load(specification)


@pytest.mark.parametrize(
    ("work", "n_samples", "passes"),
    [
        ("none", None, (0, 0)),
        ("SVD at every frequency", None, (0, 0)),
        ("SVD and 1 forward pass", 10_000, (10_000, 0)),
        ("3 forward passes", None, (150_000, 0)),
        ("1 forward pass", 100_000, (50_000, 0)),
        (
            "1 forward pass over 450 x kappa mixtures, and 1 forward pass over 1200 examples up to a layer",
            None,
            (5_700, 0),
        ),
        ("1 forward pass over max(m / 10, 2048) examples", None, (5_000, 0)),
        ("8 forward passes over min(m, 12,864) examples", None, (102_912, 0)),
        ("1 backward pass + min(kappa, 10) backward passes", 2048, (0, 22_528)),
        ("min(kappa, 20) backward passes; not piecewise linear: 20 x 3 backward passes", 2048, (0, 20_480)),
        ("25 x 3 backward passes", 2048, (0, 153_600)),
        ("2 forward passes, and 2.75 x d backward passes over 256 examples", 10_000, (20_000, 5_632)),
        ("about 5 forward passes, up to 17", 10_000, (50_000, 0)),
        ("1 forward pass, and for each class a backward pass through the layers behind it alone", 2048, (2_048, 0)),
    ],
)
def test_passes_that_are_read_from_a_text(work, n_samples, passes):
    assert passes_of(work, n_samples, SIZES) == Passes(*passes)


#: A measure for each module and each work: others of a module make the same passes. Measures
#: of layers as operators also pass vectors through a single layer, which are no examples.
CHEAP = {
    (one.function.__module__, one.work): name
    for name, one in MEASURES.items()
    if one.is_cheap and not name.endswith("_op")
}.values()


@pytest.mark.rest
@pytest.mark.parametrize("name", CHEAP)
def test_a_cheap_measure_makes_few_forward_passes_and_takes_no_gradient(name, subject, monkeypatch):
    passed, compiled = [], Network.compiled

    def counting(network, key, function, *specs, **options):
        run = compiled(network, key, function, *specs, **options)

        def counted(*arguments):
            passed.append(len(arguments[0]))
            return run(*arguments)

        return counted

    monkeypatch.setattr(Network, "compiled", counting)
    monkeypatch.setattr(tf, "GradientTape", None)
    measure = MEASURES[name]
    measure.function(*subject)
    if measure.cost == "weights":
        assert sum(passed) <= 1  # norms of paths pass ones through the network
    else:
        assert 0 < sum(passed) <= measure.passes(Sizes(kappa=10, d=4, m=N_EXAMPLES)).forward


def test_every_package_beside_core_and_network_is_a_family():
    packages = {file.parent.name for file in PACKAGE.glob("*/__init__.py")}
    assert set(families()) == packages - {*COMMON}
    assert families() == list(FIRST)


@pytest.mark.parametrize("family", FIRST)
def test_the_document_says_of_a_family_what_its_package_says(family):
    _, heading, rest = DOCS.read_text().partition(f"\n### {family.replace('_', ' ')}\n")
    assert heading, f"docs/measures.md: expected a section on {family}"
    doc = importlib.import_module(f"baselines.{family}").__doc__
    assert rest.strip().startswith(f"{doc}\n")


def test_measures_come_family_by_family():
    listed = [family.replace(" ", "_") for family in FAMILIES.values()]
    assert list(dict.fromkeys(listed)) == families()
    assert listed == sorted(listed, key=families().index)


@pytest.mark.parametrize("family", ["gradient", "a_new_family"])
def test_a_new_measure_is_one_file_and_a_new_family_is_a_directory(family, tmp_path):
    copy = shutil.copytree(PACKAGE, tmp_path / "baselines", ignore=shutil.ignore_patterns("__pycache__")) / family
    if family == "a_new_family":
        copy.mkdir()
        (copy / "__init__.py").write_text('"""Measures that were not here before."""\n')
    (copy / "brand_new.py").write_text(NEW)
    found = listed_in(tmp_path)
    assert (list(found)[-1] == "brand_new") == (family == "a_new_family"), "after the families of the catalogue"
    assert found.pop("brand_new") == family.replace("_", " ")
    assert found == FAMILIES


def test_families_that_a_sandbox_is_not_shown_are_passed_over(tmp_path):
    for name in ("core", "network", "size"):
        shutil.copytree(PACKAGE / name, tmp_path / "baselines" / name)
    shutil.copy(PACKAGE / "__init__.py", tmp_path / "baselines")
    assert listed_in(tmp_path) == {name: family for name, family in FAMILIES.items() if family == "size"}


def listed_in(directory):
    """Return measure -> family, found by a new process that imports the library from `directory`."""
    program = (
        "import sys, json; sys.path.insert(0, sys.argv[1]); import baselines; "
        "print(json.dumps({name: measure.family for name, measure in baselines.MEASURES.items()}))"
    )
    command = [sys.executable, "-I", "-c", program, str(directory)]
    return json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


@pytest.mark.parametrize("common", ["core", "network"])
def test_what_families_share_imports_no_family(common):
    for file in (PACKAGE / common).glob("*.py"):
        modules = {node.module for node in ast.walk(ast.parse(file.read_text())) if isinstance(node, ast.ImportFrom)}
        own = {module.split(".")[1] for module in modules if module.startswith("baselines.")}
        assert own <= {"core", "network"}, file.name


def test_the_measure_of_the_page():
    (code,) = re.findall(
        r"^ *```python\n(.*?)^ *```", (PACKAGE.parent / "CONTRIBUTING.md").read_text(), re.MULTILINE | re.DOTALL
    )
    names, kept = {"__name__": "baselines.size.example"}, dict(MEASURES)
    MEASURES.pop("sum_of_log_l1", None)  # who tries the page has a measure of this name
    try:
        exec(textwrap.dedent(code), names)
        assert MEASURES["sum_of_log_l1"].family == "size"
        assert names["sum_of_log_l1"](t1(), dataset(*T1_DATA)) == pytest.approx(math.log(4 * 7))
    finally:
        MEASURES.clear()
        MEASURES.update(kept)


@pytest.mark.full
def test_keras_2_and_keras_3_give_the_same_values(demo_data):
    model = "model_21"  # a small one with three blocks
    program = [sys.executable, Path(__file__).with_name("measure_values.py"), model]
    environment = os.environ | {"TF_USE_LEGACY_KERAS": "1", "PYTHONPATH": str(Path(__file__).parents[2])}
    done = forks.run("keras2", program, environment)
    assert done.returncode == 0, done.stderr
    legacy = json.loads(done.stdout)
    assert legacy["library"] == "tf_keras"
    assert values(read_model(DEMO / model), demo_data) == pytest.approx(legacy["values"][model], rel=1e-4)
