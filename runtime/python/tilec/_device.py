"""Devices and errors."""
import ctypes
import functools
import os
import re
import sys
import threading
import warnings
import weakref
from ctypes import byref, c_uint64, c_void_p

from ._library import HOOKS_LOG_FN, HOOKS_STOP_FN, DeviceOptions, DeviceProperties, Hooks, lib

_STATUS = {1: "program", 2: "usage", 3: "file", 4: "assembler", 5: "run", 6: "no device", 7: "driver", 8: "no memory",
           9: "cancelled", 10: "resources", 70: "internal"}


class Error(RuntimeError):
    """A failure reported by libtile. `status` is its tile_status, `kind` that in words."""

    def __init__(self, status, message):
        super().__init__(message)
        self.status = status

    @property
    def kind(self):
        return _STATUS.get(self.status, str(self.status))

    def __reduce__(self):
        return type(self), (self.status, str(self))


class OutOfResources(Error):
    """The kernel does not fit the machine: it needs `needed` of `resource`, and there is `limit`."""

    def __init__(self, status, message, resource="", needed=0, limit=0):
        super().__init__(status, message)
        self.resource, self.needed, self.limit = resource, needed, limit

    def __reduce__(self):
        return type(self), (self.status, str(self), self.resource, self.needed, self.limit)


_RESOURCES = ("", "shared memory", "registers", "threads", "parameters", "cluster", "grid")


_raised = []   # what functions that libtile called have raised: it must not go through the library


def check(status, error):
    """Raises the error of a call that failed, and frees it; of one that did not, what the log has raised meanwhile."""
    raised = _raised[:]
    del _raised[:]
    if status == 0:
        if raised:
            raise raised[0]
        return
    message = lib.tile_error_message(error).decode("utf-8", "replace") if error else "failed"
    message = re.sub("^tilec: error: ", "", message, flags=re.MULTILINE)   # what a command line begins with
    kind, needed, limit = ctypes.c_int(), c_uint64(), c_uint64()
    misfit = error and lib.tile_error_resource(error, byref(kind), byref(needed), byref(limit))
    lib.tile_error_free(error)
    if misfit:
        raise OutOfResources(status, message, _RESOURCES[kind.value], needed.value, limit.value)
    raise Error(status, message)


class Warning(UserWarning):
    """A warning of the compiler or the simulator: what is wrong, the source line with a caret, the way out."""

    column = None   # of the place, if it has one


def _format_like_errors(before):
    """Returns a warnings.formatwarning that writes our warnings as errors are written; before: the one for others."""
    @functools.wraps(before)
    def formatted(message, category, filename, lineno, line=None):
        if not issubclass(category, Warning) or not re.search(r"\n *\^~*$", str(message), re.M):
            return before(message, category, filename, lineno, line)
        column = getattr(message, "column", None)   # None of a text alone, such as pytest's
        return f"{filename}:{lineno}:{'' if column is None else f'{column}:'} warning: {message}\n"
    return formatted


warnings.formatwarning = _format_like_errors(warnings.formatwarning)


_LEVELS = ("error", "warning", "remark", "note")


_WORK = "tilec"   # the name of the threads of Device.interruptible, for which the main thread waits


def users_place():
    """Returns the file and the line of the program that called into this package."""
    frame = sys._getframe(1)
    if threading.current_thread().name == _WORK:
        frame = sys._current_frames().get(threading.main_thread().ident, frame)
    ours = os.path.dirname(__file__), threading.__file__
    while frame.f_back is not None and frame.f_code.co_filename.startswith(ours):
        frame = frame.f_back
    return frame.f_code.co_filename, frame.f_lineno


def default_log(level, text, registry=None):
    """Shows what the compiler tells: warnings as Python's, the rest (static_print, remarks) on standard output.
    registry: a dict, with which each warning is shown once."""
    place = re.match(r"(.+?):(\d+):(\d+): (?:warning: )?", text)
    if level == "warning" and place:
        warning = Warning(text[place.end():].rstrip())
        warning.column = int(place[3])
        try:
            warnings.warn_explicit(warning, None, place[1], int(place[2]), registry=registry)
        except Warning:   # a filter makes errors of warnings
            warning.args = (text.rstrip(),)
            raise
    elif level == "warning":
        warnings.warn_explicit(text, Warning, *users_place())
    else:
        print(text, flush=True)


def log_function(on_log):
    """Returns what libtile calls with a message, for a function of the level and the text."""
    def log(user, level, text):
        try:
            on_log(_LEVELS[level], text.decode("utf-8", "replace"))
        except BaseException as failure:
            _raised.append(failure)
    return HOOKS_LOG_FN(log)


class Device:
    """gpu, gpu:N, sim or interp. The memory calls serve programs without a tensor library.

    Ctrl-C ends a launch on sim and interp; on a gpu it is seen when the launch is done.
    """

    def __init__(self, spec=None):
        if spec is not None and not isinstance(spec, str):
            raise TypeError(f"a device is named by a text such as 'gpu:0' or 'sim', not by {spec!r}")
        self._handle, e = c_void_p(), c_void_p()
        self._stop = False
        self.programs = weakref.WeakSet()
        self._should_stop = HOOKS_STOP_FN(lambda user: self._stop)   # the library keeps a pointer to it
        self._log = log_function(default_log)
        hooks = Hooks(struct_size=ctypes.sizeof(Hooks), should_stop=self._should_stop, log=self._log)
        options = DeviceOptions(ctypes.sizeof(DeviceOptions), ctypes.pointer(hooks))
        check(lib.tile_device_open_with(spec.encode() if spec else None, byref(options), byref(self._handle),
                                        byref(e)), e)
        self.kind = lib.tile_device_kind(self._handle).decode()
        self.name = lib.tile_device_name(self._handle).decode()
        number = (spec or os.environ.get("TILE_DEVICE") or "").partition(":")[2]
        self.ordinal = int(number) if number else 0

    def __repr__(self):
        where = f"{self.kind}:{self.ordinal}" if self.ordinal else self.kind
        return f"<tilec.Device {where} ({self.name}){'' if self._handle else ', closed'}>"

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.close()

    @property
    def _spec(self):
        """What opens it, with its number: "sim:0"."""
        return self.kind if self.kind == "interp" else f"{self.kind}:{self.ordinal}"

    @property
    def handle(self):
        if not self._handle:
            raise Error(2, f"the device {self.kind} is closed: open one by tilec.open_device(), and load the "
                           "kernels' file again")
        return self._handle

    @property
    def arch(self):
        """The architecture to compile for, "sm_90a"; None on interp."""
        arch = lib.tile_device_arch(self.handle)
        return arch.decode() if arch else None

    def properties(self):
        """Returns what the device is, as a dict with the fields of tile_device_properties; 0 stands for not known."""
        p, e = DeviceProperties(struct_size=ctypes.sizeof(DeviceProperties)), c_void_p()
        check(lib.tile_device_get_properties(self.handle, byref(p), byref(e)), e)
        values = {name: getattr(p, name) for name, _ in DeviceProperties._fields_[1:]}
        return {name: v.decode() if isinstance(v, bytes) else v for name, v in values.items()}

    def close(self):
        """Closes the programs of the device, too. open_device() then opens it anew."""
        if not self._handle:
            return
        for program in list(self.programs):
            program.close()
        with _devices_lock:
            for spec in [spec for spec, device in _devices.items() if device is self]:
                del _devices[spec]
        self._release()

    def _release(self):
        handle, self._handle = self._handle, c_void_p()
        lib.tile_device_close(handle)

    def alloc(self, size):
        address, e = c_uint64(), c_void_p()
        check(lib.tile_memory_alloc(self.handle, size, byref(address), byref(e)), e)
        return address.value

    def free(self, address):
        e = c_void_p()
        check(lib.tile_memory_free(self.handle, address, byref(e)), e)

    def upload(self, address, data):
        data = bytes(data)
        self.copy_in(address, data, len(data))

    def download(self, address, size):
        data = ctypes.create_string_buffer(size)
        self.copy_out(data, address, size)
        return data.raw

    def copy_in(self, address, source, size):
        """Copies from bytes, a ctypes buffer or an address of the host."""
        e = c_void_p()
        check(lib.tile_memory_upload(self.handle, address, source, size, byref(e)), e)

    def copy_out(self, target, address, size):
        """Copies to a ctypes buffer or an address of the host."""
        e = c_void_p()
        check(lib.tile_memory_download(self.handle, target, address, size, byref(e)), e)

    def has(self, address):
        """Whether a byte of the device's memory has this address."""
        e = c_void_p()
        status = lib.tile_memory_download(self.handle, ctypes.create_string_buffer(1), address, 1, byref(e))
        lib.tile_error_free(e)
        return status == 0

    def synchronize(self):
        e = c_void_p()
        self.interruptible(lambda: check(lib.tile_device_synchronize(self.handle, byref(e)), e))

    def interruptible(self, work):
        """Returns what work() does. On sim and interp a signal, such as that of Ctrl-C, ends it with its exception.

        A signal's handler runs in the main thread alone, and between two steps of Python: so work() runs in a thread of
        its own, and the main thread waits for it.
        """
        if self.kind == "gpu" or threading.current_thread() is not threading.main_thread():
            return work()
        outcome, done = [], threading.Event()

        def run():
            try:
                outcome.append((work(), None))
            except BaseException as failure:
                outcome.append((None, failure))
            done.set()

        threading.Thread(target=run, name=_WORK, daemon=True).start()
        try:
            done.wait()
        except BaseException:
            self._stop = True
            done.wait()
            raise
        finally:
            self._stop = False
        result, failure = outcome[0]
        if failure is not None:
            raise failure
        return result


_devices, _devices_lock = {}, threading.Lock()


def open_device(spec=None):
    """Returns the process's one Device of that spec; without a spec, that of the kind which opens first."""
    with _devices_lock:
        if spec not in _devices:
            device = Device(spec)
            _devices[spec] = _devices.setdefault(device._spec, device)
            if _devices[spec] is not device:   # "gpu" and "gpu:0", or a spec and the default, are one device
                device._release()
        return _devices[spec]


def default_device():
    return open_device(None)
