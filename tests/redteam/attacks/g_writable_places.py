"""Looks for a writable place other than the scratch ones, and for one without a bound."""

import os

EXPECT = ("OK",)


def complexity(model, dataset):
    for directory, directories, _ in os.walk("/"):
        if directory.startswith(("/proc", "/usr/share", "/usr/lib")):
            directories.clear()
        elif os.access(directory, os.W_OK) and not directory.startswith(("/tmp", "/dev/shm")):
            try:
                os.close(os.open(f"{directory}/left", os.O_CREAT | os.O_WRONLY))
                print(f"BREACH: wrote to {directory}")
            except OSError:
                pass
        if directory.count("/") > 3:
            directories.clear()
    for line in open("/proc/self/mounts"):
        _, place, kind, options, *_ = line.split()
        if kind == "tmpfs" and "rw" in options.split(","):
            state = os.statvfs(place)
            if state.f_frsize * state.f_blocks > 256 << 20:
                print(f"BREACH: {place} has no small bound")
    return 1.0
