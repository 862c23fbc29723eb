#include "tools/tutti/explore/plot_file.h"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <fmt/format.h>

#include "tools/tutti/command.h"
#include "tools/tutti/io/output_file.h"
#include "tools/tutti/io/scratch_folder.h"
#include "tools/tutti/view.h"

namespace tutti::tools {

using core::Error;
using core::Expected;
using core::ProblemCode;

namespace {

namespace fs = std::filesystem;

bool is_png(const std::string& path) { return path.ends_with(".png"); }

/// Runs a program that needs no display, and waits until it has ended. ERRORS: the program cannot
/// be started; its exit status is not 0.
Expected<void> run_window(std::vector<std::string> words) {
  std::vector<std::string> environment{"QT_QPA_PLATFORM=offscreen"};
  for (char** entry = ::environ; *entry; ++entry) {
    if (!std::string_view(*entry).starts_with("QT_QPA_PLATFORM=")) environment.emplace_back(*entry);
  }
  const auto pointers = [](std::vector<std::string>& texts) {
    std::vector<char*> all;
    for (std::string& text : texts) all.push_back(text.data());
    all.push_back(nullptr);
    return all;
  };
  pid_t child = 0;
  const int started = ::posix_spawn(&child, words.front().c_str(), nullptr, nullptr,
                                    pointers(words).data(), pointers(environment).data());
  if (started != 0)
    return tl::make_unexpected(
        Error::run({core::ProblemCode::kSystem},
                   fmt::format("{} cannot be started: {}", words.front(), std::strerror(started))));
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return {};
  return tl::make_unexpected(
      Error::run({core::ProblemCode::kSystem},
                 "the plot cannot be drawn as a PNG; name an .svg file instead"));
}

}  // namespace

Expected<void> check_plot(const std::string& path) {
  if (path.empty() || path == "-" || path.ends_with(".svg")) return {};
  if (!is_png(path)) {
    return refused({ProblemCode::kUnknownName, "--plot"},
                   "--plot {}: expected the name of an .svg or a .png file", path);
  }
  if (::access(window_program().c_str(), X_OK) == 0) return {};
  return refused(
      {ProblemCode::kUnsupported, "--plot"},
      "--plot {}: PNG files are drawn by the window program, which was not found ({}); name an "
      ".svg file, or install Qt 6 (tools/install_packages.sh window) and build again",
      path, window_program());
}

Expected<void> write_plot(const std::string& path, const std::vector<std::string>& inputs,
                          const std::string& svg) {
  if (!is_png(path)) return write_file(path, inputs, svg);
  const ScratchFolder folder;
  const std::string from = folder.path() + "/plot.svg", to = folder.path() + "/plot.png";
  if (folder.path().empty() || !(std::ofstream(from, std::ios::binary) << svg).flush())
    return tl::make_unexpected(Error::run(
        {core::ProblemCode::kSystem},
        "there is no space for temporary files; set TMPDIR, or write the plot as an .svg"));
  if (auto drawn = run_window({window_program(), from, "--screenshot", to}); !drawn) return drawn;
  std::ifstream file(to, std::ios::binary);
  const std::string png(std::istreambuf_iterator<char>(file), {});
  return write_file(path, inputs, png);
}

}  // namespace tutti::tools
