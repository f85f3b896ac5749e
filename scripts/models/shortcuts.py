"""Sums that numpy need not spread out: products of two operands, and prefix sums written as a skewed row."""
import math

import numpy as np


def is_product(node):
  """A sum of floats of a MUL, of which either side misses axes."""
  return (node.op == "REDUCE" and node.attrs["op"] == "ADD" and node.srcs[0].op == "MUL" and node.dtype[0] == "f"
          and any(src.shape != node.srcs[0].shape for src in node.srcs[0].srcs))


def aligned(x, rank):
  return x.astype(np.float64).reshape((1,) * (rank - x.ndim) + x.shape)


def thin(x, other):
  """x without the copies along axes that it was expanded along, where the other operand is wide."""
  at = range(-x.ndim, 0)
  copies = [x.strides[a] == 0 and x.shape[a] > 1 and -a <= other.ndim and other.shape[a] == x.shape[a] for a in at]
  return x[tuple(slice(1) if copied else slice(None) for copied in copies)]


def product(node, x, y):
  """By one matmul. Axes are of both sides, of x alone, of y alone, or summed; one that is summed of one side alone is summed first."""
  shape, axes = node.srcs[0].shape, node.attrs["axes"]
  rank = len(shape)
  x = thin(x, y)
  x, y = aligned(x, rank), aligned(thin(y, x), rank)
  x = x.sum(tuple(a for a in axes if y.shape[a] == 1), keepdims=True)
  y = y.sum(tuple(a for a in axes if x.shape[a] == 1), keepdims=True)
  groups = {"x": [], "y": [], "both": [], "summed": [], "one": []}
  for a in range(rank):
    wide = x.shape[a] != 1, y.shape[a] != 1
    groups["one" if not any(wide) else "summed" if a in axes else "both" if all(wide) else "x" if wide[0] else "y"].append(a)

  def matrix(t, first, second):
    order = groups["both"] + groups[first] + groups[second]
    sizes = [math.prod(shape[a] for a in groups[g]) for g in ("both", first, second)]
    return t.transpose(order + [a for a in range(rank) if a not in order]).reshape(sizes)

  out = matrix(x, "x", "summed") @ matrix(y, "summed", "y")
  order = groups["both"] + groups["x"] + groups["y"]
  ones = [a for a in groups["one"] if a not in axes]
  out = out.reshape([shape[a] for a in order] + [1] * len(ones))
  return out.transpose([(order + ones).index(a) for a in range(rank) if a not in axes])


CHAIN = ("SHRINK", "RESHAPE", "SHRINK", "RESHAPE", "EXPAND", "RESHAPE")


def skewed_row(node):
  """The row x of length 2n-1 where node sums x[j] … x[j+n-1] for each j < n, in the form that nn.cumsum writes; else None."""
  if node.op != "REDUCE" or node.attrs["op"] != "ADD" or node.attrs["axes"] != [len(node.srcs[0].shape) - 1]:
    return None
  x, n = node.srcs[0], node.shape[-1] if node.shape else 0
  for op in CHAIN:
    if x.op != op or len(x.srcs) != 1:
      return None
    if op == "EXPAND" and x.shape[-2:] != (n + 1, 2 * n - 1) or op == "SHRINK" and any(b for b, _ in x.attrs["bounds"]):
      return None
    x = x.srcs[0]
  fits = x.shape == (*node.shape[:-1], 2 * n - 1) and node.srcs[0].shape == (*node.shape, n)
  return x if fits else None


def window_sums(row):
  n = (row.shape[-1] + 1) // 2
  wide = np.float64 if row.dtype.kind == "f" else row.dtype
  total = np.cumsum(row, -1, dtype=wide)
  total[..., n:] -= total[..., :n - 1].copy()
  return total[..., n - 1:]
