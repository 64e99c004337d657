"""libtile.so through ctypes, as far as the benchmarks need it: compile a kernel for a signature, launch it on torch tensors."""
import ctypes as C
import glob
import os

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def library_path():
    """Returns the library that TILE_LIBRARY names, or that of this bundle or of a build folder, or the system's."""
    beside = (os.path.join(ROOT, "libtile.so"), *sorted(glob.glob(os.path.join(ROOT, "build*", "libtile.so"))))
    found = os.environ.get("TILE_LIBRARY") or next(filter(os.path.exists, beside), None)
    return os.path.abspath(found) if found else "libtile.so"


class CompileOptions(C.Structure):
    _fields_ = [("struct_size", C.c_size_t), ("kernel", C.c_char_p), ("signature", C.c_char_p), ("arch", C.c_char_p),
                ("defines", C.POINTER(C.c_char_p)), ("num_defines", C.c_size_t),
                ("include_paths", C.POINTER(C.c_char_p)), ("num_include_paths", C.c_size_t),
                ("num_warps", C.c_int), ("num_stages", C.c_int), ("num_ctas", C.c_int), ("maxnreg", C.c_int),
                ("emit", C.c_uint), ("options", C.POINTER(C.c_char_p)), ("num_options", C.c_size_t),
                ("hooks", C.c_void_p), ("seconds", C.c_double),
                ("source_map", C.c_void_p), ("num_source_map", C.c_size_t)]


class Tensor(C.Structure):
    _fields_ = [("base", C.c_uint64), ("rank", C.c_uint32), ("type", C.c_int), ("shape", C.c_int64 * 5),
                ("strides", C.c_int64 * 5), ("block", C.c_int64 * 5), ("pad_nan", C.c_bool),
                ("swizzle", C.c_uint8), ("num_cga", C.c_uint8), ("cga", C.c_uint8 * 4), ("reserved", C.c_uint8 * 33)]


class ArgValue(C.Union):
    _fields_ = [("i", C.c_int64), ("f", C.c_double), ("pointer", C.c_uint64), ("tensor", C.POINTER(Tensor))]


class Arg(C.Structure):
    _fields_ = [("kind", C.c_uint16), ("type", C.c_uint16), ("reserved", C.c_uint32), ("value", ArgValue)]


class LaunchOptions(C.Structure):
    _fields_ = [("struct_size", C.c_size_t), ("grid", C.c_uint32 * 3), ("stream", C.c_void_p)]


class TileError(RuntimeError):
    pass


def _strings(items):
    return (C.c_char_p * len(items))(*[s.encode() for s in items]) if items else None


class Library:
    def __init__(self, path=None, device="gpu"):
        self.c = C.CDLL(path or library_path())
        self.c.tile_error_message.restype = C.c_char_p
        self.c.tile_program_output.restype = C.c_char_p
        self.device = C.c_void_p()
        self._check(lambda e: self.c.tile_device_open(device.encode(), C.byref(self.device), e))

    def _check(self, call):
        error = C.c_void_p()
        if call(C.byref(error)) != 0:
            text = self.c.tile_error_message(error).decode(errors="replace")
            self.c.tile_error_free(error)
            raise TileError(text)

    def compile(self, path, kernel, signature, defines=None, num_warps=4, num_stages=3, options=()):
        return self.load(self.build(path, kernel, signature, defines, num_warps, num_stages, options))

    def build(self, path, kernel, signature, defines=None, num_warps=4, num_stages=3, options=(), assemble=False):
        """The program alone, which several threads may make at once; assemble: by ptxas (TILE_PTXAS) instead of the driver."""
        defs = [f"{k}={v}" for k, v in (defines or {}).items()]
        o = CompileOptions(struct_size=C.sizeof(CompileOptions), kernel=kernel.encode(), signature=signature.encode(),
                           arch=b"sm_90a", defines=_strings(defs), num_defines=len(defs), num_warps=num_warps,
                           num_stages=num_stages, emit=(32 | 64 | 128) if assemble else 0, options=_strings(list(options)), num_options=len(options))
        program = C.c_void_p()
        self._check(lambda e: self.c.tile_compile_file(str(path).encode(), C.byref(o), C.byref(program), e))
        return program

    def load(self, program):
        handle = C.c_void_p()
        self._check(lambda e: self.c.tile_kernel_load(self.device, program, None, C.byref(handle), e))
        return Kernel(self, program, handle)

    def load_ptx(self, text):
        """The only kernel of PTX (bytes) that begins with its metadata."""
        handle = C.c_void_p()
        self._check(lambda e: self.c.tile_kernel_load_ptx(self.device, text, C.c_size_t(len(text)), None, C.byref(handle), e))
        return Kernel(self, None, handle)

    def array(self, values):
        """A ctypes array's copy in the device's memory, until the process ends."""
        return Array(self, values)


class Array:
    def __init__(self, library, values):
        self.library, self.values, self.address = library, values, C.c_uint64()
        size = C.c_size_t(C.sizeof(values))
        library._check(lambda e: library.c.tile_memory_alloc(library.device, size, C.byref(self.address), e))
        self.write()

    def write(self):
        size = C.c_size_t(C.sizeof(self.values))
        self.library._check(lambda e: self.library.c.tile_memory_upload(self.library.device, self.address, self.values, size, e))

    def read(self):
        self.library._check(lambda e: self.library.c.tile_device_synchronize(self.library.device, e))
        self.library._check(lambda e: self.library.c.tile_memory_download(self.library.device, self.values, self.address, C.c_size_t(C.sizeof(self.values)), e))
        return self.values


class Kernel:
    def __init__(self, library, program, handle):
        self.library, self.program, self.handle = library, program, handle

    def ptx(self):
        return self.library.c.tile_program_output(self.program, 32, None).decode()

    def launch(self, grid, *args):
        """On the default stream, with Arrays as pointers, ints, floats, or ("desc", Array, shape, strides)."""
        values, keep = (Arg * len(args))(), []
        for slot, a in zip(values, args):
            if isinstance(a, tuple):
                _, array, shape, strides = a
                keep.append(Tensor(base=array.address.value, rank=len(shape), shape=(C.c_int64 * 5)(*shape),
                                   strides=(C.c_int64 * 5)(*strides)))
                slot.kind, slot.value.tensor = 3, C.pointer(keep[-1])
            elif isinstance(a, Array): slot.kind, slot.value.pointer = 2, a.address.value
            elif isinstance(a, float): slot.kind, slot.value.f = 1, a
            else: slot.kind, slot.value.i = 0, a
        options = LaunchOptions(C.sizeof(LaunchOptions), (C.c_uint32 * 3)(*(tuple(grid) + (1, 1, 1))[:3]), None)
        self.library._check(lambda e: self.library.c.tile_kernel_launch(self.handle, C.byref(options), values, C.c_size_t(len(args)), e))

    def bind(self, grid, *args):
        """A callable that launches with these arguments on torch's current stream: torch tensors as pointers, ints,
        floats, or ("desc", tensor)."""
        import torch
        values, keep = (Arg * len(args))(), []
        for slot, a in zip(values, args):
            if isinstance(a, tuple):
                t = a[1]
                n = t.dim()
                desc = Tensor(base=t.data_ptr(), rank=n, shape=(C.c_int64 * 5)(*t.shape),
                              strides=(C.c_int64 * 5)(*t.stride()))
                keep.append(desc)
                slot.kind, slot.value.tensor = 3, C.pointer(desc)
            elif isinstance(a, torch.Tensor):
                slot.kind, slot.value.pointer = 2, a.data_ptr()
            elif isinstance(a, float):
                slot.kind, slot.value.f = 1, a
            else:
                slot.kind, slot.value.i = 0, a
        launch = LaunchOptions(C.sizeof(LaunchOptions), (C.c_uint32 * 3)(*(tuple(grid) + (1, 1, 1))[:3]),
                               torch.cuda.current_stream().cuda_stream)
        run, handle, n = self.library.c.tile_kernel_launch, self.handle, len(args)

        def call():
            error = C.c_void_p()
            if run(handle, C.byref(launch), values, C.c_size_t(n), C.byref(error)) != 0:
                raise TileError(self.library.c.tile_error_message(error).decode(errors="replace"))
        call.keep = keep, values
        return call
