"""A model under construction: inputs, weights and outputs by name, scopes, and repeated layers as CALLs."""
import contextlib
import math
import zlib

import numpy as np

from evaluate import DTYPES
from tensor import Tensor


def normal(scale=1.0, mean=0.0): return ("normal", mean, scale)
def uniform(low, high): return ("uniform", low, high)
def integers(low, high): return ("integers", low, high)


def generate(seed, name, shape, dtype, init):
  """The array of that name: a stream of its own, so that it depends on no other."""
  rng = np.random.Generator(np.random.PCG64([seed, zlib.crc32(name.encode())]))
  kind, a, b = init
  if kind == "normal":
    return rng.standard_normal(shape, np.float32) * np.float32(b) + np.float32(a)
  if kind == "uniform":
    return rng.random(shape, np.float32) * np.float32(b - a) + np.float32(a)
  return np.asarray(rng.integers(a, b, shape), DTYPES[dtype])


class Body:
  """The body of a CALL: its first params are the arguments, then one for each weight and state."""

  def __init__(self, args):
    self.count, self.held, self.effects, self.result = args, [], [], None


class Model:
  def __init__(self, backend, seed=0, calls=False):
    self.b, self.seed, self.calls = backend, seed, calls
    self.prefix, self.body, self.bodies, self.bounds = [], None, {}, {}
    self.params, self.buffers, self.outputs = {}, {}, {}  # name: (shape, dtype, init), ... ; name: Tensor
    self.constants = set()  # buffers that are weights
    self.trains = False  # weights are state, which a run writes

  # Leaves
  def input(self, name, shape, init=normal(), dtype="f32", bounds=None):
    self.params[name] = (tuple(shape), dtype, init)
    handle = self.b.param(len(self.params) - 1, tuple(shape), dtype, name, bounds)
    self.bounds[id(handle)] = bounds
    return Tensor(self.b, handle)

  def position(self, name, size):
    """A scalar argument in 0 … size-1."""
    return self.input(name, (), integers(size // 2, size), "i32", (0, size - 1))

  def weight(self, name, shape, init=None):
    return self.held(name, tuple(shape), init or normal(1 / math.sqrt(max(math.prod(shape[1:]), 1))), not self.trains)

  def state(self, name, shape, init=normal()):
    return self.held(name, tuple(shape), init, False)

  def held(self, name, shape, init, const):
    if self.body:
      self.body.held.append((self.name(name), shape, init, const))
      return Tensor(self.b, self.b.param(self.body.count + len(self.body.held) - 1, shape, "f32"))
    return self.buffer(self.name(name), shape, init, const)

  def update(self, name, fn, shape, init=normal()):
    """A state that becomes fn(state) in each run; also an output by its name."""
    state = self.state(name, shape, init)
    stored = state.store(fn(state))
    if self.body:
      self.body.effects.append(stored)
    else:
      self.output(self.name(name), state.after(stored))

  def buffer(self, name, shape, init, const):
    assert name not in self.buffers, name
    self.buffers[name] = (shape, "f32", init)
    if const:
      self.constants.add(name)
    return Tensor(self.b, self.b.buffer(name, shape, "f32", const))

  def output(self, name, x): self.outputs[name] = x

  # Scopes: the prefix of names, and the tag of nodes.
  def name(self, name): return ".".join([*self.prefix, name])

  @contextlib.contextmanager
  def scope(self, name):
    self.prefix.append(name)
    self.b.tag(".".join(self.prefix))
    yield
    self.prefix.pop()
    self.b.tag(".".join(self.prefix))

  # Repeated layers
  def layer(self, scope, kind, fn, *args, writes=()):
    """fn(model, *args) with weights under scope: in line, or a CALL of a body that all layers of this kind share.
    With writes (positions among args of places that fn stores to) fn gives (value, place after, …), and so does this."""
    if not self.calls:
      with self.scope(scope):
        return fn(self, *args)
    body = self.shared_body(kind, fn, args, bool(writes))
    held = {f"{self.name(scope)}.{name}": (shape, init, const) for name, shape, init, const in body.held}
    places = {name: self.buffer(name, *more) for name, more in held.items()}
    result = Tensor(self.b, self.b.call(body.result.h, [x.h for x in (*args, *places.values())], kind))
    for name in (name for name in held if not held[name][2]):
      self.output(name, places[name].after(result))
    return (result, *(args[i].after(result) for i in writes)) if writes else result

  def shared_body(self, kind, fn, args, several):
    key = (kind, tuple((x.shape, x.dtype) for x in args))
    if key not in self.bodies:
      outer, self.prefix, self.body = self.prefix, [], Body(len(args))
      params = [Tensor(self.b, self.b.param(i, x.shape, x.dtype, bounds=self.bounds.get(id(x.h)))) for i, x in enumerate(args)]
      self.b.tag("")
      result = fn(self, *params)
      result = result[0] if several else result
      self.body.result = result.after(*self.body.effects) if self.body.effects else result
      self.bodies[key], self.prefix, self.body = self.body, outer, None
      self.b.tag(".".join(outer))
    return self.bodies[key]

  # Values
  def value(self, name):
    shape, dtype, init = self.params[name] if name in self.params else self.buffers[name]
    return generate(self.seed, name, shape, dtype, init)

  def weight_specs(self): return {name: self.buffers[name][:2] for name in self.buffers if name in self.constants}
  def input_names(self): return [*self.params, *(name for name in self.buffers if name not in self.constants)]
