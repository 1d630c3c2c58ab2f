"""Reads where its files come from. The kernel shows every mount's source, so sources are anonymous copies."""

import os
import re

EXPECT = ("OK",)
UNDER_LANDLOCK = ("FORBIDDEN",)  # mounts are not shown


def complexity(model, dataset):
    mounts = open("/proc/self/mountinfo").read() + open("/proc/self/mounts").read()
    for name in ("@TASK@", "single", "model_0", "s_names_in_mounts"):
        if name in mounts:
            print(f"BREACH: {name} in the mounts")
    for source in re.findall(r"\S*/staged/\S+", mounts):
        for path in (source, os.path.dirname(source)):
            if os.path.exists(path):
                print(f"BREACH: {path} is there")
    return 1.0
