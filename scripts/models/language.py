"""Language models: GPT-2 and Llama, over a whole prompt and one token at a time with a KV cache."""
from attention import attend, cache_at, causal, fused_qkv, heads, merge, rotate
from gradient import recording
from model import integers, normal
from nn import arange, cross_entropy, embedding, gather, gelu, layer_norm, linear, rms_norm, scatter_add, silu
from registry import register

GPT2_SMALL = dict(vocab=40, width=8, layers=2, count=2)
GPT2 = dict(vocab=50257, width=768, layers=12, count=12)


def gpt2_mlp(m, x):
  y = gelu(linear(m, layer_norm(m, x, "ln2"), "fc", 4 * x.shape[-1], layout="io"))
  return x + linear(m, y, "out", x.shape[-1], layout="io")


def gpt2_block(m, x, count):
  q, k, v = fused_qkv(m, layer_norm(m, x, "ln1"), "qkv", count, "io")
  x = x + linear(m, merge(attend(q, k, v, causal(m, x.shape[-2]))), "proj", x.shape[-1], layout="io")
  return gpt2_mlp(m, x)


def gpt2_step(m, x, position, keys, values, count, size):
  q, k, v = fused_qkv(m, layer_norm(m, x, "ln1"), "qkv", count, "io")
  keys, values = cache_at(keys, k, position), cache_at(values, v, position)
  y = attend(q, keys, values, arange(m, size) > position)
  x = x + linear(m, merge(y), "proj", x.shape[-1], layout="io")
  return gpt2_mlp(m, x), keys, values


def tied_head(m, x, table):
  """Logits of the last position."""
  last = x.slice(-2, x.shape[-2] - 1, x.shape[-2]).reshape(*x.shape[:-2], 1, x.shape[-1])
  m.output("logits", (last * table).sum(-1))


def gpt2_hidden(m, batch, size, vocab, width, layers, count):
  """What the head reads, and the table that it is tied to."""
  tokens = m.input("tokens", (batch, size), integers(0, vocab), "i32")
  table = m.weight("wte", (vocab, width), normal(width**-0.5))
  x = gather(m, table, tokens) + m.weight("wpe", (size, width), normal(width**-0.5))
  for i in range(layers):
    x = m.layer(f"h.{i}", "block", lambda m, x: gpt2_block(m, x, count), x)
  return layer_norm(m, x, "ln"), table


@register(small=dict(batch=2, size=6, **GPT2_SMALL), full=dict(batch=1, size=1024, **GPT2), rtol=1e-3)
def gpt2(m, **shape):
  tied_head(m, *gpt2_hidden(m, **shape))


@register(small=dict(batch=2, size=6, **GPT2_SMALL), full=dict(batch=1, size=128, **GPT2), rtol=1e-3)
def gpt2_train(m, batch, size, vocab, **shape):
  """The loss of every position, and its gradient by every weight."""
  with recording(m) as tape:
    x, table = gpt2_hidden(m, batch, size, vocab, **shape)
    logits = (x.unsqueeze(-2) * table).sum(-1).reshape(batch * size, vocab)
    loss = cross_entropy(m, logits, m.input("targets", (batch * size,), integers(0, vocab), "i32"))
  m.output("loss", loss)
  for name, gradient in tape.gradients(loss, tape.weights).items():
    m.output(f"{name}.gradient", gradient)


@register(small=dict(size=6, show=True, **GPT2_SMALL), full=dict(size=1024, show=False, **GPT2), rtol=1e-3)
def gpt2_decode(m, size, show, vocab, width, layers, count):
  position = m.position("position", size)
  token = m.input("token", (1,), integers(0, vocab), "i32")
  table = m.weight("wte", (vocab, width), normal(width**-0.5))
  x = gather(m, table, token) + m.weight("wpe", (size, width), normal(width**-0.5)).shrink((0, 1), (0, width), offsets=[position, 0])
  for i in range(layers):
    caches = [m.state(f"cache.{i}.{name}", (count, size, width // count)) for name in ("keys", "values")]
    x, *caches = m.layer(f"h.{i}", "step", lambda m, *xs: gpt2_step(m, *xs, count, size), x, position, *caches, writes=(2, 3))
    if show:
      m.output(f"keys{i}", caches[0])
      m.output(f"values{i}", caches[1])
  tied_head(m, layer_norm(m, x, "ln"), table)


LLAMA_SMALL = dict(vocab=40, width=16, layers=2, count=4, groups=2, hidden=24, theta=10000.0)
LLAMA_1B = dict(vocab=128256, width=2048, layers=16, count=32, groups=8, hidden=8192, theta=500000.0)


def llama_qkv(m, x, count, groups, positions, theta):
  y, each = rms_norm(m, x, "attention_norm"), x.shape[-1] // count
  q = heads(linear(m, y, "wq", count * each, False), count)
  k, v = (heads(linear(m, y, name, groups * each, False), groups) for name in ("wk", "wv"))
  return rotate(m, q, positions, theta), rotate(m, k, positions, theta), v


def llama_rest(m, x, y, hidden):
  x = x + linear(m, merge(y), "wo", x.shape[-1], False)
  y = rms_norm(m, x, "ffn_norm")
  return x + linear(m, silu(linear(m, y, "w1", hidden, False)) * linear(m, y, "w3", hidden, False), "w2", x.shape[-1], False)


def llama_block(m, x, count, groups, hidden, theta):
  size = x.shape[-2]
  q, k, v = llama_qkv(m, x, count, groups, arange(m, size).cast("f32"), theta)
  return llama_rest(m, x, attend(q, k, v, causal(m, size)), hidden)


def llama_step(m, x, position, keys, values, count, groups, hidden, theta):
  q, k, v = llama_qkv(m, x, count, groups, position.cast("f32").reshape(1), theta)
  keys, values = cache_at(keys, k, position), cache_at(values, v, position)
  y = attend(q, keys, values, arange(m, keys.shape[1]) > position)
  return llama_rest(m, x, y, hidden), keys, values


@register(small=dict(size=5, **LLAMA_SMALL), full=dict(size=128, **LLAMA_1B), calls=True, rtol=1e-3)
def llama_1b(m, size, vocab, width, layers, count, groups, hidden, theta):
  tokens = m.input("tokens", (size,), integers(0, vocab), "i32")
  table = m.weight("tok_embeddings", (vocab, width), normal(width**-0.5))
  x = gather(m, table, tokens)
  for i in range(layers):
    x = m.layer(f"layers.{i}", "block", lambda m, x: llama_block(m, x, count, groups, hidden, theta), x)
  tied_head(m, rms_norm(m, x, "norm"), table)


@register(small=dict(size=5, **LLAMA_SMALL), full=dict(size=1024, **LLAMA_1B), calls=True, rtol=1e-3)
def llama_1b_decode(m, size, vocab, width, layers, count, groups, hidden, theta):
  position = m.position("position", size)
  token = m.input("token", (1,), integers(0, vocab), "i32")
  table = m.weight("tok_embeddings", (vocab, width), normal(width**-0.5))
  x = gather(m, table, token)
  for i in range(layers):
    caches = [m.state(f"cache.{i}.{name}", (groups, size, width // count)) for name in ("keys", "values")]
    x, *_ = m.layer(f"layers.{i}", "step", lambda m, *xs: llama_step(m, *xs, count, groups, hidden, theta),
                    x, position, *caches, writes=(2, 3))
  tied_head(m, rms_norm(m, x, "norm"), table)


@register(small=dict(size=5, vocab=12, width=6), full=dict(size=512, vocab=30522, width=768), name="embedding")
def embed(m, size, vocab, width):
  tokens = m.input("tokens", (size,), integers(0, vocab), "i32")
  m.output("rows", embedding(m, tokens, "embedding", vocab, width))


@register(small=dict(size=5, vocab=12, width=6), full=dict(size=512, vocab=30522, width=768))
def embedding_gradient(m, size, vocab, width):
  tokens = m.input("tokens", (size,), integers(0, vocab), "i32")
  m.output("gradient", scatter_add(m, tokens, m.input("rows", (size, width)), vocab))
