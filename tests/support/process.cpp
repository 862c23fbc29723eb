#include "tests/support/process.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>
#include <system_error>
#include <thread>
#include <utility>

#include "tests/support/spawn.h"

namespace tutti::test {
Process::Process(const std::vector<std::string>& arguments, const Options& options) {
  std::vector<std::string> words{TUTTI_PROGRAM};
  words.insert(words.end(), arguments.begin(), arguments.end());
  start(std::move(words), options);
}

Process Process::of(std::vector<std::string> words, const Options& options) {
  Process process;
  process.start(std::move(words), options);
  return process;
}

Process::Process(Process&& other) noexcept
    : talk_(std::move(other.talk_)), id_(std::exchange(other.id_, -1)) {}

Process::~Process() {
  if (id_ < 0) return;
  ::kill(id_, SIGKILL);
  ::waitpid(id_, nullptr, 0);
}

void Process::start(std::vector<std::string> words, const Options& options) {
  if (options.memory_mb > 0) {
    const std::string limited =
        "ulimit -v " + std::to_string(options.memory_mb * 1024) + "; exec \"$0\" \"$@\"";
    words.insert(words.begin(), {"/bin/sh", "-c", limited});
  }
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  constexpr mode_t kMine = 0600;
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, talk_.file("out").c_str(),
                                   O_WRONLY | O_CREAT | O_APPEND, kMine);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, talk_.file("err").c_str(),
                                   O_WRONLY | O_CREAT | O_APPEND, kMine);
  if (!options.folder.empty())
    posix_spawn_file_actions_addchdir_np(&actions, options.folder.c_str());
  const UsualSignals signals;
  const EnvironmentWith environment(options.environment);
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  const int failed =
      posix_spawnp(&id_, argv[0], &actions, signals.get(), argv.data(), environment.get());
  posix_spawn_file_actions_destroy(&actions);
  if (failed != 0) throw std::system_error(failed, std::generic_category(), words[0]);
}

void Process::signal(int number) const { ::kill(id_, number); }

bool Process::handles(int number) const {
  const std::string status = "/proc/" + std::to_string(id_) + "/status";
  while (true) {
    const bool last = !running();
    std::ifstream lines(status);
    for (std::string word; lines >> word;) {
      if (word != "SigCgt:") continue;
      std::uint64_t caught = 0;
      lines >> std::hex >> caught;
      if ((caught >> (number - 1) & 1) != 0) return true;
      break;
    }
    if (last) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

bool Process::running() const {
  siginfo_t ended{};
  return ::waitid(P_PID, static_cast<id_t>(id_), &ended, WEXITED | WNOHANG | WNOWAIT) != 0 ||
         ended.si_pid != id_;
}

bool Process::says(const std::string& text) {
  while (true) {
    const bool last = !running();
    if (err().find(text) != std::string::npos) return true;
    if (last) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

std::string Process::err() const { return talk_.read("err"); }
std::string Process::out() const { return talk_.read("out"); }

Outcome Process::wait() {
  int status = 0;
  while (::waitpid(id_, &status, 0) < 0) {
    if (errno != EINTR) throw std::system_error(errno, std::generic_category(), "waitpid");
  }
  id_ = -1;
  return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), talk_.read("out"),
          talk_.read("err")};
}

std::string tutti_program() { return TUTTI_PROGRAM; }

bool have_program(const std::string& name) {
  const char* const path = std::getenv("PATH");
  std::istringstream folders(path ? path : "");
  for (std::string folder; std::getline(folders, folder, ':');) {
    if (::access((folder + "/" + name).c_str(), X_OK) == 0) return true;
  }
  return false;
}

int free_port() {
  // The ports are below those that connections get (Linux: from 32768), because a concurrent test
  // opens thousands of connections.
  constexpr int kFirst = 10'000, kPorts = 22'000, kTries = 100;
  std::random_device random;
  for (int i = 0; i < kTries; ++i) {
    const int port = kFirst + static_cast<int>(random() % kPorts);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const bool free = ::bind(socket, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
    ::close(socket);
    if (free) return port;
  }
  throw std::system_error(errno, std::generic_category(), "no port");
}

}  // namespace tutti::test
