#!/usr/bin/python3
"""Builds every model of scripts/models small, runs it through uoprun, and compares with what numpy gives.

    scripts/test_models.py --uoprun build/bin/uoprun [--device interp --device cpu] [--jobs N] [NAME...]

Each is also compiled with its results compared after each pass, and the operations of its kernels are held against those of the
program, with what stands beside uoprun: uopc --verify-each=run, uop_each_pass --work. Some results are also compared with numpy's own functions. The last line is "N passed, N failed".
"""
import argparse
import concurrent.futures
import os
import subprocess
import sys
import tempfile

import numpy as np

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path[:0] = [os.path.join(ROOT, "scripts"), os.path.join(ROOT, "scripts", "models")]
import zoo  # noqa: E402
from run_corpus import difference  # noqa: E402


def plain_softmax(x):
  e = np.exp(x - x.max(-1, keepdims=True))
  return e / e.sum(-1, keepdims=True)


def plain_attention(q, k, v):
  k, v = (np.repeat(a, q.shape[1] // a.shape[1], 1) for a in (k, v))
  scores = q @ k.swapaxes(-1, -2) / np.sqrt(q.shape[-1])
  return {"y": plain_softmax(np.where(np.tri(q.shape[2], dtype=bool), scores, -np.inf)) @ v}


def plain_conv(x, w, stride, padding):
  x = np.pad(x, ((0, 0), (0, 0), (padding, padding), (padding, padding)))
  views = np.lib.stride_tricks.sliding_window_view(x, w.shape[2:], (2, 3))[:, :, ::stride, ::stride]
  return np.einsum("nchwij,ocij->nohw", views, w)


def plain_conv_bn_relu(a):
  y = plain_conv(a["x"], a["block.conv.weight"], 2, 1)
  mean, var, weight, bias = (a["block.bn." + key].reshape(-1, 1, 1) for key in ("running_mean", "running_var", "weight", "bias"))
  return {"y": np.maximum((y - mean) / np.sqrt(var + 1e-5) * weight + bias, 0)}


def plain_fft(re, im):
  y = np.fft.fft(re + 1j * im)
  return {"re1": y.real, "im1": y.imag}


def plain_scatter(index, rows, size):
  out = np.zeros((size, rows.shape[1]))
  np.add.at(out, index, rows)
  return out


def plain_softmax_gradient(x, dy):
  y = plain_softmax(x)
  return {"x.gradient": y * (dy - (dy * y).sum(-1, keepdims=True))}


def plain_norm_gradient(name, x, weight, dy, centred):
  """Of layer norm, and of what it is without its mean."""
  x = x - x.mean(-1, keepdims=True) if centred else x
  scale = 1 / np.sqrt((x * x).mean(-1, keepdims=True) + 1e-5)
  y, by_y = x * scale, dy * weight
  mean = by_y.mean(-1, keepdims=True) if centred else 0
  sums = {"bias": dy.sum(0)} if centred else {}
  by_x = (by_y - mean - y * (by_y * y).mean(-1, keepdims=True)) * scale
  return {"x.gradient": by_x} | {f"{name}.{key}.gradient": value for key, value in ({"weight": (dy * y).sum(0)} | sums).items()}


PLAIN = {  # a model: its results from its arrays by name, written without the model's layers
  "softmax": lambda a: {"y": plain_softmax(a["x"])},
  "attention": lambda a: plain_attention(a["q"], a["k"], a["v"]),
  "conv_bn_relu": plain_conv_bn_relu,
  "embedding": lambda a: {"rows": a["embedding.weight"][a["tokens"]]},
  "cross_entropy": lambda a: {"loss": -np.log(plain_softmax(a["logits"])[np.arange(len(a["target"])), a["target"]]).mean()},
  "cross_entropy_gradient": lambda a: {"gradient": (plain_softmax(a["logits"]) - np.eye(a["logits"].shape[1])[a["target"]]) / len(a["target"])},
  "embedding_gradient": lambda a: {"gradient": plain_scatter(a["tokens"], a["rows"], 12)},
  "softmax_gradient": lambda a: plain_softmax_gradient(a["x"], a["dy"]),
  "layernorm_gradient": lambda a: plain_norm_gradient("ln", a["x"], a["ln.weight"], a["dy"], True),
  "rmsnorm_gradient": lambda a: plain_norm_gradient("norm", a["x"], a["norm.weight"], a["dy"], False),
  "bitonic_sort": lambda a: {"sorted": np.sort(a["x"])},
  "histogram": lambda a: {"counts": np.bincount(a["values"], minlength=5)},
  "prefix_sum": lambda a: {"sums": np.cumsum(a["x"], 1)},
  "fft_matrix": lambda a: plain_fft(a["re"], a["im"]),
}


def compare(got, want, rtol):
  if set(got) != set(want):
    return f"results are {sorted(got)}, expected {sorted(want)}"
  for name in want:
    wrong = difference(got[name], want[name], {"rtol": rtol, "atol": rtol})
    if wrong:
      return f"result '{name}' {wrong}"
  return ""


def check_plain(name, model, want):
  if name not in PLAIN:
    return ""
  arrays = {key: model.value(key) for key in (*model.params, *model.buffers)}
  plain = {key: np.asarray(value, want[key].dtype) for key, value in PLAIN[name](arrays).items()}
  return compare(want, plain, zoo.MODELS[name].rtol)


# Operations of all kernels, by those of the graph. What is computed again beyond 1.05 is cheap: comparisons and selections of a
# sorting network, a normalisation inside of a convolution, casts of table indices, a product with a row's scale. In the models that
# train, what both directions read is kept before its last cheap steps, which products then repeat for every column: a gap to close.
WORK = {"bitonic_sort": 1.4, "diffusion_block": 1.2, "fft_matrix": 1.1, "rmsnorm_gradient": 1.1, "mlp_train": 1.1, "gpt2_train": 1.7}


def check_passes(args, base, name):
  """What is wrong after a pass, or with the work of the kernels, or ""."""
  tools = os.path.dirname(os.path.abspath(args.uoprun))
  for command in ([os.path.join(tools, "uopc"), base + ".uop", "--verify-each=run", "-o", base + ".artifact"],
                  [os.path.join(tools, "uop_each_pass"), base + ".uop", "--work", str(WORK.get(name, 1.05))]):
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=args.timeout)
    if done.returncode:
      return f"exit status {done.returncode}\n{done.stdout}{done.stderr}"
  return ""


def run(args, base, device, want, rtol, extra=()):
  out = f"{base}.{device}.npz"
  command = [os.path.abspath(args.uoprun), base + ".uop", "--device", device, "--outputs", out, "--threads", "1",
             "--inputs", base + ".in.npz", "--inputs", base + ".weights.safetensors", *extra]
  try:
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=args.timeout)
  except subprocess.TimeoutExpired:
    return f"takes more than {args.timeout} s"
  if done.returncode:
    return f"exit status {done.returncode}\n{done.stderr}"
  with np.load(out) as got:
    return compare({name: got[name] for name in got.files if name in want}, want, rtol)


def check(args, folder, name, calls):
  model = zoo.build(name, calls=calls)
  base = zoo.write(model, os.path.join(folder, "calls" if calls else "flat"), name, with_want=False)
  want = zoo.want(model)
  same = compare(want, zoo.want(zoo.build(name)), 0) if calls != zoo.MODELS[name].calls else ""
  wrong = same or check_plain(name, model, want)
  if wrong:
    yield "numpy", wrong
  for device in args.device:
    # Small layers are functions, too, as large ones are.
    extra = ("--set", "inline-calls.keep=0") if calls and device != "interp" else ()
    yield device, run(args, base, device, want, zoo.MODELS[name].rtol, extra)
  if not calls:
    # Small as they are, many are one kernel: here as many as a large one has.
    for device in (d for d in args.device if d != "interp"):
      yield f"{device}, no product with another,", run(args, base, device, want, zoo.MODELS[name].rtol, ("--set", "fuse.serial-work=0"))
    yield "passes", check_passes(args, base, name)


def check_decode(args, folder, name, calls):
  """A prompt token by token, with the KV cache carried from run to run, ends where the model for whole prompts does."""
  whole, step = zoo.build(name), zoo.build(name + "_decode", calls=calls)
  base = zoo.write(step, os.path.join(folder, "steps" + str(calls)), name, with_want=False)
  tokens = np.atleast_2d(whole.value("tokens"))[-1]
  np.save(base + ".token.npy", tokens.reshape(-1, 1))
  np.save(base + ".position.npy", np.arange(len(tokens), dtype=np.int32))
  want = {"logits": np.atleast_2d(zoo.want(whole)["logits"])[-1]}
  feeds = [word for key in ("token", "position") for word in ("--feed", f"{key}={base}.{key}.npy")]
  for device in args.device:
    yield f"{device}, step by step,", run(args, base, device, want, 1e-3, (*feeds, "--steps", str(len(tokens))))


def cases(names):
  """Every model in line; those with layers also as CALLs; those that decode also step by step."""
  for name in names:
    yield check, name, False
    if "CALL" in {node.op for node in zoo.build(name, calls=True).b.nodes.values()}:
      yield check, name, True
    if name + "_decode" in zoo.MODELS:
      yield check_decode, name, False
      yield check_decode, name, True


def main():
  parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
  parser.add_argument("names", nargs="*", metavar="NAME")
  parser.add_argument("--uoprun", default=os.path.join(ROOT, "build", "bin", "uoprun"))
  parser.add_argument("--device", action="append")
  parser.add_argument("--jobs", type=int, default=os.cpu_count())
  parser.add_argument("--timeout", type=float, default=60)
  args = parser.parse_args()
  args.device = args.device or ["interp", "cpu"]
  passed = failed = 0
  with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
    todo = list(cases(args.names or sorted(zoo.MODELS)))
    for (_, name, calls), results in zip(todo, pool.map(lambda case: list(case[0](args, folder, *case[1:])), todo)):
      for device, wrong in results:
        passed, failed = passed + (not wrong), failed + bool(wrong)
        if wrong:
          print(f"FAILED {name}{' --calls' if calls else ''} on {device}: {wrong}", flush=True)
  print(f"{passed} passed, {failed} failed")
  return 1 if failed or not passed else 0


if __name__ == "__main__":
  sys.exit(main())
