"""Opens files that only root may read: if root runs the harness, a worker must not be root outside the sandbox."""

import os
import sys

EXPECT = ("OK",)
ALLOWED_ON_PLATFORM = ("BREACH: is root",)  # no other user can be made there


def complexity(model, dataset):
    if os.getuid() == 0 or os.geteuid() == 0 or 0 in os.getgroups():
        print("BREACH: is root")
    for top in ("/usr/sbin", "/usr/libexec", "/usr/local", "/usr/lib", sys.prefix, os.path.dirname(__file__)):
        for directory, directories, files in os.walk(top):
            if directory.count("/") > 4:
                directories.clear()
            for path in (os.path.join(directory, name) for name in files):
                state = os.lstat(path)
                if state.st_uid == 0 and not state.st_mode & 0o4 and os.access(path, os.R_OK):
                    print(f"BREACH: {path}")
    return 1.0
