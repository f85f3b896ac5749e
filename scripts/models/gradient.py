"""Reverse mode: a Tape records the primitives that a model is built from, and gradients come from the same primitives, through any backend.

Each op has one rule, from the gradient of its value to those of its sources. MAX splits evenly between equal operands, in REDUCE so that
the shares sum to 1. Comparisons, casts to or from what is no float, TRUNC, FLOORDIV, FLOORMOD and DETACH give no gradient. An op without
a rule (REDUCE MUL, AFTER, CALL, a window that moves at run time) is refused where a gradient would have to pass it.
"""
import contextlib
import math
from typing import NamedTuple

from tensor import FLOATS, Tensor

STOPS = ("CMPLT", "CMPNE", "TRUNC", "FLOORDIV", "FLOORMOD", "DETACH")


class Step(NamedTuple):
  op: str
  out: object
  srcs: tuple
  info: object  # what the op is given besides values
  label: str


def max_shares(g, out, x, y):
  return (y < x).where(g, (x < y).where(0, g * 0.5)), (x < y).where(g, (y < x).where(0, g * 0.5))


def reduce_max(g, out, x, axes):
  among = x.eq(kept(out, x, axes)).cast(x.dtype)
  return (among * kept(g * among.sum(axes).recip(), x, axes),)


def pad_back(g, out, x, bounds):
  return (g.pad(*((begin, size - end) for (begin, end), size in zip(bounds, x.shape))),)


def inverse(axes): return sorted(range(len(axes)), key=lambda a: axes[a])


def kept(t, x, axes):
  """What a reduction of x over axes gave, at every element that it came from."""
  return t.reshape(*(1 if a in axes else size for a, size in enumerate(x.shape))).expand(*x.shape)


# (gradient, value, sources…, info if there is any) to a gradient a source, of the value's shape where the op broadcasts.
RULES = {
  "ADD": lambda g, out, x, y: (g, g),
  "MUL": lambda g, out, x, y: (g * y, g * x),
  "MAX": max_shares,
  "WHERE": lambda g, out, c, x, y: (None, c.where(g, 0), c.where(0, g)),
  "NEG": lambda g, out, x: (-g,),
  "RECIP": lambda g, out, x: (-g * (out * out),),
  "EXP2": lambda g, out, x: (g * (out * math.log(2)),),
  "LOG2": lambda g, out, x: (g * x.recip() * (1 / math.log(2)),),
  "SQRT": lambda g, out, x: (g * (out.recip() * 0.5),),
  "SIN": lambda g, out, x: (g * x.cos(),),
  "CAST": lambda g, out, x, dtype: (g.cast(x.dtype),),
  "RESHAPE": lambda g, out, x, shape: (g.reshape(*x.shape),),
  "EXPAND": lambda g, out, x, shape: (g,),
  "PERMUTE": lambda g, out, x, axes: (g.permute(*inverse(axes)),),
  "FLIP": lambda g, out, x, axes: (g.flip(*axes),),
  "PAD": lambda g, out, x, pad: (g.shrink(*((before, before + size) for (before, _), size in zip(pad, x.shape))),),
  "SHRINK": pad_back,
  "REDUCE ADD": lambda g, out, x, axes: (kept(g, x, axes),),
  "REDUCE MAX": reduce_max,
}


def summed_to(g, shape):
  """The gradient of a value of that shape which was broadcast."""
  lead = g.rank - len(shape)
  axes = [a for a in range(g.rank) if a < lead or shape[a - lead] != g.shape[a]]
  return g.sum(axes).reshape(*shape) if axes else g


class Tape:
  """A backend that remembers what another one builds. Gradients are recorded as well, so that they have gradients in turn."""

  def __init__(self, backend):
    self.b, self.steps, self.weights, self.label = backend, {}, {}, ""  # steps: by the id of the handle, sources first

  def __getattr__(self, name): return getattr(self.b, name)

  def record(self, op, out, srcs, *info):
    if not any(out is src for src in srcs):
      self.steps.setdefault(id(out), Step(op, out, srcs, info, self.label))
    return out

  def alu(self, op, *xs): return self.record(op, self.b.alu(op, *xs), xs)
  def cast(self, x, dtype): return self.record("CAST", self.b.cast(x, dtype), (x,), dtype)
  def reshape(self, x, shape): return self.record("RESHAPE", self.b.reshape(x, shape), (x,), shape)
  def expand(self, x, shape): return self.record("EXPAND", self.b.expand(x, shape), (x,), shape)
  def permute(self, x, axes): return self.record("PERMUTE", self.b.permute(x, axes), (x,), axes)
  def flip(self, x, axes): return self.record("FLIP", self.b.flip(x, axes), (x,), axes)
  def pad(self, x, pad): return self.record("PAD", self.b.pad(x, pad), (x,), pad)
  def reduce(self, op, x, axes): return self.record(f"REDUCE {op}", self.b.reduce(op, x, axes), (x,), axes)
  def after(self, x, *effects): return self.record("AFTER", self.b.after(x, *effects), (x, *effects))
  def call(self, body, args, name): return self.record("CALL", self.b.call(body, args, name), tuple(args))

  def shrink(self, x, bounds, offsets=()):
    return self.record("SHRINK at run time" if offsets else "SHRINK", self.b.shrink(x, bounds, offsets), (x,), bounds)

  def buffer(self, name, *more):
    handle = self.b.buffer(name, *more)
    self.weights[name] = Tensor(self, handle)
    return handle

  def tag(self, text):
    self.label = text
    self.b.tag(text)

  def between(self, wanted):
    """The steps that depend on one of `wanted`, last first."""
    reached, steps = {id(x.h) for x in wanted}, []
    for step in self.steps.values():
      if step.op not in STOPS and any(id(src) in reached for src in step.srcs) and self.dtype(step.out) in FLOATS:
        reached.add(id(step.out))
        steps.append(step)
    return steps[::-1]

  def gradients(self, y, wanted, seed=None):
    """{name: gradient} of y times seed, summed, by each of `wanted` ({name: Tensor})."""
    found, label = {id(y.h): seed or self.filled(1, y)}, self.label
    for step in self.between(wanted.values()):
      if id(step.out) in found:
        self.tag(f"{step.label}.gradient".lstrip("."))
        self.pull_back(step, found)
    self.tag(label)
    return {name: found.get(id(x.h)) or self.filled(0, x) for name, x in wanted.items()}

  def filled(self, value, like): return Tensor(self, self.const(value, like.dtype)).expand(*like.shape)

  def pull_back(self, step, found):
    if step.op not in RULES:
      raise ValueError(f"{step.op} has no gradient")
    srcs = [Tensor(self, src) for src in step.srcs]
    for src, g in zip(srcs, RULES[step.op](found[id(step.out)], Tensor(self, step.out), *srcs, *step.info)):
      if g and src.dtype in FLOATS:
        g, old = summed_to(g, src.shape), found.get(id(src.h))
        found[id(src.h)] = old + g if old else g


@contextlib.contextmanager
def recording(m):
  """Within it model m builds on a Tape, layers in line."""
  plain, calls = m.b, m.calls
  m.b, m.calls = Tape(plain), False
  yield m.b
  m.b, m.calls = plain, calls
