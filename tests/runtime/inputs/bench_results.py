"""Rows of bench.py with a timer that says what it is told, printed and written as a page: bench_results.py FOLDER"""
import os
import sys
import types

torch = types.ModuleType("torch")
for name in "float16 bfloat16 float32 float8_e4m3fn int8 uint8 int32 int64".split(): setattr(torch, name, name)
torch.empty = lambda *shape, **options: None
torch.cuda = types.SimpleNamespace(synchronize=lambda: None)
sys.modules["torch"] = torch
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "gpu"))
import bench_common  # noqa: E402
import bench_report  # noqa: E402

bench = bench_common.Bench(3)
bench.once = lambda f, ms=None: f()
bench.copy = 1000
for name, ours, triton in [("add 2^28 w4", 2, 3), ("add 2^28 w8", 1, 1), ("sum 2^29 w4", 4, 2)]:
    bench.compare(name, {"ours": lambda t=ours: t, "triton": lambda t=triton: t}, "GB/s", 1000, name[:8])
bench_common.guarded(bench, "sum 2^29 w8", lambda: 1 / 0)
bench.best()
bench_report.write(sys.argv[1], "memory", "a card", bench.rounds, bench.rows, bench.copy, date="today", commit="abc")
