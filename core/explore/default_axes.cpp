#include "core/explore/default_axes.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/edit/scenario_text.h"
#include "core/explore/strategy_alternatives.h"
#include "core/framework/tried_sizes.h"
#include "core/lowering/framework.h"

namespace tutti::core {
namespace {

/// Returns merge scopes to try. A merge scope is a number of gradients whose all-reduces are
/// merged. The result contains the powers of two, and the number of all gradients.
std::vector<std::string> scopes(std::size_t gradients) {
  std::vector<std::string> values;
  for (std::size_t scope = 1; scope < 2 * gradients; scope *= 2)
    values.push_back(std::to_string(scope));
  return values;
}

Expected<Axis> one_field(const std::string& field, const std::vector<std::string>& values) {
  return parse_axis("tune", fmt::format("{}={}", field, fmt::join(values, ",")));
}

/// Returns an axis of algorithms. If the scenario has an algorithm from a file, its row comes
/// first. The other rows are the built-in algorithms that the cluster supports, with each possible
/// number of shards among 1, 2, 4 and 8. All of them execute the scenario's collective.
Expected<Axis> algorithms_of(const Scenario& scenario, const ScenarioText& text) {
  Axis axis;
  const auto add_field = [&](const std::string& name) {
    const auto parsed = parse_override("tune", name + "=");
    axis.fields.push_back(name);
    axis.paths.push_back(parsed->path);
    return parsed->path;
  };
  for (const char* name : {"strategy.algorithm", "strategy.shards"}) add_field(name);
  const Strategy& now = scenario.strategy;
  std::vector<std::string> of_file{"", ""};  // the values of the row with the file
  std::vector<std::string> of_built_in{"", ""};
  if (now.custom) {
    add_field("strategy.custom");
    of_file.emplace_back("{}");  // keeps the fields of the message
    of_built_in.emplace_back("");
    // Without the file, the scenario would use the default collective, which may be another one.
    for (const auto& [name, value] :
         {std::pair("strategy.collective", collective_setting(now.collective)),
          std::pair("strategy.out_of_place", std::string(now.out_of_place ? "true" : "false"))}) {
      if (text.find(add_field(name)) != nullptr) {
        axis.fields.pop_back();
        axis.paths.pop_back();
        continue;
      }
      of_file.emplace_back("");
      of_built_in.push_back(value);
    }
  }
  // Settings that conflict with other algorithms, or with bytes_per_pack.
  for (const char* name :
       {"strategy.channels", "strategy.num_packs", "strategy.agg_small_grads_max_bytes",
        "strategy.agg_small_grads_max_group", "strategy.agg_small_grads_exact_group"}) {
    const auto parsed = parse_override("tune", std::string(name) + "=");
    if (text.find(parsed->path) == nullptr) continue;
    add_field(name);
    of_file.emplace_back("");
    of_built_in.emplace_back("");
  }
  if (now.custom) axis.rows.push_back(of_file);
  for (const AlgorithmChoice algorithm : algorithms()) {
    // On one worker, a combination has only its stage inside workers, so it is the same collective
    // as its first algorithm.
    if (algorithm.inside && scenario.cluster->workers() == 1) continue;
    for (const int shards : {1, 2, 4, 8}) {
      Strategy one = Strategy::for_algorithm(algorithm);
      one.shards = shards;
      one.reduction = now.reduction;
      one.collective = now.collective;
      one.out_of_place = now.out_of_place;
      one.root = now.root;
      if (!problems_of(one, *scenario.cluster).empty()) continue;
      std::vector<std::string>& row = axis.rows.emplace_back(of_built_in);
      row[0] = to_string(algorithm);
      if (shards > 1) row[1] = std::to_string(shards);
    }
  }
  return axis;
}

}  // namespace

Expected<std::vector<Axis>> default_axes(const Scenario& scenario) {
  const Strategy& s = scenario.strategy;
  std::vector<Axis> axes;
  Problems problems;
  const auto add = [&](Expected<Axis> axis) {
    if (axis) return axes.push_back(std::move(*axis));
    problems.add(axis.error());
  };
  const auto tried = s.framework ? s.framework->tried_values(scenario.workload) : std::nullopt;
  if (tried && tried->empty())
    return tl::make_unexpected(
        Error::request({ProblemCode::kMissing, "--over"},
                       "there are no default settings to vary for this strategy; name fields with "
                       "--over, such as --over strategy.staging=DIRECT,VIA_HOST",
                       {scenario.file, 0, 0}));
  if (tried) {
    for (const TriedValues& one : *tried) add(one_field(one.field, one.values));
  } else {
    if (scenario.plan.graph || scenario.workload.gradients.size() == 1) {
      // A trace determines the collectives, and a single gradient cannot be packed in several ways,
      // so only the algorithms can be chosen.
    } else if (s.requested_merge_scope) {
      add(one_field("strategy.all_reduce_merge_scope", scopes(scenario.workload.gradients.size())));
    } else {
      add(one_field("strategy.bytes_per_pack", tried_bytes(scenario.workload)));
    }
    add(algorithms_of(scenario, ScenarioText(scenario.text, Schema::scenario())));
  }
  if (!problems.empty()) return problems.take();
  return axes;
}

}  // namespace tutti::core
