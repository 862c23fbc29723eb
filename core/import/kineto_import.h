#pragma once

#include <functional>
#include <memory>
#include <string>

#include "core/formats/byte_input.h"
#include "core/formats/kineto.h"
#include "core/import/measured_run.h"

namespace tutti::core {

/// Adds one trace of the PyTorch profiler, of one rank, to `run`.
///
/// - Steps are the annotations ProfilerStep#N; without them the trace is one step. A step ends when
///   the last kernel that it launched ends, because hosts run ahead of GPUs; the next step begins
///   there.
/// - The backward pass consists of the kernels that the autograd engine's thread launches. A
///   gradient is ready when the last kernel that was launched on its GPU before its AccumulateGrad
///   has ended.
/// - All-reduces that are issued inside an AccumulateGrad are those of gradients; each is a pack
///   (bucket).
///
/// Memory: about 50 bytes for each kernel, launch and autograd operator.
/// ERRORS: those of read_kineto; more than 40 million kernels or launches; a rank that is already
/// in the run.
Expected<void> import_kineto(ByteInput& input, const std::string& name, MeasuredRun& run,
                             const std::function<void(double)>& progress = {});

/// Collects the events of one rank's trace, whichever profiler wrote them.
class RankTrace {
 public:
  /// Errors and notes use `name` for the trace.
  RankTrace(MeasuredRun& run, std::string name);
  RankTrace(RankTrace&&) noexcept;
  ~RankTrace();

  void take(const KinetoEvent& event);
  /// Adds the rank to the run. ERRORS: those of import_kineto, except for reading.
  Expected<void> finish(KinetoHeader header);

 private:
  class Events;
  std::unique_ptr<Events> events_;
};

}  // namespace tutti::core
