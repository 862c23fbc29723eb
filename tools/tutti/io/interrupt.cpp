#include "tools/tutti/io/interrupt.h"

#include <unistd.h>

#include <csignal>
#include <string_view>

#include "tools/tutti/io/capture.h"
#include "tools/tutti/io/output_file.h"
#include "tools/tutti/io/standard_output.h"

namespace tutti::tools {
namespace {

/// True after a signal that an Interrupt handles; a global variable, because signal handlers cannot
/// access other data.
std::atomic<bool> interrupted{false};
static_assert(std::atomic<bool>::is_always_lock_free);

extern "C" void end_now(int) {
  remove_unfinished_file();
  write_stopped_error();
  constexpr std::string_view kMessage = "tutti: interrupted\n";
  // The program ends even if the message cannot be written.
  if (write(STDERR_FILENO, kMessage.data(), kMessage.size()) < 0) _exit(1);
  _exit(1);
}

extern "C" void on_signal(int number) {
  interrupted.store(true);
  std::signal(number, end_now);
}

}  // namespace

void end_on_signals() {
  for (const int number : kEndingSignals) {
    if (std::signal(number, end_now) == SIG_IGN) std::signal(number, SIG_IGN);
  }
}

Interrupt::Interrupt(Begins begins) {
  if (const Capture* const caller = capture()) {
    static const std::atomic<bool> never{false};
    callers_ = caller->cancel ? caller->cancel : &never;
    return;
  }
  interrupted.store(false);
  if (begins == Begins::kNow) begin();
}

void Interrupt::begin() {
  if (callers_ || begun_) return;
  begun_ = true;
  for (std::size_t i = 0; i < kEndingSignals.size(); ++i) {
    before_[i] = std::signal(kEndingSignals[i], on_signal);
    if (before_[i] == SIG_IGN) std::signal(kEndingSignals[i], SIG_IGN);
  }
}

Interrupt::~Interrupt() {
  if (!begun_) return;
  for (std::size_t i = 0; i < kEndingSignals.size(); ++i)
    std::signal(kEndingSignals[i], before_[i]);
}

const std::atomic<bool>& Interrupt::flag() const { return callers_ ? *callers_ : interrupted; }

}  // namespace tutti::tools
