# the import inside of the function that launches: https://github.com/Denys88/rl_games/pull/358
# tilec tl_in_function.py -n k -s "*fp32, *fp32, i32, 128" -o -
import triton


def launch(a, b, n):
    import triton.language as tl

    @triton.jit
    def k(x, y, n, B: tl.constexpr):
        o = tl.arange(0, B)
        tl.store(y + o, tl.load(x + o, mask=o < n))

    k[(1,)](a, b, n, B=128)
