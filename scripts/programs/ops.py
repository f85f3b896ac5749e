"""Every element-wise op on every dtype that it takes, on pairs of special values."""
import numpy as np

from case import FLOATS, INTS, NUMPY, Case, bf16_bits, bf16_value


def floor_div(x, y):
  """Of integers: to minus infinity, 0 by zero, wrapping."""
  wide = [(0 if b == 0 else int(a) // int(b)) for a, b in zip(x, y)]
  return wrap(wide, x.dtype)


def floor_mod(x, y):
  return wrap([(0 if b == 0 else int(a) % int(b)) for a, b in zip(x, y)], x.dtype)


def wrap(values, dtype):
  bits = np.iinfo(dtype).bits
  return np.array([v & ((1 << bits) - 1) for v in values], f"u{bits // 8}").view(dtype)


def shift(x, y, left):
  bits = np.iinfo(x.dtype).bits
  out = []
  for a, b in zip(x, y):
    a, b = int(a), int(b)
    inside = 0 <= b < bits
    out.append((a << b if inside else 0) if left else (a >> b if inside else (-1 if a < 0 else 0)))
  return wrap(out, x.dtype)


def saturate(x, dtype):
  """CAST of floats to an integer."""
  info, out = np.iinfo(dtype), []
  for v in np.asarray(x, np.float64):
    out.append(0 if np.isnan(v) else info.min if v <= info.min else info.max if v >= info.max else int(v))
  return np.array(out, dtype)


def pairs(values):
  x, y = np.meshgrid(values, values, indexing="ij")
  return x.ravel(), y.ravel()


def convert(x, dtype):
  if dtype == "bool":
    return x != 0
  if x.dtype.kind == "f" and dtype in INTS:
    return saturate(x, NUMPY[dtype])
  with np.errstate(all="ignore"):
    return x.astype(NUMPY[dtype])


def integers(dtype):
  info = np.iinfo(NUMPY[dtype])
  values = [0, 1, 2, 3, 7, 8, 60, info.max, info.max - 1] + ([-1, -2, -7, info.min, info.min + 1] if info.min < 0 else [])
  x, y = pairs(np.array(values, NUMPY[dtype]))
  c = Case(f"op_{dtype}", f"every op of {dtype}")
  a, b = c.param("x", x), c.param("y", y)
  wide = [(int(p), int(q)) for p, q in zip(x, y)]
  wants = {"ADD": wrap([p + q for p, q in wide], x.dtype), "MUL": wrap([p * q for p, q in wide], x.dtype), "MAX": np.maximum(x, y),
           "CMPLT": x < y, "CMPNE": x != y, "FLOORDIV": floor_div(x, y), "FLOORMOD": floor_mod(x, y), "AND": x & y, "OR": x | y,
           "XOR": x ^ y, "SHL": shift(x, y, True), "SHR": shift(x, y, False)}
  for op, want in wants.items():
    c.result(op.lower(), c.node(f"{op} {a} {b}"), want)
  c.result("neg", c.node(f"NEG {a}"), wrap([-p for p, _ in wide], x.dtype))
  c.result("where", c.node(f"WHERE {c.node(f'CMPLT {a} {b}')} {a} {b}"), np.where(x < y, x, y))
  c.result("detach", c.node(f"DETACH {a}"), x)
  for to in ["bool"] + INTS + FLOATS:
    c.result(f"to_{to}", c.node(f"CAST {a} dtype={to}"), convert(x, to))
  same = [t for t in INTS if np.dtype(NUMPY[t]).itemsize == x.dtype.itemsize]
  for to in same:
    c.result(f"bits_{to}", c.node(f"BITCAST {a} dtype={to}"), x.view(NUMPY[to]))
  for op, want in (("ADD", wrap([sum(p for p, _ in wide)], x.dtype)), ("MAX", x.max(keepdims=True))):
    c.result(f"reduce_{op.lower()}", c.node(f"REDUCE {a} op={op} n=1"), want[0])
  c.write()


def float_values(dtype):
  tiny = {"f16": 6e-8, "f32": 1e-45, "f64": 5e-324, "bf16": 9.2e-41}[dtype]
  return [0.0, -0.0, 1.0, -1.0, 0.5, 2.0, -3.25, 7.0, 100.0, tiny, np.inf, -np.inf, np.nan]


def float_wants(x, y, compute):
  """In float32 (f64 in itself), rounded once by the caller."""
  with np.errstate(all="ignore"):
    a, b = x.astype(compute), y.astype(compute)
    binary = {"ADD": a + b, "MUL": a * b, "MAX": np.where(np.isnan(a) | np.isnan(b), np.nan, np.maximum(a, b)).astype(compute),
              "FLOORDIV": np.floor(a / b), "FLOORMOD": a - np.floor(a / b) * b}
    unary = {"NEG": -a, "RECIP": 1 / a, "EXP2": np.exp2(a.astype(np.float64)).astype(compute), "LOG2": np.log2(a.astype(np.float64)).astype(compute),
             "SIN": np.sin(a.astype(np.float64)).astype(compute), "SQRT": np.sqrt(a), "TRUNC": np.trunc(a)}
  return binary, unary


def floats(dtype):
  x, y = pairs(np.array(float_values(dtype), NUMPY[dtype]))
  c = Case(f"op_{dtype}", f"every op of {dtype}")
  a, b = c.param("x", x), c.param("y", y)
  binary, unary = float_wants(x, y, np.float64 if dtype == "f64" else np.float32)
  with np.errstate(all="ignore"):
    for op, want in binary.items():
      c.result(op.lower(), c.node(f"{op} {a} {b}"), want.astype(x.dtype))
    for op, want in unary.items():
      c.result(op.lower(), c.node(f"{op} {a}"), want.astype(x.dtype))
  c.result("cmplt", c.node(f"CMPLT {a} {b}"), x < y)
  c.result("cmpne", c.node(f"CMPNE {a} {b}"), x != y)
  c.result("where", c.node(f"WHERE {c.node(f'CMPLT {a} {b}')} {a} {b}"), np.where(x < y, x, y))
  for to in ["bool"] + INTS + FLOATS:
    c.result(f"to_{to}", c.node(f"CAST {a} dtype={to}"), convert(x, to))
  bits = f"u{8 * x.dtype.itemsize}"
  c.result("bits", c.node(f"BITCAST {c.node(f'NEG {a}')} dtype={bits}"), None)
  c.returns.pop()
  c.result("max_of_all", c.node(f"REDUCE {a} op=MAX n=1"), np.array(np.nan, x.dtype))
  c.write()


def bfloat():
  x, y = pairs(np.array([bf16_value(bf16_bits(v)) for v in float_values("bf16")], np.float32))
  c = Case("op_bf16", "every op of bf16, whose bits go in and out as u16")
  a = c.node(f"BITCAST {c.param('x', bf16_bits(x))} dtype=bf16")
  b = c.node(f"BITCAST {c.param('y', bf16_bits(y))} dtype=bf16")
  binary, unary = float_wants(x, y, np.float32)
  for wants, operands in ((binary, f"{a} {b}"), (unary, a)):
    for op, want in wants.items():
      c.result(op.lower(), c.node(f"CAST {c.node(f'{op} {operands}')} dtype=f32"), bf16_value(bf16_bits(want)), rtol=8e-3, atol=0)
  c.result("cmplt", c.node(f"CMPLT {a} {b}"), x < y)
  for to in ["bool"] + INTS + FLOATS:
    c.result(f"to_{to}", c.node(f"CAST {a} dtype={to}"), convert(x, to))
  c.write()


def booleans():
  x, y = pairs(np.array([False, True]))
  c = Case("op_bool", "every op of bool")
  a, b = c.param("x", x), c.param("y", y)
  for op, want in {"MUL": x & y, "MAX": x | y, "AND": x & y, "OR": x | y, "XOR": x ^ y, "CMPLT": ~x & y, "CMPNE": x ^ y}.items():
    c.result(op.lower(), c.node(f"{op} {a} {b}"), want)
  c.result("where", c.node(f"WHERE {a} {b} {a}"), np.where(x, y, x))
  for to in INTS + FLOATS:
    c.result(f"to_{to}", c.node(f"CAST {a} dtype={to}"), x.astype(NUMPY[to]))
  c.result("any", c.node(f"REDUCE {a} op=MAX n=1"), np.array(True))
  c.result("all", c.node(f"REDUCE {a} op=MUL n=1"), np.array(False))
  c.write()


def write():
  for dtype in INTS:
    integers(dtype)
  for dtype in FLOATS:
    floats(dtype)
  bfloat()
  booleans()
