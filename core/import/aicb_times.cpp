#include "core/import/aicb_times.h"

#include <array>
#include <cmath>
#include <vector>

#include "core/formats/aicb.h"

namespace tutti::core {
namespace {

MeasuredKind kind_of_aicb_row(AicbOperation::Collective collective) {
  switch (collective) {
    case AicbOperation::Collective::kAllReduce: break;
    case AicbOperation::Collective::kAllGather: return MeasuredKind::kAllGather;
    case AicbOperation::Collective::kReduceScatter: return MeasuredKind::kReduceScatter;
    case AicbOperation::Collective::kAllToAll: return MeasuredKind::kAllToAll;
    case AicbOperation::Collective::kBroadcast: return MeasuredKind::kBroadcast;
    case AicbOperation::Collective::kReduce: return MeasuredKind::kReduce;
  }
  return MeasuredKind::kAllReduce;
}

}  // namespace

Expected<void> import_aicb_times(ByteInput& input, const std::string& name, MeasuredRun& run) {
  std::vector<std::pair<AicbOperation::Group, MeasuredCollective>> found;
  std::array<std::int64_t, 8> size{};  // of each kind of group, which only some rows state
  std::int64_t iterations = 0;
  const auto begin = [&](const AicbBlock&) -> Expected<void> {
    iterations = 0;
    return {};
  };
  const auto take = [&](const AicbOperation& one) -> Expected<void> {
    if (one.kind == AicbOperation::Kind::kIterationEnd) ++iterations;
    if (one.kind != AicbOperation::Kind::kCollective) return {};
    if (one.group_size > 0) size[static_cast<std::size_t>(one.group)] = one.group_size;
    constexpr double kMostMilliseconds = 1e9;
    const bool is_timed =
        one.elapsed && *one.elapsed > 0 && *one.elapsed < kMostMilliseconds && one.bytes > 0;
    if (!is_timed || iterations == 0) return {};
    MeasuredCollective c;
    c.kind = kind_of_aicb_row(one.collective);
    c.bytes = one.bytes;
    c.duration_ns = std::llround(*one.elapsed * 1e6);
    c.type = element_type_of("bfloat16");
    found.emplace_back(one.group, std::move(c));
    return {};
  };
  if (auto read = read_aicb(input, name, begin, take); !read) return read;
  run.format = "AICB";
  run.files.push_back(name);
  if (found.empty()) return {};
  MeasuredRank& rank = run.ranks.emplace_back();
  rank.rank = 0;
  for (auto& [group, c] : found) {
    const std::int64_t ranks = size[static_cast<std::size_t>(group)];
    if (ranks < 2) continue;
    c.group = group_index(run, {std::string(to_string(group)), "", ranks, {}});
    rank.collectives.push_back(std::move(c));
  }
  return {};
}

}  // namespace tutti::core
