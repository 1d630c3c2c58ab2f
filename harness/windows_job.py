"""Job objects of Windows, with which a process and all its descendants are killed together."""

import ctypes
import struct
import subprocess
import sys
import weakref

if sys.platform == "win32":
    _kernel = ctypes.WinDLL("kernel32", use_last_error=True)
    _kernel.CreateJobObjectW.restype = ctypes.c_void_p

    #: Windows' number for setting a job's limits; size of the limits in bytes; position and value of the flag with
    #: which all processes of a job end when its last handle is closed.
    LIMITS, SIZE, FLAGS, KILL_ON_CLOSE = 9, 144, 16, 0x2000

    class WindowsJob:
        """A process and all its descendants. They are also killed when the harness ends."""

        def __init__(self, process: subprocess.Popen[bytes]) -> None:
            self._handle = ctypes.c_void_p(_kernel.CreateJobObjectW(None, None))
            self._close = weakref.finalize(self, _kernel.CloseHandle, self._handle)
            limits = ctypes.create_string_buffer(SIZE)
            struct.pack_into("<I", limits, FLAGS, KILL_ON_CLOSE)
            _kernel.SetInformationJobObject(self._handle, LIMITS, limits, SIZE)
            handle = ctypes.c_void_p(int(vars(process)["_handle"]))
            if not _kernel.AssignProcessToJobObject(self._handle, handle) and process.poll() is None:
                raise ctypes.WinError(ctypes.get_last_error())

        def kill(self) -> None:
            """Kill all processes of the job, even orphans. A second call has no effect."""
            if self._close.alive:
                _kernel.TerminateJobObject(self._handle, 1)
                self._close()
