#include "core/nccl/tuner/aws_tuner.h"

#include <algorithm>
#include <bit>
#include <utility>

#include <fmt/format.h>

#include "core/base/check.h"

namespace tutti::core::nccl {
namespace {

constexpr std::pair<std::string_view, Ec2> kInstances[] = {{"p5.48xlarge", Ec2::kP5},
                                                           {"p5e.48xlarge", Ec2::kP5},
                                                           {"p5en.48xlarge", Ec2::kP5en},
                                                           {"p6-b200.48xlarge", Ec2::kP6B200},
                                                           {"p6-b300.48xlarge", Ec2::kP6B300}};
constexpr std::int64_t kMiB = 1 << 20;

std::vector<Region> regions_of(Ec2 kind, Function function, int gpus) {
  switch (kind) {
    case Ec2::kP5: return p5_regions(function, gpus);
    case Ec2::kP5en: return p5en_regions(function, gpus);
    case Ec2::kP6B200: return p6_b200_regions(function, gpus);
    case Ec2::kP6B300: return p6_b300_regions(function, gpus);
  }
  return {};
}

/// Returns the size in bytes, on the wire, of the chunk that NCCL would choose for a Tree with
/// LL128 on `channels` channels. The formula is that of the tuner, which assumes eight GPUs per
/// node, and 1 + log2(nodes) + 0.8 steps. SOURCE: nccl_ofi_regions.cpp,
/// calculateChunkSizeTreeLL128.
std::int64_t tree_chunk(std::int64_t bytes, int channels, int nodes) {
  constexpr int kGpus = 8;
  constexpr std::int64_t kGrain = 1920;      // bytes of data that a warp moves at a time
  constexpr std::int64_t kGrainWire = 2048;  // the same bytes with their flags
  std::int64_t chunk = 120 * 640 * 8 / 16 * 15;
  const int depth = std::bit_width(static_cast<unsigned>(nodes)) - 1;  // log2
  const double steps = 1 + depth + 0.1 * kGpus;
  const auto too_few = [&](int per_step) {
    return static_cast<double>(bytes / (channels * chunk)) < steps * per_step / kGpus;
  };
  while (too_few(64) && chunk > 131072) chunk /= 2;
  while (too_few(16) && chunk > 32768) chunk /= 2;
  return chunk / kGrain * kGrainWire;
}

/// Returns the number of channels that gives the largest chunks. If several numbers of channels
/// give the largest chunks, returns the largest of them. SOURCE: calculateBestNChannelTree.
int tree_channels(std::int64_t bytes, int nodes) {
  int best = 0;
  std::int64_t largest = 0;
  for (const int channels : {16, 24, 32}) {
    const std::int64_t chunk = tree_chunk(bytes, channels, nodes);
    if (chunk >= largest) best = channels;
    largest = std::max(largest, chunk);
  }
  return best;
}

/// Returns the number of channels that the tuner chooses; nullopt if it leaves the number to NCCL.
/// Only the tuner for P6-B200 chooses the number of channels. SOURCE:
/// region_get_coll_info_internal_v3.
std::optional<int> channels_of(Algorithm algorithm, Protocol protocol, std::int64_t bytes,
                               int nodes, int gpus_per_node) {
  if (algorithm == Algorithm::kTree && protocol == Protocol::kLl128 && gpus_per_node == 8 &&
      bytes >= 4 * kMiB && bytes <= 32 * kMiB)
    return tree_channels(bytes, nodes);
  if (algorithm == Algorithm::kPat && gpus_per_node == 1 && bytes <= 32 * kMiB) {
    if (bytes <= std::int64_t{nodes} * 65536) return 1;
    if (bytes <= std::int64_t{nodes} * 65536 * 2) return 2;
  }
  return std::nullopt;
}

}  // namespace

const Candidate* possible(const std::vector<Candidate>& all, Algorithm algorithm,
                          Protocol protocol) {
  const auto found = std::find_if(all.begin(), all.end(), [&](const Candidate& one) {
    return one.algorithm == algorithm && one.protocol == protocol && !one.off;
  });
  return found == all.end() ? nullptr : &*found;
}

std::optional<Ec2> parse_ec2(std::string_view instance) {
  for (const auto& [name, kind] : kInstances) {
    if (name == instance) return kind;
  }
  return std::nullopt;
}

std::string ec2_names() {
  std::string text;
  for (const auto& known : kInstances)
    text += (text.empty() ? "" : ", ") + std::string(known.first);
  return text;
}

std::optional<std::string> ec2_of(GpuModel gpus) {
  if (gpus == GpuModel::kH100) return "p5.48xlarge";
  if (gpus == GpuModel::kB200) return "p6-b200.48xlarge";
  return std::nullopt;
}

GpuModel gpu_model_of(const Machine& machine) {
  if (machine.gpus().empty()) return GpuModel::kNone;
  return machine.parts()[machine.gpus().front()].gpu_model;
}

bool aws_tuner_decides(GpuModel gpus, const Communicator& communicator) {
  const auto instance = ec2_of(gpus);
  return instance && AwsTuner(*instance).why_not(communicator).empty();
}

AwsTuner::AwsTuner(const std::string& instance) : instance_(instance) {
  const auto kind = parse_ec2(instance);
  TUTTI_CHECK(kind.has_value(), "an instance with tables, not {}", instance);
  kind_ = *kind;
  for (std::size_t i = 0; i < lists_.size(); ++i) {
    lists_[i].gpus_per_node = std::array{8, 2, 1}[i];
    for (std::size_t f = 0; f < kFunctions; ++f)
      lists_[i].of[f] = regions_of(kind_, static_cast<Function>(f), lists_[i].gpus_per_node);
  }
}

std::string AwsTuner::name() const {
  return fmt::format("the tuner of aws-ofi-nccl 1.21 for {}", instance_);
}

std::string AwsTuner::why_not(const Communicator& comm) const {
  if (comm.version < Version{2, 21, 0})
    return fmt::format("NCCL {} cannot load this tuner plugin, which needs NCCL 2.21 or later",
                       to_string(comm.version));
  if (comm.nodes <= 2) return "this tuner leaves communicators of one or two nodes to NCCL";
  if (!lists_of(comm)) return "this tuner has tables only for 1, 2 and 8 GPUs per node";
  return "";
}

const AwsTuner::Lists* AwsTuner::lists_of(const Communicator& comm) const {
  for (const Lists& lists : lists_) {
    if (comm.ranks == lists.gpus_per_node * comm.nodes) return &lists;
  }
  return nullptr;
}

Tuner::Pick AwsTuner::pick(const Communicator& comm, const Operation& operation,
                           const std::vector<Candidate>& all, bool /*registered*/) const {
  if (!why_not(comm).empty()) return {};
  const Lists& lists = *lists_of(comm);
  for (const Region& region : lists.of[static_cast<std::size_t>(operation.function)]) {
    // NCCL 2.21 has no PAT, so the tuner's PAT candidates are disabled.
    if (!possible(all, region.algorithm, region.protocol)) continue;
    if (!holds(region, operation.bytes, comm.ranks)) continue;
    Pick pick{std::pair(region.algorithm, region.protocol), std::nullopt};
    if (kind_ == Ec2::kP6B200 && comm.version >= Version{2, 22, 0})
      pick.channels = channels_of(region.algorithm, region.protocol, operation.bytes, comm.nodes,
                                  lists.gpus_per_node);
    return pick;
  }
  return {};
}

std::vector<std::int64_t> AwsTuner::boundaries(const Communicator& comm, Function function) const {
  const Lists* const lists = why_not(comm).empty() ? lists_of(comm) : nullptr;
  if (!lists) return {};
  const std::int64_t pat = std::int64_t{comm.nodes} * 65536;
  std::vector<std::int64_t> sizes{4 * kMiB - 1, 4 * kMiB, 32 * kMiB, 32 * kMiB + 1,
                                  pat,          pat + 1,  2 * pat,   2 * pat + 1};
  for (const Region& region : lists->of[static_cast<std::size_t>(function)]) {
    for (const double bytes : borders(region, comm.ranks)) {
      const auto size = static_cast<std::int64_t>(bytes);
      for (const std::int64_t near : {size - 1, size, size + 1})
        if (near >= 0) sizes.push_back(near);
    }
  }
  return sizes;
}

}  // namespace tutti::core::nccl
