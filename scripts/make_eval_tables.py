#!/usr/bin/python3
"""Writes testdata/eval/*.txt: what each element-wise op gives on each dtype, worked out by numpy and by Python's integers.

    scripts/make_eval_tables.py [DIR]

A file holds one op: a line is `operand-dtype result-dtype a [b [c]] = value`, storage bits in hex; `nan` is any NaN. A trailing `~`
allows one unit in the last place, `=0` either zero. Nothing here comes from the compiler: floats are numpy's, f16 and bf16
compute in f32 and round once, integers are Python's and wrap.
"""
import math
import os
import sys
from fractions import Fraction

import numpy as np

BITS = {"i8": 8, "i16": 16, "i32": 32, "i64": 64, "u8": 8, "u16": 16, "u32": 32, "u64": 64, "index": 64}
INTS = list(BITS)
FLOATS = {"f16": (np.float16, np.uint16), "bf16": (None, np.uint16), "f32": (np.float32, np.uint32), "f64": (np.float64, np.uint64)}
DIGITS = {"f16": (11, -24, 65504.0), "bf16": (8, -133, float.fromhex("0x1.fep127"))}
RANDOM = np.random.default_rng(20260101)


def signed(d):
  return d[0] == "i"


def wrap(v, d):
  v &= (1 << BITS[d]) - 1
  return v - (1 << BITS[d]) if signed(d) and v >> (BITS[d] - 1) else v


def limits(d):
  return (-(1 << (BITS[d] - 1)), (1 << (BITS[d] - 1)) - 1) if signed(d) else (0, (1 << BITS[d]) - 1)


def exact_round(q, d):
  """A nonzero Fraction to f16 or bf16 in one rounding, ties to even; as a float."""
  digits, last, most = DIGITS[d]
  a = abs(q)
  exp = a.numerator.bit_length() - a.denominator.bit_length()
  if a < Fraction(2) ** exp:
    exp -= 1
  unit = Fraction(2) ** max(exp + 1 - digits, last)
  r = round(a / unit) * unit  # Python rounds a Fraction half to even
  return math.copysign(math.inf if r > most else float(r), q)


def narrow(x, d):
  """A float of any numpy type, rounded once to d; as float64."""
  with np.errstate(all="ignore"):
    if d == "f64" or not np.isfinite(x) or x == 0:
      return float(x)
    return exact_round(Fraction(float(x)), d) if d in DIGITS else float(np.float32(x))


def encode(x, d):
  """Storage bits of a float that is a value of d."""
  if d == "bf16":
    return int(np.float32(x).view(np.uint32)) >> 16
  kind, bits = FLOATS[d]
  with np.errstate(all="ignore"):
    return int(kind(x).view(bits))


def decode(b, d):
  if d == "bf16":
    return float(np.uint32(b << 16).view(np.float32))
  kind, bits = FLOATS[d]
  return float(bits(b).view(kind))


def text(v, d):
  if d == "bool":
    return str(int(v))
  if d in BITS:
    return f"{v & ((1 << BITS[d]) - 1):x}"
  return "nan" if math.isnan(v) else f"{encode(v, d):x}"


def int_samples(d):
  lo, hi = limits(d)
  some = [lo, lo + 1, hi, hi - 1, 0, 1, 2, 3, 7, BITS[d] - 1, BITS[d], BITS[d] + 1] + ([-1, -2, -7] if signed(d) else [])
  return sorted(set(some) | {wrap(int(RANDOM.integers(0, 1 << 63)) * 2 + 1, d) for _ in range(3)})


def float_samples(d, more=6):
  size = {"f16": 16, "bf16": 16, "f32": 32, "f64": 64}[d]
  mantissa = {"f16": 10, "bf16": 7, "f32": 23, "f64": 52}[d]
  inf = ((1 << (size - 1 - mantissa)) - 1) << mantissa
  bits = [0, 1, (1 << mantissa) - 1, 1 << mantissa, inf - 1, inf, inf | 1 << (mantissa - 1)]
  out = [decode(b | s << (size - 1), d) for b in bits for s in (0, 1)][:-1]
  out += [narrow(v, d) for v in (1.0, -1.0, 0.5, 1.5, 2.0, -2.5, 3.0, 0.1, -7.3)]
  for _ in range(more):
    out.append(decode(int(RANDOM.integers(0, inf)) | int(RANDOM.integers(0, 2)) << (size - 1), d))
  out += [narrow(v, d) for v in RANDOM.standard_normal(more) * 10]
  return out


def int_op(op, x, y, d):
  bits, y_in = BITS[d], 0 <= y < BITS[d]
  if op in ("FLOORDIV", "FLOORMOD"):
    return 0 if y == 0 else wrap(x // y if op == "FLOORDIV" else x % y, d)
  if op == "SHL":
    return wrap(x << y, d) if y_in else 0
  if op == "SHR":
    return x >> y if y_in else (-1 if x < 0 else 0)
  return wrap({"ADD": x + y, "MUL": x * y, "MAX": max(x, y), "AND": x & y, "OR": x | y, "XOR": x ^ y}[op], d)


def float_op(op, x, y, d):
  work = np.float64 if d == "f64" else np.float32
  x, y = work(x), work(y)
  with np.errstate(all="ignore"):
    if op == "MAX":
      return float(np.maximum(x, y))
    q = {"ADD": lambda: x + y, "MUL": lambda: x * y, "FLOORDIV": lambda: np.floor(x / y), "FLOORMOD": lambda: x - np.floor(x / y) * y}[op]()
    return narrow(q, d)


def float_unary(op, x, d):
  with np.errstate(all="ignore"):
    if op in ("NEG", "TRUNC"):
      return -x if op == "NEG" else float(np.trunc(x))
    if op in ("RECIP", "SQRT") and d != "f64":  # exact, then one rounding
      work = np.float32(x)
      return narrow(np.float32(1) / work if op == "RECIP" else np.sqrt(work), d)
    if op in ("RECIP", "SQRT"):
      return float(1.0 / np.float64(x) if op == "RECIP" else np.sqrt(np.float64(x)))
    # numpy's own double functions are several units off; those of long double come from libm.
    return narrow(np.float64({"EXP2": np.exp2, "LOG2": np.log2, "SIN": np.sin}[op](np.longdouble(x))), d)


def cast(x, frm, to):
  if to == "bool":
    return x != 0  # of a NaN too
  if to in BITS:
    if frm in BITS or frm == "bool":
      return wrap(int(x), to)
    lo, hi = limits(to)
    return 0 if math.isnan(x) else (hi if x > 0 else lo) if math.isinf(x) else min(max(math.trunc(x), lo), hi)
  if frm in FLOATS:
    return narrow(x, to)
  q = Fraction(int(x))
  if q == 0:
    return 0.0
  if to in DIGITS:
    return exact_round(q, to)
  # numpy rounds an integer to f32 and f64 once; Python's int to float too.
  return float(np.float32(np.uint64(int(x)) if x >= 0 else np.int64(int(x)))) if to == "f32" else float(int(x))


def samples(d):
  return [0, 1] if d == "bool" else int_samples(d) if d in BITS else float_samples(d)


def pairs(d, few=False):
  xs = samples(d)
  all_pairs = [(x, y) for x in xs for y in xs]
  if len(all_pairs) <= (40 if few else 90):
    return all_pairs
  return [all_pairs[i] for i in sorted(RANDOM.choice(len(all_pairs), 40 if few else 90, replace=False))]


def tables():
  dtypes = ["bool", *INTS, *FLOATS]
  for op in ("ADD", "MUL", "MAX", "FLOORDIV", "FLOORMOD", "AND", "OR", "XOR", "SHL", "SHR"):
    rows = []
    for d in dtypes:
      if d == "bool":
        f = {"MUL": lambda x, y: x & y, "MAX": lambda x, y: x | y, "AND": lambda x, y: x & y, "OR": lambda x, y: x | y, "XOR": lambda x, y: x ^ y}.get(op)
        rows += [(d, d, (x, y), f(x, y), "") for x, y in pairs(d)] if f else []
      elif d in BITS:
        rows += [(d, d, (x, y), int_op(op, x, y, d), "") for x, y in pairs(d)]
      elif op in ("ADD", "MUL", "MAX", "FLOORDIV", "FLOORMOD"):
        rows += [(d, d, (x, y), r, "=0" if op == "MAX" and r == 0 else "") for x, y in pairs(d) for r in [float_op(op, x, y, d)]]
    yield op, rows
  for op in ("CMPLT", "CMPNE"):
    yield op, [(d, "bool", (x, y), x < y if op == "CMPLT" else x != y, "") for d in dtypes for x, y in pairs(d)]
  yield "WHERE", [(d, d, (c, x, y), x if c else y, "") for d in dtypes for c in (0, 1) for x, y in pairs(d, True)[:6]]
  for op in ("NEG", "RECIP", "SQRT", "TRUNC", "EXP2", "LOG2", "SIN"):
    rows = []
    for d in FLOATS:
      values = float_samples(d, 20) + ([float(i) for i in range(-20, 17)] if op == "EXP2" else [2.0**i for i in range(-14, 16)] if op == "LOG2" else [])
      exact = op not in ("EXP2", "LOG2", "SIN") or d in ("f16", "bf16")
      rows += [(d, d, (x,), float_unary(op, x, d), "" if exact else "~") for x in values if op != "SIN" or not abs(x) > 2.0**20 or math.isinf(x)]
    rows += [(d, d, (x,), wrap(-x, d), "") for d in INTS for x in int_samples(d)] if op == "NEG" else []
    yield op, rows
  yield "DETACH", [(d, d, (x,), x, "") for d in dtypes for x in samples(d)[:8]]
  rows = []
  for frm in dtypes:
    xs = samples(frm)
    if frm in FLOATS:
      xs = xs + [narrow(v, frm) for v in (127.5, 128.0, -128.9, 255.9, 256.0, -0.9, 65535.0, 65536.0, 2.0**31, -2.0**31, 2.0**32, 2.0**63, -2.0**63, 2.0**64, 65519.0, 65520.0, 2.0**-25, 3e-8, 3.3961e38)]
    if frm in ("i64", "u64", "index"):
      xs = xs + [s * ((1 << k) + (1 << (k - g)) + e) for k in (54, 60, 62) for g in (8, 9, 11, 12, 24, 25) for e in (0, 1) for s in ((1, -1) if frm != "u64" else (1,))]
    rows += [(frm, to, (x,), cast(x, frm, to), "") for to in dtypes for x in xs]
  yield "CAST", rows
  rows = []
  same = [["i8", "u8"], ["i16", "u16", "f16", "bf16"], ["i32", "u32", "f32"], ["i64", "u64", "index", "f64"]]
  for group in same:
    for frm in group:
      for to in group:
        for x in samples(frm):
          if frm in FLOATS and math.isnan(x):
            continue  # payloads are not kept
          b = int(text(x, frm), 16)
          rows.append((frm, to, (x,), decode(b, to) if to in FLOATS else wrap(b, to), ""))
  yield "BITCAST", rows


def main():
  folder = sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "testdata", "eval")
  os.makedirs(folder, exist_ok=True)
  for op, rows in tables():
    lines = []
    for d, to, xs, value, note in rows:
      kinds = ["bool", d, d] if op == "WHERE" else [d] * len(xs)
      line = f"{d} {to} {' '.join(text(x, k) for x, k in zip(xs, kinds))} = {text(value, to)}{' ' + note if note else ''}"
      if line not in lines[-400:]:
        lines.append(line)
    with open(os.path.join(folder, op.lower() + ".txt"), "w", encoding="ascii") as file:
      file.write("\n".join(lines) + "\n")


if __name__ == "__main__":
  main()
