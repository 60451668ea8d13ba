# SPDX-License-Identifier: Apache-2.0
# Warnings, sanitizers, and the two functions by which each folder of src/ declares its library and its tests.

# Unity sources include ours by absolute paths; without them in __FILE__, ccache finds objects of other checkouts.
if(NOT UPSKILL_PACKAGE_LIBRARIES)
  add_compile_options(-fmacro-prefix-map=${CMAKE_SOURCE_DIR}/=)
endif()

add_library(upskill_options INTERFACE)
target_compile_options(upskill_options INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wnon-virtual-dtor -Woverloaded-virtual -Wnull-dereference
  -Wdouble-promotion -Wimplicit-fallthrough
  # GCC 12 reports overlapping copies inside std::string that can't happen (GCC bug 105651).
  $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>
  # … and, from -O2 on, null pointers inside nlohmann's iterators. clang's analyzer (make test-asan) checks our code.
  $<$<CXX_COMPILER_ID:GNU>:-Wno-null-dereference>
  # Let GCC collect garbage less often: a tenth of its time, for at most half as much memory again (2 GiB at most).
  $<$<CXX_COMPILER_ID:GNU>:--param=ggc-min-expand=300> $<$<CXX_COMPILER_ID:GNU>:--param=ggc-min-heapsize=1000000>)
if(UPSKILL_SANITIZE)
  target_compile_options(upskill_options INTERFACE
    -fsanitize=${UPSKILL_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(upskill_options INTERFACE -fsanitize=${UPSKILL_SANITIZE})
  # GCC's null-dereference analysis reports code that the sanitizers insert.
  target_compile_options(upskill_options INTERFACE -Wno-null-dereference)
  target_compile_definitions(upskill_options INTERFACE UPSKILL_SANITIZED)
endif()

# With a sanitizer, the tests themselves are compiled for a short build: it is the libraries that are tested.
add_library(upskill_test_options INTERFACE)
if(UPSKILL_SANITIZE)
  target_compile_options(upskill_test_options INTERFACE -O0 -fno-sanitize=undefined)
endif()

# The headers that most of our sources include, compiled once for all of them. mold links a test program in a tenth of the
# time that GNU ld takes.
if(UPSKILL_PRECOMPILED)
  add_library(upskill_headers STATIC ${CMAKE_SOURCE_DIR}/cmake/precompiled.cpp)
  target_link_libraries(upskill_headers PRIVATE upskill_options fmt::fmt nlohmann_json::nlohmann_json)
  target_compile_options(upskill_headers PRIVATE $<$<CXX_COMPILER_ID:GNU>:-fpch-preprocess>)
  target_precompile_headers(upskill_headers PRIVATE <fmt/format.h> <fmt/ranges.h> <nlohmann/json.hpp> <algorithm>
    <chrono> <filesystem> <functional> <map> <memory> <optional> <set> <string> <string_view> <vector>)
  find_program(UPSKILL_MOLD mold)
  if(UPSKILL_MOLD AND NOT CMAKE_BUILD_TYPE STREQUAL Release)
    add_link_options(-fuse-ld=mold)
  endif()
endif()

# What a run's time depends on beside the models. Everything else is compiled with -O1 in releases: it takes a quarter less
# time to compile, and no time to run. In packages it is compiled for size.
set(upskill_hot util stats eval net model llama cuda)
if(NOT UPSKILL_PACKAGE_LIBRARIES)
  list(APPEND upskill_hot check)
endif()
set(upskill_cold_flag $<IF:$<BOOL:${UPSKILL_PACKAGE_LIBRARIES}>,-Os,-O1>)

# upskill_library(NAME SOURCES … [FOLDERS our libraries it may include] [PUBLIC …] [PRIVATE …])
# One static library for src/NAME (a_b: src/a/b). FOLDERS are exactly the link edges that ARCHITECTURE.md allows.
function(upskill_library name)
  cmake_parse_arguments(arg "" "" "SOURCES;FOLDERS;PUBLIC;PRIVATE" ${ARGN})
  add_library(upskill_${name} STATIC ${arg_SOURCES})
  target_include_directories(upskill_${name} PUBLIC ${CMAKE_SOURCE_DIR}/src)
  list(TRANSFORM arg_FOLDERS PREPEND upskill_)
  target_link_libraries(upskill_${name} PUBLIC ${arg_FOLDERS} ${arg_PUBLIC} PRIVATE upskill_options ${arg_PRIVATE})
  if(UPSKILL_SANITIZE)
    target_link_options(upskill_${name} PUBLIC -fsanitize=${UPSKILL_SANITIZE})
  endif()
  string(REGEX MATCH "^[a-z]+" wing ${name})
  if(NOT wing IN_LIST upskill_hot)
    target_compile_options(upskill_${name} PRIVATE $<$<CONFIG:Release>:${upskill_cold_flag}>)
  endif()
  if(UPSKILL_PRECOMPILED)
    target_link_libraries(upskill_${name} PRIVATE fmt::fmt nlohmann_json::nlohmann_json)
    target_compile_options(upskill_${name} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-fpch-preprocess>)
    target_precompile_headers(upskill_${name} REUSE_FROM upskill_headers)
  endif()
  # Compile several sources at once: their headers are read and their templates instantiated only once.
  if(UPSKILL_UNITY)
    set_target_properties(upskill_${name} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${UPSKILL_UNITY})
  endif()
  if(UPSKILL_TIDY)
    set_target_properties(upskill_${name} PROPERTIES CXX_CLANG_TIDY
      "${CMAKE_SOURCE_DIR}/scripts/tidy-once;${UPSKILL_CLANG_TIDY};--quiet;--warnings-as-errors=*;--extra-arg=-Wno-unknown-warning-option;--extra-arg=-Wno-unused-command-line-argument")
  endif()
endfunction()

# upskill_wing(NAME ROOM…): all rooms of src/NAME, for tests and benchmarks; libraries name the rooms that they may include.
function(upskill_wing name)
  add_library(upskill_${name} INTERFACE)
  list(TRANSFORM ARGN PREPEND upskill_${name}_)
  target_link_libraries(upskill_${name} INTERFACE ${ARGN})
endfunction()

# Parsing options takes no time; compiling CLI11 with -O2 takes a quarter of the build.
function(upskill_parses_options target)
  target_compile_options(${target} PRIVATE $<IF:$<CONFIG:Release>,${upskill_cold_flag},-O0>)
endfunction()

# Test programs too are compiled in batches, of fewer sources: a changed test should be compiled within seconds.
function(upskill_test_unity target)
  if(UPSKILL_UNITY)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 7)
  endif()
endfunction()

# What uses threads: `make test-tsan` runs these tests under ThreadSanitizer. Not among them: cuda_device (its threads are
# those of cuda_ptx), install and report (their threads share files, not memory), cli and teach (no threads of their own).
set(upskill_threaded util_threads net mcp model model_batch model_hub llama cuda_ptx sandbox agent program check_threads eval)
add_custom_target(tsan_tests)

# upskill_test(NAME SOURCES … [LIBRARIES …] [SEQUENTIAL …]): one program for the tests beside the code of src/NAME.
# SEQUENTIAL are those of the sources whose tests start no threads: ThreadSanitizer has nothing to find there. SHARDS: so
# many tests of ctest, each with a part of the program's, so that other processors than one work on them.
function(upskill_test name)
  if(NOT UPSKILL_TESTS)
    return()
  endif()
  cmake_parse_arguments(arg "" "SHARDS" "SOURCES;LIBRARIES;SEQUENTIAL" ${ARGN})
  if(UPSKILL_SANITIZE STREQUAL thread)
    list(REMOVE_ITEM arg_SOURCES ${arg_SEQUENTIAL})
  endif()
  add_executable(upskill_${name}_test ${arg_SOURCES})
  target_include_directories(upskill_${name}_test PRIVATE ${CMAKE_SOURCE_DIR} ${CMAKE_SOURCE_DIR}/tests)
  target_link_libraries(upskill_${name}_test PRIVATE upskill_options upskill_test_options ${arg_LIBRARIES} upskill_source_dir fmt::fmt
    nlohmann_json::nlohmann_json GTest::gmock GTest::gtest_main)
  target_precompile_headers(upskill_${name}_test REUSE_FROM upskill_test_headers)
  upskill_test_unity(upskill_${name}_test)
  # For ccache.
  target_compile_options(upskill_${name}_test PRIVATE $<$<CXX_COMPILER_ID:GNU>:-fpch-preprocess>)
  # AddressSanitizer keeps the callers of each allocation; with its 30 frames, the tests take a quarter longer.
  set(environment "ASAN_OPTIONS=malloc_context_size=4")
  set(labels unit)
  if(name IN_LIST upskill_threaded)
    list(APPEND labels threads)
    add_dependencies(tsan_tests upskill_${name}_test)
  endif()
  set(shards ${name})
  if(arg_SHARDS)
    math(EXPR last "${arg_SHARDS} - 1")
    set(shards "")
    foreach(shard RANGE ${last})
      list(APPEND shards ${name}_${shard})
    endforeach()
  endif()
  list(LENGTH shards count)
  foreach(shard IN LISTS shards)
    list(FIND shards ${shard} index)
    add_test(NAME ${shard} COMMAND upskill_${name}_test --gtest_brief=1)
    set_tests_properties(${shard} PROPERTIES TIMEOUT 600 LABELS "${labels}"
      ENVIRONMENT "${environment};GTEST_TOTAL_SHARDS=${count};GTEST_SHARD_INDEX=${index}")
  endforeach()
endfunction()
