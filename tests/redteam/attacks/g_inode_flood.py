"""Makes empty files until it is stopped: each takes kernel memory, and all must go before the sandbox is gone."""

import os

EXPECT = ("OUTPUT",)


def complexity(model, dataset):
    for number in range(300_000):
        try:
            os.close(os.open(f"/tmp/{number}", os.O_CREAT | os.O_WRONLY))
        except OSError:
            break
    return 1.0
