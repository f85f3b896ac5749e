#!/usr/bin/env python3
"""The models in tinygrad, op by op, and what tinygrad makes of them. A peer to measure against, needed by nothing else.

    pip install tinygrad==0.14.0 numpy            # in a virtual environment of its own
    VENV/bin/python scripts/models/tinygrad_twin.py NAME [--size small|full] [--set size=128] [--run]

Prints JSON: kernels, bytes and memory of the schedule, CPU and wall seconds of scheduling with code generation and of
Clang, each from a cold start. --run executes the small size instead, and compares its results with those of numpy.
"""
import argparse
import functools
import json
import os
import resource
import sys
import time

os.environ.update({"DEV": "CPU", "CACHELEVEL": "0", "CCACHE": "0", "CC": "clang-19"})
os.environ.setdefault("PARALLEL", "0")  # with workers, only the wall seconds of the whole are right

import numpy as np  # noqa: E402
from tinygrad import Device, Tensor, dtypes  # noqa: E402
from tinygrad.engine.realize import compile_linear, run_linear  # noqa: E402
from tinygrad.helpers import ansistrip  # noqa: E402
from tinygrad.runtime.support.compiler_cpu import ClangCompiler  # noqa: E402
from tinygrad.uop.ops import Ops, UOp  # noqa: E402

import zoo  # noqa: E402
from backend import Backend  # noqa: E402
from model import Model  # noqa: E402

NAMES = {"bool": dtypes.bool, "i8": dtypes.int8, "i16": dtypes.int16, "i32": dtypes.int32, "i64": dtypes.int64, "u8": dtypes.uint8,
         "u16": dtypes.uint16, "u32": dtypes.uint32, "u64": dtypes.uint64, "f16": dtypes.float16, "f32": dtypes.float32, "f64": dtypes.float64}
ALU = {
  "NEG": lambda x: -x, "RECIP": Tensor.reciprocal, "EXP2": Tensor.exp2, "LOG2": Tensor.log2, "SQRT": Tensor.sqrt, "SIN": Tensor.sin,
  "TRUNC": Tensor.trunc, "DETACH": Tensor.detach, "ADD": Tensor.add, "MUL": Tensor.mul, "MAX": Tensor.maximum, "WHERE": Tensor.where,
  "CMPLT": lambda x, y: x < y, "CMPNE": lambda x, y: x != y, "FLOORDIV": lambda x, y: x // y, "FLOORMOD": lambda x, y: x % y,
  "AND": lambda x, y: x & y, "OR": lambda x, y: x | y, "XOR": lambda x, y: x ^ y, "SHL": lambda x, y: x << y, "SHR": lambda x, y: x >> y,
}
REDUCE = {"ADD": lambda x, axes: x.sum(axes, dtype=x.dtype), "MUL": lambda x, axes: x.prod(axes, dtype=x.dtype), "MAX": Tensor.max}


class TinygradBackend(Backend):
  """Handles are Tensors, and bound variables for scalar arguments. `arrays(name)` gives contents; without it there are none."""

  def __init__(self, arrays=None):
    self.arrays, self.places = arrays, []

  def shape(self, x): return x.shape
  def dtype(self, x): return "i32" if isinstance(x, UOp) else next(name for name, dtype in NAMES.items() if dtype == x.dtype)
  def tag(self, text): pass

  def param(self, slot, shape, dtype, name=None, bounds=None):
    if shape == ():
      return UOp.variable(name, *bounds).bind(int(self.arrays(name)) if self.arrays else bounds[1] // 2)
    return self.place(name, shape, dtype)

  def buffer(self, name, shape, dtype, const): return self.place(name, shape, dtype)

  def place(self, name, shape, dtype):
    self.places.append(Tensor(np.array(self.arrays(name))).realize() if self.arrays else Tensor.empty(*shape, dtype=NAMES[dtype]))
    return self.places[-1]

  def const(self, value, dtype): return Tensor.full((), value, dtype=NAMES[dtype], buffer=False)
  def alu(self, op, *xs): return ALU[op](*map(tensor, xs))
  def cast(self, x, dtype): return tensor(x).cast(NAMES[dtype])
  def reshape(self, x, shape): return tensor(x).reshape(tuple(shape))
  def expand(self, x, shape): return tensor(x).expand(tuple(shape))
  def permute(self, x, axes): return x.permute(tuple(axes))
  def flip(self, x, axes): return x.flip(tuple(axes))
  def pad(self, x, pad): return x.pad(tuple(map(tuple, pad)))
  def reduce(self, op, x, axes): return REDUCE[op](x, tuple(axes)) if axes else x

  def shrink(self, x, bounds, offsets=()):
    starts = [o if isinstance(o, (int, UOp)) else 0 for o in offsets] or [0] * len(bounds)
    return x.shrink(tuple((begin + o, end + o) for (begin, end), o in zip(bounds, starts)))

  def store(self, place, x):
    done = place.uop.store((x.contiguous() if shifted(place, x) else x).uop)
    return done if place.uop.base is place.uop else place.uop.after(done)

  def after(self, x, *effects): return Tensor(x.uop.after(*effects))


def shifted(place, x):
  """Whether a place gets its own contents moved: tinygrad 0.14 takes a shift by SHRINK and PAD for safe in place."""
  return any(u.op is Ops.PAD and place.uop.base in u.toposort() for u in x.uop.toposort())


def tensor(x):
  """A scalar argument as a tensor."""
  return Tensor(x).cast(dtypes.int32) if isinstance(x, UOp) else x


def build(name, size, arrays=None, changes={}):
  entry = zoo.MODELS[name]
  model = Model(TinygradBackend(arrays), calls=False)
  entry.build(model, **getattr(entry, size) | changes)
  outputs = {key: out.h for key, out in model.outputs.items()}
  return model, {key: out.clone("CPU") if out.uop.device is None else out for key, out in outputs.items()}


def cpu(who):
  used = resource.getrusage(who)
  return used.ru_utime + used.ru_stime


def watch_clang():
  """For each of its runs the CPU seconds, with those that this process spends on it, and these alone; and the wall seconds."""
  seen, plain = [], ClangCompiler.compile

  @functools.wraps(plain)
  def compile(self, source):
    own, children, start = cpu(resource.RUSAGE_SELF), cpu(resource.RUSAGE_CHILDREN), time.perf_counter()
    binary = plain(self, source)
    own = cpu(resource.RUSAGE_SELF) - own
    seen.append((own + cpu(resource.RUSAGE_CHILDREN) - children, own, time.perf_counter() - start))
    return binary
  ClangCompiler.compile = compile
  return seen


def size_of(uop): return uop.max_numel() * uop.dtype.itemsize
def operands(call): return {u for u in call.src[1:] if not u.is_bound_var}


def memory(linear, given):
  """Bytes of what is not an argument: results, and the arenas of the memory plan; aligned to 64, as uopc's are."""
  buffers = {u for call in linear.src for s in operands(call) for u in s.toposort() if u.op is Ops.BUFFER and not u.is_variable}
  return sum(-(-size_of(buffer) // 64) * 64 for buffer in buffers - given)


def measure(name, size, changes):
  model, outputs = build(name, size, changes=changes)
  assert Device["CPU"].renderer  # opening the device compiles kernels of its own
  given, compiled = {place.uop.base for place in model.b.places}, watch_clang()
  start, wall = cpu(resource.RUSAGE_SELF), time.perf_counter()
  linear, _ = Tensor.linear_with_vars(*outputs.values())
  scheduled = cpu(resource.RUSAGE_SELF)
  done = compile_linear(linear)
  wall = time.perf_counter() - wall
  graph = cpu(resource.RUSAGE_SELF) - start - sum(own for _, own, _ in compiled)
  clang, clang_wall = sum(whole for whole, _, _ in compiled), sum(took for _, _, took in compiled)
  names = [ansistrip(call.src[0].arg.name) for call in done.src if call.src[0].op is Ops.PROGRAM]
  return {"kernels": len(linear.src), "distinct": len({call.src[0].key for call in linear.src}),
          "bytes": sum(size_of(u) for call in linear.src for u in operands(call)), "peak": memory(linear, given),
          "schedule_s": round(scheduled - start, 4), "graph_s": round(graph, 4), "clang_s": round(clang, 4),
          "wall_s": round(wall, 4), "graph_wall_s": round(wall - clang_wall, 4), "clang_wall_s": round(clang_wall, 4),
          "names": names}


def check(name):
  """The results as numpy has them."""
  reference = zoo.build(name, calls=False)
  want, rtol = zoo.want(reference), zoo.MODELS[name].rtol
  _, outputs = build(name, "small", reference.value)
  run_linear(*Tensor.linear_with_vars(*outputs.values()))
  for key, out in outputs.items():
    np.testing.assert_allclose(out.numpy(), want[key], rtol, rtol, err_msg=f"{name}: {key}")
  return {"checked": list(outputs)}


def main():
  parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
  parser.add_argument("name", choices=sorted(zoo.MODELS), metavar="NAME")
  parser.add_argument("--size", choices=("small", "full"), default="small")
  parser.add_argument("--set", nargs=1, action="extend", default=[], metavar="NAME=N", help="another argument of the model than its size has")
  parser.add_argument("--run", action="store_true")
  args = parser.parse_args()
  changes = {key: int(value) for key, _, value in (word.partition("=") for word in args.set)}
  json.dump(check(args.name) if args.run else measure(args.name, args.size, changes), sys.stdout)
  print()


if __name__ == "__main__":
  main()
