"""Opens files by handle, past all paths. That takes a capability, and the calls are refused."""

import ctypes

EXPECT = ("OK",)


def complexity(model, dataset):
    libc = ctypes.CDLL(None, use_errno=True)
    handle = ctypes.create_string_buffer(136)
    ctypes.c_uint.from_buffer(handle).value = 128
    mount = ctypes.c_int()
    if libc.name_to_handle_at(-100, b"/usr", handle, ctypes.byref(mount), 0) == 0:
        print("BREACH: name_to_handle_at")
    if libc.open_by_handle_at(-100, handle, 0) >= 0:
        print("BREACH: open_by_handle_at")
    return 1.0
