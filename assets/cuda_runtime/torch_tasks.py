# SPDX-License-Identifier: Apache-2.0
"""Runs task files in KernelBench's format (a class Model, get_inputs, get_init_inputs) with PyTorch on the CPU. Told to
"read" one, it prints JSON: a "check" with small sizes, or why it is "refused". Told the sizes and types of one
and given the inputs of its calls, it prints the bytes of the results. Exit code 7: there is no PyTorch.
"""

import ast
import ctypes
import inspect
import itertools
import json
import os
import resource
import signal
import sys
import types

TYPES = {"float64": "f64", "float32": "f32", "float16": "f16", "bfloat16": "bf16", "int8": "i8", "uint8": "u8",
         "int16": "i16", "int32": "i32", "int64": "i64"}
SMALL = 16  # constants up to this stay: sizes of windows, strides, numbers of groups
MOST_ELEMENTS = 40_000
MOST_SECONDS = 5
# Sizes for the constants, the largest constant first and those of batches last; the last size is for all others. One of
# each kind is used, the first with which the model works: long, with edges everywhere, tiny.
LONG = [(1031, 5, 3), (263, 5, 3), (131, 9, 3), (67, 13, 3), (37, 19, 3), (23, 21, 2), (13, 9, 7, 2), (9, 7, 6, 2)]
EVEN = [(97, 65, 33), (65, 33, 5, 3), (33, 17, 9, 2), (19, 18, 3, 2), (12, 10, 8, 2), (8, 7, 6, 2)]
TINY = [(1,), (2, 1), (3, 2, 1), (5, 4, 3, 1), (8, 7, 6, 1), (12, 11, 1)]


class Refused(Exception):
    """Why a task can't be judged, whatever its sizes."""


class Unfit(Exception):
    """Why sizes can't be used."""


def load(text, sizes):
    """The file as a module in which the whole numbers that its constants are, or that are in their tuples (`dim`,
    `shape_0`), have the given sizes."""
    def replaced(name, node):
        value = constant(node)
        return ast.copy_location(ast.Constant(sizes[name]), node) if name in sizes and value is not None else node

    tree = ast.parse(text)
    for name, holder, key in constants(tree):
        if key is None:
            holder.value = replaced(name, holder.value)
        else:
            holder[key] = replaced(name, holder[key])
    module = sys.modules["task"] = types.ModuleType("task")
    exec(compile(tree, "task.py", "exec"), module.__dict__)
    return module


def constants(tree):
    for line in tree.body:
        if isinstance(line, ast.Assign) and len(line.targets) == 1 and isinstance(line.targets[0], ast.Name):
            name = line.targets[0].id
            if name == "scale":  # a size of this name multiplies inputs
                continue
            yield name, line, None
            if isinstance(line.value, (ast.Tuple, ast.List)):
                yield from ((f"{name}_{i}", line.value.elts, i) for i in range(len(line.value.elts)))


def constant(node):
    """The whole number that an expression without names is, else None."""
    try:
        value = eval(compile(ast.Expression(node), "constant", "eval"), {"__builtins__": {}})
    except Exception:  # it has names
        return None
    return value if type(value) is int else None


def shrunk(numbers, profile, same):
    """The sizes of a profile; `same`: numbers that are equal stay equal."""
    left, used, sizes = itertools.chain(profile, itertools.repeat(profile[-1])), {}, {}
    for name in sorted(numbers, key=lambda name: ("batch" in name, -numbers[name])):
        if not same or numbers[name] not in used:
            used[numbers[name]] = next(left)
        sizes[name] = min(numbers[name] - 1, used[numbers[name]])
    return sizes


def tag_random_tensors():
    """Has tensors remember how their elements are made, until they are changed."""
    def whole(arguments, named):
        given = [each for each in arguments if isinstance(each, int)]
        low = named["low"] if "low" in named else given[0] if len(given) > 1 else 0
        return {"kind": "integers", "low": low, "high": named["high"] if "high" in named else given[-1]}

    def tag(plain, fill):
        def made(*arguments, **named):
            tensor = plain(*arguments, **named)
            tensor.upskill_fill = fill(arguments, named), tensor._version
            return tensor
        return made

    torch.rand = tag(torch.rand, lambda *_: {"kind": "uniform", "low": 0, "high": 1})
    torch.randn = tag(torch.randn, lambda *_: {"kind": "normal"})
    torch.randint = tag(torch.randint, whole)


def fill_of(tensor):
    fill, version = getattr(tensor, "upskill_fill", (None, 0))
    return fill if version == tensor._version else None


def fill_of_computed(module, number):
    """A fill with the same range for an input that is computed from random tensors."""
    tensors = []
    for seed in range(32):
        torch.manual_seed(seed)
        tensors.append(module.get_inputs()[number])
    all_of_them, first = torch.stack(tensors), tensors[0]
    if (all_of_them == first).all(dim=0).any():
        raise Refused("elements of an input are always the same")
    if first.dim() > 1 and first.shape[-1] == first.shape[-2] and torch.equal(first, first.transpose(-1, -2)):
        raise Refused("an input is a symmetric matrix")
    if (all_of_them.diff(dim=-1) >= 0).all():
        raise Refused("an input is sorted")
    low, high = all_of_them.min().item(), all_of_them.max().item()
    whole = bool((all_of_them == all_of_them.floor()).all()) if first.is_floating_point() else True
    return {"kind": "integers", "low": low, "high": high + 1} if whole else {"kind": "uniform", "low": low, "high": high}


def type_of(tensor):
    name = str(tensor.dtype).rpartition(".")[2]
    if name not in TYPES:
        raise Refused(f"it has a tensor of the type {name}")
    return TYPES[name]


def results_of(model, inputs, factor=1):
    given = [(each * factor if factor != 1 and each.is_floating_point() else each.clone())
             if isinstance(each, torch.Tensor) else each for each in inputs]
    results = model(*given)
    if not isinstance(results, torch.Tensor):
        raise Refused(f"its result isn't a tensor: its type is {type(results).__name__}")
    if results.numel() == 0 or results.numel() > MOST_ELEMENTS:
        raise Unfit(f"the result has {results.numel()} elements")
    if not torch.isfinite(results).all():
        raise Unfit("results aren't finite")
    return results


def tried(text, sizes):
    """What goes into the task with these sizes, and what comes out."""
    module = load(text, sizes)
    init = list(module.get_init_inputs())
    model = module.Model(*init)
    own = [name for name, _ in itertools.chain(model.named_parameters(), model.named_buffers())]
    if own:
        raise Refused(f"its model has parameters or buffers ({', '.join(own[:2])}{', …' if len(own) > 2 else ''})")
    torch.manual_seed(1)
    inputs = list(module.get_inputs())
    for each in inputs:
        if isinstance(each, torch.Tensor):
            if each.numel() > MOST_ELEMENTS:
                raise Unfit("an input has too many elements")
        elif type(each) not in (int, float):
            raise Refused(f"it has an input of the type {type(each).__name__}")
    results = results_of(model, inputs)
    if not torch.equal(results, results_of(model, inputs)):
        raise Refused("its result is random")
    torch.manual_seed(2)
    if torch.equal(results, results_of(model, module.get_inputs())):
        raise Unfit("the result doesn't depend on an input")
    return types.SimpleNamespace(module=module, init=init, model=model, inputs=inputs, results=results)


def takes_negative_inputs(task):
    """Whether the model has results for inputs of the other sign, too: rand() makes none, which hides much."""
    try:
        results_of(task.model, task.inputs, -2)
    except Exception:  # results that aren't finite, or what the model raises
        return False
    return True


class Names:
    """Values that depend on the sizes, as names of these."""

    def __init__(self, sizes):
        self.sizes = sizes

    def of(self, values, name):
        kinds = {type(each) for each in values}
        if kinds & {list, tuple} and len({len(each) for each in values}) == 1:
            return [self.of(each, f"{name}_{i}") for i, each in enumerate(zip(*values))]
        if not kinds <= {int, float, bool, type(None)}:
            raise Refused(f"it has an argument of the type {type(values[0]).__name__}")
        if any(isinstance(each, float) and each - each != 0 for each in values):
            raise Refused("it has an argument that isn't finite")
        if all(each == values[0] for each in values):
            return values[0]
        if kinds != {int}:
            raise Refused("an argument that isn't a whole number depends on the sizes")
        for known in self.sizes[0]:
            if known != "scale" and [sizes.get(known) for sizes in self.sizes] == list(values):
                return known
        for sizes, value in zip(self.sizes, values):
            sizes[name] = value
        return name


def fitting(text, numbers):
    """Sizes with which the task can be judged, and what it is with them."""
    found, same, why = [], None, ""
    for profiles in (LONG, EVEN, TINY):
        choices = [(profile, equal) for equal in (False, True) if same in (None, equal) for profile in profiles]
        for profile, equal in choices:
            sizes = shrunk(numbers, profile, equal)
            try:
                task = tried(text, sizes)
            except Refused:
                raise
            except Exception as error:  # whatever a model raises for sizes that it isn't for
                why = str(error) if isinstance(error, Unfit) else f"{type(error).__name__}: {error}"
                continue
            same = equal
            if profiles is EVEN and takes_negative_inputs(task):
                sizes["scale"] = -2
            if all(sizes != other for other, _ in found):
                found.append((sizes, task))
            break
    if not found:
        raise Refused(f"no small sizes work: {why}")
    return found


def read_task(text):
    numbers = {}
    for name, holder, key in constants(ast.parse(text)):
        value = constant(holder.value if key is None else holder[key])
        if value is not None and value > SMALL:
            numbers[name] = value
    found = fitting(text, numbers)
    names, tasks = Names([sizes for sizes, _ in found]), [task for _, task in found]
    parameters = list(inspect.signature(tasks[0].model.forward).parameters)
    arguments = []
    for i, inputs in enumerate(zip(*(task.inputs for task in tasks))):
        name = parameters[i] if i < len(parameters) else f"input{i}"
        if not isinstance(inputs[0], torch.Tensor):
            arguments.append({"name": name, "type": "f64" if isinstance(inputs[0], float) else "i64", "value": names.of(inputs, name)})
            continue
        type_name, fills = type_of(inputs[0]), [fill_of(each) for each in inputs]
        fill = dict(fills[0] or fill_of_computed(tasks[0].module, i))
        if all(fills) and "high" in fill:
            fill["low"], fill["high"] = (names.of([each[key] for each in fills], f"{name}_{key}") for key in ("low", "high"))
        if isinstance(fill.get("low"), str):
            raise Refused("the range of an input depends on the sizes")
        arguments.append({"name": name, "type": type_name, "fill": fill,
                          "shape": names.of([list(each.shape) for each in inputs], f"{name}_size")})
    results = [task.results for task in tasks]
    arguments.append({"name": "result" if "out" in parameters else "out", "type": type_of(results[0]), "role": "out",
                      "shape": names.of([list(each.shape) for each in results], "out_size")})
    return {"check": {"init_inputs": names.of([task.init for task in tasks], "init"), "arguments": arguments, "sizes": names.sizes}}


def read(text):
    """Prints the check for a task file, or why the file is refused. The file may do anything, but this process handles no
    other."""
    report = os.fdopen(os.dup(1), "w")
    report.write("\n")  # tells the caller that PyTorch was imported, even if the file ends the process
    report.flush()
    for stream in range(3):
        os.dup2(os.open(os.devnull, os.O_RDWR), stream)
    resource.setrlimit(resource.RLIMIT_DATA, (2 << 30, 2 << 30))
    signal.alarm(MOST_SECONDS)
    try:
        result = json.dumps(read_task(text), allow_nan=False)
    except Refused as error:
        result = refusal(str(error))
    except BaseException as error:  # whatever the file raises
        result = refusal(f"{type(error).__name__}: {error}")
    report.write(result)
    report.flush()
    os._exit(0)


def refusal(why):
    return json.dumps({"refused": why.encode("utf-8", "replace").decode()})


def tuples(values):
    return tuple(map(tuples, values)) if isinstance(values, list) else values


def run(task):
    """Prints the results of the calls whose inputs are in input.bin."""
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what the model prints isn't a result
    with open(task["file"], encoding="utf-8") as source, open("input.bin", "rb") as data:
        text = source.read()
        data.read(8)
        for sizes in task["sizes"]:
            model = load(text, sizes["constants"]).Model(*tuples(sizes["init"]))
            for _ in range(sizes["calls"]):
                given = []
                for each in sorted(sizes["inputs"] + sizes["outputs"], key=lambda each: each["argument"]):
                    # A number, or the length of a buffer. One for a result has to be skipped.
                    number = int.from_bytes(data.read(8), "little")
                    if "value" in each:
                        given.append(each["value"])
                        continue
                    held = bytearray(data.read(number))
                    if each in sizes["inputs"]:
                        given.append(torch.frombuffer(held, dtype=reference_type(each)).reshape(each["shape"]))
                result, expected = model(*given), sizes["outputs"][0]
                if list(result.shape) != expected["shape"]:
                    raise Refused(f"the result has the shape {list(result.shape)}, not {expected['shape']}")
                result = result.to(reference_type(expected)).contiguous()
                out.write(ctypes.string_at(result.data_ptr(), result.numel() * result.element_size()))
    out.close()


def reference_type(buffer):
    """Half precision is single here."""
    name = next(python for python, name in TYPES.items() if name == buffer["type"])
    return torch.float32 if name in ("float16", "bfloat16") else getattr(torch, name)


def main():
    global torch
    with open(sys.argv[1], encoding="utf-8") as task_file:
        task = json.load(task_file)
    sys.path[:0] = task["path"]
    try:
        import torch
    except ImportError as error:
        print(error, file=sys.stderr)
        sys.exit(7)
    torch.set_num_threads(1)
    with torch.no_grad():
        if "read" not in task:
            return run(task)
        tag_random_tensors()
        with open(task["read"], encoding="utf-8") as source:
            text = source.read()
        read(text)


main()
