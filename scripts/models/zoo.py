"""All models, and how one is built and written."""
import os

import numpy as np

import language, pieces, science, vision  # noqa: F401, E401 (each registers its models)
import safetensors
from evaluate import evaluate
from model import Model
from registry import MODELS
from uops import UopBackend, print_uop


def build(name, size="small", calls=None, seed=0, changes={}):
  """`changes` replace arguments of the size."""
  entry = MODELS[name]
  model = Model(UopBackend(), seed, entry.calls if calls is None else calls)
  entry.build(model, **getattr(entry, size) | changes)
  return model


def inputs(model): return {name: model.value(name) for name in model.input_names()}


def nodes(model): return {name: x.h for name, x in model.outputs.items()}


def want(model):
  return evaluate(nodes(model), model.value)


def write(model, folder, name, with_weights=True, with_want=True):
  os.makedirs(folder, exist_ok=True)
  base = os.path.join(folder, name)
  with open(base + ".uop", "w", encoding="utf-8") as f:
    f.write(print_uop(nodes(model)))
  np.savez(base + ".in.npz", **inputs(model))
  if with_weights:
    safetensors.write(base + ".weights.safetensors", model.weight_specs(), model.value)
  if with_want:
    np.savez(base + ".want.npz", **want(model))
  return base
