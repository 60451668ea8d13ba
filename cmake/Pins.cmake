# SPDX-License-Identifier: Apache-2.0
# upskill_model_pins(TARGET): compiles the default model's pins (scripts/pins) into TARGET.
function(upskill_model_pins target)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/scripts/pins)
  file(STRINGS ${CMAKE_SOURCE_DIR}/scripts/pins pins REGEX "^MODEL_")
  foreach(pin IN LISTS pins)
    string(REGEX MATCH "^(MODEL_[A-Z0-9_]+)=(.*)$" _ "${pin}")
    target_compile_definitions(${target} PRIVATE UPSKILL_${CMAKE_MATCH_1}="${CMAKE_MATCH_2}")
  endforeach()
endfunction()
