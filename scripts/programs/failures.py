"""The kinds of fault that users reported of compilers like this one, as programs: fkNN_…, by the numbers of README.md."""
import numpy as np

from case import Case

F = np.float32


def case(name, comment, build):
  c = Case(name, comment)
  build(c)
  c.write()


def padding():
  def pad_recip(c):
    x = np.array([2, 4], F)
    r = c.op("PAD", c.op("RECIP", c.param("x", x)), pad=[[1, 1]])
    c.result("y", r, np.array([0, .5, .25, 0], F))
    c.result("sum", c.op("REDUCE", r, op="ADD", n=1), F(.75))
  case("fk01_pad_after_recip", "a PAD that moves before RECIP would pad with infinity", pad_recip)

  def odd_sum(c):
    c.result("y", c.op("REDUCE", c.op("RECIP", c.param("x", np.ones(13, F))), op="ADD", n=1), F(13))
  case("fk02_sum_of_thirteen", "no tile or vector divides 13", odd_sum)

  def tails(c):
    e = c.op("EXP2", c.param("x", np.zeros((1, 10), F)))
    c.result("sum", c.op("REDUCE", c.op("PERMUTE", e, axes=[1, 0]), op="ADD", n=1), np.array([10], F))
    c.result("max", c.op("REDUCE", c.op("NEG", c.param("ones", np.ones(11, F))), op="MAX", n=1), F(-1))
  case("fk03_tail_fillers", "what fills a tail is the reduction's identity", tails)

  def two_users(c):
    x = np.arange(1, 4097, dtype=F)
    p = c.op("PAD", c.op("MUL", c.param("x", x), c.const("2.0", "f32")), pad=[[3, 2]])
    c.result("y", p, np.pad(2 * x, (3, 2)))
    c.result("sum", c.op("REDUCE", p, op="MAX", n=1), F(8192))
  case("fk04_padded_two_users", "the pad cells stay zero for both users", two_users)

  def shrink(c):
    x = np.arange(10, dtype=F)
    y = c.op("ADD", c.op("MUL", c.param("x", x), c.const("3.0", "f32")), c.const("1.0", "f32"))
    c.result("y", c.op("SHRINK", y, bounds=[[2, 7]]), (3 * x + 1)[2:7])
  case("fk05_shrink_after_affine", "nothing outside the window is read", shrink)


def integers():
  def division(c):
    x, y = np.array([-7, -7, 7, 7, 5, 0, -2**31, -2**31], np.int32), np.array([-2, 2, -2, 2, 0, 0, -1, 0], np.int32)
    a, b = c.param("x", x), c.param("y", y)
    c.result("div", c.op("FLOORDIV", a, b), np.array([3, -4, -4, 3, 0, 0, -2**31, 0], np.int32))
    c.result("mod", c.op("FLOORMOD", a, b), np.array([-1, 1, -1, 1, 0, 0, 0, 0], np.int32))
    c.result("self", c.op("FLOORDIV", a, a), np.array([1, 1, 1, 1, 1, 0, 1, 1], np.int32))
    c.result("zero", c.op("FLOORMOD", a, a), np.zeros(8, np.int32))
  case("fk06_floor_division", "signs, zero, the least integer by -1", division)

  def ceilings(c):
    m = c.op("NEG", c.op("FLOORDIV", c.op("NEG", c.param("x", np.array([-127, 100], np.int8))), c.const(7, "i8")))
    c.result("ceil", m, np.array([-18, 15], np.int8))
    c.result("big", c.op("FLOORDIV", c.param("y", np.array([1 - 2**63], np.int64)), c.const(-1, "i64")), np.array([2**63 - 1], np.int64))
    a = c.op("MUL", c.op("ADD", c.param("a", np.array([-85], np.int64)), c.const(-73, "i64")), c.const(-8040, "i64"))
    c.result("far", c.op("FLOORDIV", a, c.const(69, "i64")), np.array([18410], np.int64))
  case("fk07_wide_division", "ceilings by two negations, products before a division", ceilings)

  def rewrites(c):
    r = np.arange(-50, 50, dtype=np.int64)
    x = c.param("r", r)
    const = lambda v: c.const(v, "i64")
    inner = c.op("ADD", c.op("MUL", x, const(-6)), const(5))
    c.result("div", c.op("FLOORDIV", inner, const(4)), (-6 * r + 5) // 4)
    c.result("mod", c.op("FLOORMOD", inner, const(4)), (-6 * r + 5) % 4)
    c.result("nested", c.op("FLOORMOD", c.op("MUL", c.op("FLOORDIV", x, const(3)), const(4)), const(7)), (r // 3 * 4) % 7)
    c.result("twice", c.op("FLOORMOD", c.op("ADD", c.op("MUL", x, const(2)), const(1)), const(20)), (r * 2 + 1) % 20)
  case("fk08_division_rewrites", "each for every value of the range", rewrites)

  def exact_quotients(c):
    k, q = [g.ravel() for g in np.meshgrid(np.arange(1, 60), np.arange(1, 60), indexing="ij")]
    c.result("y", c.op("FLOORDIV", c.param("x", (k * q).astype(np.int32)), c.param("k", k.astype(np.int32))), q.astype(np.int32))
  case("fk09_exact_quotients", "no reciprocal of a float is near enough", exact_quotients)

  def wraparound(c):
    a = c.op("MUL", c.param("u", np.array([0xABCD17D6], np.uint32)), c.const(0xAABBCCDD, "u32"))
    c.result("u", a, np.array([1147018174], np.uint32))
    b = c.op("MUL", c.param("i", np.array([0xABCD17D6 - 2**32], np.int32)), c.const(10, "i32"))
    c.result("i", b, np.array([-1241321892], np.int32))
    c.result("over", c.op("FLOORDIV", b, c.const(11, "i32")), np.array([-112847445], np.int32))
    c.result("byte", c.op("ADD", c.param("b", np.array([250], np.uint8)), c.const(250, "u8")), np.array([244], np.uint8))
    c.result("folded", c.op("MUL", c.const(0xABCD17D6, "u32"), c.const(0xAABBCCDD, "u32")), np.uint32(1147018174))
  case("fk10_wraparound", "folded and at run time alike", wraparound)

  def promotions(c):
    b = c.param("b", np.array([128, 6, 7], np.uint8))
    c.result("sum", c.op("CAST", c.op("ADD", b, b), dtype="i16"), np.array([0, 12, 14], np.int16))
    c.result("less", c.op("CMPLT", c.op("NEG", b), c.const(4, "u8")), np.array([False, False, False]))
    c.result("float", c.op("CAST", c.op("NEG", b), dtype="f32"), np.array([128, 250, 249], F))
    m = c.op("ADD", c.op("MUL", b, c.const(255, "u8")), c.const(255, "u8"))
    c.result("top", c.op("CMPNE", m, c.op("EXPAND", c.op("RESHAPE", c.op("REDUCE", m, op="MAX", n=1), shape=[1]), shape=[3])), np.array([True, False, True]))
  case("fk11_no_promotion", "C would compute in int", promotions)

  def narrowing(c):
    x = np.arange(256, dtype=np.int32)
    less = c.op("CMPLT", c.op("CAST", c.param("x", x), dtype="i8"), c.const(0, "i8"))
    c.result("negative", c.op("REDUCE", c.op("CAST", less, dtype="i32"), op="ADD", n=1), np.int32(128))
    s = c.param("s", np.array([46341], np.int32))
    c.result("square", c.op("CMPLT", c.op("MUL", s, s), c.const(0, "i32")), np.array([True]))
  case("fk12_ranges_wrap", "a cast wraps, and a square may be negative", narrowing)

  def large_index(c):
    n = 2**31 + 3
    x = c.op("EXPAND", c.param("x", np.array([7], F)), shape=[n])
    c.result("y", c.op("SHRINK", x, bounds=[[n - 1, n]]), np.array([7], F))
  case("fk13_large_index", "an index past 2^31", large_index)


def floats():
  def nan_max(c):
    for n in (1, 7, 8, 9, 33):
      rows = np.tile(np.arange(n, dtype=F), (n, 1))
      rows[np.arange(n), np.arange(n)] = np.nan
      p = c.op("PERMUTE", c.param(f"x{n}", rows), axes=[1, 0])
      c.result(f"max{n}", c.op("REDUCE", p, op="MAX", n=1), np.full(n, np.nan, F))
    x = c.param("x", np.array([np.nan, 1, 2], F))
    c.result("kept", c.op("ADD", c.param("y", np.ones(3, F)), c.op("MUL", x, c.const("0.0", "f32"))), np.array([np.nan, 1, 1], F))
    c.result("log", c.op("LOG2", c.op("EXP2", c.param("e", np.array([128], F)))), np.array([np.inf], F))
  case("fk14_nan", "in every place of a maximum; times zero; 2^128", nan_max)

  def signs(c):
    z = c.param("z", np.array([-0.0], F))
    c.result("recip", c.op("RECIP", c.op("ADD", z, c.const("0.0", "f32"))), np.array([np.inf], F))
    t = np.array([0.1, 70000, 5000], F)
    h = c.op("CAST", c.param("x", t), dtype="f16")
    with np.errstate(over="ignore"):
      c.result("narrow", c.op("CAST", h, dtype="f32"), t.astype(np.float16).astype(F), rtol=0, atol=0)
    c.result("square", c.op("MUL", h, h), np.array([0.01, np.inf, np.inf], np.float16))
  case("fk15_zero_and_half", "-0 + 0 is 0; a narrowing cast rounds; 5000 squared in f16", signs)

  def casts(c):
    for n in (1, 449):
      x = np.resize(np.array([np.nan, 300, -5, 77.9, np.inf], F), n)
      p = c.param(f"x{n}", x)
      c.result(f"u8_{n}", c.op("CAST", p, dtype="u8"), np.resize(np.array([0, 255, 0, 77, 255], np.uint8), n))
      c.result(f"i32_{n}", c.op("CAST", p, dtype="i32"), np.resize(np.array([0, 300, -5, 77, 2**31 - 1], np.int32), n))
    bits = c.op("BITCAST", c.param("bits", np.array([0x7FFF8C22, 0x7F800001], np.uint32)), dtype="f32")
    b = c.op("CAST", c.op("CAST", bits, dtype="bf16"), dtype="f32")
    c.result("nan", c.op("CMPNE", b, b), np.array([True, True]))
  case("fk16_casts", "the same for one element and for many; NaN stays NaN in bf16", casts)

  def sums(c):
    x = np.repeat(np.array([32000, -32000], np.float16), 4)
    c.result("back", c.op("REDUCE", c.param("x", x), op="ADD", n=1), np.float16(0))
    c.result("ones", c.op("REDUCE", c.param("ones", np.ones(20000, np.float16)), op="ADD", n=1), np.float16(20000), rtol=0, atol=0)
    many = c.op("EXPAND", c.param("one", np.ones(1, F)), shape=[2**21])
    c.result("many", c.op("REDUCE", many, op="ADD", n=1), F(2**21), rtol=0, atol=0)
  case("fk17_sums", "f16 sums in f32, long ones in blocks", sums)

  def variance(c):
    for name, x in (("a", np.array([80000, 80001, 80002, 80003], F)), ("b", (10000 + np.arange(8) * 1e-3).astype(F))):
      n = len(x)
      p = c.param(name, x)
      part = c.const(repr(1.0 / n), "f32")
      spread = lambda v: c.op("EXPAND", c.op("RESHAPE", v, shape=[1]), shape=[n])
      d = c.op("ADD", p, c.op("NEG", spread(c.op("MUL", c.op("REDUCE", p, op="ADD", n=1), part))))
      var = c.op("MUL", c.op("REDUCE", c.op("MUL", d, d), op="ADD", n=1), part)
      wide = x.astype(np.float64)
      c.result(f"var_{name}", var, F(wide.var()), rtol=0.1, atol=1e-9)
    row = np.full((2, 4), -np.inf, F)
    row[1] = [1, 2, 3, -np.inf]
    p = c.param("row", row)
    over = lambda v, op: c.op("EXPAND", c.op("RESHAPE", c.op("REDUCE", c.op("PERMUTE", v, axes=[1, 0]), op=op, n=1), shape=[2, 1]), shape=[2, 4])
    e = c.op("EXP2", c.op("ADD", p, c.op("NEG", over(p, "MAX"))))
    soft = np.exp2(row[1] - 3)
    c.result("softmax", c.op("MUL", e, c.op("RECIP", over(e, "ADD"))), np.stack([np.full(4, np.nan, F), soft / soft.sum()]))
  case("fk18_variance_softmax", "no one-pass variance; a row of -inf is NaN", variance)


def scheduling():
  def views(c):
    x = np.arange(6, dtype=F).reshape(2, 3)
    p = c.param("x", x)
    c.result("padded", c.op("RESHAPE", c.op("PAD", p, pad=[[0, 0], [1, 2]]), shape=[3, 4]), np.pad(x, ((0, 0), (1, 2))).reshape(3, 4))
    c.result("turned", c.op("RESHAPE", c.op("PERMUTE", p, axes=[1, 0]), shape=[2, 3]), x.T.reshape(2, 3))
    c.result("flipped", c.op("RESHAPE", c.op("FLIP", p, axes=[1]), shape=[6]), x[:, ::-1].reshape(6))
    c.result("cut", c.op("RESHAPE", c.op("SHRINK", p, bounds=[[0, 2], [1, 3]]), shape=[4]), x[:, 1:].reshape(4))
    ones = c.op("EXPAND", c.op("RESHAPE", c.const(1, "i32"), shape=[1]), shape=[5])
    wide = c.op("RESHAPE", c.op("EXPAND", c.op("RESHAPE", c.op("PAD", ones, pad=[[4, 0]]), shape=[1, 9]), shape=[6, 9]), shape=[54])
    count = c.op("REDUCE", c.op("SHRINK", c.op("RESHAPE", c.op("SHRINK", wide, bounds=[[0, 50]]), shape=[5, 10]), bounds=[[0, 5], [0, 5]]), op="ADD", n=1)
    got = np.cumsum(np.ones(5, np.int32)).astype(np.int32)
    c.result("count", count, got)
    c.result("same", c.op("ADD", count, c.op("FLIP", count, axes=[0])), got + got[::-1])
  case("fk19_views", "reshapes that do not merge into one view", views)

  def channels(c):
    x = np.arange(48, dtype=F).reshape(2, 3, 2, 4) / 8
    p = c.op("PERMUTE", c.param("x", x), axes=[0, 2, 3, 1])
    back = lambda v: c.op("EXPAND", c.op("RESHAPE", v, shape=[1, 3, 1, 1]), shape=[2, 3, 2, 4])
    total = c.op("REDUCE", p, op="ADD", n=3)
    top = c.op("REDUCE", p, op="MAX", n=3)
    square = c.op("REDUCE", c.op("MUL", p, p), op="ADD", n=3)
    low = c.op("NEG", c.op("REDUCE", c.op("NEG", p), op="MAX", n=3))
    parts = [back(v) for v in (total, top, square, low)]
    y = c.op("ADD", c.op("ADD", parts[0], parts[1]), c.op("ADD", parts[2], parts[3]))
    axes = (0, 2, 3)
    want = (x.sum(axes, keepdims=True) + x.max(axes, keepdims=True)) + ((x * x).sum(axes, keepdims=True) + x.min(axes, keepdims=True))
    c.result("y", y, np.broadcast_to(want, x.shape))
    m = c.op("PERMUTE", c.param("s", x), axes=[1, 0, 2, 3])
    mid = lambda v: c.op("EXPAND", c.op("RESHAPE", v, shape=[2, 1, 2, 4]), shape=[2, 3, 2, 4])
    e = c.op("EXP2", c.op("ADD", c.op("PERMUTE", m, axes=[1, 0, 2, 3]), c.op("NEG", mid(c.op("REDUCE", m, op="MAX", n=1)))))
    r = mid(c.op("RECIP", c.op("REDUCE", c.op("PERMUTE", e, axes=[1, 0, 2, 3]), op="ADD", n=1)))
    w = np.exp2(x - x.max(1, keepdims=True))
    c.result("softmax", c.op("MUL", e, r), (w / w.sum(1, keepdims=True)).astype(F))
  case("fk20_four_reductions", "of one tensor, broadcast back; a softmax over a middle axis", channels)

  def order(c):
    bx, by = c.buffer("x", np.array([1], F)), c.buffer("y", np.array([2], F))
    e = c.op("ADD", bx, c.const("10.0", "f32"))
    x2 = c.op("AFTER", bx, c.op("STORE", bx, c.op("MUL", bx, c.const("2.0", "f32"))))
    y2 = c.op("AFTER", by, c.op("STORE", by, c.op("ADD", by, x2)))
    c.result("z", c.op("ADD", y2, e), np.array([15], F))
    p = c.buffer("p", np.array([1, 2], F))
    p10 = c.op("AFTER", p, c.op("STORE", p, c.op("MUL", p, c.const("10.0", "f32"))))
    c.result("view", c.op("FLIP", p10, axes=[0]), np.array([20, 10], F))
    c.result("p", p10, np.array([10, 20], F))
  case("fk21_reads_before_writes", "e keeps the old x; a view of what is updated in place", order)

  def shift(c):
    b = c.buffer("b", np.arange(8, dtype=F))
    s = c.op("STORE", c.op("SHRINK", b, bounds=[[1, 8]]), c.op("SHRINK", b, bounds=[[0, 7]]))
    c.result("b", c.op("AFTER", b, s), np.array([0, 0, 1, 2, 3, 4, 5, 6], F))
  case("fk22_shift_by_one", "a write whose source overlaps its target", shift)

  def accumulator(c):
    x = np.array([3, 1, 4, 1, 5], F)
    p = c.param("x", x)
    i = c.range(5, 0, "loop")
    acc, last = (c.op("ALLOC", slot=k, dtype="f32", shape=[], space="reg") for k in (0, 1))
    start = c.op("STORE", acc, c.const("0.0", "f32")), c.op("STORE", last, c.const("0.0", "f32"))
    a, l = c.op("AFTER", acc, start[0], i), c.op("AFTER", last, start[1], i)
    old, held = c.op("LOAD", a), c.op("LOAD", l)
    up = c.op("STORE", a, c.op("ADD", c.load(p, i), old)), c.op("STORE", l, c.op("ADD", c.op("MUL", held, c.const("2.0", "f32")), old))
    loop = c.op("END", c.op("SINK", *up), i)
    c.result("sum", c.op("AFTER", acc, loop), F(14))
    want, total = F(0), F(0)
    for v in x:
      want, total = F(want * 2 + total), F(total + v)
    c.result("last", c.op("AFTER", last, loop), want)
    y = c.param("y", np.array([0.5, -0.25], F))
    for _ in range(20):
      y = c.op("ADD", c.op("MUL", y, y), y)
    w = np.array([0.5, -0.25], np.float64)
    with np.errstate(over="ignore"):
      for _ in range(20):
        w = w * w + w
    c.result("chain", y, w.astype(F), rtol=1e-4, atol=1e-6)
    e = c.op("EXP2", c.param("e", np.array([[1], [2]], F)))
    c.result("spread", c.op("MUL", c.op("EXPAND", e, shape=[2, 3]), c.const("3.0", "f32")), np.repeat(np.array([[6], [12]], F), 3, 1))
  case("fk23_accumulators", "read and written in one iteration; x*x + x twenty times", accumulator)

  def fan_in(c):
    args = [c.param(f"a{k}", np.array([k], F)) for k in range(300)]
    total = args[0]
    for a in args[1:]:
      total = c.op("ADD", total, a)
    c.result("y", total, np.array([299 * 150], F))
  case("fk24_fan_in", "a kernel of many arguments; chains of 100,000 ops are a benchmark's", fan_in)

  def masked(c):
    x = np.array([[1, -np.inf, 2], [-np.inf, -np.inf, -np.inf]], F)
    p = c.op("PERMUTE", c.param("x", x), axes=[1, 0])
    m = c.op("REDUCE", p, op="MAX", n=1)
    e = c.op("EXP2", c.op("ADD", p, c.op("NEG", c.op("EXPAND", c.op("RESHAPE", m, shape=[1, 2]), shape=[3, 2]))))
    s = c.op("ADD", m, c.op("LOG2", c.op("REDUCE", e, op="ADD", n=1)))
    c.result("lse", s, np.array([np.log2(2 + 4), np.nan], F))
    empty = c.param("empty", np.zeros((0, 3), F))
    c.result("none", c.op("REDUCE", empty, op="ADD", n=1), np.zeros(3, F))
    c.result("least", c.op("REDUCE", empty, op="MAX", n=1), np.full(3, -np.inf, F))
    c.result("one", c.op("REDUCE", empty, op="MUL", n=1), np.ones(3, F))
  case("fk32_masked_and_empty", "log-sum-exp of -inf; reductions of nothing", masked)


def write():
  padding()
  integers()
  floats()
  scheduling()
