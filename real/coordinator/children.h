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
  [[nodiscard]] bool started(std::size_t worker) const;
  /// The worker was started here.
  [[nodiscard]] bool has(std::size_t worker) const;
  /// How the process of this worker ended, in words; nothing while it runs, or if it was never started here.
  std::optional<std::string> ended(std::size_t worker);
  /// It ended because it found something wrong, which it will have told.
  [[nodiscard]] static bool told_why(const std::string& how) { return how == "ended with exit status 1"; }

 private:
  struct Child {
    pid_t id = -1;
    std::size_t worker = 0;
    std::optional<std::string> how{};
  };
  static void look_at(Child& child);

  std::vector<Child> children_;
};

}  // namespace tutti::real
