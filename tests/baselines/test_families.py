"""Tests of the families of measures: their places and descriptions, and a new measure in one file."""

import ast
import importlib
import json
import math
import re
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from small_networks import T1_DATA, dataset, t1

import baselines
from baselines import MEASURES
from baselines.core.families import COMMON, FIRST, families

PACKAGE = Path(baselines.__file__).parent
DOCS = PACKAGE.parent / "docs" / "measures.md"

NEW = '''"""A measure that was not here before."""

from baselines.core.measure import measure


@measure()
def brand_new(subject):
    """Nothing.

    Formula: 0. Source: a test.
    """
    return 0.0
'''


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


FAMILIES = {name: measure.family for name, measure in MEASURES.items()}


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


PAGE = (PACKAGE.parent / "CONTRIBUTING.md").read_text()


def test_the_measure_of_the_page():
    (code,) = re.findall(r"^ *```python\n(.*?)^ *```", PAGE, re.MULTILINE | re.DOTALL)
    names = {"__name__": "baselines.size.example"}
    try:
        exec(textwrap.dedent(code), names)
        assert MEASURES["sum_of_log_l1"].family == "size"
        assert names["sum_of_log_l1"](t1(), dataset(*T1_DATA)) == pytest.approx(math.log(4 * 7))
    finally:
        MEASURES.pop("sum_of_log_l1", None)
