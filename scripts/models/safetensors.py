"""Writes .safetensors: 8 bytes of header length, a JSON header, the elements. One array at a time, so a large model fits."""
import json
import math
import struct

import numpy as np

NAMES = {"bool": "BOOL", "i8": "I8", "i16": "I16", "i32": "I32", "i64": "I64", "u8": "U8", "u16": "U16", "u32": "U32", "u64": "U64",
         "f16": "F16", "f32": "F32", "f64": "F64"}
SIZES = {name: 1 if name == "bool" else int(name[1:]) // 8 for name in NAMES}


def header(specs):
  entries, at = {}, 0
  for name, (shape, dtype) in specs.items():
    end = at + math.prod(shape) * SIZES[dtype]
    entries[name] = {"dtype": NAMES[dtype], "shape": list(shape), "data_offsets": [at, end]}
    at = end
  text = json.dumps(entries, separators=(",", ":")).encode()
  return text + b" " * (-len(text) % 8)


def write(file, specs, value):
  """specs: {name: (shape, dtype)}; value(name) gives the array, asked for in that order."""
  with open(file, "wb") as f:
    text = header(specs)
    f.write(struct.pack("<Q", len(text)) + text)
    for name, (shape, _) in specs.items():
      array = np.ascontiguousarray(value(name))
      assert array.shape == tuple(shape), name
      f.write(array.tobytes())
