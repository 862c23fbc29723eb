#include "core/base/check.h"

#include <cstdio>
#include <cstdlib>

namespace tutti::core {

void check_failed(const char* file, int line, const char* condition, fmt::string_view format,
                  fmt::format_args args) {
  fmt::print(stderr,
             "{}:{}: internal error: {} does not hold ({})\n"
             "please report this, with the command and the files that caused it\n",
             file, line, condition, fmt::vformat(format, args));
  std::fflush(stderr);
  std::abort();
}

}  // namespace tutti::core
