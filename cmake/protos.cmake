# tutti_protos(TARGET PROTOS FILES… [LINK LIBRARIES…]): a library of generated messages. The
# function is called from files that the top CMakeLists.txt includes, because protobuf_generate
# derives output paths from the top folder. Tutti's code and generated code therefore both include
# "core/proto/….pb.h".
function(tutti_protos target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "PROTOS;LINK")
  list(TRANSFORM arg_PROTOS PREPEND ${PROJECT_SOURCE_DIR}/)
  add_library(${target} STATIC)
  set_target_properties(${target} PROPERTIES CXX_CLANG_TIDY "" UNITY_BUILD OFF)
  target_link_libraries(${target} PUBLIC protobuf::libprotobuf ${arg_LINK})
  optimize(${target} FOR_FAST_BUILD)
  target_include_directories(${target} SYSTEM PUBLIC $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/generated>)
  protobuf_generate(TARGET ${target} LANGUAGE cpp
    IMPORT_DIRS ${PROJECT_SOURCE_DIR}
    PROTOC_OUT_DIR ${PROJECT_BINARY_DIR}/generated
    PROTOS ${arg_PROTOS})
endfunction()
