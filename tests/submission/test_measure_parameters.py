"""Tests of baselines with parameters: `name:parameter=value,...`."""

import functools

import pytest

import baselines
from harness.errors import UserError
from harness.submission import find_baseline, find_submission, find_submissions

KNOWN = ", ".join(baselines.MEASURES["inverse_margin"].parameters)


def test_other_parameters_make_another_submission() -> None:
    assert find_baseline("nothing:seed=1") is None
    specifications = ("inverse_margin", "inverse_margin:seed=1", "inverse_margin:seed=2")
    found, _ = find_submissions(specifications)
    assert [submission.name for submission in found] == list(specifications)
    assert len({submission.digest for submission in found}) == len(found)
    assert find_submission(specifications[1]).digest == found[1].digest


@pytest.mark.parametrize("text", ["true", "TRUE", "True"])
def test_true_and_false_in_any_case_make_the_same_submission(text: str) -> None:
    found = find_submission(f"hessian_trace:folded={text},n_samples=9")
    assert found.name == "hessian_trace:folded=True,n_samples=9"
    assert found.digest == find_submission("hessian_trace:folded=True,n_samples=9").digest
    assert found.digest != find_submission("hessian_trace:folded=False,n_samples=9").digest


def test_every_switch_of_every_measure_takes_true_and_false_in_any_case() -> None:
    measures = baselines.MEASURES.values()
    switches = [(m.name, name) for m in measures for name, one in m.parameters.items() if isinstance(one, bool)]
    assert len(switches) > 10
    for measure, name in switches:
        for text, expected in {"true": True, "False": False, "FALSE": False}.items():
            loaded = baselines.load(f"{measure}:{name}={text}")
            assert isinstance(loaded, functools.partial)
            assert loaded.keywords == {name: expected}


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
