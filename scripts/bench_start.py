#!/usr/bin/env python3
"""Times short commands: the start of uoprun on an artifact, a text to its result, a text to an artifact.

    scripts/bench_start.py [--runs N]
"""
import argparse
import os
import tempfile

from bench_tools import ROOT, binary, duration, instructions, median, run, table


def main():
  args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
  args.add_argument("--runs", type=int, default=30)
  runs = args.parse_args().runs
  small, gemm = (os.path.join(ROOT, "testdata", *path) for path in (("corpus", "shift_by_one.uop"), ("demo", "gemm.uop")))
  uopc, uoprun = binary("uopc"), binary("uoprun")
  with tempfile.TemporaryDirectory() as folder:
    artifact, out, cache = (os.path.join(folder, name) for name in ("small", "gemm", "cache"))
    run([uopc, small, "-o", artifact])
    start = [uoprun, artifact, "--random", "1"]
    rows = []
    for what, command, moment in (("`uoprun` of a small artifact, to its first result", start, lambda r: r.first),
                                  ("the same, whole process", start, lambda r: r.seconds),
                                  ("`uoprun` of a small text, compiled in memory", [uoprun, small, "--random", "1", "--no-cache"], lambda r: r.seconds),
                                  ("`uoprun` of the 256³ product's text", [uoprun, gemm, "--random", "1", "--no-cache"], lambda r: r.seconds),
                                  ("the same, its object in the cache", [uoprun, gemm, "--random", "1", "--cache", cache], lambda r: r.seconds),
                                  ("`uopc` of the 256³ product to an artifact", [uopc, gemm, "-o", out, "--no-cache"], lambda r: r.seconds),
                                  ("the same, its object in the cache", [uopc, gemm, "-o", out, "--cache", cache], lambda r: r.seconds)):
      count = instructions(command)
      rows.append([what, duration(median(command, runs, moment)), f"{count / 1e6:.1f} million" if count else "not counted here"])
  table([f"median of {runs}", "time", "instructions"], rows)
  if not count:
    print("\nInstructions were not counted: perf is missing, or this machine gives it no such counter.")


if __name__ == "__main__":
  main()
