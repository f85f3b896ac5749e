"""One case of testdata/programs: the text, the inputs, and the results that numpy says are right."""
import os

import numpy as np

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "testdata", "programs")
NUMPY = {"bool": np.bool_, "i8": np.int8, "i16": np.int16, "i32": np.int32, "i64": np.int64, "u8": np.uint8, "u16": np.uint16,
         "u32": np.uint32, "u64": np.uint64, "f16": np.float16, "f32": np.float32, "f64": np.float64}
INTS = ["i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64"]
FLOATS = ["f16", "f32", "f64"]


def bf16_bits(x):
  """float32 to bfloat16, to nearest even; NaN stays NaN."""
  bits = np.asarray(x, np.float32).view(np.uint32)
  rounded = ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.uint16)
  return np.where(np.isnan(x), ((bits >> 16) | 0x40).astype(np.uint16), rounded)


def bf16_value(bits):
  return (np.atleast_1d(np.asarray(bits, np.uint32)) << np.uint32(16)).view(np.float32).reshape(np.shape(bits))


class Case:
  def __init__(self, name, comment):
    self.name, self.lines, self.inputs, self.wants, self.returns = name, ["uop 1", f"# {comment}"], {}, {}, []
    self.slots = {"PARAM": 0, "BUFFER": 0}
    self.tolerances, self.count = {}, 0

  def node(self, text):
    """Adds a line, gives its %id."""
    self.count += 1
    self.lines.append(f"%n{self.count} = {text}")
    return f"%n{self.count}"

  def op(self, mnemonic, /, *sources, **attributes):
    return self.node(" ".join([mnemonic, *sources, *(f"{k}={v}".replace(", ", ",") for k, v in attributes.items())]))

  def load(self, place, *index):
    return self.op("LOAD", self.op("INDEX", place, *index))

  def store(self, place, index, value):
    return self.op("STORE", self.op("INDEX", place, *index), value)

  def range(self, bound, id, kind):
    return self.op("RANGE", self.const(bound, "index"), id=id, kind=kind)

  def storage(self, op, name, value, dtype=None, extra=""):
    value = np.asarray(value)
    dtype = dtype or next(k for k, v in NUMPY.items() if v == value.dtype)
    slot = self.slots[op]
    self.slots[op] += 1
    self.inputs[name] = value
    return self.node(f'{op} slot={slot} dtype={dtype} shape={list(value.shape)} name="{name}"{extra}'.replace(", ", ","))

  def param(self, name, value, dtype=None, extra=""):
    return self.storage("PARAM", name, value, dtype, extra)

  def buffer(self, name, value, dtype=None):
    return self.storage("BUFFER", name, value, dtype)

  def const(self, value, dtype):
    return self.node(f"CONST value={value} dtype={dtype}")

  def result(self, name, node, want, **tolerance):
    self.returns.append(f"{name}={node}")
    if want is not None:
      self.wants[name] = np.asarray(want)
    if tolerance:
      self.tolerances[name] = tolerance

  def write(self):
    import json
    os.makedirs(FOLDER, exist_ok=True)
    base = os.path.join(FOLDER, self.name)
    with open(base + ".uop", "w", encoding="utf-8") as f:
      f.write("\n".join(self.lines + ["return " + " ".join(self.returns)]) + "\n")
    if self.inputs:
      np.savez(base + ".in.npz", **self.inputs)
    np.savez(base + ".want.npz", **self.wants)
    if self.tolerances:
      with open(base + ".tol.json", "w", encoding="utf-8") as f:
        json.dump(self.tolerances, f, indent=1)
        f.write("\n")
