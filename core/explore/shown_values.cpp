#include "core/explore/shown_values.h"

#include <cstdint>
#include <map>

#include "core/base/format.h"
#include "core/base/number.h"

namespace tutti::core {
namespace {

std::string last_part(const std::string& field) { return field.substr(field.rfind('.') + 1); }

/// True if rows with the same algorithm and framework differ in this field. All other fields are
/// determined by the algorithm and the framework, so labels omit them.
bool varies_inside(const Axis& axis, std::size_t field) {
  std::map<std::string, std::string> first;
  for (const std::vector<std::string>& row : axis.rows) {
    std::string key;
    for (std::size_t f = 0; f < row.size(); ++f) {
      if (axis.fields[f] == "strategy.algorithm" || row[f] == "{}")
        key += axis.fields[f] + '=' + row[f] + '\n';
    }
    if (first.try_emplace(key, row[field]).first->second != row[field]) return true;
  }
  return false;
}

}  // namespace

std::string shown_value(const std::string& field, const std::string& value) {
  if (value.empty()) return "not set";
  if (last_part(field).find("bytes") == std::string::npos) return value;
  const std::int64_t bytes = whole_number<std::int64_t>(value).value_or(0);
  if (bytes <= 0) return value;
  return show_exact(Bytes(bytes));
}

std::vector<std::string> row_labels(const Axis& axis) {
  std::vector<bool> varies;
  for (std::size_t f = 0; f < axis.fields.size(); ++f) varies.push_back(varies_inside(axis, f));
  std::vector<std::string> labels;
  for (const std::vector<std::string>& row : axis.rows) {
    std::string algorithm, settings;
    for (std::size_t f = 0; f < row.size(); ++f) {
      const std::string name = last_part(axis.fields[f]);
      if (axis.fields[f] == "strategy.algorithm")
        algorithm = row[f];
      else if (row[f] == "{}")
        settings += ", " + name;
      else if (!row[f].empty() && varies[f])
        settings += ", " + name + "=" + shown_value(axis.fields[f], row[f]);
    }
    labels.push_back(algorithm.empty() && !settings.empty() ? settings.substr(2)
                                                            : algorithm + settings);
  }
  return labels;
}

}  // namespace tutti::core
