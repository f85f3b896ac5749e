"""Attention: causal by comparison of positions, grouped key and value heads, rotary positions, a KV cache in place."""
import math

from nn import arange, linear, softmax


def heads(x, count):
  """[..., t, c] to [..., count, t, c / count]."""
  *lead, t, c = x.shape
  return x.reshape(*lead, t, count, c // count).swap(-3, -2)


def merge(x):
  x = x.swap(-3, -2)
  return x.reshape(*x.shape[:-2], x.shape[-2] * x.shape[-1])


def causal(m, t):
  """bool [t, t]: true where the key comes after the query."""
  at = arange(m, t)
  return at.unsqueeze(-1) < at


def attend(q, k, v, hidden=None):
  """q [..., h, t, d], k and v [..., g, s, d] where g divides h. hidden: bool, broadcast to [t, s]."""
  *lead, h, t, d = q.shape
  g = k.shape[-3]
  if g != h:
    q, k, v = q.reshape(*lead, g, h // g, t, d), k.unsqueeze(-3), v.unsqueeze(-3)
  scores = (q @ k.swap(-1, -2)) * (1 / math.sqrt(d))
  if hidden is not None:
    scores = hidden.where(-math.inf, scores)
  return (softmax(scores) @ v).reshape(*lead, h, t, d)


def rotate(m, x, positions, theta=10000.0):
  """x [..., t, d], the halves of d as pairs; positions f32 [t]."""
  d = x.shape[-1]
  frequency = (arange(m, d // 2).cast("f32") * (-2 / d * math.log2(theta))).exp2()
  angle = positions.unsqueeze(-1) * frequency
  cos, sin = angle.cos(), angle.sin()
  a, b = x.split(x.rank - 1, 2)
  left, right = a * cos - b * sin, b * cos + a * sin
  return left.pad((0, d // 2)) + right.pad((d // 2, 0))


def cache_at(cache, x, position):
  """cache [g, s, d] with x [g, 1, d] written at position."""
  g, _, d = cache.shape
  return cache.after(cache.shrink((0, g), (0, 1), (0, d), offsets=[0, position, 0]).store(x))


def fused_qkv(m, x, name, count, layout="oi"):
  """q, k, v as heads, from one product."""
  return [heads(part, count) for part in linear(m, x, name, 3 * x.shape[-1], layout=layout).split(x.rank - 1, 3)]
