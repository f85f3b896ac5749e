#!/usr/bin/python3
"""Times whole compilations beside tinygrad's of the same flat graphs: graph work, the whole from cold, and with uopc's cache of kernels warm.

    scripts/bench_peer.py --tinygrad VENV/bin/python [--runs N] [LABEL...]

tinygrad (0.14.0, with numpy, in a virtual environment of its own) runs with its caches off, on its CPU device, with the same Clang. Of uopc
the whole process counts, start and reading of the text included; of tinygrad scheduling, code generation and Clang, without the start of
Python, imports, and building the graph; its whole is that of one thread or of a worker a core, whichever is sooner. Medians; runs of the
two take turns. Cold: a fresh process, an empty cache.
"""
import argparse
import json
import os
import statistics
import sys
import tempfile
from typing import NamedTuple

from bench_tools import ROOT, binary, duration, run, table

sys.path.insert(0, os.path.join(ROOT, "scripts", "models"))
import zoo  # noqa: E402
from uops import topological  # noqa: E402

TWIN = os.path.join(ROOT, "scripts", "models", "tinygrad_twin.py")
CASES = {
  "GPT-2, 12 layers, T=128": ("gpt2", {"size": 128}),
  "GPT-2, 12 layers, T=128, forward and backward": ("gpt2_train", {"size": 128}),
  "ResNet-50": ("resnet50", {}),
  "ResNet-50, batch statistics": ("resnet50_train", {}),
  "LLaMA 1B": ("llama_1b", {}),
}
GOALS = {"graph": 30, "cold": 5, "warm": 20}


class Time(NamedTuple):
  wall: float
  cpu: float


def ours(source, folder):
  """A time a step, from three processes; the last finds what the second left in the cache."""
  cache = tempfile.mkdtemp(dir=folder)
  steps = {"graph": ["--emit", "c", "-o", os.path.join(folder, "out.c")], "cold": ["--cache", cache, "-o", os.path.join(folder, "out")]}
  steps["warm"] = steps["cold"]
  return {step: Time(r.seconds, r.cpu) for step, r in ((step, run([binary("uopc"), source, *args])) for step, args in steps.items())}


def theirs(python, name, changes):
  sets = [word for key, value in changes.items() for word in ("--set", f"{key}={value}")]
  def twin(workers):
    return json.loads(run(["/usr/bin/env", f"PARALLEL={workers}", python, TWIN, name, "--size", "full", *sets]).text.splitlines()[-1])
  alone, parallel = twin(0), twin(os.cpu_count())
  whole = Time(min(alone["wall_s"], parallel["wall_s"]), alone["graph_s"] + alone["clang_s"])
  return {"graph": Time(alone["graph_wall_s"], alone["graph_s"]), "cold": whole, "warm": whole}


def medians(runs):
  return {step: Time(*(statistics.median(column) for column in zip(*(r[step] for r in runs)))) for step in GOALS}


def rows(label, python, count, folder):
  name, changes = CASES[label]
  model = zoo.build(name, "full", calls=False, changes=changes)
  source = zoo.write(model, folder, name, with_weights=False, with_want=False) + ".uop"
  ours(source, folder)  # the compiler's own pages into memory
  pairs = [(ours(source, folder), theirs(python, name, changes)) for _ in range(count)]
  us, them = (medians(side) for side in zip(*pairs))
  nodes = len(topological(list(zoo.nodes(model).values())))
  for step, goal in GOALS.items():
    a, b = us[step], them[step]
    yield [f"{label}: {nodes} nodes" if step == "graph" else "", step, duration(a.wall), duration(b.wall), f"{b.wall / a.wall:.0f}", duration(a.cpu), duration(b.cpu), f"{b.cpu / a.cpu:.0f}", goal]


def main():
  args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
  args.add_argument("labels", nargs="*", metavar="LABEL", help="; ".join(CASES))
  args.add_argument("--tinygrad", metavar="PYTHON", required=True, help="the Python that has tinygrad")
  args.add_argument("--runs", type=int, default=5)
  args = args.parse_args()
  load = os.getloadavg()[0]
  with tempfile.TemporaryDirectory() as folder:
    lines = [row for label in args.labels or CASES for row in rows(label, args.tinygrad, args.runs, folder)]
  table(["model", "step", "uopc, wall", "tinygrad", "×", "uopc, CPU", "tinygrad", "×", "goal ×"], lines)
  print(f"\nMedians of {args.runs}; {os.cpu_count()} cores, load {load:.1f} before, {os.getloadavg()[0]:.1f} after.")


if __name__ == "__main__":
  main()
