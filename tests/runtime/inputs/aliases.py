import array
import tilec

text = """
@kernel
def twice(x: *fp32, y: *fp32, BLOCK: constexpr = 1024):
    i = arange(0, BLOCK)
    store(x + i, load(x + i) + 1)
    store(y + BLOCK - 1 - i, load(y + BLOCK - 1 - i) * 2)

@kernel
def reverses(x: *fp32, y: *fp32, n: i32, BLOCK: constexpr = 64):
    i = program_id(0) * BLOCK + arange(0, BLOCK)
    store(y + n - 1 - i, load(x + i))
"""


def launch(kernel, grid, *args):
    with tilec.open_device("sim") as device:
        try:
            getattr(tilec.loads(text, name="alias.tile", device=device), kernel)[(grid,)](*args)
        except tilec.Error as e:
            print(kernel + ":")
            for line in str(e).splitlines():
                if "note: " in line or " error: " in line:
                    print("  ", line)


x = array.array("f", range(1024))
launch("twice", 1, x, x)
launch("reverses", 4, memoryview(x)[:256], memoryview(x)[:256], 256)
launch("reverses", 4, memoryview(x)[:300], memoryview(x)[100:], 256)
launch("reverses", 4, x, array.array("f", x), 256)
