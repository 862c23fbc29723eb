#include "core/workload/layer_times.h"

#include <algorithm>
#include <sstream>

#include "core/base/file.h"
#include "core/base/number.h"
#include "core/text/csv.h"
#include "core/text/limits.h"

namespace tutti::core {
Expected<LayerTimes> load_layer_times(const std::string& path) {
  const Expected<std::string> text = read_text_file(path);
  if (!text) return tl::make_unexpected(text.error());
  return read_layer_times(*text, path);
}

Expected<LayerTimes> read_layer_times(const std::string& text, const std::string& path) {
  Problems problems;
  const std::vector<std::string> known{"layer", "forward_us", "backward_us", "variables"};
  const CsvTable table = parse_csv(text, path, problems);
  if (table.has_none_of(known)) return no_such_table(path, "layer times", known);

  for (const CsvTable::Cell& column : table.columns) {
    if (problems.full()) break;
    const bool fits = std::find(known.begin(), known.end(), column.text) != known.end();
    if (!fits)
      problems.add({path, column.at.line, column.at.column}, "unknown column \"{}\"{}", column.text,
                   did_you_mean(column.text, known));
  }
  for (const std::string& name : known) {
    if (!table.columns.empty() && table.column(name) < 0)
      problems.add({path, table.columns[0].at.line, 1}, "there is no column \"{}\"", name);
  }
  if (!problems.empty()) return problems.take();

  LayerTimes times;
  if (const auto title = table.remarks.find("title"); title != table.remarks.end())
    times.title = title->second.text;
  if (const auto source = table.remarks.find("source"); source != table.remarks.end())
    times.source = source->second.text;
  if (const auto model = table.remarks.find("gpu_model"); model != table.remarks.end()) {
    const auto gpu = parse_gpu_model(model->second.text);
    times.gpu_model = gpu.value_or(GpuModel::kNone);
    if (!gpu)
      problems.add({ProblemCode::kUnknownName, "gpu_model"},
                   {path, model->second.at.line, model->second.at.column},
                   "the comment \"# gpu_model: {}\" names an unknown GPU; expected one of {}",
                   model->second.text, gpu_model_names());
  }
  if (const auto batch = table.remarks.find("batch"); batch != table.remarks.end()) {
    const Location where{path, batch->second.at.line, batch->second.at.column};
    times.batch = static_cast<std::int64_t>(
        read_number(batch->second.text, where, "batch", 1, 1e9, problems).value_or(1));
  } else {
    problems.add({path, 1, 1},
                 "the comment \"# batch: n\" is missing; state the number of samples for which "
                 "these times were measured");
  }
  for (const CsvTable::Row& row : table.rows) {
    if (problems.full()) break;
    const auto cell = [&](const char* column) -> const CsvTable::Cell& {
      return row.cells[table.column(column)];
    };
    const auto time = [&](const char* column) {
      const Location where{path, cell(column).at.line, cell(column).at.column};
      return time_from_us(
          read_number(cell(column).text, where, column, 0, kMaxMilliseconds * 1e3, problems)
              .value_or(0));
    };
    LayerTime layer{cell("layer").text, time("forward_us"), time("backward_us"), {}};
    std::istringstream names(cell("variables").text);
    for (std::string name; names >> name;) layer.variables.push_back(name);
    times.layers.push_back(std::move(layer));
  }
  if (!problems.empty()) return problems.take();
  return times;
}

}  // namespace tutti::core
