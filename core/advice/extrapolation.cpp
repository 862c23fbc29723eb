#include "core/advice/extrapolation.h"

#include <fmt/format.h>

#include "core/calibrate/cluster_figures.h"
#include "core/nccl/system_of_machine.h"
#include "core/proto/scenario.pb.h"
#include "core/workload/layer_times.h"

namespace tutti::core {
namespace {

/// Times scale with the batch as long as it is not much smaller or larger than the one that was measured.
constexpr double kFarOff = 2;

void add_layer_times(const Scenario& scenario, const proto::Scenario& message, std::vector<std::string>& said) {
  for (const Library::File& file : scenario.files) {
    if (file.kind != Library::Kind::kLayerTimes) continue;
    const auto times = read_layer_times(file.text, file.path);
    if (!times) continue;
    const std::int64_t batch = message.workload().has_batch() ? message.workload().batch() : times->batch;
    const double ratio = static_cast<double>(batch) / static_cast<double>(times->batch);
    if (ratio > kFarOff || ratio < 1 / kFarOff) {
      said.push_back(
          fmt::format("extrapolated: layer times were measured at batch {} and are scaled to {}; what does not grow "
                      "with the batch is "
                      "not known",
                      times->batch, batch));
    }
    // "… on NVIDIA V100, fp32, …": the device's name is behind "on".
    const std::size_t on = times->title.find(" on ");
    if (on == std::string::npos) continue;
    const std::string hardware = times->title.substr(on + 4, times->title.find(',', on) - on - 4);
    const nccl::KnownGpu* measured = nccl::find_gpu(hardware);
    const bool on_gpus = !scenario.cluster->groups().front().machine->gpus().empty();
    for (const WorkerGroup& group : scenario.cluster->groups()) {
      // Servers of variables compute no layers.
      if (group.machine->gpus().empty() && on_gpus) continue;
      const nccl::KnownGpu* here = nccl::gpu_of(*group.machine);
      if (!measured || here != measured)
        said.push_back(fmt::format("extrapolated: layer times were measured on {}, and the cluster is of {}", hardware,
                                   group.machine->name()));
    }
  }
}

}  // namespace

std::vector<std::string> extrapolations(const Scenario& scenario) {
  std::vector<std::string> said;
  const auto message = scenario_message(scenario.text, scenario.file);
  if (!message) return said;
  add_layer_times(scenario, **message, said);
  return said;
}

}  // namespace tutti::core
