from ... import knobs


def __getattr__(name):
    if name != "CUDABackend":
        raise AttributeError(f"module '{__name__}' has no attribute '{name}': tilec has no passes of Triton's")
    from .. import backends
    return backends["nvidia"].compiler


def get_ptxas(arch):
    return knobs.nvidia.ptxas_blackwell if arch >= 100 else knobs.nvidia.ptxas


def sm_arch_from_capability(capability):
    return f"sm_{capability}{'a' if capability >= 90 else ''}"
