#include "tools/tutti/interrupt.h"

#include <csignal>

namespace tutti::tools {
namespace {

/// A signal handler reaches nothing but globals; this is the only one.
std::atomic<bool> interrupted{false};
static_assert(std::atomic<bool>::is_always_lock_free);

extern "C" void on_signal(int number) {
  interrupted.store(true);
  std::signal(number, SIG_DFL);
}

}  // namespace

Interrupt::Interrupt() {
  interrupted.store(false);
  std::signal(SIGINT, on_signal);
  std::signal(SIGTERM, on_signal);
}

Interrupt::~Interrupt() {
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGTERM, SIG_DFL);
}

const std::atomic<bool>& Interrupt::flag() const { return interrupted; }

}  // namespace tutti::tools
