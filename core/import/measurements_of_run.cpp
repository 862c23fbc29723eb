#include "core/import/measurements_of_run.h"

#include <algorithm>
#include <array>
#include <map>
#include <tuple>
#include <vector>

#include <fmt/format.h>

#include "core/base/median.h"

namespace tutti::core {
namespace {

/// Returns the name of a type in nccl-tests. For a type that nccl-tests does not have, returns
/// "int8", because only the number of bytes matters.
std::string nccl_tests_type(const ElementType& type) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 9> kNames{
      {{"float32", "float"},
       {"float16", "half"},
       {"bfloat16", "bfloat16"},
       {"float64", "double"},
       {"int32", "int32"},
       {"int64", "int64"},
       {"uint8", "uint8"},
       {"uint32", "uint32"},
       {"uint64", "uint64"}}};
  for (const auto& [name, written] : kNames) {
    if (type.name == name) return std::string(written);
  }
  return "int8";
}

/// SOURCE: NVIDIA/nccl-tests doc/PERFORMANCE.md.
double busbw_share(MeasuredKind kind, std::int64_t ranks) {
  const auto n = static_cast<double>(ranks);
  switch (kind) {
    case MeasuredKind::kAllReduce: return 2 * (n - 1) / n;
    case MeasuredKind::kAllGather:
    case MeasuredKind::kReduceScatter:
    case MeasuredKind::kAllToAll: return (n - 1) / n;
    default: return 1;
  }
}

struct MeasuredRow {
  std::vector<std::int64_t> ns;
};

}  // namespace

Expected<std::string> measurements_of_run(const MeasuredRun& run) {
  // Identifies a collective on all ranks: its group, kind, training step (or -1) and size, and the
  // number of earlier collectives of the rank for which these four are the same.
  using Which = std::tuple<std::int32_t, MeasuredKind, std::int64_t, std::int64_t, std::int64_t>;
  std::map<Which, std::pair<std::int64_t, ElementType>> least;
  for (const MeasuredRank& rank : run.ranks) {
    std::map<std::tuple<std::int32_t, MeasuredKind, std::int64_t, std::int64_t>, std::int64_t>
        before;
    for (const MeasuredCollective& c : rank.collectives) {
      const bool is_timed = c.bytes > 0 && c.duration_ns > 0;
      const bool is_measured = c.kind <= MeasuredKind::kAllToAll;
      if (!is_timed || !is_measured) continue;
      const std::int64_t step = c.step < 0 ? -1 : rank.steps[c.step].number;
      const std::int64_t index =
          c.sequence >= 0 ? c.sequence : before[{c.group, c.kind, step, c.bytes}]++;
      const auto [known, added] = least.try_emplace(
          {c.group, c.kind, c.sequence >= 0 ? -1 : step, c.bytes, index}, c.duration_ns, c.type);
      if (!added) known->second.first = std::min(known->second.first, c.duration_ns);
    }
  }
  using Table = std::pair<MeasuredKind, std::int64_t>;
  std::map<Table,
           std::map<std::pair<std::int64_t, std::string>, std::pair<MeasuredRow, ElementType>>>
      tables;
  for (const auto& [which, measured] : least) {
    const auto& [group, kind, step, bytes, index] = which;
    std::int64_t ranks = group >= 0 ? run.groups[group].size : run.world_size;
    if (ranks < 2 || ranks > 1 << 20) continue;
    ElementType type = measured.second;
    if (type.bytes <= 0 || bytes % type.bytes != 0)
      type = bytes % 4 == 0 ? ElementType{"float32", 4} : ElementType{"int8", 1};
    auto& row = tables[{kind, ranks}][{bytes, nccl_tests_type(type)}];
    row.first.ns.push_back(measured.first);
    row.second = type;
  }
  if (tables.empty())
    return tl::make_unexpected(Error::request(
        {ProblemCode::kMissing},
        "no collective in these files has a size, a duration and a number of ranks"));
  std::string text = fmt::format(
      "# Written by tutti import from {}: median durations of collectives.\n", run.format);
  for (auto& [table, rows] : tables) {
    const auto [kind, ranks] = table;
    text += "# nThread 1 nGpus 1\n# Using devices\n";
    for (std::int64_t r = 0; r < ranks; ++r)
      text += fmt::format("#  Rank {:2} Group 0 Pid 0 on host device {}\n", r, r);
    text += fmt::format("# Collective test starting: {}_perf\n", to_string(kind));
    text += "#                                                  out-of-place\n";
    text +=
        "#       size         count      type   redop    root     time   algbw   busbw  #wrong\n";
    const bool reduces = kind == MeasuredKind::kAllReduce || kind == MeasuredKind::kReduceScatter ||
                         kind == MeasuredKind::kReduce;
    const bool parts = kind == MeasuredKind::kAllGather || kind == MeasuredKind::kReduceScatter ||
                       kind == MeasuredKind::kAllToAll;
    for (auto& [key, row] : rows) {
      const double us = static_cast<double>(upper_median(row.first.ns)) / 1e3;
      const double algbw = static_cast<double>(key.first) / us / 1e3;
      const std::int64_t elements = key.first / row.second.bytes / (parts ? ranks : 1);
      text +=
          fmt::format("# {} times\n{:12} {:13} {:>9} {:>7} {:>7} {:8.3f} {:7.4f} {:7.4f}     N/A\n",
                      row.first.ns.size(), key.first, elements, key.second,
                      reduces ? "sum" : "none", -1, us, algbw, algbw * busbw_share(kind, ranks));
    }
  }
  return text;
}

}  // namespace tutti::core
