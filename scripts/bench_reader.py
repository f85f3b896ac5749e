#!/usr/bin/env python3
"""Times reading, interning and verifying GPT-2-like text with names and tags, and measures the memory it takes.

    scripts/bench_reader.py [--runs N] [NODES...]
"""
import argparse
import statistics
import tempfile

from bench_tools import binary, program, run, table


def measure(nodes, runs, folder):
  read, text, memory, *times = map(int, run([binary("reader_bench"), program("gpt2", nodes, folder), str(runs)]).text.split())
  seconds = statistics.median(times) / 1e9
  return [f"{read:,}", f"{text / 1e6:.1f} MB", f"{seconds * 1e3:.1f} ms", f"{read / seconds / 1e6:.2f} million", f"{memory / read:.0f}"]


def main():
  args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
  args.add_argument("--runs", type=int, default=9)
  args.add_argument("nodes", type=int, nargs="*", default=[10_000, 100_000, 1_000_000])
  args = args.parse_args()
  with tempfile.TemporaryDirectory() as folder:
    rows = [measure(n, args.runs, folder) for n in args.nodes]
  table(["nodes", "text", "CPU time: reading, interning, verifying", "nodes/s", "bytes a node beyond the text"], rows)


if __name__ == "__main__":
  main()
