"""The change between two git revisions: which submissions it adds, changes, renames and removes."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from harness.ci.git import FOLDER, LINK, SUBMODULE, GitEntry, Repository
from harness.errors import UserError
from harness.inspector.files import is_leftover
from harness.names import alike
from harness.submission.name import clean, taken
from harness.text import printable

#: Maximum numbers of submissions in a revision, and of changed files.
MAX_SUBMISSIONS, MAX_CHANGED = 10_000, 100_000

#: Suffixes of submissions in a single file.
SUFFIXES = (".py", ".zip")


@dataclass(frozen=True)
class Change:
    """A change of a repository's submissions. A submission has the name of its file or folder."""

    head: str  #: ID of the commit with the change
    base: str | None  #: ID of the commit to merge the change into; None if all submissions of `head` are evaluated
    before: Mapping[str, GitEntry]  #: name -> submission at `base`
    after: Mapping[str, GitEntry]  #: name -> submission at `base` with the change
    touched: Mapping[str, str]  #: name of each submission to evaluate -> `new`, `changed` or `renamed`
    removed: tuple[str, ...] = ()  #: names of submissions that the change removes
    renamed: Mapping[str, str] = field(default_factory=dict)  #: new name -> name of the same files at `base`
    refused: Mapping[str, str] = field(default_factory=dict)  #: path in the folder -> why its name is refused
    diverged: tuple[str, ...] = ()  #: names of submissions that both the change and, meanwhile, the base have changed
    others: tuple[str, ...] = ()  #: changed files that belong to no submission, the most important first

    @property
    def untouched(self) -> set[str]:
        """Names of the submissions of the base that stay as they are."""
        return self.after.keys() - self.touched.keys()

    @property
    def overwritten(self) -> list[str]:
        """Names of the submissions of the base that the change replaces, renames or removes."""
        return sorted(self.before.keys() - self.untouched)


def find_change(repository: Repository, folder: str, head: str, base: str | None, tasks: str = "") -> Change:
    """Return how a merge of the revision `head` into `base` would change the submissions in `folder`.

    A submission at `head` is touched if it differs from `base` and from the last common commit of `head` and `base`.
    Without `base`, every submission is touched. The result's `others` begin with changed files below the folder
    `tasks`. Raise `UserError` for an unknown revision or folder.
    """
    head = repository.resolve(head)
    base = None if base is None else repository.resolve(base)
    if not any(repository.folder(revision, folder) for revision in (head, base) if revision is not None):
        raise UserError("--submissions", expected="a folder of the repository", found=f"none called {folder!r}")
    if base is None:
        here = _paths(repository, head, folder)
        names, refused = _named(here, {})
        return Change(head, None, {}, names, dict.fromkeys(names, "new"), refused=_plain(refused))
    origin = repository.merge_base(base, head)
    at_base, at_origin, at_head = (_paths(repository, revision, folder) for revision in (base, origin, head))
    changed = {path for path, entry in at_head.items() if entry not in (at_origin.get(path), at_base.get(path))}
    gone = {path for path in at_origin if path not in at_head and path in at_base}
    before, unnamed = _named(at_base, {})
    merged = {path: entry for path, entry in at_base.items() if path not in gone} | {p: at_head[p] for p in changed}
    after, refused = _named(merged, {alike(name): entry.path for name, entry in before.items()})
    refused = _plain({path: why for path, why in refused.items() if path in changed or path not in unnamed})
    # A name may also pass to a file that the change leaves as it is, because the change removes the name's owner.
    touched = {n: "changed" if n in before else "new" for n, entry in after.items() if entry != before.get(n)}
    gone_names = sorted(set(before) - set(after))
    renamed = _renamed({n: after[n] for n in touched if n not in before}, {n: before[n] for n in gone_names})
    touched |= dict.fromkeys(renamed, "renamed")
    removed = tuple(name for name in gone_names if name not in renamed.values())
    moved_on = {path for path in changed | gone if at_base.get(path) != at_origin.get(path)}
    diverged = sorted({name_of(at_head.get(path) or at_origin[path]) for path in moved_on})
    others = _others(repository, origin, head, folder, {*at_origin, *at_head})
    others.sort(key=lambda path: (_weight(path, tasks), path))
    return Change(
        head, base, before, after, touched, removed, renamed, refused, tuple(diverged), tuple(map(printable, others))
    )


def _renamed(new: Mapping[str, GitEntry], gone: dict[str, GitEntry]) -> dict[str, str]:
    names: dict[str, list[str]] = {}  # ID of the files -> names in `gone`, the last first
    for name, entry in reversed(gone.items()):
        names.setdefault(entry.id, []).append(name)
    return {name: names[entry.id].pop() for name, entry in new.items() if names.get(entry.id)}


def _paths(repository: Repository, revision: str, folder: str) -> dict[str, GitEntry]:
    tree = repository.folder(revision, folder)
    entries = [] if tree is None else repository.entries(tree, MAX_SUBMISSIONS)
    return {entry.path: entry for entry in entries if _is_submission(entry)}


def _is_submission(entry: GitEntry) -> bool:
    """Return whether an entry looks like a submission; links and submodules do, and are refused later."""
    if entry.path.startswith(".") or is_leftover(entry.path):
        return False
    suffix = PurePosixPath(entry.path).suffix
    return entry.mode == FOLDER or suffix in SUFFIXES or (entry.mode in (LINK, SUBMODULE) and not suffix)


def _named(paths: Mapping[str, GitEntry], owners: Mapping[str, str]) -> tuple[dict[str, GitEntry], dict[str, str]]:
    """Return name -> submission, and for submissions with an invalid or taken name: path -> why the name is refused.

    Similar names count as the same name. If several paths have the same name, the path in `owners` gets it, otherwise
    the first path in alphabetical order.
    """
    names: dict[str, GitEntry] = {}
    refused = {}
    holders = {seen: path for seen, path in owners.items() if path in paths}
    for path in sorted(paths):
        name = name_of(paths[path])
        if whose := taken(name):
            refused[path] = f"cannot be called {name!r}: {whose}"
            continue
        holder = holders.setdefault(alike(name), path)
        if holder == path:
            names[name] = paths[path]
        else:
            refused[path] = f"another submission has this name or a similar one: {printable(holder)}"
    return names, refused


def name_of(entry: GitEntry) -> str:
    """Return a submission's name, which is the name of its file or folder. The name in its metadata is ignored."""
    path = PurePosixPath(entry.path)
    return clean(printable(path.name if entry.mode == FOLDER else path.stem))


def _plain(refused: Mapping[str, str]) -> dict[str, str]:
    return {printable(path): reason for path, reason in refused.items()}


def path_in_repository(folder: str, entry: GitEntry) -> str:
    """Return the path of an entry of `folder` in the repository, as printable text."""
    return str(PurePosixPath(folder, printable(entry.path)))


def _others(repository: Repository, origin: str, head: str, folder: str, submissions: set[str]) -> list[str]:
    paths = repository.changed_paths(origin, head, MAX_CHANGED)
    inside = "" if folder == "." else f"{folder}/"
    return [p for p in paths if not (p.startswith(inside) and p.removeprefix(inside).split("/")[0] in submissions)]


def _weight(path: str, tasks: str) -> int:
    """Return 0 for a file below `tasks`, 1 below .github, 2 for another hidden file or folder, 3 for others."""
    starts = (f"{tasks}/", ".github/", ".")
    return next((weight for weight, start in enumerate(starts) if path.startswith(start)), len(starts))


def require_folder(text: str) -> str:
    """Return a folder's path without a trailing slash. Raise `UserError` for a path outside the repository."""
    path = PurePosixPath(text)
    if path.is_absolute() or ".." in path.parts:
        raise UserError("--submissions", expected="a folder inside the repository", found=text)
    return str(path)
