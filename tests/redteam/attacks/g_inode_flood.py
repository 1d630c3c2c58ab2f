"""Makes empty files until it is stopped: each takes kernel memory, and all must go before the sandbox is gone."""

import os

EXPECT = ("OUTPUT",)
UNDER_LANDLOCK = ("OUTPUT", "TIMEOUT")  # the latter where the disk is slow
UNDER_LANDLOCK = ("OUTPUT", "TIMEOUT")  # a disk may take its time to make so many


def complexity(model, dataset):
    scratch = os.environ["TMPDIR"]
    for number in range(300_000):
        try:
            os.close(os.open(f"{scratch}/{number}", os.O_CREAT | os.O_WRONLY))
        except OSError:
            break
    return 1.0
