#include "tools/tutti/command.h"

#include <cerrno>
#include <cstdio>
#include <cstring>

namespace tutti::tools {

std::optional<Format> parse_format(const std::string& name) {
  if (name == "text") return Format::kText;
  if (name == "json") return Format::kJson;
  return std::nullopt;
}

int report(const core::Error& error) {
  std::string text;
  for (const core::Problem& problem : error.problems()) {
    text += problem.where.file.empty() ? "tutti: " + problem.text : core::to_string(problem);
    text += '\n';
  }
  tell(text);
  return error.kind() == core::ErrorKind::kRun ? kRunFailed : kWrongRequest;
}

void tell(const std::string& text) { static_cast<void>(std::fputs(text.c_str(), stderr)); }

int print_out(const std::string& text) {
  const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0;
  return written ? static_cast<int>(kDone) : stdout_failed(errno);
}

int stdout_failed(int error) {
  if (error == EPIPE) return kRunFailed;
  return report(core::Error::run(fmt::format("cannot write to standard output: {}", std::strerror(error))));
}

}  // namespace tutti::tools
