"""Two processes that run the same benchmark program take turns at the GPU, so that both meet the same clocks.

Run as a program, it is one of the two: `turns.py PROGRAM.py` runs PROGRAM.py, whose triton.testing.do_bench and
do_bench_cudagraph wait for the other's. alternate() is their parent. Lines that begin with MARK are theirs to each
other; the rest is the program's."""
import json
import os
import queue
import runpy
import statistics
import subprocess
import sys
import threading
import time

MARK = "@turn "
ROUND_SECONDS = 0.05


# ---- one of the two ----
def measure(do, flush):
    """Milliseconds of a call, the median of as many as take ROUND_SECONDS; L2 is flushed before each."""
    import torch
    end, times = time.monotonic() + ROUND_SECONDS, []
    while not times or time.monotonic() < end:
        pairs = [[torch.cuda.Event(enable_timing=True) for _ in range(2)] for _ in range(5)]
        for before, after in pairs:
            flush.zero_()
            before.record()
            do()
            after.record()
        torch.cuda.synchronize()
        times += [before.elapsed_time(after) for before, after in pairs]
    return statistics.median(times)


def play(program):
    import torch
    import triton
    flush = torch.empty(256 << 20, dtype=torch.int8, device="cuda")

    def do_bench(do, *_, **__):
        do()
        torch.cuda.synchronize()
        rounds = []
        print("\n" + MARK + "null", flush=True)   # ready; the program may be in the middle of a line
        while sys.stdin.readline().strip() == "go":
            rounds.append(measure(do, flush))
            print(MARK + json.dumps(rounds[-1]), flush=True)
        return statistics.median(rounds)

    def do_bench_cudagraph(do, *_, **__):
        do()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            do()
        return do_bench(graph.replay)

    triton.testing.do_bench, triton.testing.do_bench_cudagraph = do_bench, do_bench_cudagraph
    sys.argv, sys.path[0] = [program], os.path.dirname(os.path.abspath(program))
    runpy.run_path(program, run_name="__main__")


# ---- the parent ----
class Player:
    def __init__(self, command, **kwargs):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **kwargs)
        self.lines, self.said = queue.Queue(), []
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()

    def read(self):
        for line in self.process.stdout: self.lines.put(line)
        self.lines.put(None)

    def hear(self, end):
        """What the next line with MARK says; EOFError if the program ends, TimeoutError at `end`."""
        while True:
            try:
                line = self.lines.get(timeout=max(0.1, end - time.monotonic()))
            except queue.Empty:
                raise TimeoutError from None
            if line is None: raise EOFError
            if line.startswith(MARK): return json.loads(line[len(MARK):])
            self.said.append(line.rstrip())

    def tell(self, word):
        self.process.stdin.write(word + "\n")
        self.process.stdin.flush()

    def close(self):
        """The exit status; None if the program does not end by itself. What it still says is kept."""
        self.process.stdin.close()
        try:
            return self.process.wait(5)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        finally:
            self.reader.join()
            while not self.lines.empty(): self.said.append((self.lines.get() or "").rstrip())


def alternate(commands, rounds, end, **kwargs):
    """Runs the two commands until both programs end or it is `end`. Returns a row for each do_bench (the line that the
    first program prints around it, and the milliseconds of either side's rounds), what each has said, and the exit
    statuses, None where it was cut off."""
    players = [Player(command, **kwargs) for command in commands]
    rows = []
    try:
        while True:
            for player in players: player.hear(end)
            before, times = len(players[0].said), ([], [])
            for n in range(rounds):
                for k in ((0, 1), (1, 0))[n % 2]:
                    players[k].tell("go")
                    times[k].append(players[k].hear(end))
            for player in players: player.tell("stop")
            rows.append((before, *times))
    except (EOFError, TimeoutError, BrokenPipeError):
        statuses = [player.close() for player in players]
    said = [player.said for player in players]
    label = lambda before: said[0][before - 1] + " " + next((line for line in said[0][before:] if line.strip()), "")
    return [(label(before).strip(), *times) for before, *times in rows], said, statuses


if __name__ == "__main__":
    play(sys.argv[1])
