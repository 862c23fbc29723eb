#include "core/scenario/other_variables_reader.h"

#include <string_view>
#include <unordered_map>

#include <fmt/format.h>

#include "core/proto/scenario.pb.h"
#include "core/text/limits.h"

namespace tutti::core {
namespace {

DataType index_type_of(const proto::SparseGradient& s, const std::string& what, Fields& fields) {
  if (!s.has_index_type() || s.index_type() == proto::INT64) return DataType::kInt64;
  if (s.index_type() != proto::INT32)
    fields.complain_at(s, "index_type", "{}: index_type must be INT64 or INT32", what);
  return DataType::kInt32;
}

}  // namespace

void take_sparse_gradients(const proto::Workload& workload, std::int64_t replicas, Model& model,
                           Fields& fields) {
  std::unordered_map<std::string_view, Variable*> by_name;
  if (!workload.sparse_gradient().empty()) {
    for (Variable& v : model.variables) by_name.emplace(v.name, &v);
  }
  for (const proto::SparseGradient& s : workload.sparse_gradient()) {
    const auto found = by_name.find(s.variable());
    Variable* const variable = found == by_name.end() ? nullptr : found->second;
    if (!variable) {
      fields.complain_at(s, "variable", ProblemCode::kUnknownName,
                         "sparse_gradient: variable: the model has no variable \"{}\"; name one of "
                         "its variables",
                         s.variable());
      continue;
    }
    const std::string what = fmt::format("sparse_gradient of \"{}\"", s.variable());
    if (variable->slices) {
      fields.complain_at(s, "variable", ProblemCode::kDuplicate, "{} is set twice; keep one", what);
      continue;
    }
    if (variable->shape.empty() || variable->elements == 0) {
      fields.complain_at(
          s, "variable", ProblemCode::kUnused,
          "{}: the variable is a scalar or empty, so it has no rows; remove this entry", what);
      continue;
    }
    if (!s.has_rows_per_step()) {
      fields.complain_at(
          s, "rows_per_step", ProblemCode::kMissing,
          "{}: rows_per_step is missing; set the number of rows in a replica's gradient", what);
      continue;
    }
    Slices slices;
    // The rows of all replicas together must fit into the size limit of a variable.
    const std::int64_t most = kMaxElements / variable->row_elements() / replicas;
    if (most == 0) {
      fields.complain_at(
          s, "variable", ProblemCode::kUnused,
          "{}: the gathered rows of {} replicas exceed the size limit; remove sparse_gradient",
          what, replicas);
      continue;
    }
    const auto rows = fields.integer(s, "rows_per_step", what, 1, most);
    if (!rows) continue;
    slices.rows = *rows;
    slices.index_type = index_type_of(s, what, fields);
    slices.differ = s.rows_differ();
    variable->slices = slices;
  }
}

std::vector<OnReadVariable> on_read_from(const proto::Workload& workload, Fields& fields) {
  constexpr std::int64_t kMax = 1 << 16;
  std::vector<OnReadVariable> variables;
  std::int64_t total = 0;
  for (const proto::OnReadVariable& v : workload.on_read()) {
    OnReadVariable variable;
    variable.name = v.name();
    if (v.name().empty())
      fields.complain(v, ProblemCode::kMissing, "an on_read variable needs a name");
    const std::string what = fmt::format("on_read variable \"{}\"", v.name());
    const auto elements = elements_of({v.shape().begin(), v.shape().end()});
    if (!elements) {
      fields.complain_at(
          v, "shape",
          "{}: each dimension of the shape must be at least 0, and the variable may have "
          "at most 2^46 elements",
          what);
      continue;
    }
    variable.elements = *elements;
    if (v.has_data_type() && v.data_type() == proto::DATA_TYPE_UNSPECIFIED) {
      fields.complain_at(v, "data_type", "{}: data_type must be a type, such as FLOAT32", what);
    } else if (v.has_data_type()) {
      variable.type = static_cast<DataType>(v.data_type());
    }
    switch (v.aggregation()) {
      case proto::OnReadVariable::SUM: variable.aggregation = OnReadAggregation::kSum; break;
      case proto::OnReadVariable::MEAN: variable.aggregation = OnReadAggregation::kMean; break;
      case proto::OnReadVariable::ONLY_FIRST_REPLICA:
        variable.aggregation = OnReadAggregation::kOnlyFirstReplica;
        break;
      default:
        fields.complain_at(v, "aggregation", ProblemCode::kMissing,
                           "{}: set aggregation to SUM, MEAN or ONLY_FIRST_REPLICA", what);
    }
    const std::int64_t count = fields.integer(v, "count", what, 1, kMax).value_or(1);
    if (static_cast<std::int64_t>(variables.size()) + count > kMax) {
      fields.complain(v, ProblemCode::kTooLarge,
                      "{}: more than {} on_read variables in total; use fewer", what, kMax);
      break;
    }
    if (variable.elements > 0 && count > (kMaxElements - total) / variable.elements) {
      fields.complain(v, ProblemCode::kTooLarge,
                      "{}: on_read variables have more than 2^46 elements in total; use fewer",
                      what);
      break;
    }
    total += count * variable.elements;
    for (std::int64_t i = 0; i < count; ++i) {
      variables.push_back(variable);
      if (count > 1) variables.back().name += fmt::format("_{}", i);
    }
  }
  return variables;
}

}  // namespace tutti::core
