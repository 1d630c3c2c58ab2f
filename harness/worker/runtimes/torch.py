"""The runtime `torch`: PyTorch with Keras 3."""

from pathlib import Path
from typing import Any, ClassVar

from harness.worker.runtimes.runtime import Alike, Runtime, map_arrays


class Torch(Runtime):
    """PyTorch. The model is an `nn.Module` on the device, the training data are a `TensorDataset` in host memory."""

    name = "torch"
    summary = "PyTorch with Keras 3"
    framework = "torch"
    distributions = ("torch", "keras")
    extra = "torch"
    gpu_install = "torch --force-reinstall --index-url https://download.pytorch.org/whl/cu126"
    alike: ClassVar[Alike] = {
        ("UpSampling2D", "interpolation"): ("nearest", "bilinear"),
        ("LayerNormalization", "axis"): (-1, [-1]),
    }

    def environment(self, threads: int, *, gpu: bool) -> dict[str, str]:
        """Return environment variables that set up Keras, threads and devices."""
        return super().environment(threads, gpu=gpu) | {
            "MKL_NUM_THREADS": str(threads),
            "TORCHINDUCTOR_COMPILE_THREADS": "1",  # by default, torch.compile starts a process per core
            # Makes PyTorch look for GPUs without initialising CUDA, which could not be used after a fork.
            "PYTORCH_NVML_BASED_CUDA_CHECK": "1",
        }

    def import_libraries(self) -> None:
        """Import the libraries. Make `torch.compile` use lock files, because the sandbox refuses `flock`."""
        import filelock

        vars(filelock)["FileLock"] = filelock.SoftFileLock
        super().import_libraries()
        _leave_padding_out_of_means()

    def prepare_devices(self) -> None:
        """Make a GPU compute convolutions in float32. (PyTorch already takes only the memory that it needs.)"""
        import torch

        torch.backends.cudnn.allow_tf32 = False

    def device(self) -> str:
        """Return the name of the GPU, or `cpu`."""
        import torch

        return str(torch.cuda.get_device_name()) if torch.cuda.is_available() else "cpu"

    def load_model(self, directory: Path) -> Any:
        """Return the model in evaluation mode."""
        return super().load_model(directory).eval()

    def load_dataset(self, directory: Path) -> Any:
        """Return a `torch.utils.data.TensorDataset` of (float32 input, int64 label) on the CPU."""
        import numpy as np
        import torch

        inputs, labels = map_arrays(directory)
        return torch.utils.data.TensorDataset(torch.from_numpy(inputs), torch.from_numpy(labels.astype(np.int64)))


def _leave_padding_out_of_means() -> None:
    """Make average pooling with `padding="same"` ignore the padding; Keras 3.15 may average copied border pixels."""
    from keras.src.backend.torch import nn

    pool = nn.average_pool

    def average_pool(
        inputs: Any, pool_size: Any, strides: Any = None, padding: str = "valid", data_format: str | None = None
    ) -> Any:
        if padding != "same":
            return pool(inputs, pool_size, strides, padding, data_format)
        import torch

        padded = _pad_as_tensorflow(inputs, pool_size, strides or pool_size, data_format)
        present = _pad_as_tensorflow(torch.ones_like(inputs), pool_size, strides or pool_size, data_format)
        means, shares = (pool(tensor, pool_size, strides, "valid", data_format) for tensor in (padded, present))
        return means / shares

    vars(nn)["average_pool"] = average_pool


def _pad_as_tensorflow(inputs: Any, pool_size: Any, strides: Any, data_format: str | None) -> Any:
    """Pad spatial axes with zeros as TensorFlow does for `padding="same"`: odd padding has one more zero at the end."""
    import torch

    spatial = range(2, inputs.ndim) if data_format == "channels_first" else range(1, inputs.ndim - 1)
    sizes, steps = ([n] * len(spatial) if isinstance(n, int) else list(n) for n in (pool_size, strides))
    widths = [0] * (2 * inputs.ndim)
    for axis, size, step in zip(spatial, sizes, steps, strict=True):
        n = inputs.shape[axis]
        total = max((-(-n // step) - 1) * step + size - n, 0)
        widths[2 * axis : 2 * axis + 2] = total // 2, total - total // 2
    # `pad` takes the last axis first
    pairs = [widths[2 * axis : 2 * axis + 2] for axis in reversed(range(inputs.ndim))]
    return torch.nn.functional.pad(inputs, [width for pair in pairs for width in pair])
