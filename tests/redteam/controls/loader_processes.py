"""Two worker processes of PyTorch's data loader, which pass tensors through shared memory."""

from torch.utils.data import DataLoader

RUNTIME = "torch"
EXPECT = ("OK",)
UNDER_LANDLOCK = ("EXCEPTION", "FORBIDDEN")  # semaphores are files in /dev/shm, which all calls would share
VALUE = 24.0


def complexity(model, dataset):
    return float(sum(len(labels) for _, labels in DataLoader(dataset, batch_size=5, num_workers=2)))
