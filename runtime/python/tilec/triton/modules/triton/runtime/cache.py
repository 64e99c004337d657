"""libtile has its own cache on disk (TILE_CACHE_DIR); these are the names that programs import."""
import base64
import hashlib
import json
import os
import tempfile


class CacheManager:
    pass


class FileCacheManager(CacheManager):
    """Files of a program's own under a key, as Triton keeps them."""

    def __init__(self, key, override=False, dump=False):
        from .. import knobs
        root = knobs.cache.dump_dir if dump else knobs.cache.override_dir if override else knobs.cache.dir
        self.key, self.cache_dir = key, os.path.join(root, key)
        self.lock_path = os.path.join(self.cache_dir, "lock")
        os.makedirs(self.cache_dir, exist_ok=True)

    def _make_path(self, filename):
        return os.path.join(self.cache_dir, filename)

    def has_file(self, filename):
        return os.path.exists(self._make_path(filename))

    def get_file(self, filename):
        return self._make_path(filename) if self.has_file(filename) else None

    def put(self, data, filename, binary=True):
        data = data if isinstance(data, bytes) else str(data).encode()
        fd, temporary = tempfile.mkstemp(dir=self.cache_dir)
        with os.fdopen(fd, "wb") as f:
            f.write(data)
        os.replace(temporary, self._make_path(filename))
        return self._make_path(filename)


class RemoteCacheBackend:
    pass


class RedisRemoteCacheBackend(RemoteCacheBackend):
    pass


def triton_key():
    import tilec
    return f"tilec-{tilec.__version__}"


def _folder(key):
    return hashlib.sha256(key.encode()).hexdigest()


def get_cache_manager(key):
    from .. import knobs
    return (knobs.cache.manager_class or FileCacheManager)(_folder(key))


def get_dump_manager(key):
    return FileCacheManager(_folder(key), dump=True)


def get_override_manager(key):
    return FileCacheManager(_folder(key), override=True)


def _base32(key):
    return base64.b32encode(bytes.fromhex(key)).decode().rstrip("=")


def machine():
    """Returns what times depend on beside the kernel: the kind of device, its architecture, and the GPU's name."""
    from .driver import current_device
    device = current_device()
    return device.kind, device.arch, device.name


def read_timings(file, configs):
    path = file and file[0].get_file(file[1])
    if not path:
        return None
    try:
        with open(path) as f:
            times = [time for _, time in json.load(f)["configs_timings"]]
    except (OSError, ValueError, KeyError, TypeError):   # of another program: times are taken anew
        return None
    return dict(zip(configs, times)) if len(times) == len(configs) else None


def write_timings(file, key, timings):
    if file:
        pairs = [(vars(config), time) for config, time in timings.items()]
        file[0].put(json.dumps({"key": key, "configs_timings": pairs}, default=str), file[1], binary=False)
