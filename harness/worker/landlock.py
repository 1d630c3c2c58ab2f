"""Confines a worker that has no namespaces of its own, and all processes that it starts, by Landlock.

Before the worker exists, its supervisor enters a Landlock domain that restricts signals. No process of the call can
leave the domain, so a signal to all processes (`kill(-1)`) reaches exactly the processes of the call. The worker enters
a second domain inside the first; it can then access only the files that it needs.
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
#: Rights that Landlock can grant on a file that is not a directory.
ON_FILES = AccessFS.READ_FILE | AccessFS.WRITE_FILE | AccessFS.EXECUTE | AccessFS.IOCTL_DEV

#: Entries of /proc/self that a worker may read; all others would reveal facts about the machine.
OWN_ENTRIES = ("cmdline", "fd", "maps", "stat", "statm", "status")


def contain_descendants() -> None:
    """Restrict signals to this process and its descendants, and let this process adopt orphaned descendants.

    Raise `OSError` if the kernel cannot restrict signals; `kill(-1)` would then reach processes outside the call.
    """
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1)
    none, of_network = AccessFS.NONE, AccessNet.NONE
    with Ruleset(handled_fs=none, handled_net=of_network, scoped=Scope.SIGNAL, best_effort=False) as rules:
        rules.restrict()


def confine(paths: dict[str, list[str]]) -> None:
    """Restrict this process for good to `paths`: key of `RIGHTS` -> the paths for which this right is granted.

    The kernel refuses all other access that its version of Landlock can control. The process must have `no_new_privs`.
    """
    with Ruleset(scoped=Scope.SIGNAL | Scope.ABSTRACT_UNIX_SOCKET) as rules:
        for kind, granted in paths.items():
            for path in granted:
                allowed = RIGHTS[kind]
                rules.allow_path(path, allowed if os.path.isdir(path) else allowed & ON_FILES)  # noqa: PTH112
        for name in OWN_ENTRIES:
            rules.allow_path(f"/proc/self/{name}", READ if name == "fd" else AccessFS.READ_FILE)
        rules.restrict()
