# SPDX-License-Identifier: Apache-2.0
# UPSKILL_HARDENED: memory errors end the program at once instead of giving an attacker an opening. The default in release
# builds; sanitizers have their own checks.
set(hardened_default OFF)
if(CMAKE_BUILD_TYPE STREQUAL Release AND NOT UPSKILL_SANITIZE)
  set(hardened_default ON)
endif()
option(UPSKILL_HARDENED "stack protector, checked libc and libstdc++ calls, full RELRO, control-flow protection, PIE" ${hardened_default})
if(UPSKILL_HARDENED)
  add_compile_options(-fstack-protector-strong -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3 -D_GLIBCXX_ASSERTIONS -fPIE)
  # Effective only if the C library's start files have it too; Debian 12's don't, so its linker omits the mark.
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
    add_compile_options(-fcf-protection)
  endif()
  add_link_options(-pie -Wl,-z,relro,-z,now)
endif()
