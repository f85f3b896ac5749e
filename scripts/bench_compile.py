#!/usr/bin/env python3
"""Times whole compilations and shows how time and memory grow with the program.

    scripts/bench_compile.py [--most NODES]
"""
import argparse
import os
import tempfile

from bench_tools import binary, duration, program, run, table

SIZES = [1_000, 10_000, 100_000, 1_000_000]


class Bench:
  def __init__(self, folder):
    self.folder = folder
    self.least = self.compile("chain", 3, "c").peak  # what the compiler takes to begin with

  def compile(self, kind, nodes, emit):
    return run([binary("uopc"), program(kind, nodes, self.folder), "--emit", emit, "--no-cache", "-o", os.path.join(self.folder, f"out-{emit}")])

  def growth(self, kind, sizes):
    """A row a size: from text to C. Beside the figures, how many times those of the size before."""
    rows, before = [], None
    for nodes in sizes:
      r = self.compile(kind, nodes, "c")
      times = [f"{now / then:.1f}" for now, then in zip((nodes, r.cpu, r.peak - self.least), before)] if before else ["", "", ""]
      before = nodes, r.cpu, r.peak - self.least
      rows.append([kind, f"{nodes:,}", times[0], duration(r.cpu), times[1], f"{before[2] / 1e6:.1f} MB", times[2], f"{before[2] / nodes:.0f}"])
    return rows

  def chain_to_run(self, nodes):
    """A deep chain to an artifact, and the artifact run."""
    made = self.compile("chain", nodes, "artifact")
    ran = run([binary("uoprun"), os.path.join(self.folder, "out-artifact"), "--random", "1"])
    return [f"{nodes:,}-deep chain to an artifact", duration(made.cpu), f"{made.peak / 1e6:.0f} MB"], ["running it", duration(ran.cpu), f"{ran.peak / 1e6:.0f} MB"]


def main():
  args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
  args.add_argument("--most", type=int, default=SIZES[-1], help="no program of more nodes")
  most = args.parse_args().most
  sizes = [n for n in SIZES if n <= most]
  with tempfile.TemporaryDirectory() as folder:
    bench = Bench(folder)
    table(["program, text to C", "nodes", "×", "CPU time", "×", "memory", "×", "bytes a node"], [row for kind in ("chain", "gpt2", "dag") for row in bench.growth(kind, sizes)])
    print()
    table(["", "CPU time", "memory"], bench.chain_to_run(min(100_000, most)))


if __name__ == "__main__":
  main()
