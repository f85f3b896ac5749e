#!/usr/bin/python3
"""Compiles and runs whole models at their published sizes, on seeded weights, and compares the results with numpy's.

    scripts/bench_run.py [--threads N] [--no-check] [--folder DIR] [NAME...]

A run is the first of a fresh process, so that memory that it writes in place is as it was. Time: of the launches, by uoprun's clock.
All models together take some 12 GB of memory and of disk, and a quarter of an hour.
"""
import argparse
import json
import os
import sys
import tempfile

import numpy as np

from bench_tools import ROOT, binary, duration, run, table

sys.path.insert(0, os.path.join(ROOT, "scripts", "models"))
import zoo  # noqa: E402
from test_models import compare  # noqa: E402

RTOL = 2e-3  # of the largest value: sums here are long, and numpy's are in float64


def scaled(arrays):
  """By the largest value of each, so that what cancels to almost nothing is not held against its own size."""
  return {name: array / max(float(np.abs(array).max(initial=0)), 1e-30) if array.dtype.kind == "f" else array for name, array in arrays.items()}


def measure(args, folder, name):
  model = zoo.build(name, "full")
  base = zoo.write(model, folder, name, with_want=False)
  run([binary("uopc"), base + ".uop", "-o", base + ".artifact"])
  done = run([binary("uoprun"), base + ".artifact", "--inputs", base + ".in.npz", "--inputs", base + ".weights.safetensors", "--outputs", base + ".out.npz",
              "--threads", str(args.threads), "--bench", "1", "--warmup", "0", "--json"])
  total = json.loads(done.text)["total"]
  wrong = ""
  if args.check:
    want = zoo.want(model)
    with np.load(base + ".out.npz") as got:
      wrong = compare(scaled({key: got[key] for key in got.files if key in want}), scaled(want), RTOL)
  seconds = total["median_us"] * 1e-6
  print(f"{name}: {duration(seconds)} {wrong}", file=sys.stderr, flush=True)
  cells = [name, total["launches"], f"{total['flops'] / 1e9:.3g}", duration(seconds), f"{total['gflops_per_s']:.2f}", f"{total['gb_per_s']:.2f}"]
  return [*cells, *([wrong or "agree"] if args.check else [])]


def main():
  parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
  parser.add_argument("names", nargs="*", metavar="NAME")
  parser.add_argument("--threads", type=int, default=1)
  parser.add_argument("--no-check", dest="check", action="store_false", help="do not compute in numpy")
  parser.add_argument("--folder", help="where files lie meanwhile")
  args = parser.parse_args()
  rows = []
  for name in args.names or sorted(zoo.MODELS):
    with tempfile.TemporaryDirectory(dir=args.folder) as folder:
      rows.append(measure(args, folder, name))
  table(["model", "launches", "GFLOP", "time", "GFLOP/s", "GB/s", *(["results"] if args.check else [])], rows)
  return any(row[-1] != "agree" for row in rows) if args.check else 0


if __name__ == "__main__":
  sys.exit(main())
