#!/usr/bin/python3
"""Writes a whole model as .uop text, with seeded weights, inputs, and the results that numpy gives.

    scripts/build_model.py gpt2 --size full -o OUT      # OUT/gpt2.uop, OUT/gpt2.weights.safetensors, OUT/gpt2.in.npz
    uoprun OUT/gpt2.uop --inputs OUT/gpt2.weights.safetensors --inputs OUT/gpt2.in.npz --outputs out.npz

OUT/NAME.want.npz comes with --size small, or with --want.
"""
import argparse
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "models"))
import zoo  # noqa: E402


def main():
  parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
  parser.add_argument("name", nargs="?", metavar="NAME", choices=sorted(zoo.MODELS))
  parser.add_argument("--list", action="store_true", help="print the names of the models")
  parser.add_argument("--size", choices=("small", "full"), default="small")
  layers = parser.add_mutually_exclusive_group()
  layers.add_argument("--flat", action="store_const", dest="calls", const=False, help="repeated layers in line")
  layers.add_argument("--calls", action="store_const", dest="calls", const=True, help="repeated layers as CALLs of one body")
  parser.add_argument("--seed", type=int, default=0)
  parser.add_argument("--no-weights", action="store_true", help="no .weights.safetensors (uoprun --random fills in)")
  parser.add_argument("--want", action=argparse.BooleanOptionalAction, help="compute the expected results (default: for small)")
  parser.add_argument("-o", dest="folder", default=".", metavar="DIR")
  args = parser.parse_args()
  if args.list:
    print("\n".join(sorted(zoo.MODELS)))
    return
  if not args.name:
    parser.error("which model? --list prints the names")
  model = zoo.build(args.name, args.size, args.calls, args.seed)
  wanted = args.size == "small" if args.want is None else args.want
  print(zoo.write(model, args.folder, args.name, not args.no_weights, wanted) + ".uop")


if __name__ == "__main__":
  main()
