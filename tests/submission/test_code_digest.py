"""The digest of code: what it computes counts, how it is written does not."""

from dataclasses import replace

import pytest

from harness.submission import code_of, find_named

CODE = b'''"""A module."""

import math


class Area:
    """Of circles."""

    def of(self, radius: float, *, exact: bool = True) -> float:
        # the usual formula
        text = f"{radius:.2f}" "!"
        return math.pi * radius**2 if exact else len(text)
'''

#: That of Python 3.11, 3.12 and 3.13.
DIGEST = "b92e431a9aca353a1ed0038c39641f4e201707a698e870aeaa9065349bc7cc40"


@pytest.mark.parametrize(
    ("now", "then"),
    [
        (b"# the usual formula", b"# a well-known formula, and\n        # on two lines"),
        (b'"""Of circles."""', b'"""Of other circles."""'),
        (b'"""A module."""\n', b""),
        (
            b"radius: float, *, exact: bool = True",
            b"\n        radius: float,\n        *,\n        exact: bool=True,\n    ",
        ),
    ],
)
def test_how_it_is_written_does_not_count(now: bytes, then: bytes) -> None:
    assert code_of(CODE.replace(now, then)) == code_of(CODE)


@pytest.mark.parametrize(
    ("now", "then"),
    [
        (b"radius**2", b"radius**3"), (b"radius**2", b"radius**2.0"), (b"True", b"None"), (b'"!"', b'"?"'),
        (b".2f", b".3f"), (b"math.pi", b"math.e"), (b"import math", b"import math as maths"), (b"*, ", b""),
        (b"text = ", b"text: str = "),
    ],
)  # fmt: skip
def test_what_it_computes_counts(now: bytes, then: bytes) -> None:
    assert code_of(CODE.replace(now, then)) != code_of(CODE)


def test_it_is_the_same_in_every_python() -> None:
    assert code_of(CODE).hex() == DIGEST


def test_measures_of_the_library_have_it_and_submissions_of_participants_do_not() -> None:
    found = find_named("num_params")
    assert found is not None
    path = next(name for name in found.files if name.startswith("baselines/size/"))
    commented = replace(found, files=found.files | {path: found.files[path] + b"\n# a comment\n"})
    changed = replace(found, files=found.files | {path: found.files[path] + b"\nOTHER = 1\n"})
    assert commented.digest == found.digest != changed.digest
    theirs = replace(found, is_baseline=False)
    assert replace(commented, is_baseline=False).digest != theirs.digest
