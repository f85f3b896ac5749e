"""Parts of models on their own, recurrent cells, and a block of a diffusion model."""
import math

from attention import attend, causal, fused_qkv, merge
from conv import conv2d
from gradient import recording
from model import integers
from nn import (arange, cross_entropy, cross_entropy_gradient, gelu, group_norm, layer_norm, linear, relu, rms_norm, sigmoid, silu, softmax,
                tanh)
from registry import register
from tensor import concat, stack
from vision import conv_bn


def value_on_rows(m, fn, rows, size):
  m.output("y", fn(m, m.input("x", (rows, size))))


def gradient_on_rows(m, fn, rows, size):
  """By x and by the weights, given that of the value."""
  with recording(m) as tape:
    x = m.input("x", (rows, size))
    y = fn(m, x)
  for name, gradient in tape.gradients(y, {"x": x, **tape.weights}, m.input("dy", (rows, size))).items():
    m.output(f"{name}.gradient", gradient)


for name, fn in (("softmax", lambda m, x: softmax(x)), ("layernorm", lambda m, x: layer_norm(m, x, "ln")),
                 ("rmsnorm", lambda m, x: rms_norm(m, x, "norm"))):
  for build, title in ((value_on_rows, name), (gradient_on_rows, name + "_gradient")):
    register(dict(fn=fn, rows=4, size=10), dict(fn=fn, rows=4096, size=1024), title)(build)


@register(small=dict(rows=4, classes=7), full=dict(rows=4096, classes=50257), name="cross_entropy")
def loss(m, rows, classes):
  logits = m.input("logits", (rows, classes))
  m.output("loss", cross_entropy(m, logits, m.input("target", (rows,), integers(0, classes), "i32")))


@register(small=dict(rows=4, classes=7), full=dict(rows=4096, classes=50257), name="cross_entropy_gradient")
def loss_gradient(m, rows, classes):
  logits = m.input("logits", (rows, classes))
  m.output("gradient", cross_entropy_gradient(m, logits, m.input("target", (rows,), integers(0, classes), "i32")))


@register(small=dict(rows=5, size=6, out=7), full=dict(rows=1024, size=1024, out=1024))
def gemm_epilogue(m, rows, size, out):
  x, residual = m.input("x", (rows, size)), m.input("residual", (rows, out))
  m.output("y", gelu(linear(m, x, "fc", out, layout="io")) + residual)


@register(small=dict(batch=2, c=3, out=4, size=7, stride=2), full=dict(batch=1, c=64, out=64, size=56, stride=1))
def conv_bn_relu(m, batch, c, out, size, stride):
  m.output("y", relu(conv_bn(m, m.input("x", (batch, c, size, size)), "block", out, 3, stride)))


@register(small=dict(batch=1, count=4, groups=2, size=5, each=4),
          full=dict(batch=1, count=32, groups=8, size=1024, each=64))
def attention(m, batch, count, groups, size, each):
  q = m.input("q", (batch, count, size, each))
  k, v = (m.input(name, (batch, groups, size, each)) for name in "kv")
  m.output("y", attend(q, k, v, causal(m, size)))


def lstm_cell(m, x, h, c):
  size = h.shape[-1]
  i, f, g, o = (linear(m, x, "input", 4 * size) + linear(m, h, "hidden", 4 * size)).split(1, 4)
  c = sigmoid(f) * c + sigmoid(i) * tanh(g)
  return sigmoid(o) * tanh(c), c


@register(small=dict(batch=2, size=5, hidden=4), full=dict(batch=16, size=512, hidden=512))
def lstm_step(m, batch, size, hidden):
  h, c = lstm_cell(m, m.input("x", (batch, size)), m.input("h", (batch, hidden)), m.input("c", (batch, hidden)))
  m.output("h1", h)
  m.output("c1", c)


class Remembered:
  """A model that gives one weight for one name, however often it is asked: for a cell applied at every time."""

  def __init__(self, model):
    self.model, self.weights = model, {}

  def __getattr__(self, name): return getattr(self.model, name)

  def weight(self, name, shape, init=None):
    full = self.model.name(name)
    if full not in self.weights:
      self.weights[full] = self.model.weight(name, shape, init)
    return self.weights[full]


@register(small=dict(batch=2, size=5, hidden=4, steps=3), full=dict(batch=16, size=512, hidden=512, steps=32))
def lstm_unrolled(m, batch, size, hidden, steps):
  xs, h, c = m.input("xs", (steps, batch, size)), m.input("h", (batch, hidden)), m.input("c", (batch, hidden))
  cell, hs = Remembered(m), []
  for t in range(steps):
    h, c = lstm_cell(cell, xs.slice(0, t, t + 1).reshape(batch, size), h, c)
    hs.append(h)
  m.output("hs", stack(hs, 0))
  m.output("c1", c)


def time_embedding(m, t, size):
  """t f32 [batch] as sines and cosines of falling frequencies."""
  frequency = (arange(m, size // 2).cast("f32") * (-2 / size * math.log2(10000))).exp2()
  angle = t.unsqueeze(-1) * frequency
  return concat([angle.cos(), angle.sin()], -1)


@register(small=dict(batch=1, c=4, out=8, size=4, time=6, groups=2, count=2),
          full=dict(batch=1, c=320, out=640, size=32, time=1280, groups=32, count=8), rtol=1e-3)
def diffusion_block(m, batch, c, out, size, time, groups, count):
  """Two convolutions with the time added between, then self-attention over the pixels, as in Stable Diffusion's U-Net."""
  x = m.input("x", (batch, c, size, size))
  t = m.input("t", (batch,), integers(0, 1000), "i32").cast("f32")
  shift = linear(m, silu(linear(m, time_embedding(m, t, c), "time1", time)), "time2", out)
  y = conv2d(m, silu(group_norm(m, x, "norm1", groups)), "conv1", out, 3, padding=1) + shift.reshape(batch, out, 1, 1)
  y = conv2d(m, silu(group_norm(m, y, "norm2", groups)), "conv2", out, 3, padding=1)
  x = conv2d(m, x, "skip", out, 1) + y
  pixels = group_norm(m, x, "norm3", groups).flatten(2).swap(1, 2)
  y = linear(m, merge(attend(*fused_qkv(m, pixels, "qkv", count))), "proj", out)
  m.output("y", x + y.swap(1, 2).reshape(*x.shape))
