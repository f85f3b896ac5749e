"""Sums most of whose terms are known: gathers, scatters, masks and counts, as frontends spell them."""
import numpy as np

from case import Case

NONE = np.float32(-np.inf)


def prefix_sum(c, ones, n):
  """Of a line: windows that end at each element, by a reshape of one skewed row, summed."""
  row = c.op("RESHAPE", c.op("PAD", ones, pad=[[n - 1, 0]]), shape=[1, 2 * n - 1])
  flat = c.op("RESHAPE", c.op("EXPAND", row, shape=[n + 1, 2 * n - 1]), shape=[(n + 1) * (2 * n - 1)])
  rows = c.op("RESHAPE", c.op("SHRINK", flat, bounds=[[0, 2 * n * n]]), shape=[n, 2 * n])
  return c.op("REDUCE", c.op("SHRINK", rows, bounds=[[0, n], [0, n]]), op="ADD", axes=[1])


def arange(c, n, dtype="i32", shape=None):
  ones = c.op("EXPAND", c.op("RESHAPE", c.const(1, dtype), shape=[1]), shape=[n])
  line = c.op("ADD", prefix_sum(c, ones, n), c.const(255 if dtype == "u8" else -1, dtype))
  return c.op("RESHAPE", line, shape=shape) if shape else line


def negated(c, condition): return c.op("CMPNE", condition, c.const("true", "bool"))


def equal(c, x, y): return negated(c, c.op("CMPNE", x, y))


def at_most(c, x, y): return negated(c, c.op("CMPLT", y, x))


def total(c, x, axis=1, op="ADD"): return c.op("REDUCE", x, op=op, axes=[axis])


def gathers():
  table = (np.arange(20, dtype=np.float32) * 1.5 - 7).reshape(5, 4)
  index = np.array([3, 0, 4, 4, -1, 5, 100, 2])
  rows = np.where(((index >= 0) & (index < 5))[:, None], table[np.clip(index, 0, 4)], np.float32(0))
  for dtype in ("i8", "i32", "i64", "u8"):
    c = Case(f"gather_{dtype}", "rows of a table by index, some of them not there: a selection, and a product with the hit")
    t, i = c.param("table", table), c.param("index", index.astype(np.int64).astype(dtype.replace("i", "int").replace("u", "uint")))
    hit = equal(c, arange(c, 5, dtype, [1, 5, 1]), c.op("RESHAPE", i, shape=[8, 1, 1]))
    c.result("selected", total(c, c.op("WHERE", hit, t, c.const("0.0", "f32")), 1), rows)
    c.result("product", total(c, c.op("MUL", c.op("CAST", hit, dtype="f32"), t), 1), rows)
    c.write()
  c = Case("gather_shifted", "the index compared with arange + 3, with 4 − arange, and as the place of a maximum")
  t, i = c.param("table", table), c.param("index", index.astype(np.int32))
  column = c.op("RESHAPE", i, shape=[8, 1, 1])
  line = arange(c, 5, "i32", [1, 5, 1])
  for name, where, at in (("later", c.op("ADD", line, c.const(3, "i32")), index - 3),
                          ("backwards", c.op("ADD", c.op("NEG", line), c.const(4, "i32")), 4 - index)):
    there = ((at >= 0) & (at < 5))[:, None]
    c.result(name, total(c, c.op("WHERE", equal(c, where, column), t, c.const("0.0", "f32")), 1), np.where(there, table[np.clip(at, 0, 4)], np.float32(0)))
    c.result(name + "_max", total(c, c.op("WHERE", equal(c, where, column), t, c.const("-inf", "f32")), 1, "MAX"), np.where(there, table[np.clip(at, 0, 4)], NONE))
  c.write()
  c = Case("gather_two_axes", "one element of a matrix an index pair, under another mask")
  t, a, b = c.param("table", table), c.param("a", np.array([4, 0, 2, 5], np.int32)), c.param("b", np.array([3, 3, 0, 1], np.int32))
  hit = c.op("AND", equal(c, arange(c, 5, "i32", [1, 5, 1]), c.op("RESHAPE", a, shape=[4, 1, 1])), equal(c, arange(c, 4, "i32", [1, 1, 4]), c.op("RESHAPE", b, shape=[4, 1, 1])))
  positive = c.op("CMPLT", c.const("0.0", "f32"), t)
  both = c.op("WHERE", c.op("AND", hit, positive), t, c.const("0.0", "f32"))
  c.result("picked", total(c, total(c, both, 2), 1), np.array([table[4, 3], 0, table[2, 0], 0], np.float32))
  c.write()


def masks():
  n = 32
  x = np.sin(np.arange(n * n)).astype(np.float32).reshape(n, n)
  i, k = np.arange(n)[:, None], np.arange(n)[None]
  c = Case("masked_sums", "sums and maxima of part of a row: up to the diagonal, behind it, in a window around it, up to a scalar")
  p = c.param("x", x)
  c.inputs["pos"] = np.array(9, np.int32)
  pos = c.op("PARAM", slot=1, dtype="i32", shape=[], name='"pos"', min=0, max=n - 1)
  row, column = arange(c, n, "i32", [n, 1]), arange(c, n, "i32", [1, n])
  window = c.op("AND", at_most(c, column, row), c.op("CMPLT", row, c.op("ADD", column, c.const(4, "i32"))))
  for name, mask, keep in (("until", at_most(c, column, row), k <= i), ("behind", c.op("CMPLT", row, column), k > i),
                           ("window", window, (k <= i) & (i < k + 4)), ("scalar", at_most(c, column, pos), np.broadcast_to(k <= 9, (n, n)))):
    c.result(name, total(c, c.op("WHERE", mask, p, c.const("0.0", "f32"))), np.where(keep, x.astype(np.float64), 0).sum(1).astype(np.float32), rtol=1e-5, atol=1e-5)
    c.result(name + "_max", total(c, c.op("WHERE", mask, p, c.const("-inf", "f32")), op="MAX"), np.where(keep, x, NONE).max(1))
    c.result(name + "_count", total(c, c.op("CAST", c.op("EXPAND", mask, shape=[n, n]), dtype="f32")), keep.sum(1).astype(np.float32))
    c.result(name + "_any", total(c, c.op("EXPAND", mask, shape=[n, n]), op="MAX"), keep.any(1))
  c.write()


def softmax(c, x, shape):
  one = [*shape[:-1], 1]
  m = c.op("RESHAPE", total(c, x, op="MAX"), shape=one)
  e = c.op("EXP2", c.op("MUL", c.op("ADD", x, c.op("NEG", m)), c.const("1.442695", "f32")))
  return c.op("MUL", e, c.op("RECIP", c.op("RESHAPE", total(c, e), shape=one)))


def masked_softmax():
  n = 20
  x = np.cos(np.arange(n * n) * 0.7).astype(np.float32).reshape(n, n)
  for name, first in (("", 0), ("_nan", 1)):
    c = Case(f"softmax_causal{name}", "a causal softmax and its product with a matrix" + (": of the first row nothing is left, which is NaN" if first else ""))
    p, v = c.param("x", x), c.param("v", x[:, ::-1].copy())
    row, column = arange(c, n, "i32", [n, 1]), arange(c, n, "i32", [1, n])
    hidden = c.op("CMPLT", row, c.op("ADD", column, c.const(first, "i32")))
    y = softmax(c, c.op("WHERE", hidden, c.const("-inf", "f32"), p), [n, n])
    product = total(c, c.op("MUL", c.op("RESHAPE", y, shape=[n, n, 1]), c.op("RESHAPE", v, shape=[1, n, n])), 1)
    with np.errstate(invalid="ignore"):
      s = np.where(np.arange(n)[:, None] < np.arange(n) + first, -np.inf, x.astype(np.float64))
      e = np.exp(s - s.max(1, keepdims=True))
      want = e / e.sum(1, keepdims=True)
      c.result("y", product, (want @ x[:, ::-1]).astype(np.float32), rtol=1e-5, atol=1e-5)
    c.write()


def scatters():
  rows = (np.arange(27, dtype=np.float32) * 0.5 - 3).reshape(9, 3)
  index = np.array([1, 5, 1, 0, 7, -2, 1, 5, 6], np.int32)

  def added(values, size):
    out = np.zeros((size, *values.shape[1:]), values.dtype)
    inside = (index >= 0) & (index < size)
    np.add.at(out, index[inside], values[inside])
    return out

  def hits(c, i, size): return equal(c, arange(c, size, "i32", [1, size, 1]), c.op("RESHAPE", i, shape=[9, 1, 1]))

  for dtype in ("f16", "f32", "i32"):
    values = rows.astype(np.int32) if dtype == "i32" else rows.astype(np.float32 if dtype == "f32" else np.float16)
    c = Case(f"scatter_{dtype}", "rows added up by an index, part of which is outside; also with arithmetic behind the sum")
    r, i = c.param("rows", values), c.param("index", index)
    term = c.op("MUL", c.op("CAST", hits(c, i, 7), dtype=dtype), c.op("RESHAPE", r, shape=[9, 1, 3]))
    s = total(c, term, 0)
    c.result("sums", s, added(values, 7))
    twice = c.op("WHERE", hits(c, i, 7), c.op("RESHAPE", c.op("ADD", r, r), shape=[9, 1, 3]), c.const(0, dtype))
    c.result("scaled", c.op("ADD", c.op("MUL", total(c, twice, 0), c.const(3, dtype)), c.const(1, dtype)), added(values, 7) * 6 + 1)
    c.write()
  c = Case("scatter_max", "the largest of the terms that an index sends to each element, and the smallest index that names it")
  r, i = c.param("rows", rows), c.param("index", index)
  want = np.full((7, 3), NONE)
  inside = (index >= 0) & (index < 7)
  np.maximum.at(want, index[inside], rows[inside])
  c.result("most", total(c, c.op("WHERE", hits(c, i, 7), c.op("RESHAPE", r, shape=[9, 1, 3]), c.const("-inf", "f32")), 0, "MAX"), want)
  c.write()
  c = Case("scatter_two_axes", "a histogram of pairs")
  a, b = c.param("a", index), c.param("b", index[::-1].copy())
  hit = c.op("AND", equal(c, arange(c, 7, "i32", [1, 7, 1]), c.op("RESHAPE", a, shape=[9, 1, 1])), equal(c, arange(c, 6, "i32", [1, 1, 6]), c.op("RESHAPE", b, shape=[9, 1, 1])))
  want = np.zeros((7, 6), np.int32)
  for x, y in zip(index, index[::-1]):
    if 0 <= x < 7 and 0 <= y < 6:
      want[x, y] += 1
  c.result("pairs", total(c, c.op("CAST", hit, dtype="i32"), 0), want)
  c.write()
  c = Case("scatter_many", "so many terms in one place that they are summed in a wider type")
  many = (np.arange(5001) % 7 * 0.1).astype(np.float32)
  v, i = c.param("values", many), c.param("index", np.full(5001, 2, np.int32))
  hit = equal(c, arange(c, 6, "i32", [1, 6]), c.op("RESHAPE", i, shape=[5001, 1]))
  c.result("sums", total(c, c.op("WHERE", hit, c.op("RESHAPE", v, shape=[5001, 1]), c.const("0.0", "f32")), 0),
           np.array([0, 0, many.astype(np.float64).sum(), 0, 0, 0], np.float32))
  c.write()


def write():
  gathers()
  masks()
  masked_softmax()
  scatters()
