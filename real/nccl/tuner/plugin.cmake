# libnccl-tuner-tutti.so: NCCL loads it into other people's programs (NCCL_TUNER_PLUGIN). So it brings its C++ runtime, shows
# NCCL's symbols alone, and needs neither CUDA nor NCCL to be built.

add_library(nccl-tuner-tutti MODULE
  nccl/tuner/communicator.cpp
  nccl/tuner/plugin.cpp
  ${PROJECT_SOURCE_DIR}/core/tuner_table/table.cpp)
target_link_libraries(nccl-tuner-tutti PRIVATE tutti_flags tl::expected)
set_target_properties(nccl-tuner-tutti PROPERTIES
  LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib/tutti
  CXX_VISIBILITY_PRESET hidden
  LINK_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/exports.map)
target_link_options(nccl-tuner-tutti PRIVATE -Wl,--version-script=${CMAKE_CURRENT_LIST_DIR}/exports.map)
if(NOT TUTTI_SANITIZE)
  # Sanitizers come with the program that loads it.
  target_link_options(nccl-tuner-tutti PRIVATE -static-libstdc++ -static-libgcc -Wl,--no-undefined)
endif()
install(TARGETS nccl-tuner-tutti DESTINATION lib/tutti)
