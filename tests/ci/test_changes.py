"""Tests of the submissions that a change touches, of the owners of their names, and of reading them from git's objects.

Files are checked, no code runs, and no link is followed.
"""

import io
import zipfile
from pathlib import Path

import pytest

from harness.ci import git
from harness.ci.change import find_change, require_folder
from harness.ci.git import Repository
from harness.ci.reading import RefusedError, read_submission
from harness.errors import UserError
from harness.inspector.limits import MAX_BYTES
from harness.submission import Submission, find_submission
from tests.ci.repositories import MEASURE, Content, Folder, Link, Repo, Submodule

OLD, NEW = MEASURE.format("1.0"), MEASURE.format("2.0")
BASE = {"submissions/a.py": OLD, "submissions/b/complexity.py": OLD, "submissions/README.md": "read me", "tool.py": "1"}


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    return Repo(tmp_path / "repository")


def find(repo, head, base, *tasks):
    return find_change(Repository(repo.directory), "submissions", head, base, *tasks)


def change(repo, before, after, origin=None):
    """Return the change between the files `before` and `after`; their common ancestor is `origin`."""
    start = repo.commit(origin if origin is not None else before)
    base = start if origin is None else repo.commit(before, start)
    return find(repo, repo.commit(after, start), base)


def test_new_changed_and_removed_submissions(repo):
    after = {"submissions/a.py": NEW, "submissions/c.zip": b"PK", "submissions/README.md": "x", "tool.py": "1"}
    found = change(repo, BASE, after)
    assert found.touched == {"a": "changed", "c": "new"}
    assert found.removed == ("b",)
    assert (set(found.before), set(found.after)) == ({"a", "b"}, {"a", "c"})
    assert found.others == ("submissions/README.md",)
    assert found.overwritten == ["a", "b"]
    assert found.diverged == ()


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


def test_who_gets_the_name_of_a_removed_submission_is_touched(repo):
    """At the base, the file was refused because of its name, and so was never evaluated."""
    for owner, touched, removed in (("a/complexity.py", {"a": "changed"}, ()), ("A.py", {"a": "new"}, ("A",))):
        found = change(repo, A | {f"submissions/{owner}": NEW}, A)
        assert (found.touched, found.removed, found.untouched) == (touched, removed, set())
        assert found.overwritten == [owner[0]]


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


def test_what_others_changed_in_the_meantime_is_not_of_the_change(repo):
    meanwhile = BASE | {"submissions/a.py": NEW, "submissions/theirs.py": NEW}
    found = change(repo, meanwhile, BASE | {"submissions/mine.py": NEW}, origin=BASE)
    assert (found.touched, found.removed) == ({"mine": "new"}, ())
    assert set(found.after) == {"a", "b", "mine", "theirs"}
    assert found.after["a"] == found.before["a"]


def test_without_a_base_every_submission_is_touched_and_there_is_a_folder_of_submissions(repo):
    assert find(repo, repo.commit(BASE), None).touched == {"a": "new", "b": "new"}
    first = repo.commit({"tool.py": "1"})
    for head, base in ((first, None), (repo.commit({"tool.py": "2"}, first), first)):
        with pytest.raises(UserError, match="none called 'submissions'"):
            find(repo, head, base)
    found = change(repo, BASE, {"submissions": Link("elsewhere"), "elsewhere/x.py": NEW})
    assert (found.touched, found.removed) == ({}, ("a", "b")), "a link is no folder"
    for path in ("/etc", "../x", "a/../../b"):
        with pytest.raises(UserError, match="expected a folder inside the repository"):
            require_folder(path)
    assert require_folder("./a/b/") == "a/b"


def test_names_of_other_submissions_and_of_the_board_are_refused(repo):
    similar = "another submission has this name or a similar one: a.py"
    for file, reason in (
        ("a/complexity.py", similar), ("A.py", similar), ("a.zip", similar), ("-a-.py", similar),
        ("VC-dim.py", "vc_dim is a measure"), ("noisy_oracle.py", "a reference beside the board"),
    ):  # fmt: skip
        found = change(repo, BASE, BASE | {f"submissions/{file}": NEW})
        refused = file.partition("/")[0]
        assert [*found.refused] == [refused]
        assert reason in found.refused[refused]
        assert (found.touched, found.after["a"]) == ({}, found.before["a"])


def test_other_files_are_printable_and_those_of_tasks_and_workflows_come_first(repo):
    """Hidden files and leftovers in the folder of submissions are other files."""
    important = ["tasks/x/1", ".github/workflows/w.yml", ".gitlab-ci.yml"]
    hidden = [f"submissions/{name}" for name in (".gitattributes", ".hidden/complexity.py", "__pycache__/x.py")]
    more = dict.fromkeys(["a\n::error::b", *important, *hidden, *(f"many/{number}" for number in range(30))], "x")
    start = repo.commit(BASE)
    found = find(repo, repo.commit(BASE | more, start), start, "tasks")
    assert found.others[:4] == (*important, "a?::error::b")
    assert (len(found.others), set(hidden) < set(found.others), found.touched) == (37, True, {})


def test_impossible_names_in_a_tree_stay_inside(repo):
    start = repo.commit({"tool.py": "1"})
    folder = Folder([("100644", b"..", OLD), ("100644", b"\xff.py", OLD), ("100644", b"~.py", OLD)])
    found = find(repo, repo.commit({"submissions": folder}, start), start)
    assert set(found.touched) == {"_"}
    assert list(found.refused.values()) == ["another submission has this name or a similar one: ~.py"]


def test_unknown_revisions_and_histories_without_a_common_commit_are_one_line(repo, tmp_path, monkeypatch):
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path))
    with pytest.raises(UserError, match="not a directory"):
        Repository(tmp_path / "missing")
    with pytest.raises(UserError, match="the repository is empty: commit first"):
        find(repo, "HEAD", None)
    head, base = repo.commit(BASE, branch="main"), repo.commit({"other": "1"})
    for revision in ("nowhere", "--upload-pack=touch x", "0" * 40, "main..main", ""):
        with pytest.raises(UserError, match="no commit"):
            find(repo, revision, "main")
    with pytest.raises(UserError, match="no common commit here; their histories are separate: rebase"):
        find(repo, head, base)
    (repo.directory / ".git" / "shallow").write_text(f"{base}\n")
    with pytest.raises(UserError, match="no common commit here; fetch the whole history"):
        find(repo, head, base)


FILE = "100644"


def read(repo: Repo, files: dict[str, Content]) -> Submission:
    """Commit these files, and read the only submission among them."""
    (entry,) = find(repo, repo.commit(files), None).after.values()
    return read_submission(Repository(repo.directory), "submissions", entry)


def test_file_folder_and_zip(repo, tmp_path):
    """The name is that of the file, whatever metadata claim; the same files have the same version as on disk."""
    found = read(repo, {"submissions/mine.py": OLD})
    assert (found.name, found.source) == ("mine", "submissions/mine.py")
    assert found.files == {"complexity.py": OLD.encode()}
    (tmp_path / "mine.py").write_text(OLD)
    assert found.digest == find_submission(str(tmp_path / "mine.py")).digest
    metadata = {"submissions/mine/metadata": "name: champion\nkeras: 2\n"}
    folder = {"submissions/mine/complexity.py": OLD, "submissions/mine/data/table.txt": "1 2"} | metadata
    found = read(repo, folder)
    assert (found.name, found.metadata.runtime) == ("mine", "keras2")
    assert set(found.files) == {"complexity.py", "data/table.txt", "metadata"}
    with zipfile.ZipFile(content := io.BytesIO(), "w") as archive:
        archive.writestr("complexity.py", OLD)
    assert set(read(repo, {"submissions/mine.zip": content.getvalue()}).files) == {"complexity.py"}
    found = read(repo, {"submissions/mine/inside/complexity.py": OLD})
    assert (found.name, list(found.files), found.source) == ("mine", ["complexity.py"], "submissions/mine/inside")
    assert found.notes == ("its only folder, inside, is the submission",)
    evil = Folder([("040000", b".git", Folder([(FILE, b"config", "[core]")])), (FILE, b"complexity.py", OLD)])
    assert set(read(repo, {"submissions/mine": evil}).files) == {"complexity.py"}, "its git folder is skipped"


def test_attributes_and_filters_of_a_change_do_nothing(repo, tmp_path):
    marker = tmp_path / "ran"
    for name in ("filter.evil.smudge", "core.fsmonitor"):
        repo.git("config", name, f"touch {marker}")
    repo.git("config", "core.autocrlf", "true")
    attributes = "* filter=evil text eol=crlf ident"
    found = read(repo, {".gitattributes": attributes, "submissions/mine.py": f"# $Id$\n{OLD}"})
    assert found.files["complexity.py"] == f"# $Id$\n{OLD}".encode()
    assert not marker.exists()


@pytest.mark.parametrize(
    ("files", "reason"),
    [
        ({"mine.py": Link("/etc/passwd")}, "expected a file or folder, found a link"),
        ({"mine": Link("/etc")}, "expected a file or folder, found a link"),
        ({"mine": Submodule()}, "expected a file or folder, found a submodule"),
        ({"mine/complexity.py": Link("../../reference")}, "complexity.py: expected a regular file, found a link"),
        ({"mine/complexity.py": OLD, "mine/more": Submodule()}, "more: expected a regular file, found a submodule"),
        ({"mine/helper.py": OLD}, "expected a file complexity.py at the top, found helper.py"),
        ({"mine.zip": b"no zip"}, "expected a readable zip"),
        ({"mine/complexity.py": OLD} | {f"mine/{n}": "" for n in range(200)}, "expected at most 200 files, found 201"),
        ({"mine/complexity.py": OLD, "mine/a\nb": ""}, "a?b: expected a name of printable characters"),
        ({"mine": Folder([(FILE, b"..", OLD)])}, "..: expected the name of a file"),
        ({"mine": Folder([(FILE, b"../../x", OLD)])}, "../../x: expected the name of a file"),
        ({"mine": Folder([(FILE, b"/tmp/x", OLD)])}, "/tmp/x: expected the name of a file"),
        ({"mine": Folder([(FILE, b"\xff", OLD)])}, "?: expected a name of printable characters"),
        ({"mine": Folder([(FILE, b"x", OLD), ("040000", b"x", Folder([(FILE, b"y", OLD)]))])}, "cannot be written"),
        ({"mine": Folder([(FILE, b"x", OLD), (FILE, b"x", OLD)])}, "cannot be written: File exists"),
    ],
)
def test_what_is_not_made_of_regular_files_is_refused_in_one_line(repo, files, reason):
    with pytest.raises(RefusedError) as refused:
        read(repo, {f"submissions/{name}": content for name, content in files.items()})
    assert reason in str(refused.value)
    assert not str(refused.value).startswith("mine")  # reports begin with the name
    assert "/pgdl-ci-" not in str(refused.value)
    assert len(str(refused.value).splitlines()) == 1


def test_nothing_is_fetched_whatever_the_repository_says(repo, tmp_path, monkeypatch):
    commit, mark = repo.commit({"submissions/mine.py": OLD}), tmp_path / "mark"
    blob = repo.git("rev-parse", f"{commit}:submissions/mine.py")
    (repo.directory / ".git/objects" / blob[:2] / blob[2:]).unlink()
    for name, value in {
        "core.repositoryFormatVersion": "1", "extensions.partialClone": "origin", "remote.origin.promisor": "true",
        "remote.origin.url": f"ext::touch {mark}", "protocol.ext.allow": "always",
    }.items():  # fmt: skip
        repo.git("config", name, value)
    environment = git._environment()
    del environment["GIT_NO_LAZY_FETCH"]  # which earlier versions of git do not know
    monkeypatch.setattr(git, "_environment", lambda: environment)
    (entry,) = find(repo, commit, None).after.values()
    with pytest.raises(RefusedError):
        read_submission(Repository(repo.directory), "submissions", entry)
    assert not mark.exists()


def test_sizes_are_bounded_before_contents_are_read(repo, monkeypatch):
    monkeypatch.setattr(Repository, "content", lambda *_: pytest.fail("read"))
    large = b"#" * (MAX_BYTES // 2 + 1)
    for files in ({"a.py": b"#" * (MAX_BYTES + 1)}, {"a/complexity.py": large, "a/b": large}):
        with pytest.raises(RefusedError, match="expected at most 50 MiB in all, found 50 MiB"):
            read(repo, {f"submissions/{name}": content for name, content in files.items()})
    tree = repo.write(Folder([(FILE, b"%d" % number, "") for number in range(10)]))
    for _ in range(9):  # ten thousand million files of a few objects
        tree = repo.write(Folder([("040000", b"%d" % number, Submodule(tree)) for number in range(10)]))
    with pytest.raises(RefusedError, match="expected at most 10000 files and folders, found more"):
        read(repo, {"submissions": Folder([("040000", b"mine", Submodule(tree))])})
