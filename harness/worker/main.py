"""The worker's main program: imports libraries, loads the model, and only then imports the submission.

Messages up to `loaded` come from the harness' own code. After the import of the submission, no message is trusted: the
harness validates each of them, and measures time and memory from outside.
"""

import errno
import importlib
import inspect
import os
import sys
import traceback
from pathlib import Path
from typing import Any, NoReturn

from harness.worker.channel import Channel, take_input
from harness.worker.failure import MESSAGE, advise, describe, print_error
from harness.worker.limits import apply_limits, die_with_parent
from harness.worker.runtimes import RUNTIMES, Runtime
from harness.worker.sample import StackSample
from harness.worker.value import BadValueError, as_finite_float

#: Error numbers with which the sandbox denies an operation.
REFUSALS = {errno.EPERM, errno.EACCES, errno.EROFS, errno.ENETUNREACH}


def main(runtime: str, submission: Path, model_directory: Path, data_directory: Path) -> NoReturn:
    """Import the libraries of a runtime, then serve the calls that the harness sends."""
    channel = Channel.at_its_place(take_input())
    die_with_parent()
    chosen = RUNTIMES[runtime]
    chosen.import_libraries()
    serve(channel, chosen, submission, model_directory, data_directory)


def serve(
    channel: Channel,
    runtime: Runtime,
    submission: Path,
    model_directory: Path,
    data_directory: Path,
    *,
    other_processes: int = 0,
) -> NoReturn:
    """Load model and data, and make calls as the harness requests, until the harness kills the worker."""
    channel.close_others()
    try:
        channel.send(event="ready", environment=runtime.versions)
        order = channel.receive()
        limits = order["limits"]
        processes = limits["processes"] + other_processes
        apply_limits(processes, limits["open_files"], limits["file_bytes"], limits["memory_bytes"])
        runtime.prepare_devices()
        model, dataset = runtime.load_model(model_directory), runtime.load_dataset(data_directory)
        device, place = runtime.device(), runtime.place(submission, order["module"])
    except Exception as error:
        traceback.print_exc()
        channel.send(event="failed", message=describe(error))
        channel.receive()
        os._exit(1)
    runtime.admit(order["module"])
    sample = StackSample()
    sys.path.insert(0, str(place))
    while True:  # more than once only for baselines, which may share a sandbox
        runtime.seed(order["seed"])  # after the model is built, which draws random numbers
        channel.send(event="loaded", device=device, place=str(place))
        go = channel.receive()  # the clock runs from here
        sample.take_before(go["seconds"])
        report = _call(order["module"], model, dataset, place, runtime)
        sample.cancel()
        sys.stdout.flush()
        channel.send(event="result", **report)
        order = channel.receive()


def _call(name: str, model: Any, dataset: Any, submission: Path, runtime: Runtime) -> dict[str, str]:
    """Import the module `name` and call its measure. Return `status`, and `value` or `message`."""
    try:
        module = importlib.import_module(name)
        measure = getattr(module, "complexity", None)
        if not callable(measure):
            message = "complexity.py: expected a function complexity(model, dataset), found none"
            return {"status": "INVALID_SUBMISSION", "message": message}
        more = {"program_dir": str(submission)} if _takes_program_dir(measure) else {}
        return {"status": "OK", "value": as_finite_float(measure(model, dataset, **more)).hex()}
    except BadValueError as error:
        return {"status": "BAD_VALUE", "message": str(error)[:MESSAGE]}
    except MemoryError as error:
        return {"status": "MEMORY", "message": advise(error, runtime, submission)}
    except BaseException as error:
        print_error(error, __file__, submission)
        refused = isinstance(error, OSError) and error.errno in REFUSALS
        status = "FORBIDDEN" if refused else "EXCEPTION"
        return {"status": status, "message": advise(error, runtime, submission)}


def _takes_program_dir(measure: Any) -> bool:
    try:
        return "program_dir" in inspect.getfullargspec(measure).args
    except TypeError:  # it has no signature
        return False
