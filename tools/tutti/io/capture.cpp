#include "tools/tutti/io/capture.h"

#include "core/base/check.h"

namespace tutti::tools {
namespace {

/// Commands report through free functions (tools/tutti/command.h), so each thread has its own
/// capture of these reports.
Capture*& of_this_thread() {
  thread_local Capture* capture = nullptr;
  return capture;
}

}  // namespace

Capturing::Capturing(Capture& capture) {
  TUTTI_CHECK(of_this_thread() == nullptr, "a thread calls one command at a time");
  of_this_thread() = &capture;
}

Capturing::~Capturing() { of_this_thread() = nullptr; }

Capture* capture() { return of_this_thread(); }

}  // namespace tutti::tools
