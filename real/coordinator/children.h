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
  std::string listen;  ///< the address at which the worker listens, "HOST:PORT"; empty: unspecified
  std::string secret;
  std::size_t worker = 0;
};

/// Ties the life of this process, which Children::start() has started, to its parent's: from now on
/// it is killed as soon as its parent ends, for whatever reason, even while it is stopped. To be
/// called as early as possible. Returns false if the parent has ended already.
[[nodiscard]] bool end_with_parent(pid_t parent);

/// The worker processes that this process has started. None outlives this object, nor this process
/// if that is killed. (For Linux the parent is the thread that starts them: they end with it.)
class Children {
 public:
  Children() = default;
  Children(const Children&) = delete;
  Children& operator=(const Children&) = delete;
  ~Children();

  /// ERRORS: the process cannot be started.
  core::Expected<void> start(const ChildOrder& order);
  /// True if this object started the worker.
  [[nodiscard]] bool started(std::size_t worker) const;

  struct End {
    std::string how;        ///< how it ended, such as "was ended by signal 9 (Killed)"
    bool told_why = false;  ///< true: it reported its failure to the coordinator
  };
  /// Returns how the process of this worker ended; nothing while it runs, or if it was never
  /// started here.
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
