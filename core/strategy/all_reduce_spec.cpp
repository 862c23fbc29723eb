// A spec is a list of entries. A gradient belongs to the first entry whose limit is at least the
// gradient's size. The table kSpecAlgorithms lists the eight algorithms of TensorFlow, and the
// effect that the number of shards has on each. TensorFlow often ignores the number of shards.
// for_entry() makes an ordinary strategy from an entry, without the settings that would have no
// effect. The problems of an entry on a cluster are therefore mostly those of its algorithm.
// Problems of the text itself are found earlier, without the cluster.
// core/framework/tensorflow/spec_text.cpp parses specs, and core/lowering/spec_plan.cpp plans them.

#include "core/strategy/all_reduce_spec.h"

#include <algorithm>
#include <array>
#include <numeric>

#include <fmt/format.h>

#include "core/base/check.h"
#include "core/base/error.h"
#include "core/strategy/algorithm_table.h"

namespace tutti::core {
namespace {

using SpecShards = SpecAlgorithm::Shards;

constexpr std::array<SpecAlgorithm, 8> kSpecAlgorithms{
    {{.name = "nccl",
      .algorithm = BaseAlgorithm::kNccl,
      .shards = SpecShards::kIgnored,
      .in_one_process = true},
     {.name = "nccl/xring",
      .algorithm = {BaseAlgorithm::kNccl, BaseAlgorithm::kXring},
      .shards = SpecShards::kOneRing},
     {.name = "nccl/rechd",
      .algorithm = {BaseAlgorithm::kNccl, BaseAlgorithm::kHalvingDoubling},
      .shards = SpecShards::kIgnored,
      .halves_evenly = true},
     {.name = "nccl/pscpu",
      .algorithm = {BaseAlgorithm::kNccl, BaseAlgorithm::kPscpu},
      .shards = SpecShards::kAllHosts},
     {.name = "xring", .algorithm = BaseAlgorithm::kXring},
     {.name = "pscpu", .algorithm = BaseAlgorithm::kPscpu},
     {.name = "psgpu", .algorithm = BaseAlgorithm::kPsgpu},
     {.name = "pscpu/pscpu",
      .algorithm = {BaseAlgorithm::kPscpu, BaseAlgorithm::kPscpu},
      .shards = SpecShards::kUsedByMultiWorkerAllReduce}}};

std::string listed(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

std::string unknown_name(const std::string& name) {
  if (name.empty())
    return "algorithm is missing; set it to one of " + listed(spec_algorithm_names());
  if (name == "rechd") {
    return "TensorFlow's all_reduce_spec supports rechd only across workers; use nccl/rechd here, "
           "or strategy { algorithm: \"rechd\" } for all gradients";
  }
  const std::string hint = did_you_mean(name, spec_algorithm_names());
  return fmt::format("TensorFlow's all_reduce_spec knows no \"{}\"{}", name,
                     hint.empty() ? "; there are " + listed(spec_algorithm_names()) : hint);
}

/// Returns the problem code for an unknown name.
ProblemCode code_of(const std::string& name) {
  if (name.empty()) return ProblemCode::kMissing;
  return name == "rechd" ? ProblemCode::kUnsupported : ProblemCode::kUnknownName;
}

/// True if the number of shards has an effect on this algorithm in TensorFlow.
bool heeds_shards(AlgorithmChoice algorithm, SpecApi api) {
  const SpecAlgorithm* known = find_spec_algorithm(algorithm);
  if (!known) return false;
  return known->shards == SpecShards::kUsed ||
         (known->shards == SpecShards::kUsedByMultiWorkerAllReduce &&
          api == SpecApi::kMultiWorkerAllReduce);
}

}  // namespace

AllReduceSpec AllReduceSpec::usual() {
  AllReduceSpec spec;
  spec.entries.push_back(
      {"pscpu/pscpu", AlgorithmChoice(BaseAlgorithm::kPscpu, BaseAlgorithm::kPscpu), 2, -1});
  return spec;
}

std::optional<AlgorithmChoice> parse_spec_algorithm(std::string_view name) {
  for (const SpecAlgorithm& known : kSpecAlgorithms) {
    if (known.name == name) return known.algorithm;
  }
  return std::nullopt;
}

const SpecAlgorithm* find_spec_algorithm(AlgorithmChoice algorithm) {
  const auto* const known =
      std::find_if(kSpecAlgorithms.begin(), kSpecAlgorithms.end(),
                   [&](const SpecAlgorithm& one) { return one.algorithm == algorithm; });
  return known == kSpecAlgorithms.end() ? nullptr : known;
}

std::vector<std::string> spec_algorithm_names() {
  std::vector<std::string> names;
  for (const SpecAlgorithm& one : kSpecAlgorithms) names.emplace_back(one.name);
  return names;
}

std::string to_text(const AllReduceSpec& spec) {
  std::string text;
  for (const SpecEntry& entry : spec.entries) {
    text += (text.empty() ? "" : ":") + entry.name;
    if (entry.shards != 1) text += fmt::format("#{}", entry.shards);
    if (entry.limit >= 0) text += fmt::format(":{}", entry.limit);
  }
  return text;
}

std::vector<int> entries_of(const AllReduceSpec& spec, std::span<const LimitedGradient> gradients) {
  std::vector<int> entries;
  for (const LimitedGradient& gradient : gradients) {
    const std::int64_t size =
        spec.limit_unit == LimitUnit::kBytes ? gradient.bytes.count() : gradient.elements;
    const auto taker =
        std::find_if(spec.entries.begin(), spec.entries.end(),
                     [&](const SpecEntry& e) { return e.limit < 0 || size <= e.limit; });
    entries.push_back(taker == spec.entries.end() ? -1
                                                  : static_cast<int>(taker - spec.entries.begin()));
  }
  return entries;
}

std::vector<int> result_order(std::span<const int> entry_of_gradient) {
  std::vector<int> order(entry_of_gradient.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](int a, int b) { return entry_of_gradient[a] < entry_of_gradient[b]; });
  return order;
}

std::vector<SpecProblem> problems_of(const AllReduceSpec& spec) {
  std::vector<SpecProblem> problems;
  const std::vector<SpecEntry>& entries = spec.entries;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (entries[i].shards < 1)
      problems.push_back({i, "shards",
                          fmt::format("shards must be 1 or more (got {})", entries[i].shards),
                          ProblemCode::kTooSmall});
  }
  if (spec.validation == SpecValidation::kLiteral) return problems;
  if (entries.empty())
    problems.push_back({0, "", "names no algorithm, so no gradient would be reduced; add an entry",
                        ProblemCode::kMissing});
  std::int64_t before = 0;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const SpecEntry& entry = entries[i];
    const bool last = i + 1 == entries.size();
    if (!entry.algorithm)
      problems.push_back({i, "algorithm", unknown_name(entry.name), code_of(entry.name)});
    if (last && entry.limit >= 0) {
      problems.push_back({i, "limit",
                          fmt::format("the last entry, {}, has a limit of {}, and no entry covers "
                                      "larger gradients; remove its limit, or set it to -1",
                                      entry.name, entry.limit),
                          ProblemCode::kConflict});
    } else if (!last && entry.limit < 0) {
      problems.push_back({i, "limit",
                          fmt::format("{} has no limit, so later entries get no gradient; set a "
                                      "limit, or move it to the end",
                                      entry.name),
                          ProblemCode::kMissing});
    } else if (!last && entry.limit <= before) {
      problems.push_back(
          {i, "limit",
           before == 0
               ? fmt::format("limit must be above 0 (got {}); otherwise {} gets no gradient",
                             entry.limit, entry.name)
               : fmt::format("limit {} is not above that of the previous entry, {}, so {} gets no "
                             "gradient; limits must increase",
                             entry.limit, before, entry.name),
           ProblemCode::kTooSmall});
    }
    before = std::max(before, entry.limit);
  }
  return problems;
}

Strategy for_entry(const Strategy& strategy, std::size_t number) {
  TUTTI_CHECK(strategy.spec && number < strategy.spec->entries.size(), "no entry {}", number);
  const SpecEntry& entry = strategy.spec->entries[number];
  TUTTI_CHECK(entry.algorithm.has_value(), "\"{}\" is unknown", entry.name);
  Strategy one = strategy;
  const Strategy usual = Strategy::for_algorithm(*entry.algorithm);
  one.spec.reset();
  one.algorithm = *entry.algorithm;
  one.shards = heeds_shards(*entry.algorithm, strategy.spec->api) ? entry.shards : 1;
  // The algorithms of specs are ordinary graph operations, which the ScopedAllocator does not
  // merge.
  one.merging = Merging::kConcat;
  one.waits_for_workers = true;
  if (!one.requested_launch) one.launch = usual.launch;
  if (!one.requested_staging) one.staging = usual.staging;
  if (!traits(*entry.algorithm).channels) one.channels.reset();
  return one;
}

std::vector<SpecProblem> problems_on(const Strategy& strategy, std::size_t number,
                                     const Cluster& cluster) {
  const SpecEntry& entry = strategy.spec->entries[number];
  if (!entry.algorithm)
    return {{number, "algorithm", unknown_name(entry.name), code_of(entry.name)}};
  std::vector<SpecProblem> problems;
  for (StrategyProblem& problem : problems_of(for_entry(strategy, number), cluster)) {
    const bool of_entry = problem.field == "algorithm" || problem.field == "shards";
    problems.push_back(
        {number, of_entry ? problem.field : "", std::move(problem.text), problem.code});
  }
  const SpecAlgorithm* const known = find_spec_algorithm(*entry.algorithm);
  const SpecShards shards = known ? known->shards : SpecShards::kUsed;
  if (shards == SpecShards::kOneRing && entry.shards > 1 && cluster.workers() > 1) {
    problems.push_back(
        {number, "shards",
         fmt::format("nccl/xring has a single ring across workers, which contains one GPU per "
                     "worker, but {} shards would need {} rings; remove shards",
                     entry.shards, entry.shards),
         ProblemCode::kUnsupported});
  }
  if (shards == SpecShards::kAllHosts && entry.shards > cluster.workers()) {
    problems.push_back(
        {number, "shards",
         fmt::format("{} shards exceed the number of workers whose CPUs can sum them ({}); remove "
                     "shards, because nccl/pscpu always sums on all workers",
                     entry.shards, cluster.workers()),
         ProblemCode::kConflict});
  }
  return problems;
}

}  // namespace tutti::core
