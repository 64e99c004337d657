"""Files of kernels."""
import ctypes
import os
from ctypes import byref, c_char_p, c_void_p

from ._device import Device, Error, check, default_log, log_function, open_device
from ._kernel import Kernel
from ._library import EVENT_FN, Hooks, JitOptions, SourceRange, lib

# In the order of tile_event_kind.
EVENTS = ("compile_begin", "compile_end", "cache_hit", "cache_miss", "unprepared", "tune_step", "tune_skip", "launch",
          "load")


def _path(path):
    return os.fsencode(path) if path else None


def _choice(name, value, values):
    if value not in values:
        raise ValueError(f"{name} is {value!r}; there are {', '.join(values)}")
    return values.index(value)


def _report(on_event, event):
    on_event(EVENTS[event.kind], event.kernel.decode(), event.variant.decode(), event.milliseconds)


def source_ranges(source_map, name):
    """Returns what libtile takes for a source map; name: the file of the parts that come from none."""
    return (SourceRange * len(source_map))(*((line, file_line, os.fsencode(file) if file else name)
                                             for line, file, file_line in source_map))


class Program:
    """The kernels of a file, as attributes or by program["name"]."""

    def __init__(self, path, text=None, device=None, policy="allow", cache=True, cache_dir=None, include=(),
                 options=(), on_event=None, tune="off", tune_file=None, tune_seconds=0.0, compile_seconds=0.0,
                 isolate=False, tilec=None, source_map=(), on_log=default_log):
        """on_log gets the level ("warning", "remark", "note") and the text of what the compiler tells.
        source_map: of a text that was gathered from files, (line of the text, file, line of the file) of each part."""
        self.device = device if isinstance(device, Device) else open_device(device)
        self.name, self.policy, self.text = os.fspath(path), policy, text
        self._kernels, self._handle, e = {}, c_void_p(), c_void_p()
        o = JitOptions(
            struct_size=ctypes.sizeof(JitOptions), policy=_choice("policy", policy, ("allow", "warn", "forbid")),
            no_cache=not cache, cache_dir=_path(cache_dir), tune=_choice("tune", tune, ("off", "saved", "on")),
            tune_file=_path(tune_file), tune_seconds=tune_seconds, compile_seconds=compile_seconds, isolate=isolate,
            tilec=_path(tilec))
        self._log = log_function(on_log)   # the library keeps a pointer to it
        o.hooks = ctypes.pointer(Hooks(struct_size=ctypes.sizeof(Hooks), log=self._log))
        if on_event:
            # The library keeps a pointer to it.
            self._on_event = EVENT_FN(lambda user, event: _report(on_event, event[0]))
            o.on_event = ctypes.cast(self._on_event, c_void_p)
        o.include_paths, o.num_include_paths = (c_char_p * len(include))(*map(os.fsencode, include)), len(include)
        o.options, o.num_options = (c_char_p * len(options))(*(s.encode() for s in options)), len(options)
        name = os.fsencode(path)
        o.source_map, o.num_source_map = source_ranges(source_map, name), len(source_map)
        if text is None:
            status = lib.tile_jit_open_file(self.device.handle, name, byref(o), byref(self._handle), byref(e))
        else:
            data = text.encode()
            status = lib.tile_jit_open_memory(self.device.handle, name, data, len(data), byref(o),
                                              byref(self._handle), byref(e))
        check(status, e)
        self.device.programs.add(self)
        self.kernels = tuple(lib.tile_jit_kernel_name(self._handle, i).decode()
                             for i in range(lib.tile_jit_num_kernels(self._handle)))

    def __repr__(self):
        closed = "" if self._handle else ", closed"
        return f"<tilec.Program {self.name}: {', '.join(self.kernels)}; on {self.device.kind}{closed}>"

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.close()

    @property
    def is_open(self):
        return bool(self._handle)

    @property
    def handle(self):
        if not self._handle:
            raise Error(2, f"the program {self.name} is closed")
        return self._handle

    def close(self):
        """Frees the kernels, too. No thread may be inside one of them."""
        handle, self._handle = self._handle, c_void_p()
        if handle:
            for kernel in self._kernels.values():
                kernel.close()
            lib.tile_jit_close(handle)

    def __getitem__(self, name):
        if name not in self._kernels:
            handle, e = c_void_p(), c_void_p()
            check(lib.tile_jit_get_kernel(self.handle, name.encode(), byref(handle), byref(e)), e)
            self._kernels[name] = Kernel(self, handle, name)
        return self._kernels[name]

    def __getattr__(self, name):
        if name.startswith("_") or name not in self.__dict__.get("kernels", ()):
            raise AttributeError(f"no kernel '{name}'; there are {', '.join(self.__dict__.get('kernels', ()))}")
        return self[name]


def load(path, **options):
    if isinstance(path, str) and "\n" in path:
        raise ValueError("tilec.load takes the name of a file, not a source; tilec.loads takes a source")
    return Program(path, **options)


def loads(text, name="<string>", **options):
    return Program(name, text, **options)
