"""Another program of the machine."""

import subprocess

EXPECT = ("OK",)
VALUE = 3.0


def complexity(model, dataset):
    done = subprocess.run(["/bin/echo", "3"], capture_output=True, text=True, check=True)
    return float(done.stdout)
