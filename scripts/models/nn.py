"""Layers out of Tensor ops. A function with a name makes its weights in the model's scope under that name."""
import math

from model import normal, uniform
from tensor import Tensor


# Counting
def constant(m, value, dtype="f32"): return Tensor(m.b, m.b.const(value, dtype))


def cumsum(x):
  """Inclusive, along the last axis: all windows that end at each element, by a reshape of one skewed row, summed."""
  n, lead = x.shape[-1], x.shape[:-1]
  row = x.pad((n - 1, 0)).unsqueeze(-2).expand(*lead, n + 1, 2 * n - 1).reshape(*lead, (n + 1) * (2 * n - 1))
  return row.shrink((0, 2 * n * n)).reshape(*lead, n, 2 * n).shrink((0, n)).sum(-1)


def arange(m, n, dtype="i32"): return cumsum(constant(m, 1, dtype).expand(n)) - 1


def one_hot(m, index, classes):
  """bool [..., classes]."""
  return arange(m, classes).eq(index.unsqueeze(-1))


def gather(m, table, index):
  """table[index] for a 2-d table: one-hot rows times the table, summed."""
  return (one_hot(m, index, table.shape[0]).cast(table.dtype).unsqueeze(-1) * table).sum(-2)


def scatter_add(m, index, rows, size):
  """The gradient of gather by its table of `size` rows: row v is the sum of the rows where index is v."""
  return (one_hot(m, index, size).cast(rows.dtype).unsqueeze(-1) * rows.unsqueeze(-2)).sum(0)


# Activations
def relu(x): return x.maximum(0)
def sigmoid(x): return ((-x).exp() + 1).recip()
def tanh(x): return sigmoid(x * 2) * 2 - 1
def silu(x): return x * sigmoid(x)
def gelu(x): return x * 0.5 * (tanh((x + x * x * x * 0.044715) * math.sqrt(2 / math.pi)) + 1)
def relu6(x): return relu(x).minimum(6)


def softmax(x, axis=-1):
  e = (x - x.max(axis, True).detach()).exp()
  return e * e.sum(axis, True).recip()


def log_softmax(x, axis=-1):
  shifted = x - x.max(axis, True).detach()
  return shifted - shifted.exp().sum(axis, True).log()


def cross_entropy(m, logits, target):
  """The mean over rows of -log p[target]."""
  picked = one_hot(m, target, logits.shape[-1]).where(log_softmax(logits), 0)
  return -picked.sum(-1).mean()


def cross_entropy_gradient(m, logits, target):
  """Of that mean, by the logits."""
  return (softmax(logits) - one_hot(m, target, logits.shape[-1]).cast(logits.dtype)) / logits.shape[0]


# Dense
def linear(m, x, name, out, bias=True, layout="oi"):
  """layout: oi as in PyTorch, io as GPT-2 keeps its weights."""
  size, scale = x.shape[-1], normal(1 / math.sqrt(x.shape[-1]))
  with m.scope(name):
    if layout == "oi":
      y = (x.unsqueeze(-2) * m.weight("weight", (out, size), scale)).sum(-1)
    else:
      y = x @ m.weight("weight", (size, out), scale)
    return y + m.weight("bias", (out,), normal(0.1)) if bias else y


def embedding(m, index, name, count, size):
  with m.scope(name):
    return gather(m, m.weight("weight", (count, size), normal(0.5)), index)


# Norms
def moments(x, axes):
  centred = x - x.mean(axes, True)
  return centred, (centred * centred).mean(axes, True)


def layer_norm(m, x, name, eps=1e-5):
  with m.scope(name):
    centred, var = moments(x, -1)
    scaled = centred * (var + eps).rsqrt()
    return scaled * m.weight("weight", x.shape[-1:], normal(0.1, 1)) + m.weight("bias", x.shape[-1:], normal(0.1))


def rms_norm(m, x, name, eps=1e-5):
  with m.scope(name):
    return x * ((x * x).mean(-1, True) + eps).rsqrt() * m.weight("weight", x.shape[-1:], normal(0.1, 1))


def batch_norm(m, x, name, train=False, gain=1.0, eps=1e-5):
  """train: by the statistics of this batch, towards which the running ones move; otherwise by the running ones, folded to one scale and one shift a channel.
  gain: what the weights are around; below 1 where a residual follows, so that values do not grow with depth."""
  size = x.shape[1:2]
  channels = (*size, 1, 1)
  with m.scope(name):
    weight, bias = m.weight("weight", size, normal(0.1 * gain, gain)), m.weight("bias", size, normal(0.1))
    if train:
      centred, var = moments(x, (0, 2, 3))
      count = math.prod(x.shape) // size[0]
      mean, unbiased = x.mean((0, 2, 3)), var.reshape(*size) * (count / max(count - 1, 1))
      m.update("running_mean", lambda old: old * 0.9 + mean * 0.1, size, normal(0.1))
      m.update("running_var", lambda old: old * 0.9 + unbiased * 0.1, size, uniform(0.5, 1.5))
      return centred * ((var + eps).rsqrt() * weight.reshape(*channels)) + bias.reshape(*channels)
    mean, var = m.weight("running_mean", size, normal(0.1)), m.weight("running_var", size, uniform(0.5, 1.5))
    scale = weight * (var + eps).rsqrt()
    return x * scale.reshape(*channels) + (bias - mean * scale).reshape(*channels)


def group_norm(m, x, name, groups, eps=1e-5):
  n, c, h, w = x.shape
  with m.scope(name):
    centred, var = moments(x.reshape(n, groups, -1), -1)
    scaled = (centred * (var + eps).rsqrt()).reshape(n, c, h, w)
    return scaled * m.weight("weight", (c,), normal(0.1, 1)).reshape(c, 1, 1) + m.weight("bias", (c,), normal(0.1)).reshape(c, 1, 1)
