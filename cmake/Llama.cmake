# SPDX-License-Identifier: Apache-2.0
# The target `llama_library`: libllama, llama-common and ggml. Taken, in this order, from
#   -DUPSKILL_LLAMA_SOURCE=DIR     a llama.cpp source tree, built as a part of this build
#   -Dllama_DIR=…                  an installed llama.cpp (find_package), with llama-common beside it
#   scripts/setup                  the pinned commit, built once and shared by every build directory
add_library(llama_library INTERFACE)

set(UPSKILL_LLAMA_SOURCE "" CACHE PATH "llama.cpp source tree to build instead of the pinned one")
set(cuda_argument "")
if(UPSKILL_CUDA)
  set(cuda_argument --cuda)
endif()
execute_process(COMMAND ${CMAKE_SOURCE_DIR}/scripts/setup --print ${cuda_argument}
  OUTPUT_VARIABLE setup_paths COMMAND_ERROR_IS_FATAL ANY)
foreach(name LLAMA_SOURCE_DIR LLAMA_BUILD_DIR DEFAULT_MODEL ORIGINAL_MODEL)
  string(REGEX MATCH "UPSKILL_${name}=([^\n]*)" _ "${setup_paths}")
  set(UPSKILL_${name} "${CMAKE_MATCH_1}")
endforeach()

if(UPSKILL_LLAMA_SOURCE)
  set(LLAMA_BUILD_TESTS OFF)
  set(LLAMA_BUILD_EXAMPLES OFF)
  set(LLAMA_BUILD_TOOLS OFF)
  set(LLAMA_BUILD_APP OFF)
  set(LLAMA_BUILD_COMMON ON)
  set(LLAMA_OPENSSL OFF)
  set(LLAMA_USE_PREBUILT_UI OFF)
  set(BUILD_SHARED_LIBS OFF)
  set(GGML_CUDA ${UPSKILL_CUDA})
  add_subdirectory(${UPSKILL_LLAMA_SOURCE} ${CMAKE_BINARY_DIR}/llama.cpp EXCLUDE_FROM_ALL)
  target_link_libraries(llama_library INTERFACE llama-common)
  target_include_directories(llama_library SYSTEM INTERFACE
    ${UPSKILL_LLAMA_SOURCE}/include ${UPSKILL_LLAMA_SOURCE}/common ${UPSKILL_LLAMA_SOURCE}/ggml/include
    ${UPSKILL_LLAMA_SOURCE}/vendor)
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
  message(FATAL_ERROR "llama.cpp is not built in ${UPSKILL_LLAMA_BUILD_DIR}: run scripts/setup ${cuda_argument} "
    "(or `make`, which does), or give -DUPSKILL_LLAMA_SOURCE=DIR or -Dllama_DIR=DIR")
endif()
set(b ${UPSKILL_LLAMA_BUILD_DIR})
target_include_directories(llama_library SYSTEM INTERFACE
  ${UPSKILL_LLAMA_SOURCE_DIR}/include ${UPSKILL_LLAMA_SOURCE_DIR}/common ${UPSKILL_LLAMA_SOURCE_DIR}/ggml/include
  ${UPSKILL_LLAMA_SOURCE_DIR}/vendor)
set(parts ${b}/libllama_chat.a ${b}/llama.cpp/common/libllama-common-base.a ${b}/llama.cpp/src/libllama.a
  ${b}/llama.cpp/ggml/src/libggml.a ${b}/llama.cpp/ggml/src/libggml-cpu.a)
if(UPSKILL_CUDA)
  find_package(CUDAToolkit REQUIRED)
  list(APPEND parts ${b}/llama.cpp/ggml/src/ggml-cuda/libggml-cuda.a)
endif()
list(APPEND parts ${b}/llama.cpp/ggml/src/libggml-base.a)
target_link_libraries(llama_library INTERFACE -Wl,--start-group ${parts} -Wl,--end-group Threads::Threads ${CMAKE_DL_LIBS})
if(UPSKILL_CUDA)
  target_link_libraries(llama_library INTERFACE CUDA::cudart CUDA::cublas CUDA::cublasLt CUDA::cuda_driver)
endif()
message(STATUS "llama.cpp: ${b}")
