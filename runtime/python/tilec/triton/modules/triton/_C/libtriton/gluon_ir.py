"""Of Triton's builder of Gluon's IR: the function that its own programs call for a layout."""


def make_cga_layout(ctas_per_cga, cta_split_num, cta_order):
    """Returns the cga_layout of a cluster of `ctas_per_cga` CTAs on each axis: where each bit of a CTA's number moves its
    tile, in CTAs. Of each axis, in the order given, `cta_split_num` CTAs have parts of their own; the others repeat them."""
    bases = []
    for axis in cta_order:
        vectors = [[0] * len(ctas_per_cga) for _ in range(ctas_per_cga[axis].bit_length() - 1)]
        for bit in range(cta_split_num[axis].bit_length() - 1):
            vectors[bit][axis] = 1 << bit
        bases += vectors
    return bases
