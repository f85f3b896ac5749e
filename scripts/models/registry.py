"""The models by name: a function each, which builds into a Model, and its two sizes."""
import dataclasses
from collections.abc import Callable

MODELS = {}


@dataclasses.dataclass
class Entry:
  build: Callable
  small: dict
  full: dict
  calls: bool  # layers as CALLs unless asked otherwise
  rtol: float


def register(small, full, name=None, calls=False, rtol=1e-4):
  def add(build):
    MODELS[name or build.__name__] = Entry(build, small, full, calls, rtol)
    return build
  return add
