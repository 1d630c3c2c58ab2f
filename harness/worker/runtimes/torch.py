"""PyTorch with Keras 3."""

from pathlib import Path
from typing import Any

from harness.worker.runtimes.runtime import Runtime


class Torch(Runtime):
    """PyTorch: the model is an `nn.Module` on the device, the training set a map-style dataset in host memory."""

    name = "torch"
    summary = "PyTorch with Keras 3"
    framework = "torch"
    distributions = ("torch", "keras")
    extra = "torch"
    gpu_remedy = "pip install --force-reinstall torch --index-url https://download.pytorch.org/whl/cu126"

    def environment(self, threads: int, *, gpu: bool) -> dict[str, str]:
        """Return the settings of Keras' backend, threads and devices."""
        return {
            "KERAS_BACKEND": "torch",
            "MKL_NUM_THREADS": str(threads),
            # Asks the driver's library for GPUs: CUDA, once initialised, could not be used after a fork.
            "PYTORCH_NVML_BASED_CUDA_CHECK": "1",
        }

    def prepare_devices(self) -> None:
        """Compute convolutions on a GPU in float32; memory grows by itself."""
        import torch

        torch.backends.cudnn.allow_tf32 = False

    def device(self) -> str:
        """Return the GPU's name."""
        import torch

        return str(torch.cuda.get_device_name()) if torch.cuda.is_available() else "cpu"

    def load_model(self, directory: Path) -> Any:
        """Put the model into evaluation mode."""
        return super().load_model(directory).eval()

    def load_dataset(self, directory: Path) -> Any:
        """Return a `torch.utils.data.TensorDataset` of (float32 input, int64 label) on the CPU."""
        import numpy as np
        import torch

        inputs = np.load(directory / "inputs.npy", mmap_mode="c")  # tensors must be writable
        labels = np.load(directory / "labels.npy").astype(np.int64)
        return torch.utils.data.TensorDataset(torch.from_numpy(inputs), torch.from_numpy(labels))
