#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "real/join/socket.h"

namespace tutti::real {

/// What a worker process that this one starts is told.
struct ChildOrder {
  std::string program;  ///< the tutti program
  Address join;
  std::string listen;  ///< where it listens, if it was told; "HOST:PORT"
  std::string secret;
  std::size_t worker = 0;
};

/// For a process that Children::start() has started, as early as it can: from now on it is killed as soon as its parent ends,
/// however that happens, also while it is stopped. False if the parent has ended already.
[[nodiscard]] bool end_with_parent(pid_t parent);

/// Worker processes of this machine. None outlives this object, nor this process if that is killed. (To Linux the parent is the
/// thread that starts them: they end with it.)
class Children {
 public:
  Children() = default;
  Children(const Children&) = delete;
  Children& operator=(const Children&) = delete;
  ~Children();

  /// ERRORS: the process cannot be started.
  core::Expected<void> start(const ChildOrder& order);
  /// The worker was started here.
  [[nodiscard]] bool started(std::size_t worker) const;

  struct End {
    std::string how;        ///< "was ended by signal 9 (Killed)"
    bool told_why = false;  ///< it found something wrong, and has told the coordinator
  };
  /// How the process of this worker ended; nothing while it runs, or if it was never started here.
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
