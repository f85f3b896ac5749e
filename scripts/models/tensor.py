"""Tensors over a Backend: what numpy writes as operators, out of the backend's primitives alone."""
import math

from backend import Backend

FLOATS = ("f16", "bf16", "f32", "f64")


class Tensor:
  __slots__ = ("b", "h")

  def __init__(self, backend: Backend, handle):
    self.b, self.h = backend, handle

  @property
  def shape(self): return self.b.shape(self.h)
  @property
  def dtype(self): return self.b.dtype(self.h)
  @property
  def rank(self): return len(self.shape)

  def wrap(self, handle): return Tensor(self.b, handle)
  def like(self, value): return value if isinstance(value, Tensor) else self.wrap(self.b.const(value, self.dtype))
  def alu(self, op, *others): return self.wrap(self.b.alu(op, self.h, *(self.like(o).h for o in others)))
  def axis(self, axis): return axis % max(self.rank, 1)

  # Arithmetic
  def __add__(self, o): return self.alu("ADD", o)
  def __radd__(self, o): return self.like(o) + self
  def __neg__(self): return self.alu("NEG")
  def __sub__(self, o): return self + -o
  def __rsub__(self, o): return self.like(o) + -self
  def __mul__(self, o): return self.alu("MUL", o)
  def __rmul__(self, o): return self.like(o) * self
  def __truediv__(self, o): return self * (self.like(o).recip() if isinstance(o, Tensor) else 1 / o)
  def __rtruediv__(self, o): return self.recip() if o == 1 else o * self.recip()
  def __floordiv__(self, o): return self.alu("FLOORDIV", o)
  def __mod__(self, o): return self.alu("FLOORMOD", o)
  def __lt__(self, o): return self.alu("CMPLT", o)
  def __gt__(self, o): return self.like(o) < self
  def __invert__(self): return self.alu("XOR", True)
  def __and__(self, o): return self.alu("AND", o)
  def __or__(self, o): return self.alu("OR", o)
  def __xor__(self, o): return self.alu("XOR", o)
  def ne(self, o): return self.alu("CMPNE", o)
  def eq(self, o): return ~self.ne(o)
  def maximum(self, o): return self.alu("MAX", o)
  def minimum(self, o): return -((-self).maximum(-self.like(o)))
  def recip(self): return self.alu("RECIP")
  def exp2(self): return self.alu("EXP2")
  def log2(self): return self.alu("LOG2")
  def sqrt(self): return self.alu("SQRT")
  def sin(self): return self.alu("SIN")
  def cos(self): return (math.pi / 2 - self).sin()
  def exp(self): return (self * (1 / math.log(2))).exp2()
  def log(self): return self.log2() * math.log(2)
  def rsqrt(self): return self.sqrt().recip()
  def detach(self): return self.alu("DETACH")
  def cast(self, dtype): return self.wrap(self.b.cast(self.h, dtype))

  def where(self, x, y):
    """self ? x : y; one of x, y may be a number."""
    kind = x if isinstance(x, Tensor) else y
    return self.wrap(self.b.alu("WHERE", self.h, kind.like(x).h, kind.like(y).h))

  # Movement
  def reshape(self, *shape):
    rest = math.prod(s for s in shape if s != -1)
    return self.wrap(self.b.reshape(self.h, tuple(math.prod(self.shape) // rest if s == -1 else s for s in shape)))

  def expand(self, *shape): return self.wrap(self.b.expand(self.h, shape))
  def permute(self, *axes): return self.wrap(self.b.permute(self.h, axes))
  def flip(self, *axes): return self.wrap(self.b.flip(self.h, [self.axis(a) for a in axes]))
  def pad(self, *pad): return self.wrap(self.b.pad(self.h, [(0, 0)] * (self.rank - len(pad)) + list(pad)))

  def shrink(self, *bounds, offsets=()):
    """Bounds of the last axes; None is a whole axis."""
    bounds = [None] * (self.rank - len(bounds)) + list(bounds)
    bounds = [(0, size) if b is None else b for b, size in zip(bounds, self.shape)]
    return self.wrap(self.b.shrink(self.h, bounds, [o.h if isinstance(o, Tensor) else o for o in offsets]))

  def slice(self, axis, begin, end):
    return self.shrink(*((begin, end) if a == self.axis(axis) else None for a in range(self.rank)))

  def swap(self, a, b):
    order = list(range(self.rank))
    order[a], order[b] = order[b], order[a]
    return self.permute(*order)

  def unsqueeze(self, axis):
    axis %= self.rank + 1
    return self.reshape(*self.shape[:axis], 1, *self.shape[axis:])

  def flatten(self, start=0): return self.reshape(*self.shape[:start], math.prod(self.shape[start:]))

  def split(self, axis, count):
    size = self.shape[axis] // count
    return [self.slice(axis, i * size, (i + 1) * size) for i in range(count)]

  def repeat(self, *counts):
    """Each axis that many times over."""
    thin = [n for size in self.shape for n in (1, size)]
    wide = [n for count, size in zip(counts, self.shape) for n in (count, size)]
    return self.reshape(*thin).expand(*wide).reshape(*(c * s for c, s in zip(counts, self.shape)))

  # Reduction
  def reduce(self, op, axes, keep):
    axes = range(self.rank) if axes is None else [axes] if isinstance(axes, int) else axes
    axes = sorted(self.axis(a) for a in axes)
    out = self.wrap(self.b.reduce(op, self.h, axes))
    return out.reshape(*(1 if a in axes else s for a, s in enumerate(self.shape))) if keep else out

  def sum(self, axes=None, keep=False): return self.reduce("ADD", axes, keep)
  def max(self, axes=None, keep=False): return self.reduce("MAX", axes, keep)
  def prod(self, axes=None, keep=False): return self.reduce("MUL", axes, keep)

  def mean(self, axes=None, keep=False):
    total = self.sum(axes, keep)
    return total * (math.prod(total.shape) / math.prod(self.shape))

  def __matmul__(self, o):
    """[..., m, k] @ [..., k, n], the product spread out and summed."""
    return (self.unsqueeze(-1) * o.unsqueeze(-3)).sum(-2)

  # Memory
  def store(self, x): return self.wrap(self.b.store(self.h, x.h))
  def after(self, *effects): return self.wrap(self.b.after(self.h, *(e.h for e in effects)))


def concat(tensors, axis):
  """Side by side: each padded with zeros to the whole, then added (a sum of one value and zeros)."""
  axis, at, out = tensors[0].axis(axis), 0, None
  total = sum(t.shape[axis] for t in tensors)
  for t in tensors:
    pad = [(at, total - at - t.shape[axis]) if a == axis else (0, 0) for a in range(t.rank)]
    out = t.pad(*pad) if out is None else out + t.pad(*pad)
    at += t.shape[axis]
  return out


def stack(tensors, axis): return concat([t.unsqueeze(axis) for t in tensors], axis)
