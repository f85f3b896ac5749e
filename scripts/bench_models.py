#!/usr/bin/python3
"""Compiles whole models and counts kernels, bytes, memory and CPU time; beside them what tinygrad makes of the same flat graph.

    scripts/bench_models.py [--size small full] [--json FILE] [--extra=-O1] [NAME...]
    scripts/bench_models.py --tinygrad VENV/bin/python [--record] ...

tinygrad (0.14.0, with numpy, in a virtual environment of its own) is a peer to measure against. Its figures are those of
models/tinygrad.json, or measured anew: a cold start, graph work on one thread, the same Clang. Bytes: the distinct operands of
each launch, whole. Peak: results and what lives between kernels, each at a multiple of 64 bytes. Graph: CPU time until there is C text. Clang: the rest.
"""
import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile

from bench_tools import ROOT, binary, duration, table

sys.path.insert(0, os.path.join(ROOT, "scripts", "models"))
import zoo  # noqa: E402
from uops import topological  # noqa: E402

MEMORY = 8 << 30  # for tinygrad, which does not end on some
TWIN = os.path.join(ROOT, "scripts", "models", "tinygrad_twin.py")
RECORD = os.path.join(ROOT, "scripts", "models", "tinygrad.json")
COLUMNS = ("kernels", "distinct", "bytes", "peak", "graph_s", "clang_s")
PEER_KEYS = ("kernels", "distinct", "bytes", "peak", "schedule_s", "graph_s", "clang_s")


class Failed(Exception):
  pass


def run(command, limit, **more):
  """(CPU seconds, standard output) of a process and its children."""
  before = resource.getrusage(resource.RUSAGE_CHILDREN)
  try:
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=limit, **more)
  except subprocess.TimeoutExpired:
    raise Failed(f"more than {limit} s")
  after = resource.getrusage(resource.RUSAGE_CHILDREN)
  if done.returncode:
    raise Failed(f"exit status {done.returncode}: {done.stderr.strip().rpartition(chr(10))[2]}")
  return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, done.stdout


def ours(args, name, size):
  with tempfile.TemporaryDirectory() as folder:
    source = zoo.write(zoo.build(name, size, args.calls), folder, name, with_weights=False, with_want=False) + ".uop"
    command, out = [args.uopc, source, "--no-cache", *args.extra.split()], os.path.join(folder, "out")
    graph, _ = run([*command, "--emit", "c", "-o", os.path.join(folder, "out.c")], args.timeout)
    whole, _ = run([*command, "-o", out], args.timeout)
    manifest = load(os.path.join(out, "manifest.json"))
  return {"kernels": len(manifest["launches"]), "distinct": len(manifest["kernels"]), "bytes": sum(map(operands, manifest["launches"])),
          "peak": manifest["memory"]["peak_bytes"], "graph_s": round(graph, 4), "clang_s": round(max(whole - graph, 1e-3), 4)}


def operands(launch):
  """Bytes of the places that a launch gets, whole. Two of them may be one piece of memory, reused in place; tinygrad's count apart as well."""
  return sum(a["bytes"] for a in launch["args"] if a["kind"] == "place")


def tinygrad(args, name, size):
  _, text = run([args.tinygrad, TWIN, name, "--size", size], args.timeout,
                preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY)))
  return {key: value for key, value in json.loads(text.splitlines()[-1]).items() if key in PEER_KEYS}


def attempt(measure, *args):
  try:
    return measure(*args)
  except Failed as failed:
    return {"failed": str(failed)}


def amount(count):
  return next(f"{count / scale:.3g} {unit}" for scale, unit in ((1e9, "GB"), (1e6, "MB"), (1e3, "kB"), (1, "B")) if count >= scale or unit == "B")


def pair(row, key, show=str):
  """Ours, and tinygrad's behind a stroke."""
  cells = ["–" if who not in row else "✗" if "failed" in row[who] else show(row[who][key]) for who in ("uopc", "tinygrad")]
  return " / ".join(cells)


def markdown(rows):
  head = ["model", "nodes", "kernels", "distinct", "bytes", "peak", "graph", "Clang"]
  print("uopc / tinygrad\n")
  table(head, [[label, row["nodes"], pair(row, "kernels"), pair(row, "distinct"), pair(row, "bytes", amount), pair(row, "peak", amount),
                pair(row, "graph_s", duration), pair(row, "clang_s", duration)] for label, row in rows.items()])
  both = [row for row in rows.values() if all("failed" not in row.get(who, {"failed": ""}) for who in ("uopc", "tinygrad"))]
  if both:
    means = (f"{key.removesuffix('_s')} {statistics.geometric_mean(row['uopc'][key] / row['tinygrad'][key] for row in both):.3f}" for key in COLUMNS)
    print(f"\nuopc by tinygrad, geometric means of {len(both)}: {', '.join(means)}")
  for label, row in rows.items():
    for who in ("uopc", "tinygrad"):
      if "failed" in row.get(who, {}):
        print(f"\n{label}: {who}: {row[who]['failed']}")


def nodes(name, size):
  return len(topological(list(zoo.nodes(zoo.build(name, size, calls=False)).values())))


def measured(args):
  rows, peer = {}, load(RECORD) if os.path.exists(RECORD) else {}
  for label, name, size in ((f"{name} {size}", name, size) for size in args.size for name in args.names or sorted(zoo.MODELS)):
    rows[label] = {"nodes": nodes(name, size), "uopc": attempt(ours, args, name, size)}
    if args.tinygrad:
      peer[label] = attempt(tinygrad, args, name, size)
    if label in peer:
      rows[label]["tinygrad"] = peer[label]
    print(f"{label}: " + ", ".join(rows[label].get(who, {}).get("failed", "done") for who in ("uopc", "tinygrad")), file=sys.stderr, flush=True)
    if args.json:
      save(args.json, rows)
    if args.record:
      save(RECORD, peer)
  return rows


def load(path):
  with open(path, encoding="utf-8") as file:
    return json.load(file)


def save(path, rows):
  """A line for each row."""
  with open(path, "w", encoding="utf-8") as file:
    file.write("{\n" + ",\n".join(f" {json.dumps(label)}: {json.dumps(row)}" for label, row in rows.items()) + "\n}\n")


def main():
  parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
  parser.add_argument("names", nargs="*", metavar="NAME")
  parser.add_argument("--size", nargs="+", choices=("small", "full"), default=["small", "full"])
  parser.add_argument("--uopc", default=None)
  parser.add_argument("--tinygrad", metavar="PYTHON", help="the Python that has tinygrad: measure it too")
  parser.add_argument("--record", action="store_true", help="keep what was measured of tinygrad in models/tinygrad.json")
  parser.add_argument("--json", metavar="FILE", help="write all figures")
  parser.add_argument("--calls", action="store_true", help="layers that repeat as CALLs (tinygrad always gets them flat)")
  parser.add_argument("--extra", default="", help="further arguments of uopc, in one string: --extra=-O1")
  parser.add_argument("--timeout", type=float, default=300)
  args = parser.parse_args()
  args.uopc = args.uopc or binary("uopc")
  markdown(measured(args))


if __name__ == "__main__":
  main()
