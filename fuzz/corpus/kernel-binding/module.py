"""Doc."""
import fuzzed.layers
from ._ops import ops
x = 'a\'' # y
torch.ops.fuzzed.f(x)
