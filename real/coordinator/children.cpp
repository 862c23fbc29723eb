#include "real/coordinator/children.h"

#include <signal.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <string_view>
#include <thread>

#include "real/process/system_limits.h"

namespace tutti::real {

using core::Error;
using core::Expected;

Expected<void> Children::start(const ChildOrder& order) {
  // The secret is passed in the environment, because other users of this machine can read a
  // process's arguments.
  std::vector<std::string> settings;
  for (char** entry = environ; *entry; ++entry) {
    if (!std::string_view(*entry).starts_with("TUTTI_SECRET=")) settings.emplace_back(*entry);
  }
  settings.push_back("TUTTI_SECRET=" + order.secret);
  std::vector<char*> environment;
  for (std::string& setting : settings) environment.push_back(setting.data());
  environment.push_back(nullptr);
  // Make the worker's command line, which `ps` shows. With the program's path as first argument,
  // `ps` might show /proc/self/exe instead of "tutti".
  std::vector<std::string> words{"tutti",      "worker",
                                 "--join",     to_string(order.join),
                                 "--worker",   std::to_string(order.worker),
                                 "--child-of", std::to_string(::getpid())};
  if (!order.listen.empty()) words.insert(words.end(), {"--listen", order.listen});
  if (!order.tls.empty()) words.insert(words.end(), {"--tls", order.tls});
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  // The worker gets its own process group, so that Ctrl-C reaches only the coordinator, which then
  // ends its workers in order.
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  posix_spawnattr_setpgroup(&attributes, 0);
  pid_t id = -1;
  const int status = ::posix_spawn(&id, order.program.c_str(), nullptr, &attributes,
                                   arguments.data(), environment.data());
  posix_spawnattr_destroy(&attributes);
  if (status != 0) {
    return tl::make_unexpected(
        Error::run({core::ProblemCode::kSystem, "", static_cast<std::int32_t>(order.worker)},
                   fmt::format("worker {} cannot be started from {}: {}{}", order.worker,
                               order.program, std::strerror(status), remedy_for(status))));
  }
  children_.push_back({id, order.worker});
  return {};
}

bool end_with_parent(pid_t parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  // If the parent died before this call, the kernel sends no signal. In this case, getppid()
  // returns the id of another process.
  return ::getppid() == parent;
}

/// The exit status of a worker that has reported its failure to the coordinator.
constexpr int kFailedRun = 1;

void Children::look_at(Child& child) {
  int status = 0;
  if (child.end || ::waitpid(child.id, &status, WNOHANG) != child.id) return;
  if (WIFSIGNALED(status))
    child.end = End{
        fmt::format("was ended by signal {} ({})", WTERMSIG(status), strsignal(WTERMSIG(status)))};
  else
    child.end = End{fmt::format("ended with exit status {}", WEXITSTATUS(status)),
                    WEXITSTATUS(status) == kFailedRun};
}

bool Children::started(std::size_t worker) const {
  return std::any_of(children_.begin(), children_.end(),
                     [&](const Child& c) { return c.worker == worker; });
}

std::optional<Children::End> Children::ended(std::size_t worker) {
  const auto child = std::find_if(children_.begin(), children_.end(),
                                  [&](const Child& c) { return c.worker == worker; });
  if (child == children_.end()) return std::nullopt;
  look_at(*child);
  return child->end;
}

Children::~Children() {
  const auto running = [this] {
    for (Child& child : children_) look_at(child);
    return std::any_of(children_.begin(), children_.end(), [](const Child& c) { return !c.end; });
  };
  // Wait at most one second for workers to exit after the request to finish.
  for (int i = 0; i < 100 && running(); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  for (const Child& child : children_) {
    if (child.end) continue;
    ::kill(child.id, SIGKILL);
    ::waitpid(child.id, nullptr, 0);
  }
}

}  // namespace tutti::real
