# SPDX-License-Identifier: Apache-2.0
# CPack's settings for `scripts/package deb`, which sets the environment variables UPSKILL_VERSION, UPSKILL_STAGE (the folder
# with usr/) and UPSKILL_GLIBC.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME upskill)
set(CPACK_PACKAGE_VERSION $ENV{UPSKILL_VERSION})
set(CPACK_INSTALLED_DIRECTORIES "$ENV{UPSKILL_STAGE};.")
set(CPACK_PACKAGING_INSTALL_PREFIX /)
set(CPACK_PACKAGE_CONTACT "upskill maintainers <maintainers@upskill.example>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "make skills for cheaper language models and measure whether they help")
set(CPACK_PACKAGE_DESCRIPTION
"upskill makes skills, folders with a short SKILL.md, from the recordings of an
expert model's work, and measures for each cheaper model whether the skill
helps: it asks the skill's test questions with and without it, checks the
answers, and gives a verdict with controlled error.
.
A small language model runs in process; `upskill models pull default`
downloads it once, with pip.")
set(CPACK_DEBIAN_PACKAGE_SECTION utils)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_DEBIAN_PACKAGE_DEPENDS "libc6 (>= $ENV{UPSKILL_GLIBC})")
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "bubblewrap, ca-certificates, python3-pip")
set(CPACK_DEBIAN_PACKAGE_ARCHITECTURE amd64)
set(CPACK_PACKAGE_FILE_NAME upskill)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
set(CPACK_STRIP_FILES OFF)
