#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes tests.json from inputs/, bindings/, projects/ and runs/; with --check, only says whether it is up to date."""

import json
import pathlib
import sys

HERE = pathlib.Path(__file__).parent
RULES = (HERE / "inputs" / "rules.md").read_text(encoding="utf-8")
TIMEOUT_SECONDS = 60

# Each kernel: its case, its file, tags, and conditions on what nvcc makes of it.
KERNELS = [
    ("vector-add", "vector_add.cu", ["elementwise"], {}),
    ("saxpy", "saxpy.cu", ["elementwise"], {}),
    ("transpose", "transpose.cu", ["shared-memory"], {"uses": ["ld.shared", "st.shared"]}),
    ("block-reduction", "block_sum.cu", ["reduction"], {"not_uses": ["atom", "red"]}),
    ("softmax", "softmax.cu", ["reduction"], {}),
    ("layernorm", "layer_norm.cu", ["reduction"], {}),
    ("adaln", "ada_layer_norm.cu", ["reduction", "half"], {}),
    ("cross-entropy", "cross_entropy.cu", ["reduction"], {}),
    ("histogram", "histogram.cu", ["atomics"], {"uses": ["st.shared"]}),
    ("scan", "row_scan.cu", ["scan"], {}),
    ("cp-async-pipeline", "tile_sums.cu", ["pipeline"], {"uses": ["cp.async.shared"]}),
    ("quantise-int8", "quantise_rows.cu", ["reduction", "int8"], {}),
]

# Each project: its case, its name, tags.
PROJECTS = [
    ("rms-norm-project", "fused-rms-norm", ["reduction", "bfloat16"]),
    ("geglu-project", "fused-geglu", ["elementwise", "half"]),
    ("rope-project", "rope-inplace", ["elementwise"]),
    ("bias-gelu-project", "fused-bias-gelu", ["elementwise"]),
]

# Bindings to launchers that the case has: its id, tags. The folder projects/ has the files of each.
BINDINGS = [("affine-binding", ["elementwise"]), ("gather-binding", ["half"])]

# PyTorch's, kernel-builder's and CUDA's headers, all of which torch_stand_in.h takes the place of.
BINDING_HEADERS = [
    "torch/torch.h", "torch/all.h", "torch/library.h", "torch/types.h", "ATen/ATen.h", "ATen/core/Tensor.h",
    "ATen/cuda/CUDAContext.h", "ATen/cuda/CUDAContextLight.h", "c10/cuda/CUDAGuard.h", "c10/cuda/CUDAStream.h",
    "c10/cuda/CUDAException.h", "c10/util/Exception.h", "registration.h", "cuda_runtime.h", "cuda_fp16.h", "cuda_bf16.h",
]


def binding_run(case, package):
    """The binding of a project, compiled with stand-ins for PyTorch's headers, and called."""
    def source(name):
        return (HERE / "bindings" / name).read_text(encoding="utf-8")
    files = {f"host/{name}": source(name) for name in ("binding_test.h", "torch_stand_in.h")}
    files |= {f"host/{header}": '#include "torch_stand_in.h"\n' for header in BINDING_HEADERS}
    return {
        "type": "command",
        "command": f"g++ -std=c++17 -w -fno-diagnostics-show-caret -fmax-errors=3 -Ihost -I{package}_cuda -Itorch-ext "
                   "host/test.cpp torch-ext/torch_binding.cpp -o test && ./test",
        "stdout": "^all tests passed\\n$",
        "needs": ["g++"],
        "timeout_seconds": TIMEOUT_SECONDS,
        "files": files | {"host/test.cpp": source(f"{case}.cpp")},
    }


def device_run(case, file):
    """The kernel as nvcc compiles it, on the emulated GPU. The folder runs/ has what to call it with, the reference, and
    the launcher; a project has its own."""
    folder = HERE / "runs"
    launcher = folder / f"{case}.cu"
    return {
        "type": "cuda_run",
        "file": file,
        **json.loads((folder / f"{case}.json").read_text(encoding="utf-8")),
        **({"launcher": launcher.read_text(encoding="utf-8")} if launcher.exists() else {}),
        "reference_code": (folder / f"{case}.cpp").read_text(encoding="utf-8"),
        "timeout_seconds": TIMEOUT_SECONDS,
    }


def question(case, delivery):
    text = (HERE / "inputs" / f"{case}.md").read_text(encoding="utf-8")
    return f"{text.strip()}\n\n{delivery}\n\n{RULES.strip()}"


def kernel_case(case, file, tags, conditions):
    delivery = (f"Deliver one file, `{file}`, in a fenced block after a line with the file's name. It holds the kernel "
                "and what the kernel needs, without code for the host.")
    return {
        "id": case,
        "input": question(case, delivery),
        "tags": ["kernel"] + tags,
        "checks": [
            {"type": "cuda_compile", "file": file, "arch": "sm_90", **conditions},
            device_run(case, file),
        ],
    }


def project_case(case, name, tags):
    package = name.replace("-", "_")
    kernel = f"{package}_cuda/{package}.cu"
    delivery = (HERE / "inputs" / "project.md").read_text(encoding="utf-8").strip()
    for key, value in (("NAME", name), ("PACKAGE", package)):
        delivery = delivery.replace(f"{{{key}}}", value)

    def value(at, equals):
        return {"type": "toml_value", "file": "build.toml", "at": at, "equals": equals}

    return {
        "id": case,
        "input": question(case, delivery),
        "tags": ["project"] + tags,
        "checks": [
            {"type": "kernel_builder", "backends": ["cuda"], "capabilities": ["9.0"], "edition": 5,
             "require": ["sources", "layout", "bindings"]},
            value("general.name", name),
            value("general.edition", 5),
            value("general.backends", ["cuda"]),
            value("torch.src[*]", "torch-ext/torch_binding.cpp"),
            value("kernel.*.backend", "cuda"),
            value("kernel.*.src[*]", kernel),
            value("kernel.*.cuda-capabilities", ["9.0"]),
            {"type": "regex", "file": f"torch-ext/{package}/__init__.py",
             "pattern": r"(?m)^from \._ops import ops\b"},
            {"type": "regex", "file": f"torch-ext/{package}/__init__.py", "pattern": rf"(?m)^def {package}\("},
            {"type": "cuda_compile", "file": kernel, "arch": "sm_90"},
            binding_run(case, package),
            device_run(case, kernel),
        ],
    }


def binding_case(case, tags):
    delivery = (HERE / "inputs" / "binding.md").read_text(encoding="utf-8").strip()
    project = HERE / "projects" / case
    return {
        "id": case,
        "input": f"{(HERE / 'inputs' / f'{case}.md').read_text(encoding='utf-8').strip()}\n\n{delivery}",
        "tags": ["binding"] + tags,
        "context": {"files": {"build.toml": (project / "build.toml").read_text(encoding="utf-8"),
                              "kernels/kernels.h": (project / "kernels.h").read_text(encoding="utf-8")}},
        "checks": [
            {"type": "kernel_builder", "require": ["bindings"]},
            {"type": "cuda_bindings", "file": "torch-ext/torch_binding.cpp"},
        ],
    }


def main():
    cases = ([kernel_case(*kernel) for kernel in KERNELS] + [project_case(*project) for project in PROJECTS] +
             [binding_case(*binding) for binding in BINDINGS])
    text = json.dumps({"cases": cases}, indent=1, ensure_ascii=False) + "\n"
    suite = HERE / "tests.json"
    if sys.argv[1:] == ["--check"]:
        if not suite.exists() or suite.read_text(encoding="utf-8") != text:
            sys.exit(f"{suite} isn't what make_suite.py makes of inputs/, bindings/, projects/ and runs/: run it")
    else:
        suite.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
