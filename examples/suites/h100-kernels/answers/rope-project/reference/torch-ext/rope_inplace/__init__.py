import torch

from ._ops import ops


def rope_inplace(x: torch.Tensor, positions: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
    ops.rope_inplace(x, positions, cos, sin)
    return x


__all__ = ["rope_inplace"]
