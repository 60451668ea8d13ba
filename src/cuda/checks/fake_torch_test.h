// SPDX-License-Identifier: Apache-2.0
// As much of PyTorch as a task needs that multiplies by numbers, and such a task.
#pragma once

#include <string_view>

namespace upskill {

inline constexpr std::string_view kFakeTorch = R"py(import array, math, random, sys, types

float32 = "torch.float32"

class Tensor:
    dtype, _version = float32, 0
    def __init__(self, shape, data):
        self.shape, self.data = tuple(shape), array.array("f", data)
    def numel(self): return len(self.data)
    def element_size(self): return 4
    def data_ptr(self): return self.data.buffer_info()[0]
    def clone(self): return Tensor(self.shape, self.data)
    def contiguous(self): return self
    def to(self, dtype): return self
    def reshape(self, shape): return Tensor(shape, self.data)
    def is_floating_point(self): return True
    def all(self): return all(self.data)
    def __mul__(self, factor): return Tensor(self.shape, [each * factor for each in self.data])

def rand(*shape): return Tensor(shape, [random.random() for _ in range(math.prod(shape))])
def equal(a, b): return a.data == b.data
def isfinite(a): return Tensor((1,), [all(map(math.isfinite, a.data))])
def frombuffer(data, dtype): return Tensor((len(data) // 4,), array.array("f", bytes(data)))
def set_num_threads(count): pass

randn = randint = rand
manual_seed = random.seed

class no_grad:
    def __enter__(self): pass
    def __exit__(self, *_): pass

nn = sys.modules["torch.nn"] = types.ModuleType("torch.nn")

class Module:
    def __call__(self, *inputs): return self.forward(*inputs)
    def named_parameters(self): return []
    def named_buffers(self): return []

nn.Module = Module
)py";

inline constexpr std::string_view kStretchTask = R"py(import torch
import torch.nn as nn

class Model(nn.Module):
    def __init__(self, factor, widths):
        super().__init__()
        self.factor = factor

    def forward(self, values, share):
        print("not a result")
        return values * (self.factor * share)

many_rows = 3000
widths = (4 * 500, 7)

def get_inputs():
    return [torch.rand(many_rows, *widths), 0.25]

def get_init_inputs():
    return [1.5, widths]
)py";

}  // namespace upskill
