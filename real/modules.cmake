# The modules that need a GPU. The program loads a module only if a run needs it (docs/decisions).
# The program itself is therefore the same with and without CUDA, and starts on machines without a
# driver and without NCCL.

option(TUTTI_CUDA "Build the CUDA and NCCL modules, if the CUDA toolkit and NCCL are found" ON)
set(TUTTI_CUDA_ARCHITECTURES "" CACHE STRING
    "Compute capabilities to compile kernels for, such as 80-real\\;90-virtual (empty: all in release builds, else 80 and 90)")

if(TUTTI_CUDA)
  include(CheckLanguage)
  check_language(CUDA)
endif()
if(TUTTI_CUDA AND CMAKE_CUDA_COMPILER)
  # 90-virtual: drivers of later GPUs compile this code when it is loaded.
  if(TUTTI_CUDA_ARCHITECTURES)
    set(CMAKE_CUDA_ARCHITECTURES ${TUTTI_CUDA_ARCHITECTURES})
  elseif(CMAKE_BUILD_TYPE STREQUAL "Release" AND NOT TUTTI_WARNINGS_AS_ERRORS)
    set(CMAKE_CUDA_ARCHITECTURES 75-real 80-real 86-real 89-real 90-real 90-virtual)
  else()
    set(CMAKE_CUDA_ARCHITECTURES 80-real 90-real 90-virtual)
  endif()
  enable_language(CUDA)
  # CMake 3.25 does not know that this nvcc supports C++20, and would omit the flag.
  set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION "-std=c++20")
  set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION "-std=c++20")
  if(CCACHE_PROGRAM AND NOT CMAKE_CUDA_COMPILER_LAUNCHER)
    set(CMAKE_CUDA_COMPILER_LAUNCHER ${CCACHE_PROGRAM})
  endif()
  find_package(CUDAToolkit REQUIRED)
  list(JOIN CMAKE_CUDA_ARCHITECTURES " " architectures)
  find_path(NCCL_INCLUDE_DIR nccl.h HINTS ${CUDAToolkit_INCLUDE_DIRS})
  find_library(NCCL_LIBRARY nccl HINTS ${CUDAToolkit_LIBRARY_DIR})
endif()

# tutti_module(NAME FILES…): builds libNAME.so in lib/tutti, next to the program's bin folder.
function(tutti_module name)
  add_library(${name} MODULE ${ARGN})
  target_link_libraries(${name} PRIVATE CUDA::cudart_static)
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR})
  target_compile_options(${name} PRIVATE
    $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wshadow -Wconversion -Wno-sign-conversion>
    "$<$<COMPILE_LANGUAGE:CUDA>:SHELL:-Xcompiler -Wall,-Wextra>"
    $<$<BOOL:${TUTTI_WARNINGS_AS_ERRORS}>:$<$<COMPILE_LANGUAGE:CXX>:-Werror>>
    "$<$<BOOL:${TUTTI_WARNINGS_AS_ERRORS}>:$<$<COMPILE_LANGUAGE:CUDA>:SHELL:-Werror all-warnings>>")
  set_target_properties(${name} PROPERTIES
    LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib/tutti
    CXX_VISIBILITY_PRESET hidden CUDA_VISIBILITY_PRESET hidden CUDA_STANDARD 20)
  install(TARGETS ${name} DESTINATION lib/tutti)
endfunction()

set(cuda_found FALSE)
set(nccl_found FALSE)
if(TUTTI_CUDA AND CMAKE_CUDA_COMPILER)
  set(cuda_found TRUE)
  tutti_module(tutti_cuda cuda/module/kernels.cu cuda/module/module.cpp)
  target_compile_definitions(tutti_cuda PRIVATE
    "$<$<COMPILE_LANGUAGE:CXX>:TUTTI_CUDA_VERSION=\"${CUDAToolkit_VERSION}\";TUTTI_CUDA_ARCHITECTURES=\"${architectures}\">")
endif()

if(cuda_found AND NCCL_INCLUDE_DIR AND NCCL_LIBRARY)
  set(nccl_found TRUE)
  tutti_module(tutti_nccl nccl/module/module.cpp nccl/module/profiler.cpp)
  target_include_directories(tutti_nccl SYSTEM PRIVATE ${NCCL_INCLUDE_DIR})
  target_link_libraries(tutti_nccl PRIVATE ${NCCL_LIBRARY} ${CMAKE_DL_LIBS})
endif()

report_part("CUDA" ${cuda_found} "version ${CUDAToolkit_VERSION}, compiled for ${architectures}"
            "no CUDA toolkit found (or TUTTI_CUDA is off); everything but --backend cuda works without")
report_part("NCCL" ${nccl_found} "${NCCL_LIBRARY}"
            "not found (or TUTTI_CUDA is off); everything but --backend nccl works without")
