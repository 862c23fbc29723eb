#include "tools/tutti/view.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <vector>

#include "tools/tutti/command.h"

namespace tutti::tools {

using core::Error;

std::string window_program() {
  std::error_code none;
  return (std::filesystem::read_symlink("/proc/self/exe", none).parent_path() / "tutti-view")
      .string();
}

int view(const std::vector<std::string>& words) {
  std::error_code none;
  const std::string program = window_program();
  if (!std::filesystem::exists(program, none)) {
    return report(Error::request(
        "the window (" + program +
        ") is not installed; install the package tutti-window, or install Qt 6 "
        "(tools/install_packages.sh window) and build again, or convert the timeline with tutti "
        "export FILE --to perfetto"));
  }
  std::vector<std::string> all{program};
  all.insert(all.end(), words.begin(), words.end());
  std::vector<char*> arguments;
  for (std::string& word : all) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  ::execv(program.c_str(), arguments.data());
  return report(Error::run({core::ProblemCode::kSystem},
                           program + " cannot be started: " + std::strerror(errno)));
}

}  // namespace tutti::tools
