"""What is said against a measure's source before anything is run, and what is left to the run."""

import pytest

from harness.submission import find_flaw


@pytest.mark.parametrize(
    ("source", "flaw"),
    [
        ("", "complexity.py: expected a function complexity(model, dataset), found none"),
        ("def complexty(model, dataset):\n    return 1", "complexity.py: expected a function complexity"),
        ("print(complexity)", "complexity.py: expected a function complexity"),
        ("x = 1\ndef complexity(model:\n", "complexity.py: line 2: "),
        ("x = 'a\0b'", "complexity.py: source code "),
        ("\u00ff".encode("latin-1").decode("latin-1"), "complexity.py: "),
    ],
)
def test_a_flaw(source: str, flaw: str) -> None:
    assert find_flaw(source.encode()).startswith(flaw)


@pytest.mark.parametrize(
    "source",
    [
        "def complexity(model, dataset): return 1",
        "complexity = lambda model, dataset: 1",
        "from other import complexity",
        "from other import measure as complexity",
        "from other import *",
        "if True:\n    def complexity(model, dataset): return 1",
        "exec('def complexity(model, dataset): return 1')",
        "globals()['complexity'] = print",
        "import sys\nsys.modules[__name__].__dict__['complexity'] = print",
        "class complexity: pass",
        "for complexity in []: pass",
        "(" * 5_000,  # whatever the parser says of it
        "x = " + "-" * 200_000 + "1",
    ],
)
def test_what_only_a_run_can_tell(source: str) -> None:
    flaw = find_flaw(source.encode())
    assert flaw == "" or "line 1" in flaw or "too" in flaw


def test_a_source_that_takes_too_much_memory_is_left_to_the_run() -> None:
    assert find_flaw(b"complexity = [" + b"0," * 20_000_000 + b"]") == ""
