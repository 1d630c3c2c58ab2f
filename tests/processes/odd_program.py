"""A program that follows any instruction, for tests of `harness.processes`."""

import json
import os
import resource
import signal
import stat
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from harness.errors import UserError
from harness.processes.models import Answer, Program, Question, Say


def prepare(_runtime: str, *order: str) -> Program:
    """Return the program, or raise the ordered error."""
    if order == ("refuse",):
        raise UserError("data.npz: cannot be read")
    if order == ("fail",):
        raise KeyError("of the program")
    return answer


def answer(question: Question, say: Say) -> Answer:
    order, detail = question["do"], question.get("detail")
    if order == "look":
        names = ("CUDA_VISIBLE_DEVICES", "JAX_PLATFORMS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")
        limit = resource.getrlimit(resource.RLIMIT_DATA)[0]
        return {"pid": os.getpid(), "memory": limit} | {name: os.environ.get(name) for name in names}
    if order == "count":
        for number in range(detail):
            say({"number": number})
    if order == "sleep":
        Path(detail).write_text(f"{os.getpid()} {subprocess.Popen(['sleep', '600']).pid}")
        time.sleep(600)
    if order == "leave a file":
        return {"file": tempfile.mkstemp()[1]}
    if order == "die":
        print("last words", file=sys.stderr, flush=True)
        os.kill(os.getpid(), signal.SIGKILL) if detail is None else os._exit(detail)
    if order == "allocate":
        bytearray(detail)
    if order == "print":
        print('["answer", {"wrong": 1}]', flush=True)
        os.write(1, b'["answer", {"wrong": 2}]\n')
        subprocess.run(["echo", "not JSON"], check=True)
    if order == "answer at length":
        return {"text": "x" * detail}
    if order == "answer a set":
        return {"set": {1, 2}}
    if order == "write":
        os.write(_connection(), detail.encode() * question.get("times", 1))
    if order == "refuse":
        raise UserError("its outputs", expected="numbers", found="none")
    if order == "fail":
        json.loads("{")
    return {}


def _connection() -> int:
    return next(fd for fd in range(64) if _is_socket(fd))


def _is_socket(descriptor: int) -> bool:
    try:
        return stat.S_ISSOCK(os.fstat(descriptor).st_mode)
    except OSError:
        return False
