#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Stands in for cicc, nvcc's compiler of device code: nvcc's own runs first, then NVRTC compiles the device code of the
same source, and its PTX replaces the other. The environment of run_kernels.py's folder is beside this file:
settings.json has the paths of the real cicc, of NVRTC's library and of the headers."""

import ctypes
import json
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
HOST_HEADERS = re.compile(r"#\s*include\s*<(?!cuda|cooperative|mma|cub|nv/)[^>]*>|#\s*include\s*<cuda_runtime(_api)?\.h>")
DEVICE_WORDS = re.compile(r"__global__|__device__|__constant__|__managed__")
HOST_WORDS = re.compile(r"std::(vector|printf|exit|string|fabs|sort|map)|CHECK\(|\bcuda[A-Z]|<<<|\bDevice<|\bRandom\b|\bmain\(")
STANDARD = """#include <cuda/std/cstdint>
#include <cuda/std/cmath>
#include <cuda/std/limits>
#include <cuda/std/type_traits>
#include <cuda/std/utility>
#include <cuda/std/array>
// 64 bits are a long, as the host's compiler has them, because the names of kernels say it; NVRTC takes long long.
typedef long host_int64; typedef unsigned long host_uint64;
namespace cuda { namespace std { using ::host_int64; using ::host_uint64; } }
namespace std { using namespace cuda::std; }
using cuda::std::int8_t; using cuda::std::int16_t; using cuda::std::int32_t; using cuda::std::uintptr_t;
using cuda::std::uint8_t; using cuda::std::uint16_t; using cuda::std::uint32_t;
"""


def without_comments(text):
    """The same text with blanks for comments, so that lines stay."""
    pattern = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'', re.S)
    return pattern.sub(lambda m: m[0] if m[0][0] in "\"'" else re.sub(r"[^\n]", " ", m[0]), text)


def declarations(text):
    """Pieces of the text: directives of the preprocessor with their continued lines, and declarations outside of all
    braces."""
    at, begin, depth = 0, 0, 0
    in_string = False
    while at < len(text):
        if depth == 0 and not text[begin:at].strip() and text[at] == "#":
            end = re.compile(r"(?:\\\n|[^\n])*\n?").match(text, at).end()
            yield text[begin:end]
            begin = at = end
            continue
        char = text[at]
        if in_string:
            if char == "\\":
                at += 1
            in_string = char != '"'
        elif char == '"':
            in_string = True
        elif char in "({[":
            depth += 1
        elif char in ")}]":
            depth -= 1
        ends = not in_string and depth == 0 and (char == ";" or (char == "}" and not re.match(r"\s*[;,]", text[at + 1:])))
        at += 1
        if ends:
            yield text[begin:at]
            begin = at
    yield text[begin:]


def is_for_device(piece):
    stripped = piece.strip()
    if stripped.startswith("#"):
        return not HOST_HEADERS.search(stripped)
    return bool(DEVICE_WORDS.search(piece)) or not HOST_WORDS.search(piece)


def device_code(text):
    """What isn't for the device, and what calls that, becomes empty lines."""
    pieces = list(declarations(without_comments(text)))
    kept = [is_for_device(piece) for piece in pieces]
    left_out = set()
    while True:
        for piece, keep in zip(pieces, kept):
            name = None if keep else re.search(r"(\w+)\s*\([^;{}]*\)\s*\{", piece)
            if name:
                left_out.add(name[1])
        calls = [keep and not piece.lstrip().startswith("#") and not DEVICE_WORDS.search(piece) and
                 any(re.search(rf"\b{name}\s*[<(]", piece) for name in left_out) for piece, keep in zip(pieces, kept)]
        if not any(calls):
            break
        kept = [keep and not call for keep, call in zip(kept, calls)]
    text = "".join(piece if keep else "\n" * piece.count("\n") for piece, keep in zip(pieces, kept))
    # The headers themselves need the types that they declare.
    lines = text.split("\n")
    after = 1 + max((i for i, line in enumerate(lines) if re.match(r"\s*#\s*include", line)), default=-1)
    words = ["#define int64_t host_int64", "#define uint64_t host_uint64", f"#line {after + 1}"]
    return "\n".join([*lines[:after], *words, *lines[after:]])


def expression(demangled):
    """'void k<float, 4>(float*, int)' -> 'k<float, 4>'."""
    depth = 0
    for at, char in enumerate(demangled):
        depth += (char == "<") - (char == ">")
        if char == "(" and depth == 0:
            demangled = demangled[:at]
            break
    return re.sub(r"^void ", "", demangled)


class Nvrtc:
    def __init__(self, folder):
        for builtins in sorted(pathlib.Path(folder).glob("libnvrtc-builtins.so.*")):
            ctypes.CDLL(str(builtins), mode=ctypes.RTLD_GLOBAL)
        self.library = ctypes.CDLL(str(next(pathlib.Path(folder).glob("libnvrtc.so.*"))))

    def text(self, program, what):
        size = ctypes.c_size_t()
        getattr(self.library, f"nvrtcGet{what}Size")(program, ctypes.byref(size))
        buffer = ctypes.create_string_buffer(size.value)
        getattr(self.library, f"nvrtcGet{what}")(program, buffer)
        return buffer.value.decode(errors="replace")

    def compile(self, source, name, options, expressions):
        program = ctypes.c_void_p()
        self.library.nvrtcCreateProgram(ctypes.byref(program), source.encode(), name.encode(), 2,
                                        (ctypes.c_char_p * 2)(b"", b""), (ctypes.c_char_p * 2)(b"stdlib.h", b"stdint.h"))
        for each in expressions:
            self.library.nvrtcAddNameExpression(program, each.encode())
        words = (ctypes.c_char_p * len(options))(*[option.encode() for option in options])
        if self.library.nvrtcCompileProgram(program, len(options), words) != 0:
            sys.exit("NVRTC: " + self.text(program, "ProgramLog"))
        return self.text(program, "PTX")


def main():
    settings = json.loads((HERE / "settings.json").read_text())
    done = subprocess.run([settings["cicc"], *sys.argv[1:]], check=False)
    words = sys.argv[1:]
    if done.returncode != 0 or "-o" not in words or "--orig_src_path_name" not in words:
        return done.returncode
    output = pathlib.Path(words[words.index("-o") + 1])
    source = pathlib.Path(words[words.index("--orig_src_path_name") + 1])
    kernels = re.findall(r"\.entry (\w+)", output.read_text())
    if not kernels:
        return 0
    names = subprocess.run(["c++filt"], input="\n".join(kernels), capture_output=True, text=True, check=True).stdout
    templates = [expression(name) for name in names.splitlines() if name.startswith("void ") and "<" in name]
    options = ["--gpu-architecture=" + words[words.index("-arch") + 1], "--std=c++17", "-default-device", "--device-int128",
               "-diag-suppress=177,550,20044", *[f"-I{folder}" for folder in settings["include"]]]
    options += ["-lineinfo"] if "-generate-line-info" in words else []
    options += ["--device-debug"] if "-g" in words else []
    text = STANDARD + f'#line 1 "{source.name}"\n' + device_code(source.read_text())
    output.write_text(Nvrtc(settings["nvrtc"]).compile(text, source.name, options, templates))
    return 0


if __name__ == "__main__":
    sys.exit(main())
