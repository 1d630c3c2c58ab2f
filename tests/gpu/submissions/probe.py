"""Initialises CUDA step by step; the value is the first error code, 0 for success."""

from ctypes import byref, c_int, c_uint64, c_void_p

import cuda_driver


def complexity(model, dataset):
    number, device, context, address = c_int(), c_int(), c_void_p(), c_uint64()
    for name, arguments in (
        ("cuInit", lambda: (0,)),
        ("cuDeviceGetCount", lambda: (byref(number),)),
        ("cuDeviceGet", lambda: (byref(device), 0)),
        ("cuDevicePrimaryCtxRetain", lambda: (byref(context), device)),
        ("cuCtxSetCurrent", lambda: (context,)),
        ("cuMemAlloc_v2", lambda: (byref(address), 1 << 20)),
        ("cuMemsetD32_v2", lambda: (address, 7, 1 << 18)),
        ("cuCtxSynchronize", lambda: ()),
    ):
        found = cuda_driver.code(name, *arguments())
        print(f"{name}: {found}")
        if found:
            return float(found)
    return 0.0
