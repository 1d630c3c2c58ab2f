"""The runtime `tensorflow`: TensorFlow with Keras 3. Model and data have the form of the competition of 2020."""

import functools
import importlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from harness.worker.dataset_errors import dataset_advice, refuse_single_example
from harness.worker.operation_seeds import keep_seeds_of_operations
from harness.worker.runtimes.runtime import SUBMISSION, Runtime, map_arrays

#: Maximum number of examples, and of bytes of inputs, that are read from the training data at once.
BLOCK, BLOCK_BYTES = 256, 2**22


class TensorFlow(Runtime):
    """TensorFlow. The training data are an unbatched `tf.data.Dataset`; models have the attributes they had in 2020."""

    name = "tensorflow"
    summary = "TensorFlow with Keras 3"
    framework = "tensorflow"
    distributions = ("tensorflow", "keras")
    extra = "tensorflow"

    def environment(self, threads: int, *, gpu: bool) -> dict[str, str]:
        """Return environment variables that set up Keras, kernels, messages, threads and GPU memory."""
        return super().environment(threads, gpu=gpu) | {
            "TF_USE_LEGACY_KERAS": "0",
            "TF_ENABLE_ONEDNN_OPTS": "1",  # oneDNN's faster kernels on all processors
            "TF_CPP_MIN_LOG_LEVEL": "3",
            "TF_NUM_INTRAOP_THREADS": str(threads),
            "TF_NUM_INTEROP_THREADS": str(threads),
            "TF_FORCE_GPU_ALLOW_GROWTH": "true",
        }

    @property
    def keras(self) -> Any:
        """Keras, as imported by `tf.keras`."""
        return importlib.import_module("tensorflow").keras

    def prepare_devices(self) -> None:
        """Make TensorFlow allocate GPU memory only as needed."""
        import tensorflow as tf

        for device in tf.config.list_physical_devices("GPU"):
            tf.config.experimental.set_memory_growth(device, True)

    def device(self) -> str:
        """Return the name of the GPU, or `cpu`."""
        import tensorflow as tf

        gpus = tf.config.list_physical_devices("GPU")
        return str(tf.config.experimental.get_device_details(gpus[0]).get("device_name", "GPU")) if gpus else "cpu"

    def import_libraries(self) -> None:
        """Import the libraries. Let models accept a tape that watches the input; make layers store their last input."""
        super().import_libraries()
        _fill_registry()
        layer, model = self.keras.layers.Layer, self.keras.Model
        layer.__call__ = _remembering_input(layer.__call__)
        model.__call__ = _watching_input(model.__call__)

    def load_model(self, directory: Path) -> Any:
        """Return the model. With Keras 3, the model refuses a single example without batch axis."""
        with _not_optimized():
            model = super().load_model(directory)
        if self.name == TensorFlow.name:
            object.__setattr__(model, "_example", tuple(model.input_shape[1:]))  # bypasses Keras' attribute tracking
        return model

    def seed(self, seed: int) -> None:
        """Seed all generators. Operations with a seed of their own do not depend on `seed`."""
        super().seed(seed)
        keep_seeds_of_operations()

    def admit(self, module: str) -> None:
        """Make Keras raise an error for calls that it would silently interpret differently from the Keras of 2020."""
        if module == SUBMISSION:
            from harness.worker import legacy

            legacy.refuse_what_is_ignored()

    def advice(self, error: BaseException, submission: Path) -> str:
        """Return advice if an error is about an unsupported use of a dataset; otherwise the advice of all runtimes."""
        return dataset_advice(error) or super().advice(error, submission)

    def load_dataset(self, directory: Path) -> Any:
        """Return an unbatched `tf.data.Dataset` of (float32 input, int32 label) over memory-mapped arrays.

        `dataset.arrays` are inputs and labels as NumPy arrays. The dataset reads the arrays block by block, through
        variables. `from_tensor_slices` of whole tensors would hold all examples in memory twice, and every iterator
        would allocate another copy: to optimize a graph, tf.data copies tensors, but not variables.
        """
        import tensorflow as tf

        arrays = map_arrays(directory)
        block = max(min(BLOCK, BLOCK_BYTES // arrays[0][0].nbytes), 1)
        with tf.device("CPU:0"), _not_optimized():  # in host memory; batches move to the GPU
            mapped = [tf.Variable(tf.experimental.dlpack.from_dlpack(array.__dlpack__())) for array in arrays]

            def examples(start: Any) -> Any:
                return tf.data.Dataset.from_tensor_slices(tuple(one[start : start + block] for one in mapped))

            n_examples = len(arrays[1])
            blocks = tf.data.Dataset.range(0, n_examples, block)
            as_it_is = tf.autograph.experimental.do_not_convert(examples)  # conversion takes time without effect
            dataset = blocks.flat_map(as_it_is).apply(tf.data.experimental.assert_cardinality(n_examples))
        for name, value in (("arrays", arrays), ("_mapped", mapped)):  # TensorFlow itself does not keep variables alive
            object.__setattr__(dataset, name, value)  # bypasses TensorFlow's tracking of attributes
        return dataset


def _fill_registry() -> None:
    """Make TensorFlow build its list of operations before the fork, by asking for an unknown operation."""
    from tensorflow.python.framework import op_def_registry

    op_def_registry.get("no such operation")
    for name in ("range_op", "flat_map_op"):  # needed by `load_dataset`, and otherwise imported on first use
        importlib.import_module(f"tensorflow.python.data.ops.{name}")


@contextmanager
def _not_optimized() -> Iterator[None]:
    """Within the context, make TensorFlow run operations without optimizing them. This halves the time of loading."""
    from tensorflow.python import pywrap_tfe
    from tensorflow.python.eager import context

    present = context.context()
    present.ensure_initialized()
    pywrap_tfe.TFE_ContextSetRunEagerOpAsFunction(present._handle, False)
    try:
        yield
    finally:
        pywrap_tfe.TFE_ContextClearCaches(present._handle)  # otherwise later operations are not optimized either
        pywrap_tfe.TFE_ContextSetRunEagerOpAsFunction(present._handle, True)


# Both wrappers take over module and name of the wrapped method, so that AutoGraph does not convert them.


def _remembering_input(original: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        if args:
            object.__setattr__(self, "_last_seen_input", args[0])  # bypasses Keras' tracking of attributes
        return original(self, *args, **kwargs)

    return call


def _watching_input(original: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def call(self: Any, *args: Any, tape: Any = None, **kwargs: Any) -> Any:
        if len(args) > 1 and hasattr(args[1], "watch"):  # in 2020, the tape was the second argument
            args, tape = (args[0], *args[2:]), args[1]
        if tape:
            tape.watch(args[0])
        if args and (example := getattr(self, "_example", None)) is not None:
            refuse_single_example(args[0], example)
        return original(self, *args, **kwargs)

    return call
