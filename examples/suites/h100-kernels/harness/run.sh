#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Compiles and runs the test of a case; $1 is the folder of the kernel, $2 the project's binding.
options="-std=c++17 -w -fno-threadsafe-statics -fno-diagnostics-show-caret -fmax-errors=3 -Ihost -I${1:-.}"
if [ -n "$2" ]; then
  g++ $options -Itorch-ext -O1 -c "$2" -o binding.o || exit 1
  objects=binding.o
fi
g++ $options -O1 -c host/stand_in.cpp -o stand_in.o &&
  g++ $options -O1 -fsanitize=thread,alignment -fsanitize-undefined-trap-on-error -c host/test.cpp -o test.o &&
  g++ test.o stand_in.o $objects -o test && ./test
