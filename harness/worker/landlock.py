"""How a worker is confined where it shares the machine's namespaces, and how all that it starts is held together.

Landlock does both. A domain that only keeps signals in is closed around the call's supervisor before there is a
worker: nothing that the worker starts, however it detaches itself, gets out of it, and one signal to "everybody"
reaches all of it and nothing else. A second one, inside, leaves the worker what it needs of the files.
"""

import ctypes
import os

from landlockpy import AccessFS, AccessNet, Ruleset, Scope

PR_SET_CHILD_SUBREAPER = 36

READ = AccessFS.READ_FILE | AccessFS.READ_DIR
RIGHTS = {
    "read": READ,
    "run": READ | AccessFS.EXECUTE,
    "devices": AccessFS.READ_FILE | AccessFS.WRITE_FILE | AccessFS.IOCTL_DEV,
    "scratch": ~AccessFS.EXECUTE & ~AccessFS.IOCTL_DEV & ~AccessFS.MAKE_CHAR & ~AccessFS.MAKE_BLOCK,
}
#: What can be granted on a file that is no directory.
ON_FILES = AccessFS.READ_FILE | AccessFS.WRITE_FILE | AccessFS.EXECUTE | AccessFS.IOCTL_DEV

#: What a worker reads of its own entry in /proc; the rest of it shows the machine.
OWN_ENTRIES = ("cmdline", "fd", "maps", "stat", "statm", "status")


def hold_together() -> None:
    """Let no descendant signal anything but descendants, and become the parent of those that lose theirs.

    Raises `OSError` where the kernel cannot: a signal to everybody would then reach everybody.
    """
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1)
    none, of_network = AccessFS.NONE, AccessNet.NONE
    with Ruleset(handled_fs=none, handled_net=of_network, scoped=Scope.SIGNAL, best_effort=False) as rules:
        rules.restrict()


def confine(places: dict[str, list[str]]) -> None:
    """Leave this process `places` by the rights of `RIGHTS` that they are listed under, and no others, for ever.

    Everything that the kernel's Landlock knows is refused elsewhere. Needs `no_new_privs`.
    """
    with Ruleset(scoped=Scope.SIGNAL | Scope.ABSTRACT_UNIX_SOCKET) as rules:
        for kind, paths in places.items():
            for path in paths:
                allowed = RIGHTS[kind]
                rules.allow_path(path, allowed if os.path.isdir(path) else allowed & ON_FILES)  # noqa: PTH112
        for name in OWN_ENTRIES:
            rules.allow_path(f"/proc/self/{name}", READ if name == "fd" else AccessFS.READ_FILE)
        rules.restrict()
