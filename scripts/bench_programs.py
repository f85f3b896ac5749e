#!/usr/bin/env python3
"""Programs for the bench scripts: text of about any number of nodes, the same every time.

    scripts/bench_programs.py gpt2|chain|dag NODES > FILE
"""
import random
import re
import sys


# A block of GPT-2 (width 768, 12 heads, 64 tokens). `.name` is a node of this block, and what stands before the next dot its part.
def norm(x, at):
  return f"""
.{at}.sum = REDUCE {x} op=ADD axes=[2]
.{at}.mean = MUL .{at}.sum %inv
.{at}.wide = RESHAPE .{at}.mean shape=[1,64,1]
.{at}.neg = NEG .{at}.wide
.{at}.centred = ADD {x} .{at}.neg
.{at}.square = MUL .{at}.centred .{at}.centred
.{at}.squares = REDUCE .{at}.square op=ADD axes=[2]
.{at}.var = MUL .{at}.squares %inv
.{at}.safe = ADD .{at}.var %eps
.{at}.std = SQRT .{at}.safe
.{at}.rec = RECIP .{at}.std
.{at}.rstd = RESHAPE .{at}.rec shape=[1,64,1]
.{at}.scaled = MUL .{at}.centred .{at}.rstd
.{at}.weight = PARAM [768]
.{at}.gain = MUL .{at}.scaled .{at}.weight
.{at}.bias = PARAM [768]
.{at}.out = ADD .{at}.gain .{at}.bias"""


def linear(x, at, rows, cols):
  return f"""
.{at}.x = RESHAPE {x} shape=[1,64,{rows},1]
.{at}.weight = PARAM [{rows},{cols}]
.{at}.w = RESHAPE .{at}.weight shape=[1,1,{rows},{cols}]
.{at}.mul = MUL .{at}.x .{at}.w
.{at}.dot = REDUCE .{at}.mul op=ADD axes=[2]
.{at}.bias = PARAM [{cols}]
.{at}.out = ADD .{at}.dot .{at}.bias"""


def heads(at):
  return linear(".ln_1.out", f"attn.{at}", 768, 768) + f"""
.attn.{at}.split = RESHAPE .attn.{at}.out shape=[1,64,12,64]
.attn.{at}.heads = PERMUTE .attn.{at}.split axes=[0,2,1,3]"""


BLOCK = norm("INPUT", "ln_1") + heads("q") + heads("k") + heads("v") + """
.attn.q.wide = RESHAPE .attn.q.heads shape=[1,12,64,1,64]
.attn.k.wide = RESHAPE .attn.k.heads shape=[1,12,1,64,64]
.attn.qk.mul = MUL .attn.q.wide .attn.k.wide
.attn.qk = REDUCE .attn.qk.mul op=ADD axes=[4]
.attn.scores = MUL .attn.qk %scale
.attn.top = REDUCE .attn.scores op=MAX axes=[3]
.attn.max = RESHAPE .attn.top shape=[1,12,64,1]
.attn.neg = NEG .attn.max
.attn.shift = ADD .attn.scores .attn.neg
.attn.log2 = MUL .attn.shift %log2e
.attn.exp = EXP2 .attn.log2
.attn.sum = REDUCE .attn.exp op=ADD axes=[3]
.attn.rec = RECIP .attn.sum
.attn.total = RESHAPE .attn.rec shape=[1,12,64,1]
.attn.p = MUL .attn.exp .attn.total
.attn.p.wide = RESHAPE .attn.p shape=[1,12,64,64,1]
.attn.v.wide = RESHAPE .attn.v.heads shape=[1,12,1,64,64]
.attn.pv.mul = MUL .attn.p.wide .attn.v.wide
.attn.pv = REDUCE .attn.pv.mul op=ADD axes=[3]
.attn.back = PERMUTE .attn.pv axes=[0,2,1,3]
.attn.merged = RESHAPE .attn.back shape=[1,64,768]""" + linear(".attn.merged", "attn.proj", 768, 768) + """
.attn.residual = ADD INPUT .attn.proj.out""" + norm(".attn.residual", "ln_2") + linear(".ln_2.out", "mlp.fc", 768, 3072) + """
.mlp.slope = MUL .mlp.fc.out %gelu
.mlp.exp = EXP2 .mlp.slope
.mlp.denominator = ADD .mlp.exp %one
.mlp.gate = RECIP .mlp.denominator
.mlp.act = MUL .mlp.fc.out .mlp.gate""" + linear(".mlp.act", "mlp.proj", 3072, 768) + """
.mlp.residual = ADD .attn.residual .mlp.proj.out"""

CONSTANTS = {"eps": 1e-05, "inv": 1 / 768, "scale": 0.125, "log2e": 1.4426950408889634, "one": 1.0, "gelu": -2.302208198}


def gpt2(nodes):
  """As a front end would write it: names from the model, a tag on every node of a block."""
  lines = ["uop 1", '%wte = PARAM slot=0 dtype=f32 shape=[1,64,768] name="wte"'] + [f"%{k} = CONST value={v} dtype=f32" for k, v in CONSTANTS.items()]
  x, slot, layer = "%wte", 1, 0
  while len(lines) < nodes:
    path = f"h.{layer}"
    for line in BLOCK.split("\n")[1:]:
      name, op, rest = re.fullmatch(r"(\S+) = (\w+) (.*)", line).groups()
      if op == "PARAM":
        rest, slot = f'slot={slot} dtype=f32 shape={rest} name="{path}{name}"', slot + 1
      rest = re.sub(r"(^| )\.", rf"\1%{path}.", rest).replace("INPUT", x)
      lines.append(f'%{path}{name} = {op} {rest} tag="{path}.{name.split(".")[1]}"')
    x, layer = f"%{path}.mlp.residual", layer + 1
  return "\n".join(lines) + f"\nreturn logits={x}\n"


def chain(nodes):
  """A chain of element-wise ops that no rule shortens."""
  lines = ["uop 1", '%a = PARAM slot=0 dtype=f32 shape=[16] name="a"', '%b = PARAM slot=1 dtype=f32 shape=[16] name="b"']
  last = "a"
  for i in range(nodes - 2):
    lines.append(f"%v{i} = {'MUL' if i % 2 else 'ADD'} %{last} %b")
    last = f"v{i}"
  return "\n".join(lines) + f"\nreturn y=%{last}\n"


def dag(nodes):
  """Element-wise ops over random ones of the values just before them, a row sum now and then: nothing folds or repeats."""
  rng = random.Random(1)
  values = [f"p{i}" for i in range(4)]
  lines = ["uop 1"] + [f'%p{i} = PARAM slot={i} dtype=f32 shape=[4,8] name="p{i}"' for i in range(4)]
  while len(lines) - 1 < nodes - 4:
    i = len(lines)
    recent = values[-12:]
    if i % 50 == 0:
      lines += [f"%s{i} = REDUCE %{rng.choice(recent)} op=ADD axes=[1]", f"%r{i} = RESHAPE %s{i} shape=[4,1]", f"%v{i} = MUL %r{i} %{recent[-1]}"]
    else:
      a, b = rng.sample(recent, 2)
      lines.append(f"%v{i} = {rng.choice(('ADD', 'MUL', 'MAX'))} %{a} %{b}")
    values.append(f"v{i}")
  names = " ".join(f"y{i}=%{v}" for i, v in enumerate(values[-12:]))
  return "\n".join(lines) + f"\nreturn {names}\n"


if __name__ == "__main__":
  sys.stdout.write({"gpt2": gpt2, "chain": chain, "dag": dag}[sys.argv[1]](int(sys.argv[2])))
