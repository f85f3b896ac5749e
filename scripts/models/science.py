"""Programs that are no neural network."""
import math

from model import integers, normal, uniform
from nn import arange, constant, cumsum, one_hot
from registry import register


@register(small=dict(height=6, width=8, steps=6), full=dict(height=1024, width=1024, steps=32))
def mandelbrot(m, height, width, steps):
  cx = (arange(m, width).cast("f32") * (3 / (width - 1)) - 2.05).reshape(1, width)
  cy = (arange(m, height).cast("f32") * (2.4 / (height - 1)) - 1.17).reshape(height, 1)
  x = y = constant(m, 0)
  count = constant(m, 0, "i32")
  for _ in range(steps):
    xx, yy = x * x, y * y
    inside = (xx + yy) < 4
    count = count + inside.cast("i32")
    # Points that have left stay, so that nothing overflows.
    x, y = inside.where(xx - yy + cx, x), inside.where(x * y * 2 + cy, y)
  m.output("count", count)


def shifted(x, dy, dx):
  """x moved by one cell, zeros coming in."""
  def edges(d): return (max(d, 0), max(-d, 0))
  h, w = x.shape
  (top, bottom), (left, right) = edges(dy), edges(dx)
  return x.pad((top, bottom), (left, right)).shrink((bottom, bottom + h), (right, right + w))


@register(small=dict(size=8, steps=2), full=dict(size=2048, steps=4))
def life(m, size, steps):
  x = m.input("cells", (size, size), integers(0, 2), "i32")
  for _ in range(steps):
    around = sum((shifted(x, dy, dx) for dy in (-1, 0, 1) for dx in (-1, 0, 1) if dy or dx), start=x * 0)
    x = (around.eq(3) | (around.eq(2) & x.eq(1))).cast("i32")
  m.output("next", x)


@register(small=dict(size=7, steps=3), full=dict(size=2048, steps=4))
def heat(m, size, steps):
  """Explicit steps of the heat equation, written back to where they were read."""
  grid = m.state("grid", (size, size), uniform(0, 1))
  x = grid
  for _ in range(steps):
    x = x + (shifted(x, 1, 0) + shifted(x, -1, 0) + shifted(x, 0, 1) + shifted(x, 0, -1) - x * 4) * 0.2
  m.output("grid1", grid.after(grid.store(x)))


@register(small=dict(size=40, bins=5), full=dict(size=1 << 20, bins=256))
def histogram(m, size, bins):
  m.output("counts", one_hot(m, m.input("values", (size,), integers(0, bins), "i32"), bins).cast("i32").sum(0))


@register(small=dict(size=16), full=dict(size=1 << 14))
def bitonic_sort(m, size):
  x, half = m.input("x", (size,)), arange(m, 2)
  run = 2
  while run <= size:
    step = run // 2
    while step:
      # Axes: pairs of runs, the run in the pair (rising, then falling), pairs of elements, the element in the pair.
      x = x.reshape(-1, 2 if run < size else 1, run // (2 * step), 2, step)
      partner = x.flip(3)
      falling = half.reshape(2, 1, 1, 1) if run < size else constant(m, 0, "i32")
      x = half.reshape(2, 1).eq(falling).where(x.minimum(partner), x.maximum(partner))
      step //= 2
    run *= 2
  m.output("sorted", x.flatten())


@register(small=dict(rows=2, blocks=3, size=4), full=dict(rows=64, blocks=64, size=128))
def prefix_sum(m, rows, blocks, size):
  """Sums within blocks, then the sums of the blocks before."""
  within = cumsum(m.input("x", (rows, blocks * size)).reshape(rows, blocks, size))
  totals = within.slice(-1, size - 1, size).reshape(rows, blocks)
  before = cumsum(totals).pad((1, 0)).shrink((0, blocks))
  m.output("sums", (within + before.unsqueeze(-1)).flatten(1))


def phase(m, a, b, n):
  """cos and sin of -2 pi j k / n for j < a, k < b."""
  turns = (arange(m, a).unsqueeze(-1) * arange(m, b)) % n
  angle = turns.cast("f32") * (-2 * math.pi / n)
  return angle.cos(), angle.sin()


def complex_mul(a, b, times): return times(a[0], b[0]) - times(a[1], b[1]), times(a[0], b[1]) + times(a[1], b[0])


@register(small=dict(a=4, b=3), full=dict(a=64, b=64), rtol=1e-3)
def fft_matrix(m, a, b):
  """A Fourier transform of a·b points as two products with matrices and a twist between."""
  x = tuple(m.input(name, (a * b,), normal()).reshape(a, b) for name in ("re", "im"))
  y = complex_mul(phase(m, a, a, a), x, lambda p, q: p @ q)
  y = complex_mul(y, phase(m, a, b, a * b), lambda p, q: p * q)
  y = complex_mul(y, phase(m, b, b, b), lambda p, q: p @ q)
  for name, part in zip(("re1", "im1"), y):
    m.output(name, part.permute(1, 0).flatten())
