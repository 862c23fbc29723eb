#pragma once

#include <functional>
#include <memory>
#include <string>

#include "core/formats/byte_input.h"
#include "core/formats/kineto.h"
#include "core/import/measured_run.h"

namespace tutti::core {

/// Adds a PyTorch profiler trace, which contains one rank, to `run`.
///
/// - Training steps are the annotations ProfilerStep#N. In a trace without these annotations, each
///   call of Optimizer.step ends a step on the host; if there are fewer than two such calls, the
///   trace is one step. The host runs ahead of the GPU. On the GPU, a step therefore ends when the
///   last kernel that the host launched in the step has ended. The next step begins at that time.
/// - The backward pass consists of the kernels that the autograd engine's thread launches. A
///   gradient is ready when all kernels that were launched on its GPU before its AccumulateGrad
///   operator have ended.
/// - An all-reduce that is issued inside an AccumulateGrad is a pack (bucket) of gradients.
///
/// Memory: about 50 bytes for each kernel, launch and autograd operator.
/// ERRORS: as for read_kineto(); there are more than 40 million kernels or launches; the run
/// already has this rank.
Expected<void> import_kineto(ByteInput& input, const std::string& name, MeasuredRun& run,
                             const std::function<void(double)>& progress = {});

/// Collects the profiler events of one rank, and adds the rank to a run. The events may come from
/// PyTorch's profiler or, after conversion, from another profiler.
class RankTrace {
 public:
  /// `name` is the name of the trace in errors and notes.
  RankTrace(MeasuredRun& run, std::string name);
  RankTrace(RankTrace&&) noexcept;
  ~RankTrace();

  void take(const KinetoEvent& event);
  /// Adds the rank to the run. ERRORS: as for import_kineto(), except errors of reading the file.
  Expected<void> finish(KinetoHeader header);

 private:
  class Events;
  std::unique_ptr<Events> events_;
};

}  // namespace tutti::core
