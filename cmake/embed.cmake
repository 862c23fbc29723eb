# cmake -D INPUT=FILE -D OUTPUT=FILE.cpp -D HEADER=FILE.h -D FUNCTION=NAME -P embed.cmake
# Writes a C++ source that contains the bytes of a file. `std::string_view NAME()` returns them; the
# function is in namespace tutti::core, or in the namespace of -D NAMESPACE=….

if(NOT NAMESPACE)
  set(NAMESPACE tutti::core)
endif()

file(READ ${INPUT} bytes HEX)
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
string(REPEAT "0x..," 24 line)
string(REGEX REPLACE "(${line})" "\\1\n    " bytes "${bytes}")
file(WRITE ${OUTPUT} "// Made by cmake/embed.cmake.

#include \"${HEADER}\"

namespace ${NAMESPACE} {

namespace {

constexpr unsigned char kBytes[] = {
    ${bytes}};

}  // namespace

std::string_view ${FUNCTION}() { return {reinterpret_cast<const char*>(kBytes), sizeof kBytes}; }

}  // namespace ${NAMESPACE}
")
