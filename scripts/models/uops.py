"""The backend that builds hash-consed UOps and prints them as .uop text (evaluate.py computes them)."""
from backend import COMPARE, UNARY, Backend


class Node:
  __slots__ = ("op", "srcs", "attrs", "shape", "dtype", "tag")

  def __init__(self, op, srcs, attrs, shape, dtype, tag):
    self.op, self.srcs, self.attrs, self.shape, self.dtype, self.tag = op, srcs, attrs, shape, dtype, tag


def topological(roots, sources=lambda node: node.srcs):
  """Sources first, without recursion."""
  order, seen, stack = [], set(), [(root, False) for root in reversed(roots)]
  while stack:
    node, done = stack.pop()
    if done:
      order.append(node)
    elif id(node) not in seen:
      seen.add(id(node))
      stack.append((node, True))
      stack.extend((src, False) for src in reversed(sources(node)) if id(src) not in seen)
  return order


def spell(value):
  if isinstance(value, bool):
    return "true" if value else "false"
  if isinstance(value, (list, tuple)):
    return "[" + ",".join(spell(v) for v in value) + "]"
  return repr(value) if isinstance(value, float) else str(value)


def quote(text):
  return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def broadcast(shapes):
  rank = max(len(shape) for shape in shapes)
  axes = zip(*[(1,) * (rank - len(shape)) + shape for shape in shapes])
  out = []
  for axis in axes:
    wide = {size for size in axis if size != 1}
    if len(wide) > 1:
      raise ValueError(f"shapes {shapes} do not broadcast")
    out.append(wide.pop() if wide else 1)
  return tuple(out)


class UopBackend(Backend):
  def __init__(self):
    self.nodes = {}
    self.buffers = 0
    self.label = ""

  def node(self, op, srcs, shape, dtype, /, **attrs):
    key = (op, tuple(id(src) for src in srcs), spell([f"{k}={spell(v)}" for k, v in attrs.items()]))
    if key not in self.nodes:
      self.nodes[key] = Node(op, tuple(srcs), attrs, tuple(shape), dtype, self.label)
    return self.nodes[key]

  def shape(self, x): return x.shape
  def dtype(self, x): return x.dtype
  def tag(self, text): self.label = text

  def param(self, slot, shape, dtype, name=None, bounds=None):
    attrs = {"name": quote(name)} if name else {}
    if bounds:
      attrs.update(min=bounds[0], max=bounds[1])
    return self.node("PARAM", (), shape, dtype, slot=slot, dtype=dtype, shape=list(shape), **attrs)

  def buffer(self, name, shape, dtype, const):
    attrs = {"const": True} if const else {}
    self.buffers += 1
    return self.node("BUFFER", (), shape, dtype, slot=self.buffers - 1, dtype=dtype, shape=list(shape), name=quote(name), **attrs)

  def const(self, value, dtype):
    value = bool(value) if dtype == "bool" else float(value) if dtype[0] == "f" or dtype == "bf16" else int(value)
    return self.node("CONST", (), (), dtype, value=value, dtype=dtype)

  def alu(self, op, *xs):
    kinds = {x.dtype for x in xs[1 if op == "WHERE" else 0:]}
    if len(kinds) > 1:
      raise TypeError(f"{op} of {sorted(kinds)}")
    shape = xs[0].shape if op in UNARY else broadcast([x.shape for x in xs])
    return self.node(op, xs, shape, "bool" if op in COMPARE else kinds.pop())

  def cast(self, x, dtype):
    return x if x.dtype == dtype else self.node("CAST", (x,), x.shape, dtype, dtype=dtype)

  def reshape(self, x, shape):
    return x if tuple(shape) == x.shape else self.node("RESHAPE", (x,), shape, x.dtype, shape=list(shape))

  def expand(self, x, shape):
    return x if tuple(shape) == x.shape else self.node("EXPAND", (x,), shape, x.dtype, shape=list(shape))

  def permute(self, x, axes):
    same = list(axes) == list(range(len(x.shape)))
    return x if same else self.node("PERMUTE", (x,), [x.shape[a] for a in axes], x.dtype, axes=list(axes))

  def flip(self, x, axes):
    return self.node("FLIP", (x,), x.shape, x.dtype, axes=list(axes))

  def pad(self, x, pad):
    shape = [size + a + b for size, (a, b) in zip(x.shape, pad)]
    return x if tuple(shape) == x.shape else self.node("PAD", (x,), shape, x.dtype, pad=[list(p) for p in pad])

  def shrink(self, x, bounds, offsets=()):
    shape = tuple(end - begin for begin, end in bounds)
    if shape == x.shape and not offsets:
      return x
    kind = next((o.dtype for o in offsets if isinstance(o, Node)), "i32")
    srcs = [o if isinstance(o, Node) else self.const(o, kind) for o in offsets]
    return self.node("SHRINK", (x, *srcs), shape, x.dtype, bounds=[list(b) for b in bounds])

  def reduce(self, op, x, axes):
    shape = [size for axis, size in enumerate(x.shape) if axis not in axes]
    return self.node("REDUCE", (x,), shape, x.dtype, op=op, axes=sorted(axes)) if axes else x

  def store(self, place, x):
    if place.shape != x.shape:
      raise ValueError(f"STORE of {x.shape} to {place.shape}")
    return self.node("STORE", (place, x), (), "void")

  def after(self, x, *effects):
    return self.node("AFTER", (x, *effects), x.shape, x.dtype)

  def call(self, body, args, name):
    return self.node("CALL", (body, *args), body.shape, body.dtype, name=quote(name))


def print_uop(outputs):
  """The .uop text of a program: outputs is {name: node}."""
  ids, lines = {}, ["uop 1"]
  for node in topological(list(outputs.values())):
    ids[id(node)] = f"%{len(ids)}"
    words = [ids[id(node)], "=", node.op, *(ids[id(src)] for src in node.srcs)]
    words += [f"{key}={spell(value)}" for key, value in node.attrs.items()]
    if node.tag:
      words.append(f"tag={quote(node.tag)}")
    lines.append(" ".join(words))
  lines.append("return " + " ".join(f"{name}={ids[id(node)]}" for name, node in outputs.items()))
  return "\n".join(lines) + "\n"
