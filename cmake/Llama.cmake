# SPDX-License-Identifier: Apache-2.0
# The target `llama_library`: libllama, llama-common and ggml. Taken, in this order, from
#   -DUPSKILL_LLAMA_SOURCE=DIR     a llama.cpp source tree, compiled as part of this build
#   -Dllama_DIR=…                  an installed llama.cpp (find_package), with llama-common beside it
#   scripts/setup                  the pinned commit, compiled once and shared by all build folders
add_library(llama_library INTERFACE)

set(UPSKILL_LLAMA_SOURCE "" CACHE PATH "llama.cpp source tree to compile instead of the pinned one")
include(SetupPaths)

if(UPSKILL_LLAMA_SOURCE)
  file(STRINGS ${CMAKE_SOURCE_DIR}/scripts/llama-flags.txt flags REGEX "^-D")
  foreach(flag IN LISTS flags)
    string(REGEX MATCH "^-D([A-Z0-9_]+)=(.*)$" _ "${flag}")
    set(${CMAKE_MATCH_1} ${CMAKE_MATCH_2})
  endforeach()
  set(LLAMA_BUILD_TOOLS OFF)
  set(LLAMA_BUILD_COMMON ON)
  set(BUILD_SHARED_LIBS OFF)
  add_subdirectory(${UPSKILL_LLAMA_SOURCE} ${CMAKE_BINARY_DIR}/llama.cpp EXCLUDE_FROM_ALL)
  target_compile_options(ggml-cpu PRIVATE -O3)  # as upstream's own Release: its products are three times as slow with -O2
  target_link_libraries(llama_library INTERFACE llama-common)
  upskill_llama_headers(llama_library ${UPSKILL_LLAMA_SOURCE})
  message(STATUS "llama.cpp: source in ${UPSKILL_LLAMA_SOURCE}")
  return()
endif()

if(llama_DIR)
  find_package(llama REQUIRED)
  find_library(LLAMA_COMMON_LIBRARY llama-common HINTS ${LLAMA_LIB_DIR} REQUIRED)
  find_path(LLAMA_COMMON_INCLUDE chat.h HINTS ${LLAMA_INCLUDE_DIR} ${LLAMA_INCLUDE_DIR}/llama-common REQUIRED)
  target_link_libraries(llama_library INTERFACE ${LLAMA_COMMON_LIBRARY} llama)
  target_include_directories(llama_library SYSTEM INTERFACE ${LLAMA_COMMON_INCLUDE} ${LLAMA_INCLUDE_DIR})
  message(STATUS "llama.cpp: installed in ${llama_DIR}")
  return()
endif()

if(NOT EXISTS ${UPSKILL_LLAMA_BUILD_DIR}/.built-libraries)
  message(FATAL_ERROR "llama.cpp is not built in ${UPSKILL_LLAMA_BUILD_DIR}: run scripts/setup "
    "(or `make`, which does), or give -DUPSKILL_LLAMA_SOURCE=DIR or -Dllama_DIR=DIR")
endif()
set(b ${UPSKILL_LLAMA_BUILD_DIR})
upskill_llama_headers(llama_library ${UPSKILL_LLAMA_SOURCE_DIR})
set(parts ${b}/libllama_chat.a ${b}/llama.cpp/common/libllama-common-base.a ${b}/llama.cpp/src/libllama.a
  ${b}/llama.cpp/ggml/src/libggml.a ${b}/llama.cpp/ggml/src/libggml-cpu.a)
list(APPEND parts ${b}/llama.cpp/ggml/src/libggml-base.a)
target_link_libraries(llama_library INTERFACE -Wl,--start-group ${parts} -Wl,--end-group Threads::Threads ${CMAKE_DL_LIBS})
# For the plug-in of scripts/cuda-plugin, which isn't linked with ggml.
target_link_options(llama_library INTERFACE "LINKER:--export-dynamic-symbol=ggml_*")
message(STATUS "llama.cpp: ${b}")
