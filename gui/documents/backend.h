#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/scenario/executor.h"
#include "core/scenario/scenario.h"

namespace tutti::gui {

/// A way to run a scenario. The window gets a list of backends, and otherwise does not depend on
/// the simulator and on sockets.
struct Backend {
  std::string id;     ///< name in settings, such as "simulate"
  std::string name;   ///< name in the window, such as "Simulate"
  std::string doing;  ///< verb for progress messages, such as "simulating"
  /// Returns why the backend cannot be used on this machine; empty if it can. Called once, in a
  /// separate thread, since looking for GPUs takes a while. A null function: the backend can always
  /// be used.
  std::function<std::string()> missing;
  /// Creates the executor of one scenario. Also called in a separate thread.
  std::function<std::unique_ptr<core::Executor>()> make;
};

}  // namespace tutti::gui
