"""Computes UOps in numpy: float32 as it is, sums accumulated in float64. A value is kept until its last use."""
import collections

import numpy as np

from shortcuts import is_product, product, skewed_row, window_sums
from uops import topological

DTYPES = {"bool": np.bool_, "i8": np.int8, "i16": np.int16, "i32": np.int32, "i64": np.int64, "u8": np.uint8, "u16": np.uint16,
          "u32": np.uint32, "u64": np.uint64, "f16": np.float16, "f32": np.float32, "f64": np.float64}
MOVEMENT = ("RESHAPE", "EXPAND", "PERMUTE", "FLIP", "SHRINK")


def shift(op, x, n):
  out = np.left_shift(x, n) if op == "SHL" else np.right_shift(x, n)
  return out.astype(x.dtype)


ALU = {
  "NEG": lambda x: -x, "RECIP": lambda x: 1 / x, "EXP2": np.exp2, "LOG2": np.log2, "SQRT": np.sqrt, "SIN": np.sin, "TRUNC": np.trunc,
  "DETACH": lambda x: x, "ADD": np.add, "MUL": np.multiply, "MAX": np.maximum, "CMPLT": np.less, "CMPNE": np.not_equal,
  "FLOORDIV": np.floor_divide, "FLOORMOD": np.mod, "AND": np.bitwise_and, "OR": np.bitwise_or, "XOR": np.bitwise_xor,
  "SHL": lambda x, n: shift("SHL", x, n), "SHR": lambda x, n: shift("SHR", x, n), "WHERE": np.where,
}
REDUCE = {"ADD": np.sum, "MUL": np.prod, "MAX": np.max}


def root(node):
  while node.op in MOVEMENT or node.op == "AFTER":
    node = node.srcs[0]
  return node


def move(node, x, offsets):
  a = node.attrs
  if node.op == "RESHAPE":
    return x.reshape(node.shape)
  if node.op == "EXPAND":
    return np.broadcast_to(x, node.shape)
  if node.op == "PERMUTE":
    return x.transpose(a["axes"])
  if node.op == "FLIP":
    return np.flip(x, a["axes"])
  offsets = offsets or [0] * x.ndim
  return x[tuple(slice(b + int(o), e + int(o)) for (b, e), o in zip(a["bounds"], offsets))]


def reduce(node, x):
  axes, op = tuple(node.attrs["axes"]), node.attrs["op"]
  wide = np.float64 if x.dtype.kind == "f" and op != "MAX" else x.dtype
  return REDUCE[op](x, axis=axes) if op == "MAX" else REDUCE[op](x, axis=axes, dtype=wide)


def sources(node):
  """What the value of node is computed from."""
  if node.op == "CALL":
    return node.srcs[1:]
  if node.op == "STORE":
    base, chain = view(node)
    return (base, node.srcs[1], *(offset for step in chain for offset in step.srcs[1:]))
  row = skewed_row(node)
  return (row,) if row else node.srcs[0].srcs if is_product(node) else node.srcs


def view(store):
  """The place that a STORE changes, and the steps from it to the part that it writes."""
  place, chain = store.srcs[0], []
  while place.op in MOVEMENT:
    chain.append(place)
    place = place.srcs[0]
  return place, chain[::-1]


class Frame:
  """One activation: the program, or the body of a CALL."""

  def __init__(self, leaf, dtypes):
    self.leaf, self.dtypes, self.values, self.written = leaf, dtypes, {}, {}  # written: (effect, root of a place) to what it holds then

  def __getitem__(self, node): return self.values[id(node)]

  def run(self, roots):
    order = topological(roots, sources)
    uses = collections.Counter(id(src) for node in order for src in sources(node)) + collections.Counter(id(node) for node in roots)
    for node in order:
      value = self.value(node, [self[src] for src in sources(node)])
      self.values[id(node)] = value if value is None else np.asarray(value, self.dtypes[node.dtype])
      for src in sources(node):
        uses[id(src)] -= 1
        if not uses[id(src)]:
          del self.values[id(src)]
    return self

  def value(self, node, srcs):
    if node.op in ("PARAM", "BUFFER"):
      return self.leaf(node)
    if node.op == "CONST":
      return np.asarray(node.attrs["value"], self.dtypes[node.dtype])
    if node.op in ALU:
      return ALU[node.op](*srcs)
    if node.op == "CAST":
      return srcs[0].astype(self.dtypes[node.dtype])
    if node.op in MOVEMENT:
      return move(node, srcs[0], srcs[1:])
    if node.op == "PAD":
      return np.pad(srcs[0], node.attrs["pad"])
    if node.op == "REDUCE":
      return window_sums(srcs[0]) if skewed_row(node) else product(node, *srcs) if is_product(node) else reduce(node, srcs[0])
    return {"STORE": self.store, "AFTER": self.after, "CALL": self.call}[node.op](node, srcs)

  def store(self, node, srcs):
    base, chain = view(node)
    whole = srcs[0].copy()
    part = whole
    for step in chain:
      part = move(step, part, [self[offset] for offset in step.srcs[1:]])
    part[...] = srcs[1]
    self.written[id(node), id(root(base))] = whole

  def after(self, node, srcs):
    held = [self.written.get((id(dep), id(root(node.srcs[0])))) for dep in node.srcs[1:]]
    held = [array for array in held if array is not None]
    return held[-1] if held else srcs[0]

  def call(self, node, args):
    body = node.srcs[0]
    frame = Frame(lambda leaf: args[leaf.attrs["slot"]], self.dtypes).run([body])
    slots = {id(n): n.attrs["slot"] for n in topological([body], sources) if n.op == "PARAM"}
    for (_, place), array in frame.written.items():
      self.written[id(node), id(root(node.srcs[1 + slots[place]]))] = array
    return frame[body]


def evaluate(outputs, arrays, dtypes=DTYPES):
  """{name: array} of outputs ({name: node}); arrays(name) gives a PARAM or BUFFER. With other dtypes f32 is computed as f64, say."""
  with np.errstate(all="ignore"):
    frame = Frame(lambda leaf: arrays(leaf.attrs["name"].strip('"')), dtypes).run(list(outputs.values()))
  return {name: np.ascontiguousarray(frame[node]).reshape(node.shape) for name, node in outputs.items() if node.dtype != "void"}
