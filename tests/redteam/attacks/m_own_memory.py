"""Searches its own memory for what the harness knows: a fork inherits all of its parent's."""

import ctypes
import re

EXPECT = ("OK",)
SECRETS = re.compile(rb"hunter[2]|/singl[e]/model_|model_configs[.]jso[n]\x00")  # does not match itself


def complexity(model, dataset):
    for line in open("/proc/self/maps"):
        span, permissions, *_, name = line.split(maxsplit=5) if line.count(" ") > 5 else (*line.split(), "")
        start, end = (int(part, 16) for part in span.split("-"))
        if permissions.startswith("rw") and end - start <= 64 << 20:
            found = SECRETS.search(ctypes.string_at(start, end - start))
            if found:
                print(f"BREACH: {found.group()} in {name}")
    return 1.0
