// The contents of CSV and JSON files are first converted to rows of cells. Each cell has a column,
// a text and a position. ModelReader then checks the rows, so both formats give the same error
// messages. JsonModelReader only checks the types of JSON values. JsonModelReader writes a shape as
// in CSV files ("64x3x7x7"). All problems of a file are reported at once. The order of the rows is
// kept, because packing depends on the order in which the program creates its variables. At most
// 2^46 elements are allowed, so that later computations with bytes cannot overflow.

#include "core/workload/model.h"

#include <charconv>
#include <filesystem>
#include <map>
#include <set>

#include "core/base/file.h"
#include "core/base/number.h"
#include "core/text/csv.h"
#include "core/text/document.h"
#include "core/text/limits.h"
#include "core/text/text_limits.h"

namespace tutti::core {

std::optional<std::int64_t> elements_of(const std::vector<std::int64_t>& shape) {
  std::int64_t elements = 1;
  for (const std::int64_t side : shape) {
    if (side < 0 || (side > 0 && elements > kMaxElements / side)) return std::nullopt;
    elements *= side;
  }
  return elements;
}

namespace {

const std::vector<std::string> kColumns{"name",       "shape",         "type",
                                        "layer",      "forward_flops", "backward_flops",
                                        "forward_us", "backward_us"};

/// Reads the rows of a model, whether they come from a CSV or a JSON file. Each row is a list of
/// cells (column, text, place). The reader also checks which columns a row has.
class ModelReader {
 public:
  ModelReader(const std::string& file, Problems& problems) : file_(file), problems_(problems) {}

  struct Cell {
    std::string text;
    Position at;
  };
  using Row = std::map<std::string, Cell>;

  /// Returns the names of all columns that a list of variables can have.
  static const std::vector<std::string>& columns() { return kColumns; }

  bool check_column(const std::string& name, Position at) {
    for (const std::string& known : kColumns) {
      if (known == name) return true;
    }
    std::string all;
    for (const std::string& known : kColumns) all += (all.empty() ? "" : ", ") + known;
    const std::string hint = did_you_mean(name, kColumns);
    complain(at, {ProblemCode::kUnknownField, name}, "unknown column \"{}\"{}", name,
             hint.empty() ? "; there are " + all : hint);
    return false;
  }

  void add(const Row& row, Position row_at) {
    Variable variable;
    if (const Cell* name = find(row, "name"); name && !name->text.empty()) {
      variable.name = name->text;
      const auto [first, fresh] = lines_.emplace(name->text, row_at.line);
      if (!fresh)
        complain(name->at, {ProblemCode::kDuplicate, "name"},
                 "variable \"{}\" is listed twice (first in line {}); names must differ",
                 name->text, first->second);
    } else {
      complain(row_at, {ProblemCode::kMissing, "name"}, "a variable needs a name");
    }
    if (const Cell* shape = find(row, "shape")) read_shape(*shape, variable);
    if (const Cell* type = find(row, "type"); type && !type->text.empty()) {
      const auto known = parse_data_type(type->text);
      if (!known)
        complain(type->at, {ProblemCode::kUnknownName, "type"},
                 "type \"{}\" is not one of float32, float64, float16, bfloat16, int32, int64",
                 type->text);
      variable.type = known.value_or(DataType::kFloat32);
    }
    variable.layer = static_cast<std::int64_t>(
        number(row, "layer", 0, 1e9).value_or(static_cast<double>(model_.variables.size())));
    variable.forward_flops = number(row, "forward_flops", 0, 1e24);
    variable.backward_flops = number(row, "backward_flops", 0, 1e24);
    if (const auto us = number(row, "forward_us", 0, kMaxMilliseconds * 1e3))
      variable.forward = time_from_us(*us);
    if (const auto us = number(row, "backward_us", 0, kMaxMilliseconds * 1e3))
      variable.backward = time_from_us(*us);
    model_.variables.push_back(std::move(variable));
  }

  void set_batch(const Cell& cell) {
    if (const auto batch = number({{"batch", cell}}, "batch", 1, 1e9))
      model_.batch = static_cast<std::int64_t>(*batch);
  }

  Model& model() { return model_; }

 private:
  template <class... Args>
  void complain(Position at, ProblemKind kind, fmt::format_string<Args...> format, Args&&... args) {
    problems_.add(std::move(kind), {file_, at.line, at.column}, format,
                  std::forward<Args>(args)...);
  }

  static const Cell* find(const Row& row, const std::string& column) {
    const auto cell = row.find(column);
    return cell == row.end() ? nullptr : &cell->second;
  }

  std::optional<double> number(const Row& row, const std::string& column, double least,
                               double most) {
    const Cell* cell = find(row, column);
    if (!cell || cell->text.empty()) return std::nullopt;
    return read_number(cell->text, {file_, cell->at.line, cell->at.column}, column, least, most,
                       problems_);
  }

  void read_shape(const Cell& cell, Variable& variable) {
    std::string_view rest = cell.text;
    while (!rest.empty()) {
      std::int64_t side = 0;
      const auto [stopped, status] = std::from_chars(rest.data(), rest.data() + rest.size(), side);
      const std::size_t used = stopped - rest.data();
      if (status != std::errc() ||
          (used < rest.size() && (rest[used] != 'x' || used + 1 == rest.size()))) {
        return complain(cell.at, {ProblemCode::kSyntax, "shape"},
                        "shape \"{}\" is invalid; expected a form such as 64x3x7x7", cell.text);
      }
      variable.shape.push_back(side);
      rest.remove_prefix(std::min(used + 1, rest.size()));
    }
    const auto elements = elements_of(variable.shape);
    if (!elements)
      return complain(
          cell.at, {ProblemCode::kInvalid, "shape"},
          "shape {}: each side must be at least 0, and the shape may have at most 2^46 elements",
          cell.text);
    variable.elements = *elements;
    total_ += *elements;
    if (total_ > kMaxElements)
      complain(cell.at, {ProblemCode::kTooLarge, "shape"},
               "the model has {} elements up to here; the limit is 2^46", total_);
  }

  const std::string& file_;
  Problems& problems_;
  Model model_;
  std::map<std::string, int> lines_;
  std::int64_t total_ = 0;
};

void read_csv(std::string_view text, const std::string& file, ModelReader& reader,
              Problems& problems) {
  const CsvTable table = parse_csv(text, file, problems);
  if (table.has_none_of(ModelReader::columns()))
    return problems.add(no_such_table(file, "variables", ModelReader::columns()).value());
  for (const CsvTable::Cell& column : table.columns) {
    if (problems.full()) return;
    reader.check_column(column.text, column.at);
  }
  for (const char* required : {"name", "shape", "type"}) {
    if (table.columns.empty() || table.column(required) >= 0) continue;
    problems.add(
        {ProblemCode::kMissing, required}, {file, table.columns[0].at.line, 1},
        "there is no column \"{}\"; the columns are name, shape, type and optional columns",
        required);
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
    if (problems.full()) return;
    ModelReader::Row cells;
    for (std::size_t i = 0; i < row.cells.size(); ++i)
      cells[table.columns[i].text] = {row.cells[i].text, row.cells[i].at};
    reader.add(cells, row.cells[0].at);
  }
}

/// Reads a model from a document. Checks the types of JSON values and converts them to cells.
class JsonModelReader {
 public:
  JsonModelReader(const std::string& file, ModelReader& reader, Problems& problems)
      : file_(file), reader_(reader), problems_(problems) {}

  void read(const Value& root) {
    const Value* list = root.kind == Value::Kind::kList ? &root : nullptr;
    std::set<std::string> seen;
    for (const Value::Field& field : root.fields) {
      if (problems_.full()) return;
      if (is_null(field.value) || !fresh(field, seen)) continue;
      if (field.name == "variables") {
        list = &field.value;
      } else if (field.name == "batch") {
        if (const auto cell = number(field)) reader_.set_batch(*cell);
      } else if (field.name == "title") {
        if (const auto cell = text(field)) reader_.model().title = cell->text;
      } else if (field.name == "source") {
        if (const auto cell = text(field)) reader_.model().source = cell->text;
      } else {
        const std::string hint =
            did_you_mean(field.name, {"variables", "batch", "title", "source"});
        complain(field.at, {ProblemCode::kUnknownField, field.name}, "unknown field \"{}\"{}",
                 field.name,
                 hint.empty() ? "; expected one of variables, batch, title, source" : hint);
      }
    }
    if (!list || list->kind != Value::Kind::kList)
      return complain(root.at, {ProblemCode::kMissing, "variables"},
                      "expected a list of variables, or {{\"variables\": [ … ]}}");
    for (const Value& item : list->items) {
      if (problems_.full()) return;
      read_variable(item);
    }
  }

 private:
  using Cell = ModelReader::Cell;

  void read_variable(const Value& item) {
    if (item.kind != Value::Kind::kMessage) {
      return complain(item.at, {ProblemCode::kWrongType, "variables"},
                      "expected a variable {{\"name\": …, \"shape\": [ … ]}}, found {}",
                      describe(item));
    }
    ModelReader::Row cells;
    std::set<std::string> seen;
    for (const Value::Field& field : item.fields) {
      if (is_null(field.value) || !reader_.check_column(field.name, field.at) ||
          !fresh(field, seen))
        continue;
      const bool is_text = field.name == "name" || field.name == "type";
      if (const auto cell = field.name == "shape" ? shape(field)
                            : is_text             ? text(field)
                                                  : number(field))
        cells[field.name] = *cell;
    }
    if (!seen.contains("shape"))
      complain(item.at, {ProblemCode::kMissing, "shape"},
               "a variable needs a shape; use [] for a scalar");
    // A name that is not a text has already been reported.
    if (seen.contains("name") == cells.contains("name")) reader_.add(cells, item.at);
  }

  /// True for null, which stands for an omitted value in JSON.
  static bool is_null(const Value& value) {
    return value.kind == Value::Kind::kIdentifier && value.text == "null";
  }

  bool fresh(const Value::Field& field, std::set<std::string>& seen) {
    if (seen.insert(field.name).second) return true;
    complain(field.at, {ProblemCode::kDuplicate, field.name}, "\"{}\" is given twice; keep one",
             field.name);
    return false;
  }

  std::optional<Cell> text(const Value::Field& field) {
    if (field.value.kind == Value::Kind::kString) return Cell{field.value.text, field.value.at};
    return refuse(field, "a text in quotes");
  }

  /// Reads a number, possibly in quotes: JSON writers put 64-bit numbers in quotes.
  std::optional<Cell> number(const Value::Field& field) {
    const Value& value = field.value;
    const bool quoted = value.kind == Value::Kind::kString && !value.text.empty();
    if (value.kind == Value::Kind::kNumber || quoted) return Cell{value.text, value.at};
    return refuse(field, "a number");
  }

  /// Returns the shape as it is written in CSV files.
  std::optional<Cell> shape(const Value::Field& field) {
    if (field.value.kind != Value::Kind::kList)
      return refuse(field, "a list of whole numbers, such as [64, 3, 7, 7]");
    Cell cell{"", field.value.at};
    for (const Value& side : field.value.items) {
      if (side.kind != Value::Kind::kNumber) {
        complain(side.at, {ProblemCode::kWrongType, "shape"},
                 "shape: expected a whole number, found {}", describe(side));
        return std::nullopt;
      }
      cell.text += (cell.text.empty() ? "" : "x") + side.text;
    }
    return cell;
  }

  std::optional<Cell> refuse(const Value::Field& field, const char* expected) {
    complain(field.value.at, {ProblemCode::kWrongType, field.name}, "{}: expected {}, found {}",
             field.name, expected, describe(field.value));
    return std::nullopt;
  }

  template <class... Args>
  void complain(Position at, ProblemKind kind, fmt::format_string<Args...> format, Args&&... args) {
    problems_.add(std::move(kind), {file_, at.line, at.column}, format,
                  std::forward<Args>(args)...);
  }

  const std::string& file_;
  ModelReader& reader_;
  Problems& problems_;
};

void read_json(std::string_view text, const std::string& file, ModelReader& reader,
               Problems& problems) {
  const Document document = parse_json(text, file, problems);
  if (!document.cut_off) JsonModelReader(file, reader, problems).read(document.root);
}

}  // namespace

Expected<Model> load_model(const std::string& path) {
  const Expected<std::string> text = read_text_file(path);
  if (!text) return tl::make_unexpected(text.error());
  return read_model(*text, path);
}

Expected<Model> read_model(const std::string& text, const std::string& path) {
  Problems problems;
  ModelReader reader(path, problems);
  const std::filesystem::path file(path);
  if (file.extension() == ".json") {
    read_json(text, path, reader, problems);
  } else {
    read_csv(text, path, reader, problems);
  }
  reader.model().name = file.stem().string();
  if (std::ssize(reader.model().variables) > kMaxVariables)
    problems.add({ProblemCode::kTooLarge, "variables"}, {path, 0, 0},
                 "the model has {} variables, which exceeds the limit of {}",
                 reader.model().variables.size(), kMaxVariables);
  if (problems.empty() && reader.model().variables.empty())
    problems.add({ProblemCode::kMissing, "variables"}, {path, 0, 0}, "the file has no variables");
  if (!problems.empty()) return problems.take();
  return std::move(reader.model());
}

}  // namespace tutti::core
