"""Makes each launch again through tilec on clones of the same tensors, compares the results, and times both in turn."""

import json
import os
import statistics
import subprocess
import threading
import time

import torch
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor

import results
import tile
from source import DTYPES
from hook import UNFIT, Launch, is_kernel, tensor_like, unwrap

MOST_BYTES = 8 << 30  # of a launch's tensors: there are up to four copies
FATAL = (
    "illegal memory access",
    "misaligned address",
    "unspecified launch failure",
    "device-side assert",
    "an illegal",
)


def lost(e):
    """Whether the device's context is lost with its memory: nothing in this process can use it any more."""
    return isinstance(e, torch.AcceleratorError) or any(word in str(e) for word in FATAL)


class Guard:
    """Notes in a file what is under way, and ends the process if that takes too long or the device is lost."""

    def __init__(self, path, seconds):
        self.path, self.seconds, self.deadline = path, seconds, None
        threading.Thread(target=self.watch, daemon=True).start()

    def begin(self, record):
        with open(self.path, "w") as f:
            json.dump(record, f, default=str)
        self.deadline = time.monotonic() + self.seconds

    def end(self):
        self.deadline = None
        os.remove(self.path)

    def watch(self):
        while True:
            time.sleep(1)
            if self.deadline and time.monotonic() > self.deadline:
                self.die(f"no end within {self.seconds} s")

    def die(self, why):
        """The parent makes a record of the note."""
        with open(self.path) as f:
            record = json.load(f)
        with open(self.path, "w") as f:
            json.dump({**record, "why": why}, f)
        os._exit(17)


class Power:
    """The SM's clock and the board's power as nvidia-smi samples them beside the run."""

    def __init__(self):
        self.samples = []
        try:
            query = [*results.sampler("clocks.sm", "power.draw"), "-lms", "100"]
            self.process = subprocess.Popen(query, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
            threading.Thread(target=self.read, daemon=True).start()
        except OSError:
            self.process = None

    def read(self):
        for line in self.process.stdout:
            try:
                self.samples.append((time.monotonic(), *map(float, line.split(","))))
            except ValueError:
                continue

    def since(self, start):
        """Median MHz and watts since then; nothing without nvidia-smi."""
        rows = [s for s in self.samples[-400:] if s[0] >= start] or self.samples[-1:]
        if not rows:
            return {}
        return {"sm_mhz": statistics.median(r[1] for r in rows), "watts": statistics.median(r[2] for r in rows)}

    def end(self):
        if self.process:
            self.process.terminate()


def storages(values):
    """The storages under all tensors, as bytes, each with a tensor on it: {address: (bytes, tensor)}."""
    out = {}

    def visit(v):
        if isinstance(v, TensorDescriptor):
            v = v.base
        if not isinstance(v, torch.Tensor) and hasattr(v, "data_ptr") and hasattr(v, "unwrap"):
            v = v.unwrap()
        if isinstance(v, torch.Tensor) and v.is_cuda:
            s = v.untyped_storage()
            out[s.data_ptr()] = torch.empty(0, dtype=torch.uint8, device=v.device).set_(s), v
        elif isinstance(v, (tuple, list)):
            for x in v:
                visit(x)

    for v in values:
        visit(v)
    return out


def distance(got, want, t):
    """Whether all bytes agree, the relative error in the 2-norm, the share of elements that differ."""
    if torch.equal(got, want):
        return True, 0.0, 0.0
    if not t.dtype.is_floating_point and t.dtype not in (torch.int8, torch.uint8):
        return False, float("inf"), (got != want).float().mean().item()
    n = got.numel() // t.element_size() * t.element_size()
    g, w = got[:n].view(t.dtype).double(), want[:n].view(t.dtype).double()
    same = (g == w) | (g.isnan() & w.isnan())
    if same.all():
        return True, 0.0, 0.0
    finite = g.isfinite() & w.isfinite()
    if ((g.isfinite() != w.isfinite()) & ~same).any():
        error = float("inf")
    else:
        error = (
            torch.linalg.vector_norm((g - w)[finite]) / torch.linalg.vector_norm(w[finite]).clamp_min(1e-30)
        ).item()
    return False, error, (~same).double().mean().item()


class Judge:
    def __init__(self, out, do_time, rounds, guard_seconds):
        self.out, self.do_time, self.rounds = open(out, "a"), do_time, rounds
        self.texts = os.path.join(os.path.dirname(os.path.abspath(out)), "texts")
        os.makedirs(self.texts, exist_ok=True)
        self.guard, self.power = Guard(out + ".pending", guard_seconds), Power() if do_time else None
        self.flush = torch.empty(256 << 20, dtype=torch.int8, device="cuda")
        self.programs, self.package, self.case = {}, "", ""
        driver = subprocess.getoutput(
            "nvidia-smi --query-gpu=driver_version --format=csv,noheader 2>/dev/null || echo unknown"
        ).split()[0]
        self.versions = (
            f"{torch.cuda.get_device_name()}, driver {driver}, PyTorch {torch.__version__}, Triton {triton.__version__}"
        )

    def take(self, hook, kernel, values, options, grid, go):
        held = storages(values.values())
        if sum(b.numel() for b, _ in held.values()) > MOST_BYTES:
            return go()
        try:
            launch = Launch(kernel, values, options, grid, go)
        except Exception as e:
            print(
                f"{self.package} {self.case}: {kernel.__name__} has no text: {type(e).__name__}: {e}"[:400], flush=True
            )
            return go()
        launch.record.update(
            package=self.package, case=self.case, key=hook.key, versions=self.versions, status="failed"
        )
        self.guard.begin(launch.record)
        try:
            result = self.check(launch, held)
            if hook.collected is None:
                self.finish(launch)
                self.set(held, launch.after)
            else:  # the next configuration begins where this one did
                self.set(held, launch.before)
                if hook.collected:
                    launch.before = None
                hook.collected.append(launch)
            launch.after = None
        except Exception as e:  # of Triton's launch, or of the times
            if lost(e):
                self.guard.die(f"after {self.step}: {type(e).__name__}: {e}"[:400])
            raise
        finally:
            self.guard.end()
        return result

    @staticmethod
    def set(held, state):
        for p, (b, _) in held.items():
            b.copy_(state[p])

    def check(self, launch, held):
        """Triton's launch and ours; the record says how they compare. Both can be made again afterwards."""
        clone = lambda: {p: b.clone() for p, (b, _) in held.items()}
        launch.before, launch.held, launch.ours = clone(), held, None
        record, start = launch.record, time.perf_counter()
        self.step = "Triton's launch"
        result = launch.go()
        torch.cuda.synchronize()
        record["triton_first_ms"] = round((time.perf_counter() - start) * 1e3, 1)
        launch.after = clone()
        self.step = "tilec's launch"
        try:
            launch.ours = self.prepare(launch)
            self.set(held, launch.before)
            start = time.perf_counter()
            launch.ours()
            torch.cuda.synchronize()
            record["first_ms"] = round((time.perf_counter() - start) * 1e3, 1)
            record.update(self.compare(launch))
        except Exception as e:
            if lost(e):
                raise
            refused = isinstance(e, tile.Error)
            why = str(e)[:1500] if refused else f"{type(e).__name__}: {e}"[:800]
            record.update(status="refused" if refused else "failed", why=why)
        return result

    def prepare(self, launch):
        """Our kernel with its arguments bound."""
        digest, record = launch.record["digest"], launch.record
        path = os.path.join(self.texts, digest + ".py")
        if not os.path.exists(path):
            with open(path, "w") as f:
                f.write(launch.text)
        if digest not in self.programs:
            self.programs[digest] = tile.loads(launch.text, name=launch.entry + ".py")
        kernel = self.programs[digest][launch.entry]
        arguments = {k: self.argument(launch, k, v) for k, v in launch.values.items()}
        options = {"num_warps": 4, "num_stages": 3, **record["options"]}
        options = {k: v for k, v in options.items() if k not in arguments}
        launcher = kernel[tuple(record["grid"])]
        return lambda: launcher(**arguments, **options)

    def argument(self, launch, name, v):
        if isinstance(v, TensorDescriptor):
            nan = getattr(v, "padding", "zero") == "nan"
            return tile.desc(v.base, list(v.block_shape), list(v.shape), list(v.strides), nan)
        if isinstance(v, tl.dtype):  # PyTorch's types go through the fast launcher
            return getattr(torch, DTYPES.get(v.name, v.name), None) or tile.expression(launch.constant(v))
        if isinstance(v, torch.dtype):
            return v
        if not isinstance(v, torch.Tensor) and tensor_like(v):
            return tile.ptr(v.data_ptr(), str(v.dtype).rpartition(".")[2])
        if isinstance(v, (tuple, list)) and name not in launch.record["constexprs"]:
            return tuple(self.argument(launch, name, x) for x in v)
        u = unwrap(v) if callable(v) else v
        if is_kernel(u):
            return tile.expression(launch.source.add(u))
        if v is None or isinstance(v, (torch.Tensor, int, float, str)):
            return v
        return tile.expression(launch.constant(v).removeprefix("tl.constexpr"))

    def compare(self, launch):
        """ok, or differs where the error is above what 16-bit sums explain and above what Triton itself varies by."""
        held = launch.held
        worst = (True, 0.0, 0.0)
        for p, (b, t) in held.items():
            d = distance(b, launch.after[p], t)
            if not d[0]:
                worst = max(worst, d, key=lambda x: (x[1], x[2]))
        out = dict(zip(("exact", "error", "differing"), worst), status="ok")
        narrow = any(t.dtype in (torch.bfloat16, torch.float16) for _, t in held.values())
        if worst[1] > (6e-3 if narrow else 1e-3):
            out["noise"] = self.noise(launch)
            if worst[1] > 10 * out["noise"]:
                out["status"] = "differs"
        return out

    def noise(self, launch):
        """The largest error of Triton's own launch repeated, also with twice and half the warps, which sum otherwise."""
        warps = launch.record["options"].get("num_warps", 4)
        counts = [] if "num_warps" in launch.values else [n for n in (2 * warps, warps // 2) if 1 <= n <= 32]
        others = [{}] + [{"num_warps": n} for n in counts]
        noise = 0.0
        for other in others:
            self.set(launch.held, launch.before)
            try:
                launch.go(**other)
                torch.cuda.synchronize()
            except UNFIT:
                continue
            noise = max(noise, *(distance(b, launch.after[p], t)[1] for p, (b, t) in launch.held.items()))
        return noise

    def once(self, fn, ms):
        """The times of some launches in µs, L2 flushed before each. The device sleeps first: the host stays ahead."""
        event = lambda: torch.cuda.Event(enable_timing=True)
        begin, end = event(), event()
        self.flush.zero_()
        start = time.perf_counter()
        begin.record()
        fn()
        end.record()
        host = time.perf_counter() - start
        torch.cuda.synchronize()
        n = max(3, min(60, int(ms / max(begin.elapsed_time(end), 1e-3))))
        pairs = [(event(), event()) for _ in range(n)]
        torch.cuda._sleep(int(min(n * (host + 1e-5), 0.02) * 1.5e9))
        for a, b in pairs:
            self.flush.zero_()
            a.record()
            fn()
            b.record()
        torch.cuda.synchronize()
        return [a.elapsed_time(b) * 1e3 for a, b in pairs]

    def in_turn(self, ours, triton, reset, rounds):
        """Ratios of a round each, and all times of either side."""
        ratios, times = [], {"ours": [], "triton": []}
        for r in range(rounds):
            median = {}
            for who, fn in (
                (("ours", ours), ("triton", triton)) if r % 2 == 0 else (("triton", triton), ("ours", ours))
            ):
                reset()
                sample = self.once(fn, 12)
                times[who] += sample
                median[who] = statistics.median(sample)
            ratios.append(median["triton"] / median["ours"])
        return ratios, times

    def finish(self, launch, peer=None):
        """Times a launch, against Triton's launch of the same or of another configuration, and writes the record."""
        record, peer = launch.record, peer or launch
        if record["status"] == "ok" and not (self.do_time and "atomic_cas" not in launch.text):
            record["status"] = "untimed"
        if record["status"] == "ok":
            start = time.monotonic()
            reset = lambda: self.set(launch.held, launch.before)
            ratios, times = self.in_turn(launch.ours, peer.go, reset, self.rounds)
            if statistics.median(ratios) < 0.98:
                ratios, times = self.in_turn(launch.ours, peer.go, reset, max(20, self.rounds))
            for who, sample in times.items():
                q = statistics.quantiles(sample, n=10)
                record[who + "_us"] = [round(x, 2) for x in (q[0], statistics.median(sample), q[8])]
            record.update(ratio=round(statistics.median(ratios), 4), rounds=len(ratios), **self.power.since(start))
            self.set(launch.held, launch.before)
        self.out.write(json.dumps(record, default=str) + "\n")
        self.out.flush()

    def best(self, launches):
        """Of an autotuned call's configurations our fastest against Triton's fastest. The first one's result stays."""
        good = [l for l in launches if l.record["status"] == "ok"]
        reset = lambda: self.set(launches[0].held, launches[0].before)
        if not good or not self.do_time or "atomic_cas" in good[0].text:
            for l in launches[:1]:
                self.finish(l)
        else:
            self.guard.begin(good[0].record)
            self.best_of(launches, good, reset)
            self.guard.end()
        if launches:
            reset()
            launches[0].go()

    def best_of(self, launches, good, reset):
        def quick(fn):
            reset()
            return statistics.median(self.once(fn, 6))

        ours, triton = min(good, key=lambda l: quick(l.ours)), min(launches, key=lambda l: quick(l.go))
        ours.before = launches[0].before
        ours.record.update(
            configurations=len(launches),
            triton_options=triton.record["options"],
            triton_constexprs=triton.record["constexprs"],
        )
        self.finish(ours, triton)
