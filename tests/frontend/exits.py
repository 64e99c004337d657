# What leaves nothing: each line below is one error, in order; the loops and functions around them are fine.
# RUN: not %tilec %s -n f --emit=tile -o - 2>&1 | FileCheck %s '--implicit-check-not=py:{{[0-9]+:[0-9]+}}: error'
def f(x):
    for i in x:
        try:
            if i:
                continue
        finally:
            break
    while x:
        with x:
            break
        return 1
    try:
        pass
    except ValueError:
        break             # CHECK: [[#@LINE]]:9: error: `break` outside of a loop


class A:
    return 3              # CHECK: [[#@LINE]]:5: error: `return` outside of a function


for x in y:
    break
else:
    continue              # CHECK: [[#@LINE]]:5: error: `continue` outside of a loop
if x:
    continue              # CHECK: [[#@LINE]]:5: error: `continue` outside of a loop
return f                  # CHECK: [[#@LINE]]:1: error: `return` outside of a function
