"""CALLs of bodies that are large enough to stay functions, in all the forms that a CALL has."""
import numpy as np

from case import Case

ROUNDS, SUM_EVERY = 24, 10  # rounds of three nodes each


def mixed(x):
  for k in range(ROUNDS):
    x = x * np.int32(3) + np.int32(k)
    if k % SUM_EVERY == 0:
      x = x + x.sum(-1, keepdims=True, dtype=np.int32)
  return x


class Body:
  """Writes the nodes of one body: PARAMs of its own, and arithmetic that takes many nodes."""

  def __init__(self, case):
    self.c = case

  def param(self, slot, shape, dtype="i32", **more):
    return self.c.op("PARAM", slot=slot, dtype=dtype, shape=list(shape), **more)

  def mixed(self, x, shape):
    for k in range(ROUNDS):
      x = self.c.op("ADD", self.c.op("MUL", x, self.c.const(3, "i32")), self.c.const(k, "i32"))
      if k % SUM_EVERY == 0:
        x = self.c.op("ADD", x, self.rows(x, shape))
    return x

  def rows(self, x, shape):
    """Sums along the last axis, which keeps one element."""
    return self.c.op("RESHAPE", self.c.op("REDUCE", x, op="ADD", axes=[len(shape) - 1]), shape=[*shape[:-1], 1])


def numbers(*shape, first=1):
  return np.arange(first, first + int(np.prod(shape)), dtype=np.int32).reshape(shape)


def values():
  c = Case("call_value", "a chain of CALLs: each is given what the one before gives, and what the program computes")
  b, x, w = Body(c), numbers(3, 4), [numbers(4, first=k) for k in (5, 7, 9)]
  p, q = b.param(0, (3, 4)), b.param(1, (4,))
  body = b.mixed(c.op("ADD", p, b.rows(c.op("MUL", p, q), (3, 4))), (3, 4))
  y, want = c.param("x", x), x
  for k in range(3):
    y = c.op("CALL", body, y, c.op("ADD", c.param(f"w{k}", w[k]), c.const(k, "i32")), name='"layer"')
    want = mixed(want + (want * (w[k] + np.int32(k))).sum(1, keepdims=True, dtype=np.int32))
  c.result("y", y, want)
  c.result("shifted", c.op("ADD", y, c.const(1, "i32")), want + np.int32(1))
  c.write()


def tuples():
  c = Case("call_tuple", "a body that gives a tensor, a scalar and a place of its own; a result that nobody uses")
  b, x = Body(c), [numbers(2, 3), numbers(2, 3, first=-4)]
  p = b.param(0, (2, 3))
  m = b.mixed(p, (2, 3))
  scratch = c.op("ALLOC", slot=0, dtype="i32", shape=[2, 3], space="global")
  kept = c.op("AFTER", scratch, c.op("STORE", scratch, c.op("NEG", m)))
  body = c.op("TUPLE", m, c.op("REDUCE", m, op="ADD", axes=[0, 1]), kept, c.op("MAX", m, p))
  for k in range(2):
    t = c.op("CALL", body, c.param(f"x{k}", x[k]))
    want = mixed(x[k])
    c.result(f"tensor{k}", c.op("GET", t, index=0), want)
    c.result(f"sum{k}", c.op("ADD", c.op("GET", t, index=1), c.const(1, "i32")), want.sum(dtype=np.int32) + np.int32(1))
    c.result(f"place{k}", c.op("GET", t, index=2), -want)
  c.write()


def effects():
  c = Case("call_effect", "void bodies: one write each, to places that the caller reads before and after")
  b, x = Body(c), [numbers(2, 3), numbers(2, 3, first=20)]
  p, q = b.param(0, (2, 3)), b.param(1, (2, 3))
  body = c.op("STORE", p, c.op("ADD", b.mixed(p, (2, 3)), q))
  given = c.param("given", numbers(2, 3, first=100))
  for k in range(2):
    place = c.buffer(f"state{k}", x[k])
    call = c.op("CALL", body, place, given)
    want = mixed(x[k]) + numbers(2, 3, first=100)
    c.result(f"before{k}", c.op("NEG", place), -x[k])
    c.result(f"after{k}", c.op("AFTER", place, call), want)
    c.result(f"sum{k}", c.op("REDUCE", c.op("AFTER", place, call), op="ADD", axes=[0]), want.sum(0, dtype=np.int32))
  c.write()


def nested():
  c = Case("call_nested", "a body that calls another twice, one that is called here as well")
  b, x = Body(c), [numbers(2, 3), numbers(2, 3, first=9)]
  p, q = b.param(0, (2, 3)), b.param(1, (2, 3))
  inner = b.mixed(c.op("ADD", p, q), (2, 3))
  outer = c.op("MUL", c.op("CALL", inner, p, c.op("CALL", inner, q, p)), p)
  y, z = c.param("x", x[0]), c.param("y", x[1])
  want = lambda a, b: mixed(a + mixed(b + a)) * a
  once = c.op("CALL", outer, y, z)
  c.result("once", once, want(*x))
  c.result("again", c.op("CALL", outer, once, y), want(want(*x), x[0]))
  c.result("inner", c.op("CALL", inner, once, z), mixed(want(*x) + x[1]))
  c.write()


def in_place():
  c = Case("call_in_place", "caches that bodies write a row of, at a position; a row of one cache is written twice")
  b, caches, rows = Body(c), [numbers(4, 3), numbers(4, 3, first=50)], [numbers(1, 3, first=k) for k in (3, 30, 300)]
  p, q, at = b.param(0, (4, 3)), b.param(1, (1, 3)), b.param(2, (), min=0, max=3)
  window = c.op("SHRINK", p, at, c.const(0, "i32"), bounds=[[0, 1], [0, 3]])
  kept = c.op("AFTER", p, c.op("STORE", window, b.mixed(q, (1, 3))))
  body = c.op("REDUCE", c.op("MUL", kept, c.const(2, "i32")), op="ADD", axes=[0])
  c.inputs["pos"] = np.array(2, np.int32)
  pos = c.op("PARAM", slot=0, dtype="i32", shape=[], name='"pos"', min=0, max=3)
  c.slots["PARAM"] = 1
  given = [c.param(f"row{k}", r) for k, r in enumerate(rows)]
  place, place1 = [c.buffer(f"cache{k}", x) for k, x in enumerate(caches)]

  def step(cache, row):
    out = cache.copy()
    out[2] = mixed(row)[0]
    return out, (out * np.int32(2)).sum(0, dtype=np.int32)

  first = c.op("CALL", body, place, given[0], pos)
  second = c.op("CALL", body, c.op("AFTER", place, first), given[1], pos)
  other = c.op("CALL", body, place1, given[2], pos)
  once, sum0 = step(caches[0], rows[0])
  twice, sum1 = step(once, rows[1])
  c.result("sum0", first, sum0)
  c.result("sum1", second, sum1)
  c.result("between", c.op("NEG", c.op("AFTER", place, first)), -once)
  c.result("twice", c.op("AFTER", place, second), twice)
  c.result("sum2", other, step(caches[1], rows[2])[1])
  c.result("old", c.op("MUL", place, c.const(5, "i32")), caches[0] * np.int32(5))
  c.write()


def read_again():
  c = Case("call_read_again", "arguments that the caller reads again: a value, and old and new contents of what a CALL has written")
  b, x, s = Body(c), numbers(3), [numbers(3, first=k) for k in (10, 40)]
  p, q = b.param(0, (3,)), b.param(1, (3,))
  body = c.op("AFTER", b.mixed(q, (3,)), c.op("STORE", p, c.op("MUL", p, q)))
  value = c.op("MUL", c.param("x", x), c.const(7, "i32"))
  for k in range(2):
    place = c.buffer(f"state{k}", s[k])
    call = c.op("CALL", body, place, value)
    new, want = s[k] * (x * np.int32(7)), mixed(x * np.int32(7))
    c.result(f"given{k}", c.op("ADD", c.op("ADD", call, value), place), want + x * np.int32(7) + s[k])
    # What is read here is needed by the CALL that overwrites it, once more.
    c.result(f"both{k}", c.op("MUL", c.op("AFTER", place, call), place), new * s[k])
  c.result("value", value, x * np.int32(7))
  c.write()


def same_place():
  c = Case("call_same_place", "one place for two arguments: the same contents, old and new ones, and a view of it")
  b, x = Body(c), numbers(2, 3)
  p, q = b.param(0, (2, 3)), b.param(1, (2, 3))
  body = b.mixed(c.op("MUL", p, c.op("ADD", q, c.const(1, "i32"))), (2, 3))
  want = lambda a, b: mixed(a * (b + np.int32(1)))
  place = c.buffer("state", x)
  c.result("same", c.op("CALL", body, place, place), want(x, x))
  new = c.op("AFTER", place, c.op("STORE", place, c.op("ADD", place, c.const(100, "i32"))))
  c.result("old_and_new", c.op("CALL", body, place, new), want(x, x + np.int32(100)))
  c.result("view", c.op("CALL", body, c.op("FLIP", new, axes=[1]), new), want((x + np.int32(100))[:, ::-1], x + np.int32(100)))
  c.result("new", new, x + np.int32(100))
  c.write()


def scalars():
  c = Case("call_scalars", "scalar arguments: of the program, computed, constant, a result of another CALL")
  b, x = Body(c), numbers(5)
  p, at = b.param(0, (5,)), b.param(1, (), min=0, max=2)
  body = b.mixed(c.op("MUL", c.op("SHRINK", p, at, bounds=[[0, 3]]), at), (3,))
  want = lambda a, at: mixed(a[at:at + 3] * np.int32(at))
  c.inputs["n"] = np.array(1, np.int32)
  n = c.op("PARAM", slot=0, dtype="i32", shape=[], name='"n"', min=0, max=1)
  c.slots["PARAM"] = 1
  y = c.param("x", x)
  twice = c.op("MUL", y, c.const(2, "i32"))
  c.result("given", c.op("CALL", body, y, n), want(x, 1))
  c.result("again", c.op("CALL", body, twice, n), want(x * 2, 1))
  c.result("computed", c.op("CALL", body, y, c.op("ADD", n, c.const(1, "i32"))), want(x, 2))
  c.result("constant", c.op("CALL", body, y, c.const(2, "i32")), want(x, 2))
  c.write()


def empty():
  c = Case("call_empty", "arguments and results without elements, and a sum of them")
  b = Body(c)
  p, q = b.param(0, (0, 3)), b.param(1, (3,))
  m = b.mixed(c.op("ADD", p, q), (0, 3))
  body = c.op("TUPLE", m, c.op("ADD", q, c.op("REDUCE", m, op="ADD", axes=[0])))
  x, none = numbers(3), np.zeros((0, 3), np.int32)
  y, w = c.param("x", none), c.param("w", x)
  t = c.op("CALL", body, y, w)
  u = c.op("CALL", body, c.op("GET", t, index=0), c.op("GET", t, index=1))
  c.result("none", c.op("GET", u, index=0), none)
  c.result("sum", c.op("GET", u, index=1), x)
  c.write()


def storage():
  c = Case("call_storage", "bodies that use the program's BUFFERs: one that they read, one that they count in")
  b, x, w = Body(c), [numbers(3), numbers(3, first=8)], numbers(3, first=2)
  weights, count = c.buffer("weights", w), c.buffer("count", np.zeros(3, np.int32))
  p = b.param(0, (3,))
  reads = b.mixed(c.op("MUL", p, weights), (3,))
  writes = c.op("STORE", c.op("AFTER", count, p), c.op("ADD", count, b.mixed(p, (3,))))
  y = [c.param(f"x{k}", x[k]) for k in range(2)]
  for k in range(2):
    c.result(f"y{k}", c.op("CALL", reads, y[k]), mixed(x[k] * w))
  c.result("count", c.op("AFTER", count, c.op("CALL", writes, y[0])), mixed(x[0]))
  changed = c.op("AFTER", weights, c.op("STORE", weights, c.op("ADD", weights, c.const(1, "i32"))))
  c.result("weights", changed, w + np.int32(1))
  c.write()


def table():
  c = Case("call_table", "a table that each CALL of a body computes alike: of nothing, of a scalar, of an argument that they share")
  b, x = Body(c), [numbers(4), numbers(4, first=6)]
  p, q, n = b.param(0, (4,)), b.param(1, (4,)), b.param(2, ())
  ones = c.op("EXPAND", c.op("RESHAPE", c.const(1, "i32"), shape=[1]), shape=[4])
  triangle = c.op("SHRINK", c.op("RESHAPE", c.op("SHRINK", c.op("RESHAPE", c.op("EXPAND", c.op("RESHAPE", c.op("PAD", ones, pad=[[3, 0]]), shape=[1, 7]), shape=[5, 7]), shape=[35]),
                                                                bounds=[[0, 32]]), shape=[4, 8]), bounds=[[0, 4], [0, 4]])
  angles = b.mixed(c.op("MUL", c.op("ADD", c.op("REDUCE", triangle, op="ADD", axes=[1]), n), q), (4,))
  scores = c.op("MUL", c.op("RESHAPE", angles, shape=[4, 1]), c.op("RESHAPE", p, shape=[1, 4]))
  body = c.op("ADD", c.op("REDUCE", scores, op="ADD", axes=[1]), p)
  c.inputs["n"] = np.array(3, np.int32)
  scalar = c.op("PARAM", slot=0, dtype="i32", shape=[], name='"n"')
  c.slots["PARAM"] = 1
  shared, w = c.param("shared", numbers(4, first=2)), numbers(4, first=2)
  angle = mixed((numbers(4) + np.int32(3)) * w)
  for k in range(2):
    c.result(f"y{k}", c.op("CALL", body, c.param(f"x{k}", x[k]), shared, scalar), (angle[:, None] * x[k][None]).sum(1, dtype=np.int32) + x[k])
  c.write()


def in_loop():
  c = Case("call_in_loop", "a body that is called in a loop, and outside of it")
  b, x = Body(c), numbers(4)
  p, v = b.param(0, (4,)), b.param(1, ())
  body = b.mixed(c.op("ADD", p, v), (4,))
  y = c.param("x", x)
  i = c.range(3, 0, "loop")
  out = c.op("ALLOC", slot=0, dtype="i32", shape=[3, 4], space="global")
  at = c.op("CAST", i, dtype="i32")
  store = c.op("STORE", c.op("INDEX", out, i), c.op("CALL", body, y, at))
  c.result("rows", c.op("AFTER", out, c.op("END", store, i)), np.stack([mixed(x + np.int32(k)) for k in range(3)]))
  c.result("outside", c.op("CALL", body, y, c.const(9, "i32")), mixed(x + np.int32(9)))
  c.write()


def write():
  for form in (values, tuples, effects, nested, in_place, read_again, same_place, scalars, empty, storage, table, in_loop):
    form()
