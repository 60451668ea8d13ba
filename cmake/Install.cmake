# SPDX-License-Identifier: Apache-2.0
# Installs bin/upskill and its assets in share/upskill, where the program looks for them. A package (UPSKILL_PACKAGE_LIBRARIES)
# has the engine's plug-ins in lib/upskill, and no default model: `upskill models pull default` downloads it.
include(GNUInstallDirs)
install(TARGETS upskill RUNTIME)
if(UPSKILL_PACKAGE_LIBRARIES)
  install(DIRECTORY ${UPSKILL_PACKAGE_LIBRARIES}/lib/plugins/ DESTINATION lib/upskill)
else()
  install(FILES ${CMAKE_BINARY_DIR}/src/lib/upskill/libggml-cuda.so DESTINATION lib/upskill OPTIONAL)  # of `make cuda`
  install(FILES ${UPSKILL_DEFAULT_MODEL} DESTINATION ${CMAKE_INSTALL_DATADIR}/upskill)
endif()
install(PROGRAMS scripts/fetch DESTINATION ${CMAKE_INSTALL_DATADIR}/upskill)
install(DIRECTORY scripts/fetching DESTINATION ${CMAKE_INSTALL_DATADIR}/upskill FILES_MATCHING PATTERN "*.py")
# A program that isn't installed finds them too, beside its folder.
file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/src/share/upskill)
foreach(script fetch fetching)
  file(CREATE_LINK ${CMAKE_SOURCE_DIR}/scripts/${script} ${CMAKE_BINARY_DIR}/src/share/upskill/${script} SYMBOLIC)
endforeach()
install(FILES LICENSE README.md DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/upskill)
install(DIRECTORY examples/skills DESTINATION ${CMAKE_INSTALL_DATADIR}/upskill/examples)
