"""Registers handlers that hang and forge when the interpreter ends. The result ends the call at once."""

import atexit
import os
import threading
import time

EXPECT = ("OK",)
VALUE = 1.0


def complexity(model, dataset):
    atexit.register(time.sleep, 1000)
    os.register_at_fork(before=lambda: time.sleep(1000))
    threading.Thread(target=time.sleep, args=(1000,)).start()
    return 1.0
