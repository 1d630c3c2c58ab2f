"""Looks for a writable place other than the scratch ones, and for one without a bound."""

import itertools
import os
import sys

EXPECT = ("OK",)
SCRATCH = os.environ["TMPDIR"]
ALLOWED = (SCRATCH, "/dev/shm") if SCRATCH == "/tmp" else (SCRATCH,)  # the machine's own may lie beside it
GUESSED = ("/", "/tmp", "/var/tmp", "/dev/shm", "/dev/mqueue", "/run/lock", f"/run/user/{os.getuid()}", "/var/crash",
           "@TASK@", "@CACHE@", "@CACHE@/staged", os.path.dirname(SCRATCH), sys.prefix)  # fmt: skip


def complexity(model, dataset):
    for directory, directories, _ in itertools.chain(os.walk("/"), ((place, [], []) for place in GUESSED)):
        if directory.startswith(("/proc", "/usr/share", "/usr/lib")):
            directories.clear()
        elif os.access(directory, os.W_OK) and not directory.startswith(ALLOWED):
            try:
                os.close(os.open(f"{directory}/left", os.O_CREAT | os.O_WRONLY))
                print(f"BREACH: wrote to {directory}")
            except OSError:
                pass
        if directory.count("/") > 3:
            directories.clear()
    try:
        mounts = list(open("/proc/self/mounts"))
    except OSError:
        return 1.0
    for line in mounts:
        _, place, kind, options, *_ = line.split()
        if kind == "tmpfs" and "rw" in options.split(","):
            state = os.statvfs(place)
            if state.f_frsize * state.f_blocks > 256 << 20:
                print(f"BREACH: {place} has no small bound")
    return 1.0
