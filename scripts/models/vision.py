"""Image models."""
from attention import attend, fused_qkv, merge
from conv import avg_pool, conv2d, global_avg_pool, max_pool, upsample
from gradient import recording
from model import integers, normal
from nn import batch_norm, cross_entropy, gelu, layer_norm, linear, relu, relu6
from registry import register
from tensor import concat


def mlp_logits(m, batch, sizes):
  x = m.input("x", (batch, sizes[0]))
  for i, size in enumerate(sizes[1:]):
    x = linear(m, x if i == 0 else relu(x), f"fc{i + 1}", size)
  return x


@register(small=dict(batch=3, sizes=(12, 16, 8, 4)), full=dict(batch=64, sizes=(784, 512, 256, 10)))
def mlp(m, **shape):
  m.output("logits", mlp_logits(m, **shape))


@register(small=dict(batch=3, sizes=(12, 16, 8, 4), rate=0.1), full=dict(batch=64, sizes=(784, 512, 256, 10), rate=0.1))
def mlp_train(m, batch, sizes, rate):
  """A step of gradient descent, the weights changed in place."""
  m.trains = True
  with recording(m) as tape:
    logits = mlp_logits(m, batch, sizes)
    loss = cross_entropy(m, logits, m.input("target", (batch,), integers(0, sizes[-1]), "i32"))
  m.output("loss", loss)
  for name, gradient in tape.gradients(loss, tape.weights).items():
    weight = tape.weights[name]
    m.output(name, weight.after(weight.store(weight - gradient * rate)))


@register(small=dict(batch=2, size=20, widths=(2, 3), dense=(12, 8), classes=4),
          full=dict(batch=32, size=28, widths=(6, 16), dense=(120, 84), classes=10))
def lenet(m, batch, size, widths, dense, classes):
  x = m.input("image", (batch, 1, size, size))
  for i, width in enumerate(widths):
    x = avg_pool(relu(conv2d(m, x, f"conv{i + 1}", width, 5, padding=2 if i == 0 and size == 28 else 0)), 2)
  x = x.flatten(1)
  for i, width in enumerate(dense):
    x = relu(linear(m, x, f"fc{i + 1}", width))
  m.output("logits", linear(m, x, "head", classes))


def conv_bn(m, x, name, out, kernel, stride=1, groups=1, train=False, gain=1.0):
  with m.scope(name):
    x = conv2d(m, x, "conv", out, kernel, stride, kernel // 2, groups=groups, bias=False)
    return batch_norm(m, x, "bn", train, gain)


def basic_block(m, x, width, stride, train):
  y = relu(conv_bn(m, x, "1", width, 3, stride, train=train))
  y = conv_bn(m, y, "2", width, 3, train=train, gain=0.3)
  return relu(y + shortcut(m, x, width, stride, train))


def bottleneck(m, x, width, stride, train):
  y = relu(conv_bn(m, x, "1", width, 1, train=train))
  y = relu(conv_bn(m, y, "2", width, 3, stride, train=train))
  y = conv_bn(m, y, "3", 4 * width, 1, train=train, gain=0.3)
  return relu(y + shortcut(m, x, 4 * width, stride, train))


def shortcut(m, x, out, stride, train):
  return x if stride == 1 and x.shape[1] == out else conv_bn(m, x, "down", out, 1, stride, train=train)


def resnet(m, batch, size, width, classes, block, depths, train=False):
  x = m.input("image", (batch, 3, size, size))
  x = max_pool(relu(conv_bn(m, x, "stem", width, 7, 2, train=train)), 3, 2, 1)
  for stage, depth in enumerate(depths):
    for i in range(depth):
      stride = 2 if stage and i == 0 else 1
      x = m.layer(f"layer{stage + 1}.{i}", f"stage{stage + 1}_{stride}",
                  lambda m, x, w=width << stage, s=stride: block(m, x, w, s, train), x)
  m.output("logits", linear(m, global_avg_pool(x), "fc", classes))


RESNETS = {"resnet18": dict(block=basic_block, depths=(2, 2, 2, 2)), "resnet50": dict(block=bottleneck, depths=(3, 4, 6, 3))}
for name, shape in RESNETS.items():
  small, full = dict(width=2, classes=5, **shape), dict(size=224, width=64, classes=1000, **shape)
  register(dict(batch=1, size=32, **small), dict(batch=1, **full), name, rtol=1e-3)(resnet)
  register(dict(batch=4, size=64, train=True, **small), dict(batch=32, train=True, **full), name + "_train", rtol=1e-3)(resnet)


def inverted_residual(m, x, out, stride, factor):
  c = x.shape[1]
  y = relu6(conv_bn(m, x, "expand", c * factor, 1)) if factor > 1 else x
  y = relu6(conv_bn(m, y, "depthwise", y.shape[1], 3, stride, groups=y.shape[1]))
  y = conv_bn(m, y, "project", out, 1)
  return x + y if stride == 1 and c == out else y


# MobileNetV2: (factor, width, depth, stride) a stage.
STAGES = ((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1))


@register(small=dict(batch=1, size=32, thin=8, stages=((1, 16, 1, 1), (3, 24, 2, 2), (3, 32, 2, 2)), classes=5),
          full=dict(batch=1, size=224, thin=1, stages=STAGES, classes=1000), rtol=1e-3)
def mobilenet(m, batch, size, thin, stages, classes):
  x = relu6(conv_bn(m, m.input("image", (batch, 3, size, size)), "stem", 32 // thin, 3, 2))
  for stage, (factor, width, depth, stride) in enumerate(stages):
    for i in range(depth):
      with m.scope(f"stage{stage}.{i}"):
        x = inverted_residual(m, x, width // thin, stride if i == 0 else 1, factor)
  x = relu6(conv_bn(m, x, "last", 1280 // thin // (1 if thin == 1 else 8), 1))
  m.output("logits", linear(m, global_avg_pool(x), "fc", classes))


def double_conv(m, x, name, out):
  with m.scope(name):
    return relu(conv2d(m, relu(conv2d(m, x, "1", out, 3, padding=1)), "2", out, 3, padding=1))


@register(small=dict(batch=1, size=16, width=2, depth=2, classes=2), full=dict(batch=1, size=256, width=64, depth=4, classes=2), rtol=1e-3)
def unet(m, batch, size, width, depth, classes):
  x, skips = m.input("image", (batch, 3, size, size)), []
  for i in range(depth):
    x = double_conv(m, x, f"down{i}", width << i)
    skips.append(x)
    x = max_pool(x, 2)
  x = double_conv(m, x, "middle", width << depth)
  for i in reversed(range(depth)):
    x = conv2d(m, upsample(x, 2), f"grow{i}", width << i, 3, padding=1)
    x = double_conv(m, concat([skips[i], x], 1), f"up{i}", width << i)
  m.output("mask", conv2d(m, x, "head", classes, 1))


def encoder_block(m, x, count):
  q, k, v = fused_qkv(m, layer_norm(m, x, "ln1"), "qkv", count)
  x = x + linear(m, merge(attend(q, k, v)), "proj", x.shape[-1])
  return x + linear(m, gelu(linear(m, layer_norm(m, x, "ln2"), "fc", 4 * x.shape[-1])), "out", x.shape[-1])


@register(small=dict(batch=1, size=8, patch=4, width=8, layers=2, count=2, classes=5),
          full=dict(batch=1, size=224, patch=16, width=768, layers=12, count=12, classes=1000), rtol=1e-3)
def vit_b16(m, batch, size, patch, width, layers, count, classes):
  x = conv2d(m, m.input("image", (batch, 3, size, size)), "patch", width, patch, patch)
  x = x.flatten(2).swap(1, 2)
  token = m.weight("cls", (1, 1, width), normal(0.5)).expand(batch, 1, width)
  x = concat([token, x], 1)
  x = x + m.weight("position", x.shape[1:], normal(0.5))
  for i in range(layers):
    x = m.layer(f"block.{i}", "block", lambda m, x: encoder_block(m, x, count), x)
  x = layer_norm(m, x.slice(1, 0, 1).reshape(batch, width), "ln")
  m.output("logits", linear(m, x, "head", classes))
