#include "tests/support/program.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <system_error>
#include <thread>

#include "tests/support/spawn.h"

namespace tutti::test {
namespace {

namespace fs = std::filesystem;

std::string content(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

int wait_for(pid_t child) {
  int status = 0;
  while (waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) throw std::system_error(errno, std::generic_category(), "waitpid");
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/// Sends a signal when the file `path` is not empty, or after a minute at the latest, so that no
/// test hangs.
void interrupt_once(pid_t child, const std::string& path, std::chrono::milliseconds later,
                    int number) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  std::error_code none;
  while (std::chrono::steady_clock::now() < deadline) {
    if (const auto size = fs::file_size(path, none); !none && size > 0) break;
    siginfo_t ended{};
    if (waitid(P_PID, static_cast<id_t>(child), &ended, WEXITED | WNOHANG | WNOWAIT) == 0 &&
        ended.si_pid == child)
      break;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  std::this_thread::sleep_for(later);
  kill(child, number);
}

}  // namespace

Outcome run_tutti(const std::vector<std::string>& arguments, const RunOptions& options) {
  const TemporaryFolder talk;
  const std::string out = options.out_file.empty() ? talk.file("out") : options.out_file;
  const std::string err = talk.file("err");
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  constexpr mode_t kMine = 0600;
  int ends[2] = {-1, -1};
  if (options.out_closed) {
    if (pipe2(ends, O_CLOEXEC) != 0)
      throw std::system_error(errno, std::generic_category(), "pipe");
    close(ends[0]);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  } else {
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, out.c_str(),
                                     O_WRONLY | O_CREAT | O_TRUNC, kMine);
  }
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, err.c_str(),
                                   O_WRONLY | O_CREAT | O_TRUNC, kMine);
  if (!options.folder.empty())
    posix_spawn_file_actions_addchdir_np(&actions, options.folder.c_str());
  const UsualSignals signals;
  std::vector<std::string> words{TUTTI_PROGRAM};
  std::string limits;
  if (options.memory_mb > 0)
    limits += "ulimit -v " + std::to_string(options.memory_mb * 1024) + "; ";
  if (options.open_files > 0) limits += "ulimit -n " + std::to_string(options.open_files) + "; ";
  if (!limits.empty()) words = {"/bin/sh", "-c", limits + "exec \"$0\" \"$@\"", TUTTI_PROGRAM};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  const EnvironmentWith environment(options.environment);
  pid_t child = 0;
  const int failed =
      posix_spawn(&child, argv[0], &actions, signals.get(), argv.data(), environment.get());
  posix_spawn_file_actions_destroy(&actions);
  if (options.out_closed) close(ends[1]);
  if (failed != 0) throw std::system_error(failed, std::generic_category(), TUTTI_PROGRAM);
  if (!options.interrupt_once.empty())
    interrupt_once(child, options.interrupt_once,
                   std::chrono::milliseconds(options.interrupt_later_ms), options.signal);
  const int status = wait_for(child);
  const bool kept = options.out_file.empty() && !options.out_closed;
  return {status, kept ? content(out) : "", content(err)};
}

TemporaryFolder::TemporaryFolder() {
  std::string pattern = (fs::temp_directory_path() / "tutti-test-XXXXXX").string();
  if (mkdtemp(pattern.data()) == nullptr)
    throw std::system_error(errno, std::generic_category(), pattern);
  path_ = pattern;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  if (!path_.empty()) fs::remove_all(path_, ignored);
}

std::string TemporaryFolder::write(const std::string& name, const std::string& text) const {
  std::ofstream out(file(name), std::ios::binary);
  out << text;
  if (!out.flush()) throw std::runtime_error("cannot write " + file(name));
  return file(name);
}

std::string TemporaryFolder::read(const std::string& name) const { return content(file(name)); }

std::vector<std::string> TemporaryFolder::files() const {
  std::vector<std::string> names;
  for (const fs::directory_entry& entry : fs::directory_iterator(path_))
    names.push_back(entry.path().filename());
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace tutti::test
