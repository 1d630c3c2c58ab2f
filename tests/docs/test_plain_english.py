"""Counts points for sentences that may have to be read twice, in docstrings, comments, help texts and Markdown.

A sentence of five points should be looked at; if it is fine, it is listed in the test's `EXCEPTIONS`.
"""

import ast
import io
import re
import subprocess
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest
from markdown_it import MarkdownIt

#: Pattern -> points of each place where it matches.
RULES = {
    r"\b(what(ever)?|who(ever)?) (it|they|he|is|are|was|has|have|had|does|do|must|may|can|the|a|that|of|no)\b": 2,
    r"\bof (one|them|these|those|which|whom)\b|\b(that|those) of\b|\bthose that\b": 1,
    r"\b(is|are|has|have|with|gives?|of|for|by|to|in|than) none\b": 1,
    r"\b(the|an)?other ones?\b|\b(each|every|such|this|that|first|last|new|old|own) ones?\b|\bis one( of)?\b": 1,
    r"\bas (it|they|the \w+) (is|are|has|have|does|do|did|was)\b": 1,
    r"\b(is|are|in|on|out|of|it|that|to|they) \1\b": 3,
    r"^(Neither|Nor|Where|Who|What|That)\b": 1,
}
_PATTERNS = [(re.compile(pattern, re.IGNORECASE), points) for pattern, points in RULES.items()]
_PRONOUN = re.compile(r"\b(it|its|they|them|their|those|these|ones?|none|others?|that|this|which|whose)\b", re.I)

#: Words of a sentence above which it gets a point, and another.
LONG = (32, 45)

#: Shares of pronouns above which a sentence gets a point, and another.
VAGUE = (0.15, 0.25)


def points_of(sentence: str) -> int:
    """Return the points of a sentence by `RULES`, `LONG` and `VAGUE`; a sentence without points reads well."""
    words = re.findall(r"[\w']+", sentence)
    if len(words) < 4 or sentence.endswith("?"):
        return 0
    vague = len(_PRONOUN.findall(sentence)) / len(words)
    points = sum(points * len(list(pattern.finditer(sentence))) for pattern, points in _PATTERNS)
    return points + sum(len(words) > limit for limit in LONG) + sum(vague > limit for limit in VAGUE)


def sentences_of(path: Path) -> Iterator[tuple[int, str]]:
    """Yield each sentence of a Python or Markdown file, with the line where its paragraph begins."""
    for line, text in _in_markdown(path.read_text()) if path.suffix == ".md" else _in_python(path.read_text()):
        for sentence in re.split(r"(?<=[.!?])\s+", " ".join(text.split())):
            yield line, sentence


def _in_markdown(source: str) -> Iterator[tuple[int, str]]:
    for token in MarkdownIt().enable("table").parse(source):
        if token.type == "inline":
            words = ["CODE" if part.type == "code_inline" else part.content or " " for part in token.children or ()]
            yield (token.map or [0])[0] + 1, "".join(words)


def _in_python(source: str) -> Iterator[tuple[int, str]]:
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and (text := ast.get_docstring(node)):
            start = node.body[0].lineno
            for paragraph in re.split(r"\n\s*\n|\n(?=\s+\w+: )", text):
                yield start, re.sub(r"`[^`]*`", "CODE", paragraph)
        elif isinstance(node, ast.keyword) and node.arg == "help" and isinstance(node.value, ast.Constant):
            yield node.value.lineno, str(node.value.value)
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], re.sub(r"`[^`]*`", "CODE", token.string.lstrip("#: "))


pytestmark = pytest.mark.rest

ROOT = Path(__file__).parents[2]

#: Sentences of five points and more that stay as they are.
EXCEPTIONS: set[str] = set()


def test_no_sentence_has_to_be_read_twice() -> None:
    listed = subprocess.run(["git", "ls-files", "*.py", "*.md"], cwd=ROOT, capture_output=True, text=True, check=False)
    if listed.returncode:
        pytest.skip("not a checkout of git")
    files = [ROOT / name for name in listed.stdout.split() if (ROOT / name).is_file()]
    hard = [
        f"{path.relative_to(ROOT)}:{line} ({points_of(sentence)}): {sentence}"
        for path in files
        for line, sentence in sentences_of(path)
        if points_of(sentence) >= 5 and sentence not in EXCEPTIONS
    ]
    assert not hard, "rewrite these sentences:\n" + "\n".join(hard)


@pytest.mark.parametrize(
    ("hard", "plain"),
    [
        ("What it has of what it was given is what it is.", "The copy has the attributes of the original."),
        ("Of those that have none, each of them is one.", "Layers without weights are counted, too."),
    ],
)
def test_noun_clauses_and_pronouns_cost_points(hard: str, plain: str) -> None:
    assert points_of(hard) >= 5
    assert points_of(plain) == 0
