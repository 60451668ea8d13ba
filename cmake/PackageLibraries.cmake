# SPDX-License-Identifier: Apache-2.0
# Replaces Packages.cmake and Llama.cmake when a package is built (scripts/package): the same targets, but with every library
# that isn't part of glibc linked in, those of scripts/package-libraries from UPSKILL_PACKAGE_LIBRARIES, the others from
# Debian's -dev packages. Only ggml is shared, because the plug-ins need it.
find_package(Threads REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(CLI11 REQUIRED)

function(static_library target name)
  find_library(${name}_static NAMES lib${name}.a HINTS ${UPSKILL_PACKAGE_LIBRARIES}/lib REQUIRED NO_CACHE)
  add_library(${target} STATIC IMPORTED)
  set_target_properties(${target} PROPERTIES IMPORTED_LOCATION ${${name}_static})
  target_link_libraries(${target} INTERFACE ${ARGN})
endfunction()

static_library(ZLIB::ZLIB z)
static_library(zstd zstd)
static_library(nghttp2 nghttp2)
static_library(OpenSSL::Crypto crypto Threads::Threads ${CMAKE_DL_LIBS})
static_library(openssl_ssl ssl OpenSSL::Crypto)
static_library(fmt::fmt fmt)
static_library(yaml-cpp yaml-cpp)
static_library(utf8proc_library utf8proc)
static_library(re2_library re2 Threads::Threads)
static_library(CURL::libcurl curl openssl_ssl nghttp2 ZLIB::ZLIB)
target_compile_definitions(CURL::libcurl INTERFACE CURL_STATICLIB)
target_include_directories(CURL::libcurl SYSTEM INTERFACE ${UPSKILL_PACKAGE_LIBRARIES}/include)
static_library(libarchive archive ZLIB::ZLIB zstd)
set(ARCHIVE_LIBRARY libarchive)
add_library(tomlplusplus::tomlplusplus INTERFACE IMPORTED)
target_compile_definitions(tomlplusplus::tomlplusplus INTERFACE TOML_HEADER_ONLY=1)

include(SetupPaths)
set(UPSKILL_DEFAULT_MODEL "")  # a package must not contain a path of this machine
set(plugins ${UPSKILL_PACKAGE_LIBRARIES}/lib/plugins)
add_library(ggml_base SHARED IMPORTED)
set_target_properties(ggml_base PROPERTIES IMPORTED_LOCATION ${plugins}/libggml-base.so.0 IMPORTED_SONAME libggml-base.so.0)
static_library(ggml_registry ggml ggml_base ${CMAKE_DL_LIBS})
static_library(llama_core llama ggml_registry Threads::Threads)
static_library(llama_common_base llama-common-base llama_core)
static_library(llama_library llama_chat llama_common_base)
upskill_llama_headers(llama_library ${UPSKILL_LLAMA_SOURCE_DIR})

add_compile_options(-ffunction-sections -fdata-sections -ffile-prefix-map=${CMAKE_BINARY_DIR}=build -ffile-prefix-map=${CMAKE_SOURCE_DIR}=.
  -ffile-prefix-map=${UPSKILL_LLAMA_SOURCE_DIR}=llama.cpp)
# Relative relocations packed (DT_RELR): needs the dynamic linker of glibc 2.36, which bookworm has.
add_link_options(-static-libstdc++ -static-libgcc -Wl,--gc-sections,--as-needed,-z,pack-relative-relocs)
set(CMAKE_BUILD_WITH_INSTALL_RPATH ON)
set(CMAKE_INSTALL_RPATH "$ORIGIN/../lib/upskill")
