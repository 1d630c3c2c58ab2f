"""Tests of the comment on a change: its content, and that all text of a report, even of a forged report, stays text."""

import json
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import hypothesis.strategies as st
import pytest
from hypothesis import given

from harness.ci.annotations import last_traceback
from harness.ci.comment import MARK, SHOWN, code, render
from harness.ci.report import MAX_BYTES, MAX_ITEMS, MAX_TEXT, ChangeReport, Line, Moved, ReportError, Same
from harness.outcome import LONGEST_OUTPUT_TAIL

ROOT = Path(__file__).parents[2]

LINE = Line(
    "mine", "submissions/mine.py", "changed", 4, 10.0, 2, 12.345, 8.0, 15.0, 1.7, 0.0125, 2, 3, 96, 96,
    above="best", above_p_value=0.0381, below="other", below_p_value=0.8,
)  # fmt: skip
REPORT = ChangeReport("a" * 40, "b" * 40, 2, (LINE,))
HOSTILE = [
    "@everyone", "#1", "[x](http://x)", "<img src=x onerror=y>", "`@a` ```", "a|b", "a\n\n# title", "\n::error::x",
    "<!-- x", "--> x", "https://x.example", "www.x.example", "GH-1", "\\", "`\\", "$x$", ":smile:", "a\u202eb",
]  # fmt: skip


def outside_code(comment: str) -> str:
    """Return a comment with its code replaced by "CODE": Markdown interprets the rest."""
    return re.sub(r"`[^`\n]*`", "CODE", re.sub(r"^```text\n[^`]*\n```$", "CODE", comment, flags=re.MULTILINE))


def changed(**changes: object) -> str:
    """Return the comment on a changed report."""
    return render(replace(REPORT, **changes))


def test_ranks_before_and_after_intervals_and_neighbours():
    comment = render(REPORT)
    assert comment.startswith(f"{MARK}\n## Leaderboard\n\nAll rules are kept.\n")
    for text in (
        "| `mine` | `changed` | 4 → 2 | 10.00 → 12.35 | 8.00 to 15.00 | 1.70 | 0.0125 | 2 to 3 | 96 of 96 |",
        "- `mine` is below `best`: a clear difference (p = 0.0381)",
        "- `mine` is above `other`: no clear difference (p = 0.8000)",
    ):
        assert text in comment
    for text in ("Problems", "Hidden", "### The same under", "### Tracebacks"):
        assert text not in comment
    tied = replace(LINE, name="tied")
    comment = changed(lines=(LINE, tied, replace(tied, name="another", below_p_value=0.5)))
    assert "- `mine`, `tied` are above `other`: no clear difference (p = 0.8000)\n" in comment
    assert "- `another` is above `other`: no clear difference (p = 0.5000)\n" in comment


def test_what_there_is_not_is_a_dash_and_a_renamed_submission_has_its_earlier_name_and_rank():
    comment = changed(lines=(Line("mine", "mine.py", "new", problem="8 CRASH"),))
    assert "| `mine` | `new` | - | - | - | - | - | - | - |" in comment
    assert "### Problems\n\n- `mine`: `8 CRASH`" in comment
    comment = changed(lines=(replace(LINE, change="renamed", renamed_from="his"),))
    assert "| `mine` | `renamed` from `his` | 4 → 2 | 10.00 → 12.35 |" in comment


def test_what_a_hidden_task_withholds_has_no_column_and_is_named():
    withheld = ("low", "high", "chance", "p_value", "best_rank", "worst_rank", "above_p_value", "below_p_value")
    comment = changed(decimals=1, lines=(replace(LINE, **dict.fromkeys(withheld)),), withheld=("secret",))
    assert "| submission | change | rank | score | models |" in comment
    assert "| `mine` | `changed` | 4 → 2 | 10.0 → 12.3 | 96 of 96 |" in comment
    assert "Hidden: `secret`. Scores are rounded; interval (90 %), chance, p, possible ranks" in comment


def test_other_files_broken_rules_notes_and_what_is_the_same_or_overwritten_are_named():
    same = (Same("files", ("mine", "other")), Same("values", ("mine", "vc_dim")))
    others = {"others": ("conftest.py",) * 20, "n_others": 400}
    comment = changed(moved=(Moved("x", 1, None),), broken=("too low",), same=same, **others)
    for text in (
        "**The job fails:**\n\n- `too low`", "- `x`: 1 → -", "- `conftest.py`\n\n... and 380 more files.",
        "### The same under several names\n\n- `mine`, `other`: the same `files`\n",
        "\n- `mine`, `vc_dim`: the same `values`\n",
    ):  # fmt: skip
        assert text in comment
    lines = (LINE, replace(LINE, name="new", change="new"), replace(LINE, change="renamed", renamed_from="old"))
    above, _, _ = changed(lines=lines, notes=("the base has moved",)).partition("| submission |")
    assert "### Before you merge\n\n- `the base has moved`\n" in above
    overwritten = "**Submissions of the base that this change overwrites:** `mine` (changed), `old` (renamed)\n\n"
    assert above.endswith(overwritten)


def test_the_traceback_of_a_failed_call_counts_frames_of_libraries():
    begin, end = "Traceback (most recent call last):", "OSError: no"
    output = f"printed\n{begin}\n" + "  File x\n" * 50 + f"ValueError: {'y' * 1000}\n"
    comment = changed(lines=(replace(LINE, traceback=last_traceback(output)),))
    assert "### Tracebacks, of the first call that failed\n\n`mine`\n\n```text\n  File x\n" in comment
    assert f"  File x\nValueError: {'y' * 108}\n```\n" in comment
    assert last_traceback("printed") == last_traceback(f"{'y' * LONGEST_OUTPUT_TAIL}") == ""
    frames = [f'  File "/venv/lib/python3.13/{place}/x.py", line 1, in f' for place in ("http", "site-packages/keras")]
    own = '  File "/job/submission/complexity.py", line 3, in complexity'
    shown = [begin, "  ... 2 frames of libraries", own, "  ... 10 frames of libraries", end]
    assert last_traceback("\n".join([begin, *frames, own, *frames * 5, end])).splitlines() == shown
    tail = f"{f'{own}{chr(10)}    g(){chr(10)}' * 1000}{end}\n"[-LONGEST_OUTPUT_TAIL:]
    assert last_traceback(tail).splitlines()[-3:] == [own, "    g()", end], "without its beginning"


def test_long_lists_and_texts_are_cut():
    comment = render(
        ChangeReport("a", "", 2, (LINE,) * 100, (Moved("x", 1, 2),) * 100, ("y",) * 100, 100, ("z",) * 100)
    )
    assert comment.count("| `mine`") == SHOWN
    assert "... and 70 more submissions." in comment
    assert len(comment) < 60_000, "GitHub's limit is 65,536"
    assert code("x " + "withheld " * 30) == f"`x {'withheld ' * 22}...`", "between words"
    assert code("x" * 300) == f"`{'x' * 200}...`"


def test_texts_of_strangers_are_code():
    def comment(*texts: str) -> str:
        a, b, c, d, e = texts
        names = {"name": a, "change": b, "problem": c, "above": d, "below": e, "renamed_from": a, "traceback": b}
        line, same = replace(LINE, file=c, **names), Same(d, (e,))
        return outside_code(
            render(ChangeReport(a, b, 2, (line,), (Moved(c, 1, 2),), (d,), 1, (e,), notes=(a,), same=(same,)))
        )

    for text in HOSTILE:
        assert comment(*[text] * 5) == comment(*"abcde"), text


@given(st.text())
def test_code_is_one_span_on_one_line(text):
    shown = code(text)
    assert re.fullmatch(r"`[^`|\r\n]+`", shown)
    assert shown.isprintable()


def test_a_report_of_any_size_survives_its_file():
    assert ChangeReport.parse(REPORT.to_json().encode()) == REPORT
    long = "x" * (2 * MAX_TEXT)
    lines = tuple(Line(long, long, "new", problem=long) for _ in range(2 * MAX_ITEMS))
    report = ChangeReport("a", "b", 2, lines, (Moved(long, 1, 2),) * 2 * MAX_ITEMS, (long,), 1, (long,), (long,))
    parsed = ChangeReport.parse(report.to_json().encode())
    assert (len(parsed.lines), len(parsed.broken[0])) == (MAX_ITEMS, MAX_TEXT)


def forged(**changes: object) -> bytes:
    return json.dumps(json.loads(REPORT.to_json()) | changes).encode()


@pytest.mark.parametrize(
    "content",
    [
        b"", b"[]", b"{}", b"[" * 100_000, b"\xff", b"x" * (MAX_BYTES + 1), forged(format=2), forged(more=1),
        forged(head=1), forged(head="x" * 1001), forged(decimals="2"), forged(decimals=True), forged(decimals=10**400),
        forged(lines={}), forged(lines=[1]), forged(lines=[{}]), forged(others=['x'] * 201), forged(others=[1]),
        forged(same=[{"what": "files", "names": "x"}]),
        forged(moved=[{"name": "x", "rank": 1}]), forged(moved=[{"name": "x", "rank": 1.5, "rank_before": 1}]),
        *(REPORT.to_json().replace("12.345", value).encode() for value in ("NaN", "1e400", '"<b>"')),
    ],
    ids=range(24),
)  # fmt: skip
def test_what_is_no_report_is_refused(content):
    with pytest.raises(ReportError):
        ChangeReport.parse(content)


def test_the_comment_is_rendered_without_any_installation():
    """The job that may write comments has only Python."""
    program = (
        "import sys; sys.path.insert(0, sys.argv[1]); from harness.ci.post import ChangeReport, render; "
        "sys.stdout.write(render(ChangeReport.parse(sys.stdin.buffer.read())))"
    )
    command = [sys.executable, "-I", "-S", "-c", program, ROOT]
    done = subprocess.run(command, input=REPORT.to_json(), capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, render(REPORT), "")
