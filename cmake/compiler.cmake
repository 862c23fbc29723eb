# The compiler options of Tutti's own code. Targets get them by linking to `tutti_flags`. Headers of
# other libraries are system headers, so they cause no warnings.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
# The Python module is a shared library of the same objects as the programs. Tutti's functions are
# never replaced at load time, so calls between them can be direct.
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
add_compile_options($<$<COMPILE_LANG_AND_ID:CXX,GNU>:-fno-semantic-interposition>)
# Predictions must not depend on the processor. Compilers may fuse a product and a sum into one
# instruction, which rounds once instead of twice. The baseline of x86-64 has no such instruction.
include(CheckCXXSourceCompiles)
check_cxx_source_compiles("
#if defined(__x86_64__) && !defined(__FMA__)
int main() { return 0; }
#endif
" TUTTI_NO_FUSED_MULTIPLY_ADD)
if(NOT TUTTI_NO_FUSED_MULTIPLY_ADD)
  add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-ffp-contract=off>)
endif()

find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # Without this setting, ccache does not cache files that are compiled with a precompiled header.
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros ${CCACHE_PROGRAM})
endif()

# With mold, linking takes a quarter of the time. Cross compilers cannot use it, because they search
# for linkers whose name begins with the target architecture.
find_program(MOLD_PROGRAM mold)
if(MOLD_PROGRAM AND NOT CMAKE_CROSSCOMPILING)
  add_link_options(-fuse-ld=mold)
endif()

add_library(tutti_flags INTERFACE)
target_include_directories(tutti_flags INTERFACE
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/tutti>)
target_compile_features(tutti_flags INTERFACE cxx_std_20)
add_library(tutti_warnings INTERFACE)
target_link_libraries(tutti_flags INTERFACE $<BUILD_INTERFACE:tutti_warnings>)
target_compile_options(tutti_warnings INTERFACE
  # Unity builds compile about twelve sources of a library together (see CMakePresets.json), which
  # takes about a third of the time. -Wsubobject-linkage warns about types in anonymous namespaces
  # of these sources, because it treats the included sources as headers.
  $<$<AND:$<CXX_COMPILER_ID:GNU>,$<BOOL:${CMAKE_UNITY_BUILD}>>:-Wno-subobject-linkage>
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion -Wnon-virtual-dtor -Woverloaded-virtual
  # gcc 12 warns about overlapping copies in its own std::string (gcc bug 105651).
  $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>
  # clang warns where std::stable_sort of gcc 12's library uses a deprecated function of this library.
  $<$<AND:$<CXX_COMPILER_ID:Clang>,$<VERSION_GREATER_EQUAL:$<CXX_COMPILER_VERSION>,17>>:-Wno-deprecated-declarations>
  $<$<BOOL:${TUTTI_WARNINGS_AS_ERRORS}>:-Werror>)
# Hardening of release programs: checked copies and stack frames, and read-only relocation tables.
# Sanitizers check more, and replace the checked functions, so sanitized builds have no hardening.
if(TUTTI_HARDENING AND NOT TUTTI_SANITIZE AND NOT TUTTI_FUZZ AND CMAKE_BUILD_TYPE MATCHES "^(Release|RelWithDebInfo)$")
  set(CMAKE_POSITION_INDEPENDENT_CODE ON)
  include(CheckPIESupported)
  check_pie_supported(LANGUAGES CXX)
  # clang up to 14 supports at most level 2. The level that a distribution defines must be undefined
  # first.
  if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 15)
    set(fortify 2)
  else()
    set(fortify 3)
  endif()
  add_compile_options(
    "$<$<COMPILE_LANGUAGE:CXX>:-U_FORTIFY_SOURCE;-D_FORTIFY_SOURCE=${fortify};-fstack-protector-strong;-fstack-clash-protection>")
  if(CMAKE_SYSTEM_PROCESSOR STREQUAL "x86_64")
    add_compile_options("$<$<COMPILE_LANGUAGE:CXX>:-fcf-protection>")
  endif()
  add_link_options(LINKER:-z,relro,-z,now,-z,noexecstack)
endif()
if(TUTTI_SANITIZE)
  add_compile_options("$<$<COMPILE_LANGUAGE:CXX>:-fsanitize=${TUTTI_SANITIZE};-fno-omit-frame-pointer;-fno-sanitize-recover=all>")
  add_link_options(-fsanitize=${TUTTI_SANITIZE})
  add_compile_definitions(TUTTI_SANITIZED)
endif()
if(TUTTI_FUZZ)
  if(NOT CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    message(FATAL_ERROR "TUTTI_FUZZ needs clang: cmake --preset fuzz")
  endif()
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()

# optimize(TARGET HOW) sets how much release builds optimize a library. Most code reads files or
# prints, so its speed does not matter, and most of the time of a build is spent in the optimizer.
#   FOR_SPEED       -O3, as by default: code that runs for every simulated schedule step
#   MODERATELY      -O2, which takes about a sixth less compile time
#   FOR_FAST_BUILD  -O1, which takes up to 40 % less: readers of small files, reports, set-up
function(optimize target how)
  set(FOR_SPEED)
  set(MODERATELY -O2)
  set(FOR_FAST_BUILD -O1)
  if(NOT how MATCHES "^(FOR_SPEED|MODERATELY|FOR_FAST_BUILD)$")
    message(FATAL_ERROR "optimize(${target} ${how}): expected FOR_SPEED, MODERATELY or FOR_FAST_BUILD")
  endif()
  if(CMAKE_BUILD_TYPE STREQUAL "Release")
    target_compile_options(${target} PRIVATE ${${how}})
  endif()
endfunction()

# Options of gcc for targets with a precompiled header. -fpch-preprocess is for ccache. The other
# options suppress warnings of gcc 12 about overflows in its own std::string (gcc bug 105651),
# because gcc does not treat precompiled headers as system headers.
set(precompiled_header_options
  $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-fpch-preprocess> $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-array-bounds>
  $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-stringop-overflow>)

# use_common_headers(TARGET) compiles the standard headers that nearly every file includes once for
# all libraries, which saves a tenth of their compile time. Presets without unity builds do not use
# it, so they check that each file includes what it uses.
if(CMAKE_UNITY_BUILD)
  add_library(common_headers OBJECT ${PROJECT_SOURCE_DIR}/cmake/common_headers.cpp)
  target_link_libraries(common_headers PRIVATE tutti_flags fmt::fmt tl::expected)
  target_compile_options(common_headers PRIVATE ${precompiled_header_options})
  target_precompile_headers(common_headers PRIVATE
    <algorithm> <array> <cstdint> <deque> <functional> <map> <memory> <optional> <set> <span> <string> <string_view> <tuple> <utility>
    <vector> <fmt/format.h> <tl/expected.hpp>)
endif()
function(use_common_headers target)
  if(CMAKE_UNITY_BUILD)
    target_precompile_headers(${target} REUSE_FROM common_headers)
    target_compile_options(${target} PRIVATE ${precompiled_header_options})
  endif()
endfunction()

# add_cold_sources(TARGET FILES…) adds files to a library, and compiles them as optimize(TARGET
# FOR_FAST_BUILD) would. The files are a target of their own, because CMake excludes files with
# options of their own from unity builds. REQUIRES: TARGET is already linked to its libraries.
function(add_cold_sources target)
  add_library(${target}_cold OBJECT ${ARGN})
  get_target_property(libraries ${target} LINK_LIBRARIES)
  target_link_libraries(${target}_cold PRIVATE ${libraries})
  use_common_headers(${target}_cold)
  optimize(${target}_cold FOR_FAST_BUILD)
  target_sources(${target} PRIVATE $<TARGET_OBJECTS:${target}_cold>)
endfunction()
