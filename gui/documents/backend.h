#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/scenario/executor.h"
#include "core/scenario/scenario.h"

namespace tutti::gui {

/// A way to run a scenario. The window receives a list of backends, so its code does not depend on
/// the simulator or on sockets.
struct Backend {
  std::string id;     ///< name in settings, such as "simulate"
  std::string name;   ///< name in the window, such as "Simulate"
  std::string doing;  ///< verb for progress messages, such as "simulating"
  /// Returns the reason why the backend cannot be used on this machine; empty if the backend can be
  /// used. Called once, in a separate thread, because the search for GPUs takes some time. If the
  /// function is null, the backend can always be used.
  std::function<std::string()> missing;
  /// Creates the executor of one scenario. Called in a separate thread.
  std::function<std::unique_ptr<core::Executor>()> make;
};

}  // namespace tutti::gui
