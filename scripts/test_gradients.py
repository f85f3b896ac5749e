#!/usr/bin/python3
"""Holds gradients of the model builder against differences of values that numpy computes in float64.

    scripts/test_gradients.py [NAME...]

Each case is a function of weights; for each weight the value is computed a small step ahead and behind in a random direction, and the
slope must be the gradient's part in that direction. The last line is "N passed, N failed".
"""
import os
import sys

import numpy as np

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(ROOT, "scripts", "models"))
import language  # noqa: E402
import nn  # noqa: E402
import vision  # noqa: E402
import zoo  # noqa: E402
from attention import attend, causal, rotate  # noqa: E402
from conv import avg_pool, conv2d, max_pool, upsample  # noqa: E402
from evaluate import DTYPES, evaluate  # noqa: E402
from gradient import recording  # noqa: E402
from model import Model, integers, normal, uniform  # noqa: E402
from tensor import concat  # noqa: E402
from uops import UopBackend  # noqa: E402

WIDE = DTYPES | {"f32": np.float64}
TRAINED = ("gpt2_train", "mlp_train")
STEP, RTOL = 1e-5, 1e-7


def weight(m, shape=(3, 4), name="w", init=normal()): return m.weight(name, shape, init)
def positive(m, shape=(3, 4), name="w"): return m.weight(name, shape, uniform(0.5, 2))
def tokens(m, shape, count): return m.input("tokens", shape, integers(0, count), "i32")


def slope_of_slope(m):
  """The gradient of a gradient."""
  x = weight(m)
  return m.b.gradients((x * x * x).sin().sum(), {"x": x})["x"]


CASES = {
  "add": lambda m: weight(m) + weight(m, (4,), "v"),
  "mul": lambda m: weight(m, (3, 1)) * weight(m, (2, 1, 4), "v"),
  "square": lambda m: weight(m) * m.b.weights["w"],
  "max": lambda m: weight(m).maximum(weight(m, (4,), "v")),
  "max of equals": lambda m: weight(m).maximum(m.b.weights["w"] * 1),
  "where": lambda m: (weight(m) < 0).where(m.b.weights["w"], weight(m, (1, 4), "v")),
  "neg": lambda m: -weight(m),
  "recip": lambda m: positive(m).recip(),
  "exp2": lambda m: weight(m).exp2(),
  "log2": lambda m: positive(m).log2(),
  "sqrt": lambda m: positive(m).sqrt(),
  "sin": lambda m: weight(m).sin(),
  "cast": lambda m: weight(m).cast("f64").sin().cast("f32"),
  "cast to an integer": lambda m: weight(m).cast("i32").cast("f32") * m.b.weights["w"],
  "trunc, floor": lambda m: (weight(m).alu("TRUNC") + m.b.weights["w"] // 0.7) * m.b.weights["w"],
  "reshape": lambda m: weight(m).reshape(2, 6),
  "expand": lambda m: weight(m, (3, 1)).expand(2, 3, 4),
  "permute": lambda m: weight(m, (2, 3, 4)).permute(2, 0, 1),
  "flip": lambda m: weight(m).flip(1),
  "pad, shrink": lambda m: weight(m).pad((1, 2), (0, 3)).shrink((0, 3), (2, 6)),
  "sum": lambda m: weight(m, (2, 3, 4)).sum((0, 2)),
  "maximum of a row": lambda m: weight(m).max(1),
  "maximum of equals": lambda m: weight(m, (3, 1)).expand(3, 4).max(1),
  "cumsum": lambda m: nn.cumsum(weight(m)),
  "repeat": lambda m: weight(m).repeat(2, 3),
  "concat": lambda m: concat([weight(m), weight(m, (3, 2), "v")], 1),
  "matmul": lambda m: weight(m, (2, 3, 4)) @ weight(m, (4, 5), "v"),
  "gather": lambda m: nn.gather(m, weight(m, (5, 3)), tokens(m, (2, 4), 5)),
  "softmax": lambda m: nn.softmax(weight(m)),
  "log_softmax": lambda m: nn.log_softmax(weight(m)),
  "layer_norm": lambda m: nn.layer_norm(m, weight(m), "ln"),
  "rms_norm": lambda m: nn.rms_norm(m, weight(m), "norm"),
  "batch_norm": lambda m: nn.batch_norm(m, weight(m, (2, 3, 2, 2)), "bn"),
  "group_norm": lambda m: nn.group_norm(m, weight(m, (2, 4, 2, 2)), "gn", 2),
  "gelu, silu, relu6": lambda m: nn.gelu(weight(m)) + nn.silu(m.b.weights["w"]) + nn.relu6(m.b.weights["w"]),
  "attention": lambda m: attend(*(weight(m, (2, 3, 4), name) for name in "qkv"), causal(m, 3)),
  "rotate": lambda m: rotate(m, weight(m), nn.arange(m, 3).cast("f32")),
  "convolution": lambda m: conv2d(m, weight(m, (2, 3, 5, 5)), "conv", 4, 3, stride=2, padding=1),
  "pools": lambda m: max_pool(weight(m, (1, 2, 6, 6)), 3, 2, 1) + avg_pool(m.b.weights["w"], 2),
  "upsample": lambda m: upsample(weight(m, (1, 2, 3, 3)), 2),
  "llama block": lambda m: language.llama_block(m, weight(m, (3, 16)), 4, 2, 24, 1e4),
  "residual block": lambda m: vision.basic_block(m, weight(m, (1, 2, 4, 4)), 3, 2, False),
  "gradient": slope_of_slope,
}


def differentiated(fn):
  """A model of the function's sum with seeded factors, so that no gradient is the same everywhere, and of its gradients."""
  m = Model(UopBackend())
  with recording(m) as tape:
    value = fn(m)
    m.output("loss", (value * m.input("factors", value.shape)).sum())
  for name, gradient in tape.gradients(m.outputs["loss"], tape.weights).items():
    m.output(f"{name}.gradient", gradient)
  return m


def gradients(m, rate):
  """{weight: gradient}: among the results, or how far the step has moved the weight."""
  got = evaluate(zoo.nodes(m), m.value, WIDE)
  return {name: got[f"{name}.gradient"] if f"{name}.gradient" in got else (m.value(name) - got[name]) / rate for name in m.buffers}


def wrong_slope(m, name, gradient):
  """How the gradient by that weight differs from the slope of the loss, or ""."""
  direction = np.random.default_rng(1).standard_normal(gradient.shape)

  def loss(step):
    return evaluate({"loss": m.outputs["loss"].h}, lambda key: m.value(key) + (step * direction if key == name else 0), WIDE)["loss"]
  slope, parts = (loss(STEP) - loss(-STEP)) / (2 * STEP), gradient * direction
  return "" if abs(slope - parts.sum()) < RTOL * max(np.abs(parts).sum(), 1) else f"by {name}: {parts.sum()}, but the slope is {slope}"


def wrong(name):
  m = differentiated(CASES[name]) if name in CASES else zoo.build(name)
  rate = 0 if name in CASES else zoo.MODELS[name].small.get("rate", 0)
  return list(filter(None, (wrong_slope(m, *each) for each in gradients(m, rate).items())))


def main():
  names = sys.argv[1:] or [*CASES, *TRAINED]
  faults = {name: wrong(name) for name in names}
  for name, lines in faults.items():
    for line in lines:
      print(f"FAILED {name}: {line}")
  failed = sum(map(bool, faults.values()))
  print(f"{len(faults) - failed} passed, {failed} failed")
  return 1 if failed else 0


if __name__ == "__main__":
  sys.exit(main())
