# SPDX-License-Identifier: Apache-2.0
# bin/upskill and the default model under share/upskill, which the program looks for beside itself.
include(GNUInstallDirs)
install(TARGETS upskill RUNTIME)
if(EXISTS ${UPSKILL_DEFAULT_MODEL})
  install(FILES ${UPSKILL_DEFAULT_MODEL} DESTINATION ${CMAKE_INSTALL_DATADIR}/upskill)
endif()
install(FILES LICENSE README.md DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/upskill)
install(DIRECTORY examples/skills DESTINATION ${CMAKE_INSTALL_DATADIR}/upskill/examples)
