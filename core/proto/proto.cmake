# The generated messages. Included from the top folder: protobuf_generate writes next to a file's path from there, so
# that "core/proto/….pb.h" is what both we and the generated code include.

add_library(tutti_proto STATIC)
set_target_properties(tutti_proto PROPERTIES CXX_CLANG_TIDY "")
target_link_libraries(tutti_proto PUBLIC protobuf::libprotobuf)
target_include_directories(tutti_proto SYSTEM PUBLIC ${PROJECT_BINARY_DIR}/generated)
protobuf_generate(TARGET tutti_proto LANGUAGE cpp
  IMPORT_DIRS ${PROJECT_SOURCE_DIR}
  PROTOC_OUT_DIR ${PROJECT_BINARY_DIR}/generated
  PROTOS ${PROJECT_SOURCE_DIR}/core/proto/machine.proto
         ${PROJECT_SOURCE_DIR}/core/proto/perfetto.proto
         ${PROJECT_SOURCE_DIR}/core/proto/scenario.proto
         ${PROJECT_SOURCE_DIR}/core/proto/timeline.proto)
