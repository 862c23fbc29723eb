#include "tools/tutti/command.h"

#include <cerrno>
#include <cstdio>
#include <cstring>

namespace tutti::tools {

int report(const core::Error& error) {
  std::string text;
  for (const core::Problem& problem : error.problems()) {
    text += problem.where.file.empty() ? "tutti: " + problem.text : core::to_string(problem);
    text += '\n';
  }
  std::fputs(text.c_str(), stderr);
  return error.kind() == core::ErrorKind::kRun ? kRunFailed : kWrongRequest;
}

int print_out(const std::string& text) {
  const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0;
  if (written) return kDone;
  return report(core::Error::run(fmt::format("cannot write to standard output: {}", std::strerror(errno))));
}

}  // namespace tutti::tools
