#include "core/workload/model.h"

#include <charconv>
#include <filesystem>
#include <map>

#include "core/base/file.h"
#include "core/text/csv.h"
#include "core/text/document.h"
#include "core/text/limits.h"
#include "core/text/number.h"

namespace tutti::core {

std::optional<std::int64_t> elements_of(const std::vector<std::int64_t>& shape) {
  std::int64_t elements = 1;
  for (const std::int64_t side : shape) {
    if (side < 0 || (side > 0 && elements > kMostElements / side)) return std::nullopt;
    elements *= side;
  }
  return elements;
}

namespace {

const std::vector<std::string> kColumns{"name",          "shape",          "type",       "layer",
                                        "forward_flops", "backward_flops", "forward_us", "backward_us"};

/// Reads the rows of a model, wherever they come from: each as (column, text, place) with the columns checked.
class ModelReader {
 public:
  ModelReader(const std::string& file, Problems& problems) : file_(file), problems_(problems) {}

  struct Cell {
    std::string text;
    Position at;
  };
  using Row = std::map<std::string, Cell>;

  void check_column(const std::string& name, Position at) {
    for (const std::string& known : kColumns) {
      if (known == name) return;
    }
    std::string all;
    for (const std::string& known : kColumns) all += (all.empty() ? "" : ", ") + known;
    const std::string hint = did_you_mean(name, kColumns);
    complain(at, "unknown column \"{}\"{}", name, hint.empty() ? "; there are " + all : hint);
  }

  void add(const Row& row, Position row_at) {
    Variable variable;
    if (const Cell* name = find(row, "name"); name && !name->text.empty()) {
      variable.name = name->text;
      const auto [first, fresh] = lines_.emplace(name->text, row_at.line);
      if (!fresh)
        complain(name->at, "variable \"{}\" is listed twice (first in line {}); names must differ", name->text,
                 first->second);
    } else {
      complain(row_at, "a variable needs a name");
    }
    if (const Cell* shape = find(row, "shape")) read_shape(*shape, variable);
    if (const Cell* type = find(row, "type"); type && !type->text.empty()) {
      const auto known = parse_data_type(type->text);
      if (!known)
        complain(type->at, "type \"{}\" is none of float32, float64, float16, bfloat16, int32, int64", type->text);
      variable.type = known.value_or(DataType::kFloat32);
    }
    variable.layer =
        static_cast<std::int64_t>(number(row, "layer", 0, 1e9).value_or(static_cast<double>(model_.variables.size())));
    variable.forward_flops = number(row, "forward_flops", 0, 1e24);
    variable.backward_flops = number(row, "backward_flops", 0, 1e24);
    if (const auto us = number(row, "forward_us", 0, kMostMilliseconds * 1e3)) variable.forward = time_from_us(*us);
    if (const auto us = number(row, "backward_us", 0, kMostMilliseconds * 1e3)) variable.backward = time_from_us(*us);
    model_.variables.push_back(std::move(variable));
  }

  void set_batch(const Cell& cell) {
    if (const auto batch = number({{"batch", cell}}, "batch", 1, 1e9)) model_.batch = static_cast<std::int64_t>(*batch);
  }

  Model& model() { return model_; }

 private:
  template <class... Args>
  void complain(Position at, fmt::format_string<Args...> format, Args&&... args) {
    problems_.add({file_, at.line, at.column}, format, std::forward<Args>(args)...);
  }

  static const Cell* find(const Row& row, const std::string& column) {
    const auto cell = row.find(column);
    return cell == row.end() ? nullptr : &cell->second;
  }

  std::optional<double> number(const Row& row, const std::string& column, double least, double most) {
    const Cell* cell = find(row, column);
    if (!cell || cell->text.empty()) return std::nullopt;
    return read_number(cell->text, {file_, cell->at.line, cell->at.column}, column, least, most, problems_);
  }

  void read_shape(const Cell& cell, Variable& variable) {
    std::string_view rest = cell.text;
    while (!rest.empty()) {
      std::int64_t side = 0;
      const auto [stopped, status] = std::from_chars(rest.data(), rest.data() + rest.size(), side);
      const auto used = static_cast<std::size_t>(stopped - rest.data());
      if (status != std::errc() || (used < rest.size() && (rest[used] != 'x' || used + 1 == rest.size()))) {
        return complain(cell.at, "shape \"{}\" does not look like 64x3x7x7", cell.text);
      }
      variable.shape.push_back(side);
      rest.remove_prefix(std::min(used + 1, rest.size()));
    }
    const auto elements = elements_of(variable.shape);
    if (!elements)
      return complain(cell.at, "shape {}: sides must be 0 or more and multiply to at most 2^46 elements", cell.text);
    variable.elements = *elements;
    total_ += *elements;
    if (total_ > kMostElements) complain(cell.at, "up to here the model has {} elements; 2^46 are the most", total_);
  }

  const std::string& file_;
  Problems& problems_;
  Model model_;
  std::map<std::string, int> lines_;
  std::int64_t total_ = 0;
};

void read_csv(std::string_view text, const std::string& file, ModelReader& reader, Problems& problems) {
  const CsvTable table = parse_csv(text, file, problems);
  for (const CsvTable::Cell& column : table.columns) reader.check_column(column.text, column.at);
  if (!table.columns.empty() && table.column("name") < 0) {
    problems.add({file, table.columns[0].at.line, 1},
                 "there is no column \"name\"; the columns are name,shape,type and optional ones");
  }
  const auto remark = [&table](const char* key) {
    const auto found = table.remarks.find(key);
    return found == table.remarks.end() ? std::string() : found->second.text;
  };
  reader.model().title = remark("title");
  reader.model().source = remark("source");
  if (const auto batch = table.remarks.find("batch"); batch != table.remarks.end())
    reader.set_batch({batch->second.text, batch->second.at});
  for (const CsvTable::Row& row : table.rows) {
    ModelReader::Row cells;
    for (std::size_t i = 0; i < row.cells.size(); ++i)
      cells[table.columns[i].text] = {row.cells[i].text, row.cells[i].at};
    reader.add(cells, row.cells[0].at);
  }
}

/// A shape as the CSV has it; other values as they are.
std::string as_cell(const Value& value) {
  if (value.kind != Value::Kind::kList)
    return value.kind == Value::Kind::kIdentifier && value.text == "null" ? "" : value.text;
  std::string text;
  for (const Value& side : value.items) text += (text.empty() ? "" : "x") + side.text;
  return text;
}

void read_json(std::string_view text, const std::string& file, ModelReader& reader, Problems& problems) {
  const Document document = parse_json(text, file, problems);
  if (document.cut_off) return;
  const Value* list = document.root.kind == Value::Kind::kList ? &document.root : nullptr;
  for (const Value::Field& field : document.root.fields) {
    if (field.name == "variables") list = &field.value;
    if (field.name == "batch") reader.set_batch({field.value.text, field.value.at});
    if (field.name == "title") reader.model().title = field.value.text;
    if (field.name == "source") reader.model().source = field.value.text;
  }
  if (!list || list->kind != Value::Kind::kList) {
    problems.add({file, document.root.at.line, document.root.at.column},
                 "expected a list of variables, or {{\"variables\": [ … ]}}");
    return;
  }
  for (const Value& item : list->items) {
    if (item.kind != Value::Kind::kMessage) {
      problems.add({file, item.at.line, item.at.column},
                   "expected a variable {{\"name\": …, \"shape\": [ … ]}}, found {}", describe(item));
      continue;
    }
    ModelReader::Row cells;
    for (const Value::Field& field : item.fields) {
      reader.check_column(field.name, field.at);
      cells[field.name] = {as_cell(field.value), field.value.at};
    }
    reader.add(cells, item.at);
  }
}

}  // namespace

Expected<Model> load_model(const std::string& path) {
  const Expected<std::string> text = read_text_file(path);
  if (!text) return tl::make_unexpected(text.error());
  Problems problems;
  ModelReader reader(path, problems);
  const std::filesystem::path file(path);
  if (file.extension() == ".json") {
    read_json(*text, path, reader, problems);
  } else {
    read_csv(*text, path, reader, problems);
  }
  reader.model().name = file.stem().string();
  if (problems.empty() && reader.model().variables.empty()) problems.add({path, 0, 0}, "there are no variables in it");
  if (!problems.empty()) return problems.take();
  return std::move(reader.model());
}

}  // namespace tutti::core
