"""Tests of the submissions that a change touches, and of the owners of their names."""

from pathlib import Path

import pytest

from harness.ci.change import find_change, require_folder
from harness.ci.git import Repository
from harness.errors import UserError
from tests.ci.repositories import MEASURE, Folder, Link, Repo, Submodule

OLD, NEW = MEASURE.format("1.0"), MEASURE.format("2.0")
BASE = {"submissions/a.py": OLD, "submissions/b/complexity.py": OLD, "submissions/README.md": "read me", "tool.py": "1"}


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    return Repo(tmp_path / "repository")


def change(repo, before, after, origin=None):
    """Return the change between the files `before` and `after`; their common ancestor is `origin`."""
    start = repo.commit(origin if origin is not None else before)
    base = start if origin is None else repo.commit(before, start)
    return find_change(Repository(repo.directory), "submissions", repo.commit(after, start), base)


def test_new_changed_and_removed_submissions(repo):
    after = {"submissions/a.py": NEW, "submissions/c.zip": b"PK", "submissions/README.md": "x", "tool.py": "1"}
    found = change(repo, BASE, after)
    assert found.touched == {"a": "changed", "c": "new"}
    assert found.removed == ("b",)
    assert (set(found.before), set(found.after)) == ({"a", "b"}, {"a", "c"})
    assert found.others == ("submissions/README.md",)
    assert found.overwritten == ["a", "b"]
    assert found.diverged == ()


def test_a_folder_that_neither_revision_has_is_an_error(repo):
    first = repo.commit({"tool.py": "1"})
    with pytest.raises(UserError, match="none called 'submissions'"):
        find_change(Repository(repo.directory), "submissions", first, None)
    with pytest.raises(UserError, match="none called 'submissions'"):
        find_change(Repository(repo.directory), "submissions", repo.commit({"tool.py": "2"}, first), first)


A, FOLDER = {"submissions/a.py": OLD}, {"submissions/a/complexity.py": OLD, "submissions/a/metadata": "x"}


@pytest.mark.parametrize(
    ("before", "after", "touched", "removed", "renamed"),
    [
        (A, {"submissions/z.py": OLD}, {"z": "renamed"}, (), {"z": "a"}),
        (FOLDER, {path.replace("/a/", "/b/"): FOLDER[path] for path in FOLDER}, {"b": "renamed"}, (), {"b": "a"}),
        (A, {"submissions/z.py": NEW}, {"z": "new"}, ("a",), {}),
        (A, {"submissions/y.py": OLD, "submissions/z.py": OLD}, {"y": "renamed", "z": "new"}, (), {"y": "a"}),
        (A, {"submissions/a.py": OLD, "submissions/z.py": OLD}, {"z": "new"}, (), {}),
        (A, {"submissions/A.py": OLD}, {"A": "renamed"}, (), {"A": "a"}),
        (A, {"submissions/a/complexity.py": NEW}, {"a": "changed"}, (), {}),
        (FOLDER, FOLDER | {"submissions/a/weights/table.txt": "1 2 3"}, {"a": "changed"}, (), {}),
        (A, A | {"submissions/l.py": Link("/etc"), "submissions/m": Submodule()}, {"l": "new", "m": "new"}, (), {}),
    ],
    ids=[
        "renamed", "folder renamed", "moved and changed", "moved and copied", "copied", "other case",
        "a file becomes a folder", "another file in the folder", "a link and a submodule",
    ],
)  # fmt: skip
def test_touched_removed_and_renamed(repo, before, after, touched, removed, renamed):
    found = change(repo, before, after)
    assert (found.touched, found.removed, found.renamed, found.refused) == (touched, removed, renamed, {})
    assert found.others == ()


@pytest.mark.parametrize(
    ("owner", "touched", "removed"),
    [("a/complexity.py", {"a": "changed"}, ()), ("A.py", {"a": "new"}, ("A",))],
    ids=["same name", "similar name"],
)
def test_who_gets_the_name_of_a_removed_submission_is_touched(repo, owner, touched, removed):
    """At the base, the file was refused because of its name, and so was never evaluated."""
    found = change(repo, A | {f"submissions/{owner}": NEW}, A)
    assert (found.touched, found.removed, found.untouched) == (touched, removed, set())
    assert found.overwritten == [owner[0]]


def test_what_others_changed_in_the_meantime_is_not_of_the_change(repo):
    meanwhile = BASE | {"submissions/a.py": NEW, "submissions/theirs.py": NEW}
    found = change(repo, meanwhile, BASE | {"submissions/mine.py": NEW}, origin=BASE)
    assert found.touched == {"mine": "new"}
    assert set(found.after) == {"a", "b", "mine", "theirs"}
    assert found.after["a"] == found.before["a"]
    assert found.removed == ()


@pytest.mark.parametrize(
    ("meanwhile", "after", "diverged"),
    [
        (BASE | {"submissions/a.py": "theirs"}, BASE | {"submissions/a.py": NEW}, ("a",)),
        ({"tool.py": "1"}, BASE | {"submissions/a.py": NEW}, ("a",)),
        (BASE | {"submissions/b/more": "theirs"}, BASE | {"submissions/b/mine": "1"}, ("b",)),
        (BASE | {"submissions/c.py": "theirs"}, BASE | {"submissions/c.py": NEW}, ("c",)),
        (BASE | {"submissions/a.py": "theirs"}, {"submissions/b/complexity.py": OLD}, ("a",)),
        (BASE | {"submissions/a.py": NEW}, BASE | {"submissions/a.py": NEW}, ()),
    ],
    ids=["both changed", "removed in the base", "in one folder", "both new", "removed by the change", "the same"],
)
def test_submissions_that_the_base_has_changed_too(repo, meanwhile, after, diverged):
    found = change(repo, meanwhile, after, origin=BASE)
    assert found.diverged == diverged
    assert meanwhile != after or found.touched == {}, "what is in the base already is not touched"


def test_without_a_base_every_submission_is_touched(repo):
    found = find_change(Repository(repo.directory), "submissions", repo.commit(BASE), None)
    assert found.touched == {"a": "new", "b": "new"}


SIMILAR = "another submission has this name or a similar one: a.py"


@pytest.mark.parametrize(
    ("file", "refused", "reason"),
    [
        ("a/complexity.py", "a", SIMILAR), ("A.py", "A.py", SIMILAR), ("a.zip", "a.zip", SIMILAR),
        ("-a-.py", "-a-.py", SIMILAR), ("VC-dim.py", "VC-dim.py", "vc_dim is a measure"),
        ("noisy_oracle.py", "noisy_oracle.py", "a reference beside the board"),
    ],
)  # fmt: skip
def test_names_of_other_submissions_and_of_the_board_are_refused(repo, file, refused, reason):
    found = change(repo, BASE, BASE | {f"submissions/{file}": NEW})
    assert [*found.refused] == [refused]
    assert reason in found.refused[refused]
    assert (found.touched, found.after["a"]) == ({}, found.before["a"])


def test_other_files_are_printable_and_those_of_tasks_and_workflows_come_first(repo):
    """Hidden files and leftovers in the folder of submissions are other files."""
    important = ["tasks/x/1", ".github/workflows/w.yml", ".gitlab-ci.yml"]
    hidden = [f"submissions/{name}" for name in (".gitattributes", ".hidden/complexity.py", "__pycache__/x.py")]
    more = dict.fromkeys(["a\n::error::b", *important, *hidden, *(f"many/{number}" for number in range(30))], "x")
    start = repo.commit(BASE)
    found = find_change(Repository(repo.directory), "submissions", repo.commit(BASE | more, start), start, "tasks")
    assert found.others[:4] == (*important, "a?::error::b")
    assert (len(found.others), set(hidden) < set(found.others), found.touched) == (37, True, {})


def test_a_link_in_place_of_the_folder_of_submissions_is_no_folder(repo):
    found = change(repo, BASE, {"submissions": Link("elsewhere"), "elsewhere/x.py": NEW})
    assert (found.touched, found.removed) == ({}, ("a", "b"))


def test_impossible_names_in_a_tree_stay_inside(repo):
    start = repo.commit({"tool.py": "1"})
    folder = Folder([("100644", b"..", OLD), ("100644", b"\xff.py", OLD), ("100644", b"~.py", OLD)])
    found = find_change(Repository(repo.directory), "submissions", repo.commit({"submissions": folder}, start), start)
    assert set(found.touched) == {"_"}
    assert list(found.refused.values()) == ["another submission has this name or a similar one: ~.py"]


@pytest.mark.parametrize("revision", ["nowhere", "--upload-pack=touch x", "0" * 40, "main..main", ""])
def test_unknown_revisions_are_one_line(repo, revision):
    repo.commit(BASE, branch="main")
    with pytest.raises(UserError, match="no commit"):
        find_change(Repository(repo.directory), "submissions", revision, "main")


def test_histories_without_a_common_commit_are_one_line(repo):
    with pytest.raises(UserError, match="the repository is empty: commit first"):
        find_change(Repository(repo.directory), "submissions", "HEAD", None)
    head, base = repo.commit(BASE), repo.commit({"other": "1"})
    with pytest.raises(UserError, match="no common commit here; their histories are separate: rebase"):
        find_change(Repository(repo.directory), "submissions", head, base)
    (repo.directory / ".git" / "shallow").write_text(f"{base}\n")
    with pytest.raises(UserError, match="no common commit here; fetch the whole history"):
        find_change(Repository(repo.directory), "submissions", head, base)


def test_what_is_no_repository_is_one_line(tmp_path, monkeypatch):
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path))
    with pytest.raises(UserError, match="not a directory"):
        Repository(tmp_path / "missing")


@pytest.mark.parametrize("path", ["/etc", "../x", "a/../../b"])
def test_the_folder_of_submissions_is_inside_the_repository(path):
    with pytest.raises(UserError, match="expected a folder inside the repository"):
        require_folder(path)
    assert require_folder("./a/b/") == "a/b"
