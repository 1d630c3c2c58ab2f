"""Tests of the completions that a shell receives when the user presses Tab."""

import pytest
from in_process import Pgdl


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("pgdl doc", ["plain,doctor"]),
        ("pgdl run gi_intra", ["plain,gi_intra_l0", "plain,gi_intra_l1"]),
        ("pgdl check my_mea", ["file,my_mea"]),
        ("pgdl score num_par", ["plain,num_params"]),
        ("pgdl measures num_par", ["plain,num_params"]),
        ("pgdl compare --measures che", ["plain,cheap"]),
        ("pgdl compare --measures cheap,gi_intra", ["plain,cheap,gi_intra_l0", "plain,cheap,gi_intra_l1"]),
        ("pgdl compare --measures grad",
         [f"plain,gradient{end}" for end in ("s", "", "_confusion", "_norm", "_noise_final")]),
        ("pgdl task val", ["plain,validate"]),
    ],
)  # fmt: skip
def test_bash(line: str, expected: list[str], pgdl: Pgdl, monkeypatch: pytest.MonkeyPatch) -> None:
    """Bash offers these after LINE, whose last word is incomplete."""
    for name, value in (
        ("_PGDL_COMPLETE", "bash_complete"),
        ("COMP_WORDS", line),
        ("COMP_CWORD", str(line.count(" "))),
    ):
        monkeypatch.setenv(name, value)
    ended = pgdl()
    assert (ended.code, ended.out.split(), ended.err) == (0, expected, "")
