"""Settings of Sphinx for `make docs`: a site of the Markdown files. `PAGES` is its navigation."""

import re
import shutil
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

#: Heading of the navigation -> its pages, as paths in the repository without `.md`. The home page is README.md.
PAGES = {
    "Submit a measure": ["docs/submissions", "docs/runtimes", "docs/measures", "submissions/README"],
    "Tasks": [
        "docs/pgdl2020", "docs/fashion-mnist", "docs/build-your-own-task", "docs/recipes", "docs/datasets",
        "docs/your-own-models", "docs/torch-zoo", "docs/task-format", "task_data/README",
    ],
    "Run": ["docs/systems", "docs/sandbox", "docs/outcomes", "docs/gpu", "docs/containers", "docs/cluster"],
    "Read a board": ["docs/statistics", "docs/certainty", "docs/records", "docs/json", "docs/results"],
    "Host a competition": [
        "docs/platforms", "docs/codabench", "docs/leaderboard-job", "docs/hidden-tasks", "docs/security",
    ],
    "Other protocols": ["docs/overfitting", "docs/invariance", "docs/testbed", "docs/science"],
    "Python": ["docs/api", "docs/reference"],
    "For developers": ["CONTRIBUTING", "docs/architecture", "docs/testing", "CHANGELOG"],
}  # fmt: skip

#: Page -> title and text of a card on the home page.
CARDS = {
    "docs/submissions": ("Score a measure", "Write `complexity(model, dataset)`, try it in seconds, see its rank."),
    "docs/your-own-models": (
        "Measure my networks",
        "Turn trained networks into a task, and compare all measures on it.",
    ),
    "docs/platforms": ("Run a competition", "A sandboxed leaderboard as a site, on Codabench, or as a CI job."),
}

project = "pgdl-harness"
author = "The pgdl-harness developers"
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
root_doc = "README"
include_patterns = ["README.md", *(f"{page}.md" for pages in PAGES.values() for page in pages)]
exclude_patterns = [".*", "build", "harness", "baselines", "scoring", "tests"]  # hold no page: not walked through
suppress_warnings = ["misc.highlighting_failure"]  # output that is shown as `json`, with an ellipsis

myst_heading_anchors = 3  # as GitHub has them
autodoc_typehints = "description"
autodoc_typehints_description_target = "documented_params"
autodoc_member_order = "bysource"
napoleon_use_ivar = True  # attributes as a list
autodoc_preserve_defaults = True
default_role = "literal"  # `so` in a docstring is code

html_theme = "furo"
html_title = "pgdl-harness"
html_static_path = ["site.css"]
html_css_files = ["site.css"]
html_show_copyright = html_show_sphinx = html_copy_source = False


def setup(app: Any) -> None:
    """Connect the functions below to events of Sphinx, which calls `setup` at its start."""
    app.connect("source-read", read_source)
    app.connect("build-finished", write_index)


def read_source(_app: Any, page: str, source: list[str]) -> None:
    """Add cards and a list of all pages to the home page. On every page, mend links to directories.

    Such a link becomes a link to the directory's README, or mere text if there is no README.
    """
    folder = (ROOT / page).parent

    def without_directory(link: re.Match[str]) -> str:
        target = folder / link[2]
        if not target.is_dir():
            return link[0]
        return f"[{link[1]}]({link[2].rstrip('/')}/README.md)" if (target / "README.md").exists() else link[1]

    source[0] = re.sub(r"\[([^\]]*)\]\(([^)#:]+)\)", without_directory, source[0])
    if page == root_doc:
        before, picture, after = source[0].partition("\n![")
        source[0] = f"{before}\n{_cards()}{picture}{after}\n## All pages\n\n{_contents()}"


def _cards() -> str:
    """Return the ways into the documentation as a list, which `site.css` shows as cards."""
    lines = (f"- [**{title}**]({page}.md) {text}" for page, (title, text) in CARDS.items())
    return "\n".join(["```{rst-class} cards", "```", *lines, ""])


def _contents() -> str:
    """Return the navigation as Markdown: its headings, and below each heading the titles of its pages."""
    trees = ("\n".join(f"/{page}" for page in pages) for pages in PAGES.values())
    named = zip(PAGES, trees, strict=True)
    return "\n".join(f"```{{toctree}}\n:titlesonly:\n:caption: {caption}\n\n{tree}\n```\n" for caption, tree in named)


def write_index(app: Any, exception: Exception | None) -> None:
    """Copy the home page to index.html, the name that servers and people look for."""
    if exception is None:
        shutil.copy(Path(app.outdir) / f"{root_doc}.html", Path(app.outdir) / "index.html")
