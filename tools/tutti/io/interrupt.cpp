#include "tools/tutti/io/interrupt.h"

#include <csignal>

#include "tools/tutti/io/capture.h"

namespace tutti::tools {
namespace {

/// True after a signal that an Interrupt handles; a global variable, because signal handlers cannot
/// access other data.
std::atomic<bool> interrupted{false};
static_assert(std::atomic<bool>::is_always_lock_free);

extern "C" void on_signal(int number) {
  interrupted.store(true);
  std::signal(number, SIG_DFL);
}

}  // namespace

Interrupt::Interrupt() {
  if (const Capture* const caller = capture()) {
    static const std::atomic<bool> never{false};
    callers_ = caller->cancel ? caller->cancel : &never;
    return;
  }
  interrupted.store(false);
  for (std::size_t i = 0; i < kEndingSignals.size(); ++i) {
    before_[i] = std::signal(kEndingSignals[i], on_signal);
    if (before_[i] == SIG_IGN) std::signal(kEndingSignals[i], SIG_IGN);
  }
}

Interrupt::~Interrupt() {
  if (callers_) return;
  for (std::size_t i = 0; i < kEndingSignals.size(); ++i)
    std::signal(kEndingSignals[i], before_[i]);
}

const std::atomic<bool>& Interrupt::flag() const { return callers_ ? *callers_ : interrupted; }

}  // namespace tutti::tools
