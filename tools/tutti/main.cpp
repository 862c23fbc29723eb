// The program `tutti`; its commands are in command_line.h.

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <exception>
#include <new>
#include <string>
#include <system_error>
#include <vector>

#include "core/scenario/library_folder.h"
#include "core/text/printable.h"
#include "real/process/system_limits.h"
#include "tools/tutti/command.h"
#include "tools/tutti/command_line.h"
#include "tools/tutti/io/interrupt.h"
#include "tools/tutti/io/memory_limit.h"

namespace tutti::tools {
namespace {

/// Returns true if the command line contains `--format json`. Errors are then also printed as JSON,
/// including errors in the command line itself.
bool asks_for_json(const std::vector<std::string>& words) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i] == "--format=json" ||
        (words[i] == "--format" && i + 1 < words.size() && words[i + 1] == "json"))
      return true;
  }
  return false;
}

int run(const std::vector<std::string>& words) {
  CommandLine command_line;
  if (words.size() > 1 && words[0] == "complete" && words[1] == "--")
    return print_out(command_line.completions({words.begin() + 2, words.end()},
                                              core::Library(core::library_folder())));
  if (asks_for_json(words)) report_errors_as_json();
  if (const auto ended = command_line.parse(words)) return *ended;
  const Environment environment{core::Library(core::library_folder())};
  // The memory of real runs is not limited, since device drivers map more address space than the
  // machine has memory.
  if (!command_line.leaves_this_process()) {
    stay_within_memory();
    end_on_signals();
  }
  return command_line.run(environment);
}

/// Opens standard file descriptors that are closed. If a standard descriptor stayed closed, the
/// next opened file would get its number, and messages to stderr would be written into this file.
void occupy_standard_descriptors() {
  for (const int file : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(file, F_GETFD) < 0) static_cast<void>(open("/dev/null", O_RDONLY));
  }
}

}  // namespace
}  // namespace tutti::tools

int main(int argc, char** argv) {
  tutti::tools::occupy_standard_descriptors();
  // Ignore the signals for a closed pipe and an exceeded file size limit, so that write calls
  // return an error instead. The program then removes incomplete files.
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
  try {
    const int status = tutti::tools::run({argv + std::min(argc, 1), argv + argc});
    tutti::tools::write_reported_error();
    return status;
  } catch (const std::bad_alloc&) {
    const std::string limit = tutti::tools::describe_memory_limit();
    std::fputs("tutti: out of memory", stderr);
    if (!limit.empty()) std::fprintf(stderr, " (%s)", limit.c_str());
    std::fputs("; use fewer workers, steps or recorded spans\n", stderr);
  } catch (const std::system_error& error) {
    const std::string remedy = tutti::real::remedy_for(error.code().value());
    std::fprintf(
        stderr,
        "tutti: the operating system refused to create a thread or another resource: %s%s\n",
        error.code().message().c_str(), remedy.c_str());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "tutti: internal error: %s\n",
                 tutti::core::printable(error.what()).c_str());
  }
  return tutti::tools::kRunFailed;
}
