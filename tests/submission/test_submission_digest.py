"""Tests of digests, also of measures with parameters: which changes make another version of a submission."""

import functools
import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

import baselines
from baselines.core.families import families
from harness.digest import code_of
from harness.errors import UserError
from harness.submission import (
    Submission,
    find_baseline,
    find_named,
    find_submission,
    find_submissions,
    library,
    write_files,
)


def test_only_names_and_contents_count_and_bytes_do_not_wander_between_them() -> None:
    def digest(content: dict[str, bytes], name: str = "x") -> str:
        return Submission(name, content).digest

    assert digest({"a": b"1", "b": b"2"}, "x") == digest({"b": b"2", "a": b"1"}, "y")
    long = bytes(10**5)
    variants = [{"ab": b"c"}, {"a": b"bc"}, {"a": b"", "b": b"c"}, {"a": b"b", "c": b""}, {"a 1 b": b"c"}, {"ab": b"d"}]
    variants += [{"a": long + b"0"}, {"a": long + b"1"}, {"a": b"Bc"}, {"aB": b"c"}]
    assert len({digest(variant) for variant in variants}) == len(variants)


CODE = b'''"""A module."""

import math


class Area:
    """Of circles."""

    def of(self, radius: float, *, exact: bool = True) -> float:
        # the usual formula
        text = f"{radius:.2f}" "!"
        return math.pi * radius**2 if exact else len(text)
'''

HEADER = b"radius: float, *, exact: bool = True"
LINES = b"\n        radius: float,\n        *,\n        exact: bool=True,\n    "


def test_how_it_is_written_does_not_count() -> None:
    for now, then in {
        b"# the usual formula": b"# a well-known formula, and\n        # on two lines",
        b'"""Of circles."""': b'"""Of other circles."""',
        b'"""A module."""\n': b"",
        HEADER: LINES,
    }.items():
        assert code_of(CODE.replace(now, then)) == code_of(CODE), now
    in_every_python = "b92e431a9aca353a1ed0038c39641f4e201707a698e870aeaa9065349bc7cc40"  # 3.11, 3.12 and 3.13
    assert code_of(CODE).hex() == in_every_python


def test_what_it_computes_counts() -> None:
    for now, then in [
        (b"radius**2", b"radius**3"), (b"radius**2", b"radius**2.0"), (b"True", b"None"), (b'"!"', b'"?"'),
        (b".2f", b".3f"), (b"math.pi", b"math.e"), (b"import math", b"import math as maths"), (b"*, ", b""),
        (b"text = ", b"text: str = "), (b"Area", b"AREA"),
    ]:  # fmt: skip
        assert code_of(CODE.replace(now, then)) != code_of(CODE), then


def test_measures_of_the_library_have_it_and_submissions_of_participants_do_not() -> None:
    found = find_named("num_params")
    assert found is not None
    path = next(name for name in found.files if name.startswith("baselines/size/"))
    commented = replace(found, files=found.files | {path: found.files[path] + b"\n# a comment\n"})
    changed = replace(found, files=found.files | {path: found.files[path] + b"\nOTHER = 1\n"})
    assert commented.digest == found.digest != changed.digest
    theirs = replace(found, is_baseline=False)
    assert replace(commented, is_baseline=False).digest != theirs.digest


#: Lists the measures in a directory, without the help of an installation that points to this checkout.
LISTING = """
import sys, json
from importlib.machinery import BuiltinImporter, FrozenImporter, PathFinder
sys.meta_path[:] = [BuiltinImporter, FrozenImporter, PathFinder]
sys.path.insert(0, sys.argv[1])
import baselines, complexity
print(json.dumps([baselines.__file__, *baselines.MEASURES]))
"""


def submission_of(family: str) -> Submission:
    name = next(name for name, one in baselines.MEASURES.items() if one.family == family.replace("_", " "))
    found = find_baseline(name)
    assert found is not None
    return found


def families_in(submission: Submission) -> set[str]:
    return {path.split("/")[1] for path in submission.files if path.count("/") == 2} - {"core", "network"}


@pytest.mark.rest
@pytest.mark.parametrize("family", families())
def test_its_files_are_enough(family: str, tmp_path: Path) -> None:
    """A process with only those files of the library that the submission holds finds all measures of their families."""
    submission = submission_of(family)
    write_files(submission.files, tmp_path)
    command = [sys.executable, "-I", "-c", LISTING, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    place, *names = json.loads(done.stdout)
    assert Path(place).is_relative_to(tmp_path)
    shown = families_in(submission)
    assert names == [name for name, one in baselines.MEASURES.items() if one.family.replace(" ", "_") in shown]


def digests() -> dict[str, str]:
    """Return family -> digest of a measure, as a new process computes it."""
    library._library.cache_clear()
    library._files_of.cache_clear()
    return {family: submission_of(family).digest for family in families()}


@pytest.fixture
def copied_library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A copy of the library that is used in place of the original."""
    package = shutil.copytree(Path(baselines.__file__).parent, tmp_path / "baselines")
    with monkeypatch.context() as patch:
        patch.setattr(baselines, "__file__", str(package / "__init__.py"))
        yield package
    digests()


def test_an_edit_makes_new_versions_of_what_is_made_of_the_file(copied_library: Path) -> None:
    of_all = set(families())
    before = digests()
    for edited, expected in {
        "sharpness/hessian.py": {"sharpness"},
        "norm/terms.py": {"norm", "margin"},
        "core/sample.py": of_all,
        "network/fold.py": of_all,
        "__init__.py": of_all,
    }.items():
        with (copied_library / edited).open("a") as file:
            file.write("EDITED = True\n")
        after = digests()
        assert {family for family in before if before[family] != after[family]} == expected, edited
        before = after


KNOWN = ", ".join(baselines.MEASURES["inverse_margin"].parameters)


def test_other_parameters_make_another_submission() -> None:
    assert find_baseline("nothing:seed=1") is None
    specifications = ("inverse_margin", "inverse_margin:seed=1", "inverse_margin:seed=2")
    found, _ = find_submissions(specifications)
    assert [submission.name for submission in found] == list(specifications)
    assert len({submission.digest for submission in found}) == len(found)
    assert find_submission(specifications[1]).digest == found[1].digest


def test_every_switch_of_every_measure_takes_true_and_false_in_any_case() -> None:
    measures = baselines.MEASURES.values()
    switches = [(m.name, name) for m in measures for name, one in m.parameters.items() if isinstance(one, bool)]
    assert len(switches) > 10
    for measure, name in switches:
        for text, expected in {"true": True, "TRUE": True, "False": False, "FALSE": False}.items():
            loaded = baselines.load(f"{measure}:{name}={text}")
            assert isinstance(loaded, functools.partial)
            assert loaded.keywords == {name: expected}
    digests = set()
    for text in ("true", "TRUE", "True"):
        found = find_submission(f"hessian_trace:folded={text},n_samples=9")
        assert found.name == "hessian_trace:folded=True,n_samples=9"
        digests.add(found.digest)
    assert len(digests) == 1
    assert find_submission("hessian_trace:folded=False,n_samples=9").digest not in digests


@pytest.mark.parametrize(
    ("specification", "message"),
    [
        ("hessian_trace:folded=1", "folded: expected true or false, found '1'"),
        ("hessian_trace:folded=yes", "folded: expected true or false, found 'yes'"),
        ("inverse_magin:seed=3", "no such file, directory, zip or measure; did you mean 'inverse_margin'?"),
        ("inverse_margin:n_sample=3", f"n_sample: expected one of {KNOWN}; did you mean 'n_samples'?"),
        ("inverse_margin:seed=1,zzz=3", f"zzz: expected one of {KNOWN}"),
        ("inverse_margin:seed=1.5", "seed: expected int, found 1.5"),
        ("inverse_margin:seed=", "seed: expected a value such as 0, found ''"),
        ("inverse_margin:seed", "seed: expected a value such as 0, found ''"),
        ("jacobian_norm:n_batches=0", "n_batches: expected 1 or more, found 0"),
        ("jacobian_norm:batch_size=-1", "batch_size: expected 1 or more, found -1"),
        ("constrained_margin:n_components=-1", "n_components: expected 0 or more, found -1"),
        ("deepfool_margin:n_classes=1", "n_classes: expected 2 or more, found 1"),
        ("deepfool_margin:overshoot=-0.1", "overshoot: expected 0 or more, found -0.1"),
        ("inverse_margin:margin_floor=0", "margin_floor: expected a number above 0, found 0.0"),
        ("quantization_bits:accuracy_drop=-0.1", "accuracy_drop: expected a number above 0 and up to 1, found -0.1"),
        ("quantization_bits:accuracy_drop=1.5", "accuracy_drop: expected a number above 0 and up to 1, found 1.5"),
        ("pr_mean_error_rotation:low=-1e999", "low: expected a finite number, found -inf"),
        ("depth:seed=1", "seed: expected one of no parameters"),
        *((f"inverse_margin:{text}", "parameters: expected NAME:PARAMETER=VALUE,... with each parameter once")
          for text in ("", "seed=1,", "seed=1,,n_samples=9", "seed=1,seed=2")),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_in_one_line(specification: str, message: str) -> None:
    with pytest.raises(UserError) as error:
        find_submission(specification)
    assert str(error.value) == f"{specification}: {message}"


def test_every_count_of_every_measure_is_refused_below_1_or_0() -> None:
    """Otherwise NumPy or TensorFlow would fail without a clear message, or another sample would be used."""
    for measure in baselines.MEASURES.values():
        for name, default in measure.parameters.items():
            if type(default) is int and name not in ("seed", "layer"):
                with pytest.raises(ValueError, match=f"^{name}: expected [012] or more, found -1$"):
                    baselines.load(f"{measure.name}:{name}=-1")


@pytest.mark.parametrize(
    "specification",
    ["random:seed=-3", "relative_flatness:layer=-2", "vc_dim:image_side=0", "alpha:min_eigenvalues=0",
     "local_learning_coefficient:n_burn_in=0", "constrained_margin:n_components=0"],
)  # fmt: skip
def test_numbers_that_are_no_counts_and_counts_of_nothing_are_taken(specification: str) -> None:
    assert find_submission(specification).problem is None


@pytest.mark.parametrize("text", ["[red]", "a\nb", "kth" * 30, "a|b"])
def test_text_that_cannot_be_in_a_name_is_refused(text: str) -> None:
    with pytest.raises(UserError, match="cannot be a name: expected at most 80 ASCII letters"):
        find_submission(f"neg_output_margin:percentile_method={text}")
