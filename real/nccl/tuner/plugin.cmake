# libnccl-tuner-tutti.so: NCCL loads this plugin into training programs (NCCL_TUNER_PLUGIN). The
# plugin therefore contains its C++ runtime, and exports only the symbols for NCCL. Building it
# needs neither CUDA nor NCCL.

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
  # The program that loads the plugin provides the sanitizers' runtime.
  target_link_options(nccl-tuner-tutti PRIVATE -static-libstdc++ -static-libgcc -Wl,--no-undefined)
endif()
install(TARGETS nccl-tuner-tutti DESTINATION lib/tutti COMPONENT tutti)
