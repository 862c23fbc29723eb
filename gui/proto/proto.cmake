# Included from the top folder, see core/proto/proto.cmake.

add_library(tutti_window_proto STATIC)
set_target_properties(tutti_window_proto PROPERTIES CXX_CLANG_TIDY "")
target_link_libraries(tutti_window_proto PUBLIC protobuf::libprotobuf)
target_include_directories(tutti_window_proto SYSTEM PUBLIC ${PROJECT_BINARY_DIR}/generated)
protobuf_generate(TARGET tutti_window_proto LANGUAGE cpp
  IMPORT_DIRS ${PROJECT_SOURCE_DIR}
  PROTOC_OUT_DIR ${PROJECT_BINARY_DIR}/generated
  PROTOS ${PROJECT_SOURCE_DIR}/gui/proto/marks.proto)
