#!/usr/bin/python3
"""Runs the programs of a corpus through uoprun and compares their results.

    scripts/run_corpus.py --uoprun build/bin/uoprun [--device interp] [--extra=-O1] [--jobs N] [DIR...]

A case is NAME.uop with NAME.want.npz (the results; NAME.in.npz: the inputs; NAME.tol.json: {"result": {"rtol": r, "atol": a}})
or with NAME.err (a line each that standard error must hold; the exit status must be 1). The last line is "N passed, N failed".
"""
import argparse
import concurrent.futures
import json
import os
import subprocess
import sys
import tempfile

import numpy as np

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
RTOL = {"float16": 2e-3, "float32": 1e-5, "float64": 1e-12}


def cases(folders):
  for top in folders:
    for folder, subs, files in sorted(os.walk(top)):
      subs.sort()
      for name in sorted(files):
        base = os.path.join(folder, name[:-4])
        if name.endswith(".uop") and (os.path.exists(base + ".want.npz") or os.path.exists(base + ".err")):
          yield base


def difference(got, want, tol):
  if got.shape != want.shape or got.dtype != want.dtype:
    return f"is {got.dtype}{list(got.shape)}, expected {want.dtype}{list(want.shape)}"
  if want.dtype.kind == "f":
    rtol = tol.get("rtol", RTOL[want.dtype.name])
    same = np.isclose(got.astype(np.float64), want.astype(np.float64), rtol=rtol, atol=tol.get("atol", rtol), equal_nan=True)
  else:
    same = got == want
  if np.all(same):
    return ""
  at = tuple(int(i) for i in np.argwhere(~same)[0])
  return f"at {list(at)}: {got[at]}, expected {want[at]} ({np.count_nonzero(~same)} of {want.size} differ)"


def check_error(base, done):
  if done.returncode != 1:
    return f"exit status {done.returncode}, expected 1\n{done.stderr}"
  for line in open(base + ".err", encoding="utf-8"):
    if line.strip() and line.strip() not in done.stderr:
      return f"nowhere says '{line.strip()}':\n{done.stderr}"
  return ""


def check_results(base, done, file):
  if done.returncode != 0:
    return f"exit status {done.returncode}\n{done.stderr}"
  tol = json.load(open(base + ".tol.json")) if os.path.exists(base + ".tol.json") else {}
  with np.load(file) as got, np.load(base + ".want.npz") as want:
    if set(got.files) != set(want.files):
      return f"results are {sorted(got.files)}, expected {sorted(want.files)}"
    for name in want.files:
      wrong = difference(got[name], want[name], tol.get(name, {}))
      if wrong:
        return f"result '{name}' {wrong}"
  return ""


def run(args, base):
  with tempfile.TemporaryDirectory() as tmp:
    out = os.path.join(tmp, "out.npz")
    command = [os.path.abspath(args.uoprun), base + ".uop", "--outputs", out]
    if os.path.exists(base + ".in.npz"):
      command += ["--inputs", base + ".in.npz"]
    if args.device:
      command += ["--device", args.device]
    command += args.extra.split()
    try:
      done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=args.timeout, cwd=tmp)
    except subprocess.TimeoutExpired:
      return f"takes more than {args.timeout} s"
    if os.path.exists(base + ".err"):
      return check_error(base, done)
    return check_results(base, done, out)


def main():
  parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
  parser.add_argument("folders", nargs="*", default=[os.path.join(ROOT, "testdata", d) for d in ("corpus", "programs")], metavar="DIR")
  parser.add_argument("--uoprun", default=os.path.join(ROOT, "build", "bin", "uoprun"))
  parser.add_argument("--device", default="")
  parser.add_argument("--extra", default="", help="further arguments, in one string: --extra=-O0")
  parser.add_argument("--jobs", type=int, default=os.cpu_count())
  parser.add_argument("--timeout", type=float, default=60)
  args = parser.parse_args()
  found = [os.path.abspath(base) for base in cases(args.folders)]
  failed = 0
  with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
    for base, wrong in zip(found, pool.map(lambda base: run(args, base), found)):
      if wrong:
        failed += 1
        print(f"FAILED {os.path.relpath(base, ROOT)}: {wrong}", flush=True)
  print(f"{len(found) - failed} passed, {failed} failed")
  return 1 if failed or not found else 0


if __name__ == "__main__":
  sys.exit(main())
