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

/// A whole number that differs between neighbouring ranks and elements, so small that 70 of them
/// are added exactly in every type, float16 and bfloat16 (whole up to 256) included.
double input(core::Rank rank, std::int64_t element);

struct Outcome {
  std::vector<std::vector<std::byte>> data;  ///< by rank
  std::vector<StepDone> steps;
};

/// Runs the collective with all ranks in this process, which start in the order of `start`.
Outcome run(const core::Collective& collective, Operation operation,
            const std::vector<core::Rank>& start, Devices& devices, LocalTransport& transport);
/// … on the host.
Outcome run(const core::Collective& collective, Operation operation,
            const std::vector<core::Rank>& start);

std::vector<core::Rank> in_order(core::Rank ranks);

/// As if every message left the process: its copies are the host's own, which the memory of devices
/// does not survive.
class LeavesTheProcess : public LocalTransport {
 public:
  void connect(Receiver& receiver, Devices&) override { LocalTransport::connect(receiver, host_); }
  [[nodiscard]] bool is_local(core::Rank) const override { return false; }

 private:
  HostDevices host_;
};

/// Calls `with` for the all-reduce of every algorithm that runs on so many workers with so many
/// GPUs each.
void for_every_algorithm(
    int workers, int gpus, const std::vector<std::int64_t>& elements,
    const std::function<void(const core::Collective&, const std::string& name)>& with);

void expect_all_reduced(const core::Collective& collective, Operation operation,
                        const Outcome& outcome, double factor, const std::string& what);

}  // namespace tutti::real
