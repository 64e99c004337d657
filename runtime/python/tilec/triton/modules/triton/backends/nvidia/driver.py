_C_TYPES = {"i1": "int8_t", "fp16": "double", "bf16": "double", "fp32": "double", "f32": "double", "fp64": "double",
            "nvTmaDesc": "CUtensorMap", "u1": "uint8_t",
            **{f"{kind}{bits}": f"{'u' * (kind == 'u')}int{bits}_t" for kind in "iu" for bits in (8, 16, 32, 64)}}


def ty_to_cpp(ty):
    """Returns the C type of an argument of a launcher."""
    if ty.startswith("*"):
        return "CUdeviceptr"
    return "CUtensorMap" if ty.startswith("tensordesc") else _C_TYPES[ty]
