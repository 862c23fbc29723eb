# The messages between processes. Included from the top folder, like core/proto/proto.cmake.

add_library(tutti_real_proto STATIC)
set_target_properties(tutti_real_proto PROPERTIES CXX_CLANG_TIDY "")
target_link_libraries(tutti_real_proto PUBLIC tutti_proto)
target_include_directories(tutti_real_proto SYSTEM PUBLIC ${PROJECT_BINARY_DIR}/generated)
protobuf_generate(TARGET tutti_real_proto LANGUAGE cpp
  IMPORT_DIRS ${PROJECT_SOURCE_DIR}
  PROTOC_OUT_DIR ${PROJECT_BINARY_DIR}/generated
  PROTOS ${PROJECT_SOURCE_DIR}/real/proto/run.proto)
