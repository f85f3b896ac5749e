"""What a model is built from: the primitives that a backend gives. Tensor (tensor.py) knows nothing else of it."""

UNARY = ("NEG", "RECIP", "EXP2", "LOG2", "SQRT", "SIN", "TRUNC", "DETACH")
BINARY = ("ADD", "MUL", "MAX", "CMPLT", "CMPNE", "FLOORDIV", "FLOORMOD", "AND", "OR", "XOR", "SHL", "SHR")
COMPARE = ("CMPLT", "CMPNE")


class Backend:
  """Handles are the backend's own. Shapes are tuples of ints, dtypes the names of the .uop format ("f32", "i32", "bool")."""

  def shape(self, x): raise NotImplementedError
  def dtype(self, x): raise NotImplementedError

  # Leaves. bounds=(min, max) of an integer scalar; a const buffer is a weight, another one is state.
  def param(self, slot, shape, dtype, name=None, bounds=None): raise NotImplementedError
  def buffer(self, name, shape, dtype, const): raise NotImplementedError
  def const(self, value, dtype): raise NotImplementedError

  # Element by element, broadcast as in numpy: UNARY, BINARY or WHERE.
  def alu(self, op, *xs): raise NotImplementedError
  def cast(self, x, dtype): raise NotImplementedError

  # Movement. shrink: offsets, one an axis, are ints or scalar handles that shift the window at run time.
  def reshape(self, x, shape): raise NotImplementedError
  def expand(self, x, shape): raise NotImplementedError
  def permute(self, x, axes): raise NotImplementedError
  def flip(self, x, axes): raise NotImplementedError
  def pad(self, x, pad): raise NotImplementedError
  def shrink(self, x, bounds, offsets=()): raise NotImplementedError

  # ADD, MUL or MAX over axes, which disappear.
  def reduce(self, op, x, axes): raise NotImplementedError

  # Memory: store gives an effect, after the place (or value) once the effects have happened.
  def store(self, place, x): raise NotImplementedError
  def after(self, x, *effects): raise NotImplementedError

  # A call of body (a handle built from params 0 .. n-1) with args.
  def call(self, body, args, name): raise NotImplementedError

  # The label that nodes built from now on carry.
  def tag(self, text): raise NotImplementedError
