#include "core/measured/table_model.h"

#include <algorithm>
#include <iterator>
#include <string_view>

#include <fmt/format.h>

#include "core/nccl/search/uniform_graphs.h"

namespace tutti::core::nccl {

Expected<TableModel> TableModel::of(const CollectiveTable& table) {
  const TableFacts& facts = table.facts;
  if (!table.problems.empty())
    return tl::make_unexpected(Error(ErrorKind::kRequest, table.problems));
  const auto kind = parse_collective(facts.collective);
  if (!kind)
    return tl::make_unexpected(Error::request({ProblemCode::kUnknownName, "collective"},
                                              "no collective is called " + facts.collective));
  constexpr std::string_view kTypes[] = {
      "",      "float",  "double", "half",   "float16",  "bfloat16", "int8",    "uint8",
      "int32", "uint32", "int64",  "uint64", "fp8_e4m3", "fp8_e5m2", "fp8e4m3", "fp8e5m2"};
  if (std::find(std::begin(kTypes), std::end(kTypes), facts.dtype) == std::end(kTypes))
    return tl::make_unexpected(
        Error::request({ProblemCode::kUnknownName, "dtype"},
                       fmt::format("nccl-tests has no type \"{}\"", facts.dtype)));
  auto system = system_of(facts);
  if (!system) return tl::make_unexpected(system.error());
  auto comm = uniform_communicator(system->system, system->version, system->settings);
  if (!comm) return tl::make_unexpected(comm.error());
  TableModel made(table, std::move(*system), *kind, std::move(*comm));
  const auto function = function_of(*kind);
  const nccl::Model model = tune(made.communicator_, made.system_.settings);
  for (const MeasuredTime& row : table.rows) {
    Operation operation{function.value_or(Function::kAllReduce), row.bytes,
                        facts.dtype == "double" ? ElementType::kFloat64 : ElementType::kFloat32};
    made.operations_.push_back(operation);
    if (!function) {
      made.choices_.emplace_back();
      continue;
    }
    const auto choice = choose(made.communicator_, model, operation);
    if (!choice) return tl::make_unexpected(choice.error());
    made.choices_.emplace_back(*choice);
  }
  return made;
}

Prediction TableModel::predict(std::size_t row, const Parameters& parameters) const {
  if (!choices_[row])
    return predict_sends(system_.system, communicator_, kind_, operations_[row].bytes, parameters);
  return nccl::predict(system_.system, communicator_, operations_[row], *choices_[row], parameters);
}

TimedPoint TableModel::point(std::size_t row, const Prediction& time) const {
  TimedPoint made = timed_point(kind_, table_->rows[row].bytes, communicator_.ranks,
                                communicator_.nodes, choices_[row], time);
  made.settings = settings_digest(table_->facts.env);
  return made;
}

}  // namespace tutti::core::nccl
