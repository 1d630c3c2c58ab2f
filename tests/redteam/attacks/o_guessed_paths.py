"""Opens the task, reference data, records and cache by their true paths, and through /proc/*/root and cwd."""

import os
import sys

EXPECT = ("OK",)
INTERPRETER = (sys.prefix, sys.base_prefix, os.path.realpath(sys.executable))
PATHS = ("@TASK@", "@TASK@/single/model_0/config.json", "@CACHE@", "@CACHE@/staged", "/root", "/home", "/etc/passwd",
         "/etc/shadow", "/etc/hostname", "/var", "/sys", "/run", "/boot")  # fmt: skip


def processes():
    """All that are listed; where none are, numbers near one's own."""
    try:
        return [int(name) for name in os.listdir("/proc") if name.isdigit()]
    except OSError:
        return [1, *range(max(os.getpid() - 300, 2), os.getpid() + 50)]


def complexity(model, dataset):
    for root in ("", *(f"/proc/{pid}/{way}" for pid in processes() for way in ("root", "cwd/..", "cwd/../.."))):
        for path in PATHS:
            try:
                entries = os.listdir(root + path) if os.path.isdir(root + path) else open(root + path).readline()
            except OSError:
                continue
            if isinstance(entries, list):  # parents of the interpreter's mount points are there, with nothing else
                entries = [entry for entry in entries if not any(p.startswith(f"{path}/{entry}") for p in INTERPRETER)]
            if entries:
                print(f"BREACH: {root}{path} is {entries}")
    return 1.0
