// Lets the lanes of a collective slow down the computation of their devices
// (sim/device/compute_stream.h).

#include "sim/interpreter/interpreter.h"

namespace tutti::sim {

using core::StepKind;
using core::Time;

namespace {

/// The number of times that each byte of a step is read from or written to the device's memory.
/// Reductions and copies outside a collective's kernel are not included, because Devices counts
/// them.
struct Crossings {
  std::int64_t arriving = 0;  ///< accesses while the step's message arrives, before the step begins
  std::int64_t then = 0;      ///< accesses of the step itself
};

/// Returns the memory accesses of a step. If a kernel executes the step, its message is written to
/// a slot in the receiver's memory and read from there once; data that the kernel reduces or
/// forwards stays in registers. SOURCE: NVIDIA/nccl src/device/prims_simple.h. Without kernels,
/// messages are copied from buffer to buffer.
Crossings crossings(StepKind kind, std::int32_t operands, bool by_kernel) {
  switch (kind) {
    case StepKind::kNop:
    case StepKind::kUpdate: return {};
    case StepKind::kSend:
    case StepKind::kMulticast: return {0, 1};
    case StepKind::kReceive:
    case StepKind::kReceiveAny:
      // With a kernel, include the copy out of the slot, which is not a separate operation.
      return {by_kernel ? 3 : 1, 0};
    case StepKind::kReceiveSend: return {1, by_kernel ? 2 : 1};
    case StepKind::kReceiveReduce: return {1, by_kernel ? 3 : 0};
    case StepKind::kReceiveReduceSend: return {1, by_kernel ? 2 : 1};
    case StepKind::kReceiveReduceCopySend: return {1, by_kernel ? 3 : 1};
    case StepKind::kCopy:
    case StepKind::kScale: return {0, by_kernel ? 2 : 0};
    case StepKind::kReduce: return {0, by_kernel ? operands + 1 : 0};
    // the switch reduces, and no device accesses its memory as above
    case StepKind::kSwitchReduce: return {};
  }
  return {};
}

}  // namespace

/// Returns the compute stream of the lane's device; null if it has none.
ComputeStream* Interpreter::compute_stream_of(const Instance& instance, LaneState& state) {
  if (state.device == kNone) state.device = devices_.id(device_of(instance, state.rank));
  ComputeStream* const stream = devices_.stream(state.device);
  if (stream && state.driven == Driven::kUnknown) {
    const bool kernel = instance.schedule->engine(state.rank, state.lane) == core::Engine::kKernel;
    state.driven = kernel ? Driven::kByKernel : Driven::kByDevice;
  }
  return stream;
}

/// Marks a multiprocessor as held by the lane. A lane of a kernel is a thread block, which holds a
/// multiprocessor even while it waits. The multiprocessor is held from the time at which the lane's
/// first step waits for nothing but messages until the end of the lane's last step.
void Interpreter::take_multiprocessor(const Instance& instance, LaneState& state, Time now) {
  if (state.driven == Driven::kByKernelThatHolds || state.driven == Driven::kByDevice) return;
  ComputeStream* const stream = compute_stream_of(instance, state);
  if (!stream || state.driven != Driven::kByKernel) return;
  state.driven = Driven::kByKernelThatHolds;
  stream->occupy(1, now, events_);
}

/// Releases the multiprocessor of a lane that has completed.
void Interpreter::give_back_multiprocessor(LaneState& state) {
  devices_.stream(state.device)->occupy(-1, state.ready, events_);
  state.driven = Driven::kByKernel;
}

void Interpreter::move_in_memory(const Instance& instance, LaneState& state, const StepFields& step,
                                 Time now) {
  ComputeStream* const stream = compute_stream_of(instance, state);
  if (!stream) return;
  const bool sends_only = step.kind == StepKind::kSend || step.kind == StepKind::kMulticast;
  const std::int32_t operands = step.inputs + (step.accumulate ? 1 : 0);
  const core::Bytes bytes = sends_only ? step.source : step.target;
  const Crossings times = crossings(step.kind, operands, state.driven >= Driven::kByKernel);
  if (times.arriving > 0) stream->moved(times.arriving * bytes, now);
  if (times.then > 0) stream->move(times.then * bytes, now);
}

}  // namespace tutti::sim
