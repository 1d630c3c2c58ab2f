"""Makes empty files until it is stopped. Only time bounds them: they must not keep the sandbox from dying."""

import os

EXPECT = ("TIMEOUT", "OK")


def complexity(model, dataset):
    for number in range(300_000):
        try:
            os.close(os.open(f"/tmp/{number}", os.O_CREAT | os.O_WRONLY))
        except OSError:
            break
    return 1.0
