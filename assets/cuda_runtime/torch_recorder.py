# SPDX-License-Identifier: Apache-2.0
"""Runs an answer in KernelBench's format without PyTorch: keeps the sources that it gives to load_inline, and writes C++
that makes the calls which its ModelNew makes of them. Prints JSON: the "extensions"; or the answer's "problem", or
what it uses that isn't here ("lacks").
"""

import importlib.util
import json
import math
import os
import sys
import traceback
import types

TYPES = {  # PyTorch's names of the types that the check has, and those of C++
    "f64": ("float64 double", "kDouble"), "f32": ("float32 float", "kFloat"), "f16": ("float16 half", "kHalf"),
    "bf16": ("bfloat16", "kBFloat16"), "i8": ("int8", "kChar"), "u8": ("uint8", "kByte"), "i16": ("int16 short", "kShort"),
    "i32": ("int32 int", "kInt"), "i64": ("int64 long", "kLong"),
}


class Lacks(BaseException):
    """What PyTorch has and this doesn't."""


class Problem(Exception):
    """What is wrong with the answer."""


class StandIn(types.ModuleType):
    __path__ = []

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        raise Lacks(f"{self.__name__}.{name}")


class Named(str):
    """A type of elements, or the device."""
    type = property(lambda self: str(self).partition(":")[0])
    index = 0


class Size(tuple):
    def numel(self):
        return math.prod(self)


calls = []  # lines of C++; each makes the next of the values `v`
extensions = []


def record(code, shape=None, dtype=None):
    calls.append(f"v.push_back({code});")
    return Tensor(len(calls) - 1, shape, dtype)


def literal(value):
    if isinstance(value, Tensor):
        return f"v[{value.number}]"
    if isinstance(value, bool):
        return "upskill_torch::Value{true}" if value else "upskill_torch::Value{false}"
    if isinstance(value, int):
        return f"upskill_torch::Value{{std::int64_t{{{value}}}}}"
    if isinstance(value, float):
        return f'upskill_torch::Value{{std::strtod("{value!r}", nullptr)}}'
    if value is None:
        return "upskill_torch::Value{}"
    if isinstance(value, (list, tuple)):
        return f"upskill_torch::Value{{std::vector<upskill_torch::Value>{{{', '.join(map(literal, value))}}}}}"
    raise Lacks(f"arguments of C++ of the type {type(value).__name__}")


class Tensor:
    def __init__(self, number, shape, dtype):
        self.number, self.known, self.known_dtype = number, None if shape is None else Size(shape), dtype

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        raise Lacks(f"torch.Tensor.{name}")

    @property
    def shape(self):
        if self.known is None:
            raise Lacks("the shape of what C++ returns, in Python")
        return self.known

    @property
    def dtype(self):
        if self.known_dtype is None:
            raise Lacks("the type of what C++ returns, in Python")
        return self.known_dtype

    is_cuda, device = True, Named("cuda:0")
    ndim = property(lambda self: len(self.shape))

    def size(self, dim=None):
        return self.shape if dim is None else self.shape[dim]

    def dim(self):
        return len(self.shape)

    def numel(self):
        return self.shape.numel()

    def is_contiguous(self):
        return True

    def contiguous(self):
        return self

    cuda = detach = contiguous

    def view(self, *shape):
        shape = list(shape[0] if len(shape) == 1 and isinstance(shape[0], (list, tuple)) else shape)
        if not all(isinstance(each, int) for each in shape):
            raise Lacks("torch.Tensor.view of another type")
        sizes = f"{{{', '.join(map(str, shape))}}}"
        if self.known is not None and shape.count(-1) == 1:
            shape[shape.index(-1)] = self.numel() // max(1, -math.prod(shape))
        return record(f"{{upskill_torch::AsTensor(v[{self.number}]).view({sizes})}}",
                      None if self.known is None else shape, self.known_dtype)

    reshape = view

    def clone(self):
        return record(f"{{upskill_torch::AsTensor(v[{self.number}]).clone()}}", self.known, self.known_dtype)

    def __getitem__(self, number):
        if self.known is not None or not isinstance(number, int):
            raise Lacks("tensors that are indexed in Python")
        return record(f"upskill_torch::Item(v[{self.number}], {number})")


def lacking(what):
    def refuse(*_, **__):
        raise Lacks(what)
    return refuse


for operator in ("add sub mul matmul truediv floordiv mod pow and or xor lt le gt ge neg pos abs invert iter len setitem bool "
                 "float int").split():
    for method in (f"__{operator}__", f"__r{operator}__", f"__i{operator}__"):
        setattr(Tensor, method, lacking("operators of tensors in Python"))


class Module:
    def __init__(self, *_, **__):
        self.training = True

    def __call__(self, *arguments, **named):
        return self.forward(*arguments, **named)

    def eval(self, *_, **__):
        return self

    cuda = to = train = eval


for method in "register_buffer register_parameter parameters buffers state_dict half float apply".split():
    setattr(Module, method, lacking(f"torch.nn.Module.{method}"))


class Extension:
    def __init__(self, names, **made):
        self.names, self.made, self.number = names, made, len(extensions)

    def __getattr__(self, name):
        if self.names is not None and name not in self.names:
            raise AttributeError(f"load_inline isn't given the function {name}")

        def call(*arguments, **named):
            if named:
                raise Lacks("arguments of C++ by name")
            return record(f"upskill_torch::Call({self.number}, {json.dumps(name)}, {{{', '.join(map(literal, arguments))}}})")
        return call


class Function:
    @classmethod
    def apply(cls, *arguments):
        return cls.forward(types.SimpleNamespace(save_for_backward=lambda *_: None), *arguments)


def text_of(sources):
    return sources if isinstance(sources, str) else "\n".join(sources or ())


def load_inline(name, cpp_sources, cuda_sources=None, functions=None, extra_cflags=None, extra_cuda_cflags=None, **_):
    cpp = text_of(cpp_sources)
    names = [functions] if isinstance(functions, str) else list(functions) if functions is not None else None
    if names is not None:
        lines = "".join(f'  m.def("{each}", &{each});\n' for each in names)
        cpp += f"\nPYBIND11_MODULE({name}, m) {{\n{lines}}}\n"
    flags = [flag for flag in extra_cuda_cflags or () if flag.startswith("-D") or flag.endswith("use_fast_math")]
    made = Extension(names, cpp=cpp, cuda=text_of(cuda_sources), flags=flags)
    for extension in extensions:
        if extension.made == made.made:
            return extension
    if len(extensions) == 8:
        raise Lacks("more than eight extensions")
    extensions.append(made)
    return made


def maker(name):
    def make(*arguments, dtype="float32", device=None, requires_grad=False):
        if str(device).partition(":")[0] != "cuda":
            raise Lacks("tensors on the CPU")
        count = len(arguments) - (name == "full")
        shape = arguments[0] if isinstance(arguments[0], (list, tuple)) else arguments[:count]
        more = f", {float(arguments[-1])!r}" if name == "full" else ""
        kind = next((cpp for names, cpp in TYPES.values() if dtype == names.split()[0]), None)
        if kind is None:
            raise Lacks(f"torch.{dtype}")
        sizes = ", ".join(str(int(each)) for each in shape)
        return record(f"{{at::{name}({{{sizes}}}{more}, at::TensorOptions(at::{kind}).device(at::kCUDA))}}", shape, dtype)
    return make


def liker(name):
    def make(like, **options):
        if options:
            raise Lacks(f"options of torch.{name}")
        return record(f"{{at::{name}(upskill_torch::AsTensor(v[{like.number}]))}}", like.known, like.known_dtype)
    return make


def add_stand_ins():
    names = ("torch", "torch.nn", "torch.nn.functional", "torch.utils", "torch.utils.cpp_extension", "torch.cuda",
             "torch.autograd")
    for name in names:
        sys.modules[name] = StandIn(name)
        parent, _, last = name.rpartition(".")
        if parent:
            setattr(sys.modules[parent], last, sys.modules[name])
    torch = sys.modules["torch"]
    torch.Tensor, torch.Size, torch.device = Tensor, Size, lambda name, *_: Named(name)
    torch.nn.Module, torch.utils.cpp_extension.load_inline = Module, load_inline
    torch.autograd.Function = Function
    torch.cuda.is_available = lambda: True
    torch.cuda.synchronize = lambda *_: None
    for python_names, _ in TYPES.values():
        for name in python_names.split():
            setattr(torch, name, Named(python_names.split()[0]))
    torch.full = maker("full")
    for name in ("empty", "zeros", "ones"):
        setattr(torch, name, maker(name))
        setattr(torch, f"{name}_like", liker(f"{name}_like"))


def load(file):
    sys.path.insert(0, os.getcwd())
    spec = importlib.util.spec_from_file_location("answer", file)
    answer = sys.modules["answer"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(answer)
    if not hasattr(answer, "ModelNew"):
        raise Problem("it has no class ModelNew")
    return answer.ModelNew


def shape_text(buffer):
    return f"{{{', '.join(map(str, buffer['shape']))}}}, at::{TYPES[buffer['type']][1]}"


def tuples(values):
    return tuple(map(tuples, values)) if isinstance(values, list) else values


def calls_of(model, size):
    """The lines of C++ for inputs of one size."""
    calls.clear()
    inputs = [each["value"] if "value" in each else
              record(f"{{upskill_torch::Given(a{each['argument']}, {shape_text(each)})}}", each["shape"],
                     Named(TYPES[each["type"]][0].split()[0])) for each in size["inputs"]]
    results = model(*tuples(size["init"]))(*inputs)
    results = list(results) if isinstance(results, (list, tuple)) else [results]
    if len(results) != len(size["outputs"]) or not all(isinstance(each, Tensor) for each in results):
        raise Problem(f"forward doesn't return {len(size['outputs'])} tensor(s)")
    returns = [f"upskill_torch::Return(v[{each.number}], a{out['argument']}, {shape_text(out)});"
               for each, out in zip(results, size["outputs"])]
    return "".join(f"      {line}\n" for line in calls + returns)


def record_answer(task):
    model = load(task["file"])
    code, first = "", 0
    for size in task["sizes"]:
        first += size["calls"]
        code += f"    if (call < {first}) {{\n{calls_of(model, size)}      return;\n    }}\n"
    if not extensions:
        raise Problem("it doesn't call load_inline, so it has no CUDA code of its own")
    made = []
    for extension in extensions:
        define = f"#define UPSKILL_EXTENSION {extension.number}\n"
        made.append({
            "cuda": f'{define}#include <torch/types.h>\n#include <cuda.h>\n#line 1 "cuda_sources"\n{extension.made["cuda"]}\n',
            "cpp": f'{define}#include <torch/extension.h>\n#line 1 "cpp_sources"\n{extension.made["cpp"]}\n',
            "flags": extension.made["flags"]})
    made[0]["cpp"] += (
        f'#line 1 "calls of ModelNew"\n{task["function"]} {{\n  static int calls = 0;\n  const int call = calls++;\n'
        f"  std::vector<upskill_torch::Value> v;\n  try {{\n{code}"
        '  } catch (const std::exception& error) {\n    std::fprintf(stderr, "%s\\n", error.what());\n'
        "    std::exit(1);\n  }\n}\n")
    return {"extensions": made}


def problem_of(error, file):
    lines = [each.lineno for each in traceback.extract_tb(error.__traceback__) if os.path.basename(each.filename) == file]
    place = f"{file}:{error.lineno}: " if isinstance(error, SyntaxError) else f"{file}:{lines[-1]}: " if lines else ""
    return f"{place}{type(error).__name__}: {error}"


def main():
    with open(sys.argv[1], encoding="utf-8") as task_file:
        task = json.load(task_file)
    report = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what the answer prints isn't the report
    add_stand_ins()
    try:
        result = record_answer(task)
    except Lacks as error:
        with open(task["file"], encoding="utf-8") as source:
            inline = "load_inline" in source.read()
        result = {"lacks": str(error)} if inline else {"problem": "it doesn't call load_inline, so it has no CUDA code of its own"}
    except ModuleNotFoundError as error:
        result = {"lacks": f"the module {error.name}"}
    except Problem as error:
        result = {"problem": str(error)}
    except BaseException as error:  # whatever the answer raises
        result = {"problem": problem_of(error, os.path.basename(task["file"]))}
    json.dump(result, report)
    report.close()


main()
