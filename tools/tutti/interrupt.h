#pragma once

#include <atomic>

namespace tutti::tools {

/// While one exists, Ctrl-C (and SIGTERM) sets a flag instead of ending the program, so that files end whole. A second
/// one ends it at once.
class Interrupt {
 public:
  Interrupt();
  ~Interrupt();
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;

  [[nodiscard]] const std::atomic<bool>& flag() const;
  [[nodiscard]] bool happened() const { return flag().load(); }
};

}  // namespace tutti::tools
