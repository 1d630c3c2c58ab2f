"""Confines a worker that shares the machine's namespaces, and contains all processes that it starts.

Both use Landlock. The call's supervisor enters a domain that only scopes signals before the worker exists: no process
of the call can leave it, however it detaches itself, and one signal to every process (`kill(-1)`) reaches the whole
call and nothing else. A second domain, nested in the first, limits the worker to the files that it needs.
"""

import ctypes
import os

from landlockpy import AccessFS, AccessNet, Ruleset, Scope

PR_SET_CHILD_SUBREAPER = 36

READ = AccessFS.READ_FILE | AccessFS.READ_DIR
RIGHTS = {
    "read": READ,
    "run": READ | AccessFS.EXECUTE,
    "list": AccessFS.READ_DIR,
    "threads": AccessFS.READ_FILE | AccessFS.WRITE_FILE,
    "devices": AccessFS.READ_FILE | AccessFS.WRITE_FILE | AccessFS.IOCTL_DEV,
    "scratch": ~AccessFS.EXECUTE & ~AccessFS.IOCTL_DEV & ~AccessFS.MAKE_CHAR & ~AccessFS.MAKE_BLOCK,
}
#: Rights that can be granted on a file that is not a directory.
ON_FILES = AccessFS.READ_FILE | AccessFS.WRITE_FILE | AccessFS.EXECUTE | AccessFS.IOCTL_DEV

#: Files that a worker may read in its own directory of /proc; the others reveal the machine.
OWN_ENTRIES = ("cmdline", "fd", "maps", "stat", "statm", "status")


def contain_descendants() -> None:
    """Restrict signals to this process and its descendants, and adopt orphaned descendants.

    Raises `OSError` where the kernel cannot do so: `kill(-1)` would then reach processes outside the call.
    """
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1)
    none, of_network = AccessFS.NONE, AccessNet.NONE
    with Ruleset(handled_fs=none, handled_net=of_network, scoped=Scope.SIGNAL, best_effort=False) as rules:
        rules.restrict()


def confine(paths: dict[str, list[str]]) -> None:
    """Restrict this process, irrevocably, to `paths`, listed by the key in `RIGHTS` of the rights granted there.

    All other access that the kernel's Landlock can restrict is refused. Needs `no_new_privs`.
    """
    with Ruleset(scoped=Scope.SIGNAL | Scope.ABSTRACT_UNIX_SOCKET) as rules:
        for kind, granted in paths.items():
            for path in granted:
                allowed = RIGHTS[kind]
                rules.allow_path(path, allowed if os.path.isdir(path) else allowed & ON_FILES)  # noqa: PTH112
        for name in OWN_ENTRIES:
            rules.allow_path(f"/proc/self/{name}", READ if name == "fd" else AccessFS.READ_FILE)
        rules.restrict()
