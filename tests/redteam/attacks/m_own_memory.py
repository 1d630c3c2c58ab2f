"""Searches its own memory for what the harness knows: a fork inherits all of its parent's."""

import re

EXPECT = ("OK",)
SECRETS = re.compile(rb"hunter[2]|/singl[e]/model_|model_configs[.]jso[n]\x00")  # does not match itself


def complexity(model, dataset):
    with open("/proc/self/mem", "rb", buffering=0) as memory:
        for line in open("/proc/self/maps"):
            span, permissions, *_, name = line.split(maxsplit=5) if line.count(" ") > 5 else (*line.split(), "")
            start, end = (int(part, 16) for part in span.split("-"))
            if "w" not in permissions or end - start > 64 << 20:
                continue
            memory.seek(start)
            try:
                found = SECRETS.search(memory.read(end - start))
            except OSError:
                continue
            if found:
                print(f"BREACH: {found.group()} in {name}")
    return 1.0
