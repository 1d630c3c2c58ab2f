"""What a submission says of itself: anything in the file, one harmless line on the board."""

import pytest

from harness.about import About


def test_texts_are_printable_lines_of_limited_length() -> None:
    about = About.from_texts(" The\n\tSeven \x1b[31m\u202e", "word " * 200, "x" * 300)
    assert about.team == "The Seven ?[31m?"
    assert (len(about.description), about.description[-6:]) == (500, " word\N{HORIZONTAL ELLIPSIS}")
    assert about.paper == "x" * 300


@pytest.mark.parametrize(
    "paper", ["https://arxiv.org/abs/2012.07976", "HTTP://example.org:8080/a?b=c#d", "https://[::1]/"]
)
def test_an_address_is_a_link(paper: str) -> None:
    assert About(paper=paper).link == paper


@pytest.mark.parametrize(
    "paper",
    [
        "", "arXiv:2012.07976", "Jiang et al. 2020", "javascript:alert(1)", "data:text/html,x", "//example.org", "https://",
        "https://arxiv.org@example.org/", "https://\u0430rxiv.org/", "https://arxiv.org/ see there", "https://[x]/",
        'https://a"b/', "https://a:b/", "file:///etc/passwd",
    ],
)  # fmt: skip
def test_anything_else_is_text(paper: str) -> None:
    assert About(paper=paper).link == ""
