#include "core/import/late_ranks.h"

#include <algorithm>

namespace tutti::core {
namespace {

constexpr double kMinWaitShare = 0.01;

/// Returns the end of the computation of each pack's last gradient, since the start of a step, on a
/// rank that does not wait for any pack.
std::vector<std::int64_t> ready_times(const StepModel& model) {
  std::vector<std::int64_t> end_of_layer;
  std::int64_t at = model.forward_gap_ns + model.forward_ns;
  for (const StepModel::Layer& layer : model.layers)
    end_of_layer.push_back(at += layer.gap_ns + layer.backward_ns);
  std::vector<std::int64_t> ready;
  for (const StepModel::Pack& pack : model.packs) {
    std::int64_t last = 0;
    for (const std::int32_t g : pack.gradients) {
      const auto layer = static_cast<std::size_t>(model.gradients[g].layer);
      if (layer < end_of_layer.size()) last = std::max(last, end_of_layer[layer]);
    }
    ready.push_back(last);
  }
  return ready;
}

}  // namespace

std::vector<LateLayer> late_layers(const MeasuredRun& run, const StepModel& model,
                                   const Summary& predicted) {
  const auto& infos = predicted.info().packs;
  if (run.ranks.size() != 1 || run.world_size < 2 || infos.size() != model.packs.size()) return {};
  const std::vector<std::int64_t> ready = ready_times(model);
  const std::vector<PackRecord> records = predicted.last_packs();
  std::vector<LateLayer> late;
  std::int64_t behind = 0;  // the sum of the late rank's gaps so far
  std::int64_t before = 0;  // the end of the previous pack
  for (std::size_t p = 0; p < model.packs.size(); ++p) {
    const StepModel::Pack& pack = model.packs[p];
    const auto record = std::find_if(records.begin(), records.end(), [&](const PackRecord& r) {
      return r.pack == static_cast<std::int32_t>(p);
    });
    if (record == records.end() || pack.duration_ns < 0 || pack.gradients.empty()) return {};
    const std::int64_t transfer = (record->end - record->last_start).count() / 1000;
    const double high = infos[p].band_high > 0 ? infos[p].band_high : 1.2;
    const std::int64_t start = std::max(ready[p], before);
    before = start + pack.duration_ns;
    const std::int64_t wait = pack.duration_ns - transfer;
    const bool is_late =
        static_cast<double>(pack.duration_ns) > high * static_cast<double>(transfer) &&
        static_cast<double>(wait) >= kMinWaitShare * static_cast<double>(model.step_ns);
    const std::int64_t gap = before - transfer - ready[p] - behind;
    if (!is_late || gap <= 0) continue;
    behind += gap;
    late.push_back(
        {static_cast<std::int32_t>(p), model.gradients[pack.gradients.back()].name, gap, wait});
  }
  return late;
}

}  // namespace tutti::core
