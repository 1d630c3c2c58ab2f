"""Reads the environment and command line of every process that it sees, the first one's above all."""

import glob

EXPECT = ("OK",)


def complexity(model, dataset):
    for path in glob.glob("/proc/[0-9]*/environ") + glob.glob("/proc/[0-9]*/cmdline"):
        try:
            content = open(path, "rb").read()
        except OSError:
            continue
        for secret in (b"SECRET_TOKEN", b"PGDL_", b"@TASK@"):
            if secret in content:
                print(f"BREACH: {path} holds {secret}")
    return 1.0
