#include "sim/run/messages.h"

#include <algorithm>

#include "sim/run/message_schedule.h"

namespace tutti::sim {

std::shared_ptr<const core::Collective> Messages::collective(std::int64_t from, std::int64_t to,
                                                             std::int64_t bytes) {
  const core::Cluster& cluster = *scenario_.cluster;
  constexpr core::DataType kSmallest = core::DataType::kFloat16;
  const std::int64_t item = core::size_of(kSmallest).count();
  const std::int64_t elements = std::max<std::int64_t>(1, (bytes + item - 1) / item);
  std::shared_ptr<const core::Schedule>& schedule = schedules_[elements];
  if (!schedule) {
    const bool on_gpus = cluster.part(cluster.replica(0)).kind == core::PartKind::kGpu;
    schedule = std::make_shared<const MessageSchedule>(
        elements, on_gpus ? core::Engine::kCopyEngine : core::Engine::kCpu);
  }
  core::Collective made{
      core::Group::of_devices(cluster, {cluster.replica(from), cluster.replica(to)}),
      schedule,
      kSmallest,
      elements,
      scenario_.strategy.staging,
      2,
      core::CollectiveKind::kBroadcast};
  return std::make_shared<const core::Collective>(std::move(made));
}

std::vector<Messages::Pair> Messages::pairs() const {
  std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t> largest;
  if (!scenario_.plan.graph) return {};
  const auto& ranks = scenario_.plan.graph->ranks;
  for (std::size_t r = 0; r < ranks.size(); ++r) {
    for (const core::ExecutionGraph::Message& message : ranks[r].messages) {
      if (!message.sends) continue;
      std::int64_t& bytes = largest[{static_cast<std::int64_t>(r), message.peer}];
      bytes = std::max(bytes, message.bytes);
    }
  }
  std::vector<Pair> pairs;
  for (const auto& [ends, bytes] : largest) pairs.push_back({ends.first, ends.second, bytes});
  return pairs;
}

}  // namespace tutti::sim
