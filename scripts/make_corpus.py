#!/usr/bin/python3
"""Writes testdata/corpus: small programs with inputs, and results that numpy gives. See scripts/run_corpus.py."""
import os

import numpy as np

OUT = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "testdata", "corpus")
rng = np.random.default_rng(1)


def f32(*shape):
  return rng.uniform(-1, 1, shape).astype(np.float32)


def save(file, arrays):
  # np.savez stamps the time of day; a fixed date keeps the files the same.
  import io, zipfile
  with zipfile.ZipFile(file, "w") as z:
    for name, array in arrays.items():
      data = io.BytesIO()
      np.save(data, np.asarray(array))
      z.writestr(zipfile.ZipInfo(name + ".npy", (1980, 1, 1, 0, 0, 0)), data.getvalue())


def case(name, text, inputs, want):
  base = os.path.join(OUT, name)
  with open(base + ".uop", "w", encoding="utf-8") as f:
    f.write("uop 1\n" + text.strip() + "\n")
  if inputs:
    save(base + ".in.npz", inputs)
  save(base + ".want.npz", want)


def bad(name, text, lines, inputs=None):
  base = os.path.join(OUT, name)
  with open(base + ".uop", "w", encoding="utf-8") as f:
    f.write(text.strip() + "\n")
  with open(base + ".err", "w", encoding="utf-8") as f:
    f.write("\n".join(lines) + "\n")
  if inputs:
    save(base + ".in.npz", inputs)


def main():
  os.makedirs(OUT, exist_ok=True)
  a, b = f32(13, 17), f32(17, 11)
  case("matmul", """
%a = PARAM slot=0 dtype=f32 shape=[13,17] name="a"
%b = PARAM slot=1 dtype=f32 shape=[17,11] name="b"
%a3 = RESHAPE %a shape=[13,17,1]
%b3 = RESHAPE %b shape=[1,17,11]
%m = MUL %a3 %b3
%c = REDUCE %m op=ADD axes=[1]
return c=%c
""", {"a": a, "b": b}, {"c": a @ b})
  x = f32(6, 10)
  e = np.exp2(x - x.max(1, keepdims=True))
  case("softmax_base2", """
%x = PARAM slot=0 dtype=f32 shape=[6,10] name="x"
%m = REDUCE %x op=MAX axes=[1]
%m2 = RESHAPE %m shape=[6,1]
%n = NEG %m2
%d = ADD %x %n
%e = EXP2 %d
%s = REDUCE %e op=ADD axes=[1]
%s2 = RESHAPE %s shape=[6,1]
%r = RECIP %s2
%y = MUL %e %r
return y=%y s=%s
""", {"x": x}, {"y": e / e.sum(1, keepdims=True), "s": e.sum(1)})
  case("pad_recip", """
%x = PARAM slot=0 dtype=f32 shape=[2] name="x"
%r = RECIP %x
%p = PAD %r pad=[[1,1]]
%s = REDUCE %p op=ADD axes=[0]
return p=%p s=%s
""", {"x": np.array([2, 4], np.float32)}, {"p": np.array([0, .5, .25, 0], np.float32), "s": np.float32(.75)})
  i = np.array([-7, 7, -7, 7, 5, -2**31], np.int32)
  j = np.array([-2, -2, 2, 2, 0, -1], np.int32)
  case("floor_division", """
%i = PARAM slot=0 dtype=i32 shape=[6] name="i"
%j = PARAM slot=1 dtype=i32 shape=[6] name="j"
%d = FLOORDIV %i %j
%m = FLOORMOD %i %j
return d=%d m=%m
""", {"i": i, "j": j}, {"d": np.array([3, -4, -4, 3, 0, -2**31], np.int32), "m": np.array([-1, -1, 1, 1, 0, 0], np.int32)})
  x = rng.integers(-100, 100, (3, 4, 5)).astype(np.int32)
  case("views", """
%x = PARAM slot=0 dtype=i32 shape=[3,4,5] name="x"
%p = PERMUTE %x axes=[2,0,1]
%f = FLIP %p axes=[0,2]
%r = RESHAPE %f shape=[15,4]
%s = SHRINK %r bounds=[[2,13],[1,3]]
%q = PAD %s pad=[[0,1],[2,0]]
return q=%q
""", {"x": x}, {"q": np.pad(np.flip(x.transpose(2, 0, 1), (0, 2)).reshape(15, 4)[2:13, 1:3], ((0, 1), (2, 0)))})
  x = f32(4, 3, 8, 8)
  case("four_reductions", """
%x = PARAM slot=0 dtype=f32 shape=[4,3,8,8] name="x"
%s = REDUCE %x op=ADD axes=[0,2,3]
%m = REDUCE %x op=MAX axes=[0,2,3]
%q = MUL %x %x
%v = REDUCE %q op=ADD axes=[0,2,3]
%s4 = RESHAPE %s shape=[1,3,1,1]
%y = MUL %x %s4
%t = REDUCE %y op=ADD axes=[1]
return s=%s m=%m v=%v t=%t
""", {"x": x}, {"s": x.sum((0, 2, 3)), "m": x.max((0, 2, 3)), "v": (x * x).sum((0, 2, 3)), "t": (x * x.sum((0, 2, 3)).reshape(1, 3, 1, 1)).sum(1)})
  w, g = f32(5, 4), f32(5, 4)
  case("update_in_place", """
%w = BUFFER slot=0 dtype=f32 shape=[5,4] name="w"
%g = PARAM slot=0 dtype=f32 shape=[5,4] name="g"
%l = CONST value=-0.5 dtype=f32
%d = MUL %g %l
%n = ADD %w %d
%st = STORE %w %n
%after = AFTER %w %st
%old = NEG %w
return now=%after old=%old
""", {"w": w, "g": g}, {"now": w - np.float32(.5) * g, "old": -w})
  c = np.array([1, 2, 3, 4, 5], np.int32)
  case("shift_by_one", """
%c = BUFFER slot=0 dtype=i32 shape=[5] name="c"
%from = SHRINK %c bounds=[[0,4]]
%to = SHRINK %c bounds=[[1,5]]
%st = STORE %to %from
%now = AFTER %c %st
return now=%now
""", {"c": c}, {"now": np.array([1, 1, 2, 3, 4], np.int32)})
  x = f32(9)
  case("loop_accumulator", """
%x = PARAM slot=0 dtype=f32 shape=[9] name="x"
%out = ALLOC slot=0 dtype=f32 shape=[1] space=global
%acc = ALLOC slot=1 dtype=f32 shape=[1] space=reg
%zero = CONST value=0 dtype=index
%z = CONST value=0 dtype=f32
%nine = CONST value=9 dtype=index
%at = INDEX %acc %zero
%init = STORE %at %z
%k = RANGE %nine id=0 kind=reduce
%in = AFTER %acc %init %k
%inat = INDEX %in %zero
%xk = INDEX %x %k
%sum = ADD %inat %xk
%upd = STORE %inat %sum
%loop = END %upd %k
%fin = AFTER %acc %loop
%finat = INDEX %fin %zero
%o = INDEX %out %zero
%st = STORE %o %finat
%r = AFTER %out %st
return r=%r
""", {"x": x}, {"r": x.sum(keepdims=True)})
  case("nothing", """
%x = PARAM slot=0 dtype=f32 shape=[0,3] name="x"
%s = REDUCE %x op=ADD axes=[0]
%m = REDUCE %x op=MAX axes=[0]
%n = NEG %x
return s=%s m=%m n=%n
""", {"x": np.zeros((0, 3), np.float32)}, {"s": np.zeros(3, np.float32), "m": np.full(3, -np.inf, np.float32), "n": np.zeros((0, 3), np.float32)})
  case("wraparound", """
%x = PARAM slot=0 dtype=u8 shape=[3] name="x"
%s = ADD %x %x
%n = NEG %x
%f = CAST %n dtype=f32
return s=%s f=%f
""", {"x": np.array([250, 128, 7], np.uint8)}, {"s": np.array([244, 0, 14], np.uint8), "f": np.array([6, 128, 249], np.float32)})
  case("scalar_argument", """
%n = PARAM slot=0 dtype=i32 shape=[] name="n" min=0 max=100
%x = PARAM slot=1 dtype=i32 shape=[4] name="x"
%y = MUL %x %n
return y=%y
""", {"n": np.int32(7), "x": np.array([1, 2, 3, 4], np.int32)}, {"y": np.array([7, 14, 21, 28], np.int32)})
  case("call", """
%p0 = PARAM slot=0 dtype=f32 shape=[3]
%p1 = PARAM slot=1 dtype=f32 shape=[3]
%sum = ADD %p0 %p1
%prod = MUL %p0 %p1
%body = TUPLE %sum %prod
%x = PARAM slot=0 dtype=f32 shape=[3] name="x"
%y = NEG %x
%c = CALL %body %x %y name="both"
%s = GET %c index=0
%p = GET %c index=1
return s=%s p=%p
""", {"x": np.array([1, 2, 3], np.float32)}, {"s": np.zeros(3, np.float32), "p": np.array([-1, -4, -9], np.float32)})
  bad("bad_op", "uop 1\n%x = PARAM slot=0 dtype=f32 shape=[2]\n%y = MULL %x %x\nreturn %y", [":3:6: error: unknown op 'MULL'"])
  bad("bad_shape", "uop 1\n%x = PARAM slot=0 dtype=f32 shape=[2]\n%y = PARAM slot=1 dtype=f32 shape=[3]\n%z = ADD %x %y\nreturn %z",
      [":4:", "error:", "[2]", "[3]"])
  bad("unbound", 'uop 1\n%x = PARAM slot=0 dtype=f32 shape=[2] name="left"\nreturn %x', ["error: PARAM 'left' (f32 [2]) is not bound"])
  bad("bind_type", 'uop 1\n%x = PARAM slot=0 dtype=f32 shape=[2] name="left"\nreturn %x',
      ["error: 'left' is bound to f64 [2], but the program wants f32 [2]"], {"left": np.zeros(2)})


if __name__ == "__main__":
  main()
