"""Decides whether a submission failed because it was written in 2020 for Keras 2, and would run with Keras 2."""

import dis
import errno
import re
from pathlib import Path

from harness.worker.legacy.ingestion_program import MODULES
from harness.worker.legacy.names import restored_names

#: Messages of Keras 3 about arguments that it no longer accepts.
_OF_KERAS = re.compile(
    r"Argument\(s\) not recognized: \{.*'(lr|decay)'|Argument `decay` is no longer supported|not supported in Keras 3"
    r"|Unknown variable: "
)

#: Messages of Python and NumPy about a name that a module lacks: on import, and on access.
_LACKING = (
    re.compile(r"cannot import name '(?P<name>\w+)' from '(?P<module>[\w.]+)'"),
    re.compile(r"module '(?P<module>[\w.]+)' has no attribute '(?P<name>\w+)'"),
    re.compile(r"`(?P<module>np)\.(?P<name>\w+)` was removed in the NumPy 2\.0 release"),
)

#: Modules that exist in Keras 2 but not in Keras 3, and modules of the competition's own program.
_MODULES = re.compile(
    rf"No module named '(({'|'.join(MODULES)})'"
    r"|(tensorflow\.)?keras\.(layers\.(advanced_activations|convolutional|core|embeddings|experimental"
    r"|merge|noise|normalization|pooling|recurrent|wrappers)|utils\.(np_utils|generic_utils|layer_utils|vis_utils))\b)"
)

#: Attributes that layers, models, optimizers and symbolic tensors of Keras 3 no longer have.
ATTRIBUTES = {
    "add_update", "compute_output_signature", "decay", "dynamic", "evaluate_generator", "experimental_ref",
    "fit_generator", "get_gradients", "get_input_at", "get_input_mask_at", "get_input_shape_at", "get_output_at",
    "get_output_mask_at", "get_output_shape_at", "get_shape", "get_slot", "get_updates", "get_weights", "inbound_nodes",
    "input_mask", "input_shape", "lr", "minimize", "name_scope", "op", "outbound_nodes", "output_mask", "output_shape",
    "predict_generator", "ref", "reset_states", "set_shape", "state_updates", "stateful", "submodules", "type_spec",
    "updates", "weights", "with_name_scope",
}  # fmt: skip

#: Endings of names that Keras 2 lacks, too.
_GONE = (".get_session", ".mixed_precision.experimental", ".wrappers")

_LIBRARIES = ("importlib", "keras", "numpy", "tensorflow")


def would_be_cured(error: BaseException, submission: Path) -> bool:
    """Return whether a submission that raised `error` in another runtime may succeed with `keras: 2` as metadata."""
    if isinstance(error, OSError):  # with Keras 2, a submission can write files into its own directory
        return error.errno in (errno.EACCES, errno.EPERM, errno.EROFS) and str(submission) in str(error)
    if not isinstance(error, AttributeError | ImportError | TypeError | UserWarning | ValueError):
        return False
    raised_by, is_statement = _origin(error)
    if is_statement and raised_by not in _LIBRARIES:  # the submission itself has raised the error
        return False
    if isinstance(error, AttributeError) and _is_keras(type(error.obj).__module__):
        return error.name in ATTRIBUTES
    message = str(error)
    for pattern in _LACKING:
        if match := pattern.search(message):
            module = "numpy" if match["module"] == "np" else match["module"]
            restored = restored_names().get(module, ())
            return not f"{module}.{match['name']}".endswith(_GONE) if _is_keras(module) else match["name"] in restored
    if "inhomogeneous shape" in message:
        return raised_by != "numpy"  # only functions that are not written in Python are restored, such as `np.array`
    return (_OF_KERAS.search(message) or _MODULES.match(message)) is not None


def _origin(error: BaseException) -> tuple[str, bool]:
    """Return the package of the code that raised an error, and whether a `raise` statement raised it."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    if trace is None:
        return "", False
    package = str(trace.tb_frame.f_globals.get("__name__", "")).split(".")[0]
    return package, dis.opname[trace.tb_frame.f_code.co_code[trace.tb_lasti]] == "RAISE_VARARGS"


def _is_keras(module: str) -> bool:
    return module.split(".")[0] == "keras"
