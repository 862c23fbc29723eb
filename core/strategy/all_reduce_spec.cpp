#include "core/strategy/all_reduce_spec.h"

#include <algorithm>
#include <array>
#include <numeric>

#include <fmt/format.h>

#include "core/base/check.h"
#include "core/base/error.h"
#include "core/strategy/strategy.h"

namespace tutti::core {
namespace {

struct Name {
  std::string_view name;
  Algorithm algorithm;
};
constexpr std::array<Name, 8> kSpecNames{{{"nccl", Algorithm::kNccl},
                                          {"nccl/xring", Algorithm::kNcclXring},
                                          {"nccl/rechd", Algorithm::kNcclHalvingDoubling},
                                          {"nccl/pscpu", Algorithm::kNcclPscpu},
                                          {"xring", Algorithm::kXring},
                                          {"pscpu", Algorithm::kPscpu},
                                          {"psgpu", Algorithm::kPsgpu},
                                          {"pscpu/pscpu", Algorithm::kPscpuPscpu}}};

std::string listed(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

std::string unknown_name(const std::string& name) {
  if (name.empty()) return "algorithm is missing; say one of " + listed(spec_algorithm_names());
  if (name == "rechd") {
    return "TensorFlow has rechd across workers only; take nccl/rechd here, or strategy { algorithm: \"rechd\" } for "
           "all gradients";
  }
  const std::string hint = did_you_mean(name, spec_algorithm_names());
  return fmt::format("TensorFlow's all_reduce_spec knows no \"{}\"{}", name,
                     hint.empty() ? "; there are " + listed(spec_algorithm_names()) : hint);
}

/// TensorFlow hands shards to something that looks at them.
bool heeds_shards(Algorithm algorithm, SpecApi api) {
  if (algorithm == Algorithm::kPscpuPscpu) return api == SpecApi::kMultiWorkerAllReduce;
  return algorithm == Algorithm::kXring || algorithm == Algorithm::kPscpu || algorithm == Algorithm::kPsgpu;
}

}  // namespace

AllReduceSpec AllReduceSpec::usual() {
  AllReduceSpec spec;
  spec.entries.push_back({"pscpu/pscpu", Algorithm::kPscpuPscpu, 2, -1});
  return spec;
}

std::optional<Algorithm> parse_spec_algorithm(std::string_view name) {
  for (const Name& known : kSpecNames) {
    if (known.name == name) return known.algorithm;
  }
  return std::nullopt;
}

std::vector<std::string> spec_algorithm_names() {
  std::vector<std::string> names;
  for (const Name& name : kSpecNames) names.emplace_back(name.name);
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
    const std::int64_t size = spec.limit_unit == LimitUnit::kBytes ? gradient.bytes.count() : gradient.elements;
    const auto taker = std::find_if(spec.entries.begin(), spec.entries.end(),
                                    [&](const SpecEntry& e) { return e.limit < 0 || size <= e.limit; });
    entries.push_back(taker == spec.entries.end() ? -1 : static_cast<int>(taker - spec.entries.begin()));
  }
  return entries;
}

std::vector<int> result_order(std::span<const int> entry_of_gradient) {
  std::vector<int> order(entry_of_gradient.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
    return entry_of_gradient[static_cast<std::size_t>(a)] < entry_of_gradient[static_cast<std::size_t>(b)];
  });
  return order;
}

std::vector<SpecProblem> problems_of(const AllReduceSpec& spec) {
  std::vector<SpecProblem> problems;
  const std::vector<SpecEntry>& entries = spec.entries;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (entries[i].shards < 1)
      problems.push_back({i, "shards", fmt::format("shards must be 1 or more (got {})", entries[i].shards)});
  }
  if (spec.validation == SpecValidation::kLiteral) return problems;
  if (entries.empty())
    problems.push_back({0, "", "names no algorithm, so that no gradient would be reduced; give it an entry"});
  std::int64_t before = 0;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const SpecEntry& entry = entries[i];
    const bool last = i + 1 == entries.size();
    if (!entry.algorithm) problems.push_back({i, "algorithm", unknown_name(entry.name)});
    if (last && entry.limit >= 0) {
      problems.push_back({i, "limit",
                          fmt::format("the last entry, {}, takes gradients up to {} only, and nobody those that are "
                                      "larger; leave its limit out, or say -1",
                                      entry.name, entry.limit)});
    } else if (!last && entry.limit < 0) {
      problems.push_back(
          {i, "limit",
           fmt::format("{} has no limit, so that nothing is left for the entries behind it; give it one, "
                       "or put it last",
                       entry.name)});
    } else if (!last && entry.limit <= before) {
      problems.push_back(
          {i, "limit",
           before == 0 ? fmt::format("limit must be above 0 (got {}), or {} takes nothing", entry.limit, entry.name)
                       : fmt::format("limit {} is not above that of the entry before, {}, so that {} takes nothing; "
                                     "limits must increase",
                                     entry.limit, before, entry.name)});
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
  // The ops are ordinary ones, which no ScopedAllocator merges.
  one.merging = Merging::kConcat;
  one.waits_for_workers = true;
  if (!one.launch_asked) one.launch = usual.launch;
  if (!one.staging_asked) one.staging = usual.staging;
  if (!starts_with_nccl(*entry.algorithm)) one.channels.reset();
  return one;
}

std::vector<SpecProblem> problems_on(const Strategy& strategy, std::size_t number, const Cluster& cluster) {
  const SpecEntry& entry = strategy.spec->entries[number];
  if (!entry.algorithm) return {{number, "algorithm", unknown_name(entry.name)}};
  std::vector<SpecProblem> problems;
  for (StrategyProblem& problem : problems_of(for_entry(strategy, number), cluster)) {
    const bool of_entry = problem.field == "algorithm" || problem.field == "shards";
    problems.push_back({number, of_entry ? problem.field : "", std::move(problem.text)});
  }
  if (entry.algorithm == Algorithm::kNcclXring && entry.shards > 1 && cluster.workers() > 1) {
    problems.push_back(
        {number, "shards",
         fmt::format("nccl/xring has one ring across workers, of one GPU each, and {} shards would be {} rings; "
                     "leave shards out",
                     entry.shards, entry.shards)});
  }
  if (entry.algorithm == Algorithm::kNcclPscpu && entry.shards > cluster.workers()) {
    problems.push_back(
        {number, "shards",
         fmt::format("{} shards are more than the {} workers whose CPUs could sum them; leave shards out: "
                     "nccl/pscpu always sums on all of them",
                     entry.shards, cluster.workers())});
  }
  return problems;
}

}  // namespace tutti::core
