"""Explicit loops: each kind of RANGE, each space of ALLOC and STAGE, each form of CALL."""
import numpy as np

from case import Case

KINDS = ["loop", "thread", "global", "local", "warp", "group", "upcast", "unroll", "reduce"]


def range_kinds():
  x = np.arange(24, dtype=np.float32).reshape(4, 6) - 7
  for kind in KINDS:
    c = Case(f"range_{kind}", f"a kernel whose inner loop is of kind {kind}; a sum that it encloses, or that it is")
    p, out, sums = c.param("x", x), c.buffer("out", np.zeros((4, 6), np.float32)), c.buffer("sums", np.zeros(4, np.float32))
    i, j = c.range(4, 0, "loop"), c.range(6, 1, kind)
    e = c.op("END", c.store(out, (i, j), c.op("MUL", c.load(p, i, j), c.const("2.0", "f32"))), i, j)
    k, r = c.range(4, 2, "loop" if kind == "reduce" else kind), c.range(6, 3, kind if kind in ("unroll", "loop") else "reduce")
    s = c.op("END", c.store(sums, (k,), c.op("REDUCE", c.load(p, k, r), r, op="ADD")), k)
    c.result("out", c.op("AFTER", out, e), x * 2)
    c.result("sums", c.op("AFTER", sums, s), x.sum(1))
    c.write()


def spaces():
  x = np.arange(12, dtype=np.int32).reshape(3, 4)
  for space in ["global", "local", "reg"]:
    c = Case(f"alloc_{space}", f"rows reversed through an ALLOC of space {space}; a STAGE of it")
    p, out = c.param("x", x), c.buffer("out", np.zeros((3, 4), np.int32))
    row, a, b = c.range(3, 0, "loop"), c.range(4, 1, "loop"), c.range(4, 2, "loop")
    tile = c.op("AFTER", c.op("ALLOC", slot=0, dtype="i32", shape=[4], space=space), row)
    full = c.op("AFTER", tile, c.op("END", c.store(tile, (a,), c.load(p, row, a)), a))
    back = c.op("ADD", c.const(3, "index"), c.op("NEG", b))
    done = c.op("AFTER", out, c.op("END", c.store(out, (row, b), c.load(full, back)), row, b))
    staged = c.op("STAGE", c.op("ADD", done, p), space=space)
    c.result("out", done, x[:, ::-1])
    c.result("staged", c.op("NEG", staged), -(x[:, ::-1] + x))
    c.write()


def calls():
  x = np.arange(6, dtype=np.float32).reshape(2, 3)
  c = Case("call_forms", "a body with a scalar argument called twice, one that calls it, a tuple, one that writes and gives a value")
  p, q = c.param("x", x), c.param("y", x + 1)
  state = c.buffer("state", np.full((2, 3), 5, np.float32))
  c.inputs["n"] = np.array(3, np.int32)
  n = c.op("PARAM", slot=2, dtype="i32", shape=[], name='"n"', min=0, max=9)
  a, s = c.op("PARAM", slot=0, dtype="f32", shape=[2, 3]), c.op("PARAM", slot=1, dtype="i32", shape=[])
  scaled = c.op("MUL", a, c.op("CAST", s, dtype="f32"))
  b = c.op("PARAM", slot=1, dtype="f32", shape=[2, 3])
  nested = c.op("ADD", a, c.op("CALL", scaled, b, c.const(2, "i32")))
  pair = c.op("TUPLE", c.op("ADD", a, b), c.op("MAX", a, b))
  accumulate = c.op("AFTER", a, c.op("STORE", a, c.op("ADD", a, b)))
  c.result("once", c.op("CALL", scaled, p, n), x * 3)
  c.result("again", c.op("CALL", scaled, q, n), (x + 1) * 3)
  c.result("nested", c.op("CALL", nested, p, q), x + 2 * (x + 1))
  t = c.op("CALL", pair, p, q)
  c.result("first", c.op("GET", t, index=0), 2 * x + 1)
  c.result("second", c.op("GET", t, index=1), x + 1)
  c.result("written", c.op("CALL", accumulate, state, p), 5 + x)
  c.result("of_view", c.op("CALL", nested, c.op("FLIP", p, axes=[1]), q), x[:, ::-1] + 2 * (x + 1))
  c.write()


def write():
  range_kinds()
  spaces()
  calls()
