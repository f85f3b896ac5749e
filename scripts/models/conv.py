"""Convolution and pooling out of movement ops: windows by repeating, shrinking and reshaping, as tinygrad's pool does."""
import math

from model import normal


def pair(n): return n if isinstance(n, tuple) else (n, n)
def up(a, b): return -(-a // b)


def windows(x, kernel, stride=1, dilation=1):
  """[..., h, w] to [..., oh, ow, kh, kw]."""
  k, s, d = pair(kernel), pair(stride), pair(dilation)
  lead, size = x.shape[:-2], x.shape[-2:]
  lead_bounds = [None] * len(lead)
  o = [up(i - dd * (kk - 1), ss) for i, dd, kk, ss in zip(size, d, k, s)]
  order = [*range(len(lead)), len(lead), len(lead) + 2, len(lead) + 1, len(lead) + 3]
  if k == s and d == (1, 1):
    x = x.shrink(*lead_bounds, *((0, oo * ss) for oo, ss in zip(o, s)))
    return x.reshape(*lead, o[0], s[0], o[1], s[1]).permute(*order)
  factor = [max(1, up(oo * ss - dd, i)) for i, dd, oo, ss in zip(size, d, o, s)]
  wide = [i * f + dd for i, f, dd in zip(size, factor, d)]
  x = x.repeat(*(1 for _ in lead), *(up(kk * n, i) for kk, n, i in zip(k, wide, size)))
  x = x.shrink(*lead_bounds, *((0, kk * n) for kk, n in zip(k, wide))).reshape(*lead, k[0], wide[0], k[1], wide[1])
  x = x.shrink(*lead_bounds, None, (0, o[0] * s[0]), None, (0, o[1] * s[1])).reshape(*lead, k[0], o[0], s[0], k[1], o[1], s[1])
  x = x.shrink(*lead_bounds, None, None, (0, 1), None, None, (0, 1)).reshape(*lead, k[0], o[0], k[1], o[1])
  return x.permute(*range(len(lead)), *(len(lead) + a for a in (1, 3, 0, 2)))


def conv2d(m, x, name, out, kernel, stride=1, padding=0, dilation=1, groups=1, bias=True):
  (n, c, _, _), k, p = x.shape, pair(kernel), pair(padding)
  each = c // groups
  with m.scope(name):
    weight = m.weight("weight", (out, each, *k), normal(math.sqrt(2 / (each * k[0] * k[1]))))
    x = windows(x.pad((p[0], p[0]), (p[1], p[1])), k, stride, dilation)
    oh, ow = x.shape[2:4]
    x = x.reshape(n, groups, 1, each, oh, ow, *k).permute(0, 1, 2, 4, 5, 3, 6, 7)
    w = weight.reshape(groups, out // groups, 1, 1, each, *k)
    y = (x * w).sum((-3, -2, -1)).reshape(n, out, oh, ow)
    return y + m.weight("bias", (out,), normal(0.1)).reshape(out, 1, 1) if bias else y


def max_pool(x, kernel, stride=None, padding=0):
  """Padding must not win: it is -inf where the padded mask is false."""
  p = ((padding, padding),) * 2
  if padding:
    inside = x.wrap(x.b.const(True, "bool")).expand(*x.shape)
    x = inside.pad(*p).where(x.pad(*p), -math.inf)
  return windows(x, kernel, stride or kernel).max((-2, -1))


def avg_pool(x, kernel, stride=None): return windows(x, kernel, stride or kernel).mean((-2, -1))
def global_avg_pool(x): return x.mean((-2, -1))


def upsample(x, factor):
  """Nearest neighbour."""
  n, c, h, w = x.shape
  return x.reshape(n, c, h, 1, w, 1).expand(n, c, h, factor, w, factor).reshape(n, c, h * factor, w * factor)
