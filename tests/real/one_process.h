#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/strategy/collective.h"
#include "real/interpreter/interpreter.h"
#include "real/transport/local.h"

namespace tutti::real {

class Done : public InterpreterListener {
 public:
  void rank_done(CollectiveTag, core::Rank rank) override { ranks.push_back(rank); }
  void step_done(const StepDone& step) override { steps.push_back(step); }
  std::vector<core::Rank> ranks;
  std::vector<StepDone> steps;
};

/// Returns an integer that differs between adjacent ranks and elements. It is so small that sums of
/// 70 such numbers are exact in every type, including float16 and bfloat16, in which integers up to
/// 256 are exact.
double input(core::Rank rank, std::int64_t element);

struct Outcome {
  std::vector<std::vector<std::byte>> data;  ///< by rank
  std::vector<StepDone> steps;
};

/// Runs the collective with all ranks in this process. Ranks start in the order of `start`.
Outcome run(const core::Collective& collective, Operation operation,
            const std::vector<core::Rank>& start, Devices& devices, LocalTransport& transport);
/// Does the same in host memory.
Outcome run(const core::Collective& collective, Operation operation,
            const std::vector<core::Rank>& start);

std::vector<core::Rank> in_order(core::Rank ranks);

/// A local transport that behaves as if every message leaves the process. It copies messages as
/// host memory, so a message from or to device memory fails.
class LeavesTheProcess : public LocalTransport {
 public:
  void connect(Receiver& receiver, Devices&) override { LocalTransport::connect(receiver, host_); }
  [[nodiscard]] bool is_local(core::Rank) const override { return false; }

 private:
  HostDevices host_;
};

/// Calls `with` for an all-reduce by every algorithm that supports `workers` workers with `gpus`
/// GPUs each.
void for_every_algorithm(
    int workers, int gpus, const std::vector<std::int64_t>& elements,
    const std::function<void(const core::Collective&, const std::string& name)>& with);

void expect_all_reduced(const core::Collective& collective, Operation operation,
                        const Outcome& outcome, double factor, const std::string& what);

}  // namespace tutti::real
