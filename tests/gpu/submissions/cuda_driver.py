"""The functions of CUDA's driver library that the checks need, for the process of any framework."""

import ctypes
from ctypes import byref, c_int, c_size_t, c_uint, c_uint64, c_void_p

MIB = 1024**2


def code(name, *arguments):
    return getattr(ctypes.CDLL("libcuda.so.1"), name)(*arguments)


def call(name, *arguments):
    if found := code(name, *arguments):
        raise RuntimeError(f"{name}: error {found}")


def begin():
    device, context = c_int(), c_void_p()
    call("cuInit", 0)
    call("cuDeviceGet", byref(device), 0)
    call("cuDevicePrimaryCtxRetain", byref(context), device)
    call("cuCtxSetCurrent", context)


def count():
    found = c_int()
    call("cuDeviceGetCount", byref(found))
    return found.value


def memory():
    free, total = c_size_t(), c_size_t()
    call("cuMemGetInfo_v2", byref(free), byref(total))
    return free.value, total.value


def allocate(size):
    address = c_uint64()
    call("cuMemAlloc_v2", byref(address), c_size_t(size))
    return address.value


def allocate_most():
    """Allocate nine tenths of the free memory; return address and size, a multiple of 64 MiB."""
    size = int(memory()[0] * 0.9) // (64 * MIB) * 64 * MIB
    return allocate(size), size


def fill(address, size, word):
    call("cuMemsetD32_v2", c_uint64(address), c_uint(word), c_size_t(size // 4))
    call("cuCtxSynchronize")


def read(address, target):
    call("cuMemcpyDtoH_v2", c_void_p(target.ctypes.data), c_uint64(address), c_size_t(target.nbytes))
