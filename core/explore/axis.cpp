#include "core/explore/axis.h"

#include <utility>

#include "core/explore/axis_values.h"
#include "core/text/csv.h"

namespace tutti::core {
namespace {

/// Adds the field with this name to the axis, and returns the field's type in the schema.
/// `written` is the text of the option, for messages.
Expected<const FieldType*> add_field(Axis& axis, const std::string& option, const std::string& name,
                                     const std::string& written) {
  auto field = parse_override(option, written);
  if (!field) return tl::make_unexpected(field.error());
  const FieldType* const type = field_type(field->path);
  if (type->message != nullptr) {
    return tl::make_unexpected(Error::request(
        {ProblemCode::kWrongType, option},
        fmt::format("{} {}: this field is a message; vary one of its fields, such as {}.{}", option,
                    name, name, type->message->fields.front().name)));
  }
  axis.fields.push_back(name);
  axis.paths.push_back(std::move(field->path));
  return type;
}

}  // namespace

Expected<Axis> parse_axis(const std::string& option, const std::string& written,
                          std::int64_t most) {
  const std::size_t equals = written.find('=');
  if (equals == std::string::npos || equals == 0) {
    return tl::make_unexpected(
        Error::request({ProblemCode::kSyntax, option},
                       fmt::format("{} {}: expected FIELD=VALUES, such as strategy.shards=1,2,4",
                                   option, written)));
  }
  Axis axis;
  const auto type = add_field(axis, option, written.substr(0, equals), written);
  if (!type) return tl::make_unexpected(type.error());
  auto values = axis_values(**type, written.substr(equals + 1), most);
  if (!values)
    return tl::make_unexpected(
        Error::request({values.error().code, option},
                       fmt::format("{} {}: {}", option, written, values.error().text)));
  for (std::string& value : *values) axis.rows.push_back({std::move(value)});
  return axis;
}

Expected<Axis> read_points(const std::string& text, const std::string& path) {
  Problems problems;
  const CsvTable table = parse_csv(text, path, problems);
  if (!problems.empty()) return problems.take();
  Axis axis;
  std::vector<const FieldType*> types;
  for (const CsvTable::Cell& column : table.columns) {
    const auto type = add_field(axis, "column", column.text, column.text + "=");
    if (type) {
      types.push_back(*type);
    } else {
      const Problem& problem = type.error().problems().front();
      problems.add({problem.kind.code, column.text}, {path, column.at.line, column.at.column}, "{}",
                   problem.text);
    }
  }
  if (!problems.empty()) return problems.take();
  if (table.rows.empty())
    problems.add({ProblemCode::kMissing}, {path, 0, 0},
                 "the table has no points: expected rows of values below the row of field names");
  for (const CsvTable::Row& row : table.rows) {
    std::vector<std::string> values;
    for (std::size_t c = 0; c < types.size(); ++c) {
      const CsvTable::Cell& cell = row.cells[c];
      auto value = axis_value(*types[c], cell.text);
      if (!value)
        problems.add({value.error().code, axis.fields[c]}, {path, cell.at.line, cell.at.column},
                     "{}", value.error().text);
      values.push_back(value ? std::move(*value) : "");
    }
    axis.rows.push_back(std::move(values));
    if (problems.full()) break;
  }
  if (!problems.empty()) return problems.take();
  return axis;
}

}  // namespace tutti::core
