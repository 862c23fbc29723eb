#include "core/framework/tensorflow/variable_partitioner.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

namespace tutti::core {
namespace {

constexpr std::int64_t kMaxParts = 1 << 16;

template <class... Rules>
struct VisitedRule : Rules... {
  using Rules::operator()...;
};
template <class... Rules>
VisitedRule(Rules...) -> VisitedRule<Rules...>;

[[nodiscard]] bool is_whole(const Variable& variable) {
  return variable.shape.empty() || variable.elements == 0;
}

/// Returns the length of part number `part`. If `parts` does not divide the length, the first parts
/// are longer by one.
std::int64_t share_of(std::int64_t whole, std::int64_t parts, std::int64_t part) {
  return whole / parts + (part < whole % parts ? 1 : 0);
}

/// Rounds up like Python: with floating-point numbers.
std::int64_t rounded_up(double quotient) {
  constexpr double kMax = 9e15;
  return static_cast<std::int64_t>(std::ceil(std::min(quotient, kMax)));
}

}  // namespace

std::string describe(const VariablePartitioner& partitioner) {
  const std::string axis = partitioner.axis == 0 ? "" : fmt::format(", axis={}", partitioner.axis);
  const VisitedRule visitor{
      [&](const FixedSize& rule) {
        return fmt::format("fixed_size_partitioner(num_shards={}{})", rule.num_shards, axis);
      },
      [&](const MinMaxVariable& rule) {
        return fmt::format("min_max_variable_partitioner(max_partitions={}, min_slice_size={}{})",
                           rule.max_partitions, rule.min_slice_bytes, axis);
      },
      [&](const VariableAxisSize& rule) {
        return fmt::format("variable_axis_size_partitioner(max_shard_bytes={}{}{})",
                           rule.max_shard_bytes, axis,
                           rule.max_shards ? fmt::format(", max_shards={}", *rule.max_shards) : "");
      }};
  return std::visit(visitor, partitioner.rule);
}

std::string describe_for_tensorflow_2(const VariablePartitioner& partitioner) {
  const VisitedRule visitor{
      [](const FixedSize& rule) {
        return fmt::format("FixedShardsPartitioner(num_shards={})", rule.num_shards);
      },
      [](const MinMaxVariable& rule) {
        return fmt::format("MinSizePartitioner(min_shard_bytes={}, max_shards={})",
                           rule.min_slice_bytes, rule.max_partitions);
      },
      [](const VariableAxisSize& rule) {
        return fmt::format("MaxSizePartitioner(max_shard_bytes={}{})", rule.max_shard_bytes,
                           rule.max_shards ? fmt::format(", max_shards={}", *rule.max_shards) : "");
      }};
  return std::visit(visitor, partitioner.rule);
}

std::int64_t parts_of(const VariablePartitioner& partitioner, const Variable& variable) {
  if (is_whole(variable)) return 1;
  const std::int64_t side = variable.shape[partitioner.axis];
  const VisitedRule visitor{
      [&](const FixedSize& rule) { return std::min(rule.num_shards, side); },
      [&](const MinMaxVariable& rule) {
        const double partitions = static_cast<double>(variable.bytes().count()) /
                                  static_cast<double>(rule.min_slice_bytes);
        return std::max<std::int64_t>(
            1, std::min({side, rule.max_partitions, rounded_up(partitions)}));
      },
      [&](const VariableAxisSize& rule) {
        const double bytes_per_slice = static_cast<double>(variable.elements) /
                                       static_cast<double>(side) *
                                       static_cast<double>(size_of(variable.type).count());
        const double slices_per_shard =
            std::max(1.0, std::floor(static_cast<double>(rule.max_shard_bytes) / bytes_per_slice));
        const std::int64_t shards = rounded_up(static_cast<double>(side) / slices_per_shard);
        return rule.max_shards ? std::min(*rule.max_shards, shards) : shards;
      }};
  return std::visit(visitor, partitioner.rule);
}

void partition_variables(const VariablePartitioner& partitioner, std::string_view field,
                         Workload& workload, Complaints& complaints) {
  const std::size_t axis = partitioner.axis;
  std::vector<std::int64_t> parts;
  std::int64_t total = 0;
  for (const Variable& variable : workload.gradients) {
    if (!is_whole(variable) && variable.shape.size() <= axis) {
      return complaints.complain_at(
          field, ProblemCode::kConflict,
          "{}: variable \"{}\" has {} dimension{}, so axis {} does not exist and TensorFlow raises "
          "an error; use axis 0, which exists for all variables except scalars",
          describe(partitioner), variable.name, variable.shape.size(),
          variable.shape.size() == 1 ? "" : "s", partitioner.axis);
    }
    parts.push_back(parts_of(partitioner, variable));
    total += parts.back();
    if (variable.slices && parts.back() > 1 && axis != 0) {
      return complaints.complain_at(field, ProblemCode::kUnsupported,
                                    "{}: this partitioner would split rows of \"{}\", but "
                                    "TensorFlow looks up whole rows; use axis 0",
                                    describe(partitioner), variable.name);
    }
    if (total > kMaxParts) {
      return complaints.complain_at(field, ProblemCode::kTooLarge,
                                    "{}: this partitioner divides the variables into more than {} "
                                    "parts; use fewer or larger parts",
                                    describe(partitioner), kMaxParts);
    }
  }

  std::vector<Variable> made;
  std::vector<int> first;  // the first part of each variable
  made.reserve(total);
  for (std::size_t v = 0; v < parts.size(); ++v) {
    Variable& whole = workload.gradients[v];
    first.push_back(static_cast<int>(made.size()));
    if (parts[v] == 1) {
      made.push_back(std::move(whole));
      continue;
    }
    for (std::int64_t p = 0; p < parts[v]; ++p) {
      Variable part = whole;
      part.name = fmt::format("{}/part_{}", whole.name, p);
      std::int64_t& side = part.shape[axis];
      const std::int64_t of = std::exchange(side, share_of(side, parts[v], p));
      part.elements = whole.elements / of * side;
      // The maximum number of rows of a replica's gradient in this part, if rows are distributed
      // evenly over the parts.
      if (whole.slices) part.slices->rows = (whole.slices->rows + parts[v] - 1) / parts[v];
      made.push_back(std::move(part));
    }
  }
  for (BackwardSegment& segment : workload.segments) {
    for (const int v : std::exchange(segment.variables, {})) {
      for (std::int64_t p = 0; p < parts[v]; ++p)
        segment.variables.push_back(first[v] + static_cast<int>(p));
    }
  }
  workload.gradients = std::move(made);
}

}  // namespace tutti::core
