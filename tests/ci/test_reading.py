"""Tests of reading a submission from git's objects: files are checked, no code runs, no link is followed."""

import io
import zipfile
from pathlib import Path

import pytest

from harness.ci import git
from harness.ci.change import find_change
from harness.ci.git import Repository
from harness.ci.reading import RefusedError, read_submission
from harness.inspector.limits import MAX_BYTES
from harness.submission import Submission, find_submission
from tests.ci.repositories import MEASURE, Content, Folder, Link, Repo, Submodule

CODE = MEASURE.format("1.0")
FILE = "100644"


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    return Repo(tmp_path / "repository")


def read(repo: Repo, files: dict[str, Content]) -> Submission:
    """Commit these files, and read the only submission among them."""
    repository = Repository(repo.directory)
    change = find_change(repository, "submissions", repo.commit(files), None)
    (entry,) = change.after.values()
    return read_submission(repository, "submissions", entry)


def zipped(files: dict[str, str]) -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return content.getvalue()


def test_file_folder_and_zip(repo, tmp_path):
    """The name is that of the file, whatever metadata claim; the same files have the same version as on disk."""
    found = read(repo, {"submissions/mine.py": CODE})
    assert (found.name, found.source) == ("mine", "submissions/mine.py")
    assert found.files == {"complexity.py": CODE.encode()}
    (tmp_path / "mine.py").write_text(CODE)
    assert found.digest == find_submission(str(tmp_path / "mine.py")).digest
    metadata = {"submissions/mine/metadata": "name: champion\nkeras: 2\n"}
    folder = {"submissions/mine/complexity.py": CODE, "submissions/mine/data/table.txt": "1 2"} | metadata
    found = read(repo, folder)
    assert (found.name, found.metadata.runtime) == ("mine", "keras2")
    assert set(found.files) == {"complexity.py", "data/table.txt", "metadata"}
    assert set(read(repo, {"submissions/mine.zip": zipped({"complexity.py": CODE})}).files) == {"complexity.py"}
    found = read(repo, {"submissions/mine/inside/complexity.py": CODE})
    assert (found.name, list(found.files), found.source) == ("mine", ["complexity.py"], "submissions/mine/inside")
    assert found.notes == ("its only folder, inside, is the submission",)
    evil = Folder([("040000", b".git", Folder([(FILE, b"config", "[core]")])), (FILE, b"complexity.py", CODE)])
    assert set(read(repo, {"submissions/mine": evil}).files) == {"complexity.py"}, "its git folder is skipped"


def test_attributes_and_filters_of_a_change_do_nothing(repo, tmp_path):
    marker = tmp_path / "ran"
    repo.git("config", "filter.evil.smudge", f"touch {marker}")
    repo.git("config", "core.fsmonitor", f"touch {marker}")
    repo.git("config", "core.autocrlf", "true")
    attributes = "* filter=evil text eol=crlf ident"
    found = read(repo, {".gitattributes": attributes, "submissions/mine.py": f"# $Id$\n{CODE}"})
    assert found.files["complexity.py"] == f"# $Id$\n{CODE}".encode()
    assert not marker.exists()


@pytest.mark.parametrize(
    ("files", "reason"),
    [
        ({"mine.py": Link("/etc/passwd")}, "expected a file or folder, found a link"),
        ({"mine": Link("/etc")}, "expected a file or folder, found a link"),
        ({"mine": Submodule()}, "expected a file or folder, found a submodule"),
        ({"mine/complexity.py": Link("../../reference")}, "complexity.py: expected a regular file, found a link"),
        ({"mine/complexity.py": CODE, "mine/more": Submodule()}, "more: expected a regular file, found a submodule"),
        ({"mine/helper.py": CODE}, "expected a file complexity.py at the top, found helper.py"),
        ({"mine.zip": b"no zip"}, "expected a readable zip"),
        ({"mine/complexity.py": CODE} | {f"mine/{n}": "" for n in range(200)}, "expected at most 200 files, found 201"),
        ({"mine/complexity.py": CODE, "mine/a\nb": ""}, "a?b: expected a name of printable characters"),
        ({"mine": Folder([(FILE, b"..", CODE)])}, "..: expected the name of a file"),
        ({"mine": Folder([(FILE, b"../../x", CODE)])}, "../../x: expected the name of a file"),
        ({"mine": Folder([(FILE, b"/tmp/x", CODE)])}, "/tmp/x: expected the name of a file"),
        ({"mine": Folder([(FILE, b"\xff", CODE)])}, "?: expected a name of printable characters"),
        ({"mine": Folder([(FILE, b"x", CODE), ("040000", b"x", Folder([(FILE, b"y", CODE)]))])}, "cannot be written"),
        ({"mine": Folder([(FILE, b"x", CODE), (FILE, b"x", CODE)])}, "cannot be written: File exists"),
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
    commit, mark = repo.commit({"submissions/mine.py": CODE}), tmp_path / "mark"
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
    repository = Repository(repo.directory)
    (entry,) = find_change(repository, "submissions", commit, None).after.values()
    with pytest.raises(RefusedError):
        read_submission(repository, "submissions", entry)
    assert not mark.exists()


def test_sizes_are_bounded_before_contents_are_read(repo, monkeypatch):
    monkeypatch.setattr(Repository, "content", lambda *_: pytest.fail("read"))
    large = b"#" * (MAX_BYTES // 2 + 1)
    for files in ({"a.py": b"#" * (MAX_BYTES + 1)}, {"a/complexity.py": large, "a/b": large}):
        with pytest.raises(RefusedError, match="expected at most 50 MiB in all, found 50 MiB"):
            read(repo, {f"submissions/{name}": content for name, content in files.items()})


def test_a_folder_that_unfolds_without_end_is_refused(repo):
    tree = repo.write(Folder([(FILE, b"%d" % number, "") for number in range(10)]))
    for _ in range(9):  # ten thousand million files of a few objects
        tree = repo.write(Folder([("040000", b"%d" % number, Submodule(tree)) for number in range(10)]))
    with pytest.raises(RefusedError, match="expected at most 10000 files and folders, found more"):
        read(repo, {"submissions": Folder([("040000", b"mine", Submodule(tree))])})
