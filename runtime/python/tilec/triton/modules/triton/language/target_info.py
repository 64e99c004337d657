"""Facts about the target, for host code and kernels."""
from .core import import_from


def current_target():
    from ..runtime.driver import driver
    return driver.active.get_current_target()


def is_cuda():
    return True


def is_hip():
    return False


is_hip_cdna3 = is_hip_cdna4 = is_hip


def cuda_capability_geq(major, minor=0):
    return current_target().arch >= major * 10 + minor


import_from("triton.language.target_info", current_target, is_cuda, is_hip, cuda_capability_geq)
