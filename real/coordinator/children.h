#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "real/join/socket.h"

namespace tutti::real {

/// The parameters of a worker process that the coordinator starts.
struct ChildOrder {
  std::string program;  ///< path of the tutti program
  Address join;
  /// The address at which the worker listens, "HOST:PORT"; empty: the worker chooses.
  std::string listen;
  std::string secret;
  std::string tls;  ///< the value of --tls; empty: no TLS
  std::size_t worker = 0;
};

/// Makes the kernel kill this process as soon as its parent ends for any reason, even if this
/// process is stopped (SIGSTOP) at that time. A process that Children::start() has started calls
/// this function as early as possible. Returns false if the parent has ended already.
[[nodiscard]] bool end_with_parent(pid_t parent);

/// The worker processes that this process has started. The worker processes end when this object is
/// destroyed, or when this process ends. (On Linux, the parent of a process in this sense is the
/// thread that started the process, so the workers also end with that thread.)
class Children {
 public:
  Children() = default;
  Children(const Children&) = delete;
  Children& operator=(const Children&) = delete;
  ~Children();

  /// Starts a worker process. ERRORS: the process cannot be started.
  core::Expected<void> start(const ChildOrder& order);
  /// Returns true if this object started the worker.
  [[nodiscard]] bool started(std::size_t worker) const;

  struct End {
    std::string how;  ///< the way in which the process ended, such as "was ended by signal 9
                      ///< (Killed)"
    bool reported_failure = false;  ///< true: the worker reported its failure to the coordinator
  };
  /// Returns how the worker's process ended; nullopt if it is running, or was not started by this
  /// object.
  std::optional<End> ended(std::size_t worker);

 private:
  struct Child {
    pid_t id = -1;
    std::size_t worker = 0;
    std::optional<End> end{};
  };
  static void look_at(Child& child);

  std::vector<Child> children_;
};

}  // namespace tutti::real
