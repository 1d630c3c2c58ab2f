"""Changes of the worker's own code."""

import os
import sys

import numpy as np
from attack_suite import expected
from tools import attempt


@expected("OK", value=42.0)
def l_patches_channel(model, dataset):
    """Replaces the worker's channel, so that another value is sent. That changes only the result of this call."""
    kind = sys.modules["harness.worker.channel"].Channel
    send = kind.send
    kind.send = lambda self, **fields: send(self, event="result", status="OK", value=(42.0).hex())
    return 1.0


class Infinite:
    @staticmethod
    def hex():
        return "inf"


@expected("PROTOCOL", on_import=True)
def l_patches_worker(model, dataset):
    """Replaces functions of the worker, so that it accepts infinities. The harness checks every value again."""
    sys.modules["harness.worker.main"].as_finite_float = lambda value: Infinite


class Bomb:
    def __reduce__(self):
        return os.system, ("echo BREACH: unpickled",)


@expected("BAD_VALUE")
def l_pickle_as_value(model, dataset):
    """Returns an object that runs a command when it is unpickled. Nothing is unpickled."""
    return np.array([Bomb()], dtype=object)


@expected("OK")
def l_shadowing_modules(model, dataset):
    """Tries to shadow modules of the harness or its libraries in later imports. Their directories are read-only."""
    main, submission = sys.modules["harness.worker.main"].__file__, os.path.dirname(__file__)
    trusted = os.path.abspath(f"{main}/../../..")
    for path in (main, f"{submission}/numpy.py", f"{trusted}/numpy.py", "/job/trusted/numpy.py"):
        attempt(f"{path} can be written", lambda: os.close(os.open(path, os.O_WRONLY | os.O_CREAT)))
    if {trusted, "/job/trusted"} & set(sys.path):
        print("BREACH: the worker's directory is searched")
