# SPDX-License-Identifier: Apache-2.0
# Where scripts/setup keeps what it has downloaded and built: UPSKILL_LLAMA_SOURCE_DIR, UPSKILL_LLAMA_BUILD_DIR,
# UPSKILL_DEFAULT_MODEL, UPSKILL_ORIGINAL_MODEL, UPSKILL_PYTHON_TOOL_DIR and
# UPSKILL_CLANG_TIDY.
execute_process(COMMAND ${CMAKE_SOURCE_DIR}/scripts/setup --print
  OUTPUT_VARIABLE setup_paths COMMAND_ERROR_IS_FATAL ANY)
foreach(name LLAMA_SOURCE_DIR LLAMA_BUILD_DIR DEFAULT_MODEL ORIGINAL_MODEL PYTHON_TOOL_DIR CLANG_TIDY)
  string(REGEX MATCH "UPSKILL_${name}=([^\n]*)" _ "${setup_paths}")
  set(UPSKILL_${name} "${CMAKE_MATCH_1}")
endforeach()

# The headers of the llama.cpp source tree in FOLDER, for what links TARGET.
# The vendored headers stay out: their nlohmann-json has another version than ours.
function(upskill_llama_headers target folder)
  target_include_directories(${target} SYSTEM INTERFACE
    ${folder}/include ${folder}/common ${folder}/ggml/include)
endfunction()
