#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/scenario/executor.h"
#include "core/scenario/scenario.h"

namespace tutti::gui {

/// A way to run a scenario. The window is handed a list of them and knows nothing else of simulator and sockets.
struct Backend {
  std::string id;     ///< for settings: "simulate"
  std::string name;   ///< "Simulate"
  std::string doing;  ///< "simulating"
  /// Why it cannot be used on this machine at all; empty if it can. Called once, in a thread of its own: looking for GPUs
  /// takes a while. None: it always can.
  std::function<std::string()> missing;
  /// Makes what runs one scenario; called, like that, in a thread of its own.
  std::function<std::unique_ptr<core::Executor>()> make;
};

}  // namespace tutti::gui
