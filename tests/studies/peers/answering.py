"""A process that reads names of functions, and answers with their values and seconds of processor time.

It imports only the standard library, since peers have their own environment.
"""

import contextlib
import json
import os
import subprocess
import sys
import time

#: Each library that may be asked for threads is given one.
ONE_THREAD = dict.fromkeys(
    ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "TF_NUM_INTRAOP_THREADS", "TF_NUM_INTEROP_THREADS"),
    "1",
)


def answer(**functions):
    """For each line with a function's name and arguments, print the function's result and its processor seconds."""
    for line in sys.stdin:
        name, *arguments = json.loads(line)
        with contextlib.redirect_stdout(sys.stderr):  # libraries print
            start = time.process_time()
            value = functions[name](*arguments)
            seconds = time.process_time() - start
        print(json.dumps([value, seconds]), flush=True)


class Asked:
    """A process, `python -m MODULE DIRECTORY`, whose program calls `answer`."""

    def __init__(self, python, module, directory):
        command = [str(python), "-m", module, str(directory)]
        self.log = (directory / f"{module}.log").open("w+")
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": self.log}
        self.process = subprocess.Popen(command, text=True, env=os.environ | ONE_THREAD, **pipes)

    def __call__(self, name, *arguments):
        """Return the result of the function `name`, and its processor seconds."""
        self.process.stdin.write(json.dumps([name, *arguments]) + "\n")
        self.process.stdin.flush()
        found = self.process.stdout.readline()
        if not found:
            self.log.seek(0)
            raise RuntimeError(self.log.read()[-4000:])
        return json.loads(found)

    def end(self):
        self.process.communicate()
        self.log.close()
