// The tables come from many publications, so a defect in one table must not hide the other tables.
// An invalid record or row is stored as a problem of its table. Reading fails only if a file cannot
// be parsed or a column is missing. Records (JSON) and rows (CSV) are joined by table_id. If two
// records have the same id, both are discarded. Rows without a record belong to a table whose only
// content is this problem. system_of_table.cpp and table_model.cpp decide whether a table can be
// compared with the model.

#include "core/measured/collective_tables.h"

#include <utility>

#include <fmt/format.h>

#include "core/base/file.h"
#include "core/base/median.h"
#include "core/base/number.h"
#include "core/text/csv.h"
#include "core/text/document.h"

namespace tutti::core {
namespace {

constexpr double kMaxUs = 1e12;
constexpr double kMaxBytes = 1e15;

class Record {
 public:
  Record(const Value& value, const std::string& file, Problems& problems)
      : value_(value), file_(file), problems_(problems) {}

  [[nodiscard]] const Value* find(std::string_view name) const {
    for (const Value::Field& field : value_.fields) {
      if (field.name == name) return is_null(field.value) ? nullptr : &field.value;
    }
    return nullptr;
  }
  [[nodiscard]] static bool is_null(const Value& value) {
    return value.kind == Value::Kind::kIdentifier && value.text == "null";
  }
  [[nodiscard]] std::string text(std::string_view name) const {
    const Value* value = find(name);
    return value == nullptr ? "" : value->text;
  }
  std::string required(std::string_view name) {
    if (find(name) == nullptr)
      problems_.add({ProblemCode::kMissing, std::string(name)}, at(value_), "{} is missing", name);
    return text(name);
  }
  std::optional<double> number(std::string_view name) {
    const Value* value = find(name);
    if (value == nullptr) return std::nullopt;
    return read_number(value->text, at(*value), std::string(name), 0, kMaxBytes, problems_);
  }
  std::int64_t count(std::string_view name) {
    const double read = number(name).value_or(0);
    const auto whole = static_cast<std::int64_t>(read);
    if (static_cast<double>(whole) != read)
      problems_.add({ProblemCode::kWrongType, std::string(name)}, at(*find(name)),
                    "{}: expected a whole number", name);
    return whole;
  }
  /// Returns the numbers of bytes in a list of sizes.
  [[nodiscard]] std::vector<std::int64_t> sizes(std::string_view name) const {
    std::vector<std::int64_t> all;
    for (const Value& size : inside(name).value().items) {
      const auto bytes =
          read_number(size.text, at(size), std::string(name), 0, kMaxBytes, problems_);
      if (bytes) all.push_back(static_cast<std::int64_t>(*bytes));
    }
    return all;
  }
  /// Reports a problem unless the value of this name has the expected kind.
  void expect(std::string_view name, Value::Kind kind, const char* what) {
    const Value* value = find(name);
    if (value != nullptr && value->kind != kind)
      problems_.add({ProblemCode::kWrongType, std::string(name)}, at(*value), "{}: expected {}",
                    name, what);
  }
  void wrong(std::string_view name, const char* why) {
    problems_.add({ProblemCode::kInvalid, std::string(name)}, at(*find(name)), "{}: {}", name, why);
  }
  [[nodiscard]] bool yes(std::string_view name) const { return text(name) == "true"; }
  [[nodiscard]] Record inside(std::string_view name) const {
    static const Value kNothing;
    const Value* value = find(name);
    return {value == nullptr ? kNothing : *value, file_, problems_};
  }
  [[nodiscard]] const Value& value() const { return value_; }
  [[nodiscard]] Location at(const Value& value) const {
    return {file_, value.at.line, value.at.column};
  }

 private:
  const Value& value_;
  const std::string& file_;
  Problems& problems_;
};

TableFacts facts_of(Record record) {
  TableFacts facts;
  facts.table_id = record.required("table_id");
  facts.config = record.text("config").empty() ? facts.table_id : record.text("config");
  facts.collective = record.required("collective");
  facts.gpu_model = record.required("gpu_model");
  facts.nearest_gpu_model = record.text("nearest_gpu_model");
  facts.ranks = record.count("n_ranks");
  facts.nodes = record.count("nodes");
  facts.gpus_per_node = record.count("gpus_per_node");
  facts.version = record.text("nccl_version");
  facts.dtype = record.text("dtype");
  if (const std::string driving = record.text("driving"); !driving.empty()) {
    facts.driving = nccl::parse_driving(driving);
    if (!facts.driving)
      record.wrong("driving", "expected process_per_gpu, thread_per_gpu or one_thread");
  }
  facts.healthy = record.yes("healthy");
  facts.system =
      record.text("system").empty() ? record.inside("source").text("repo") : record.text("system");
  Record intra = record.inside("intra_node");
  facts.intra = intra.text("intra");
  facts.nvswitch = intra.yes("nvswitch");
  if (const auto links = intra.number("links_per_gpu"))
    facts.links_per_gpu = static_cast<std::int64_t>(*links);
  facts.link_gb_per_s = intra.number("link_gbytes_dir");
  facts.pcie_gb_per_s = intra.number("pcie_gbytes_dir");
  Record inter = record.inside("inter_node");
  facts.nics_per_node = inter.count("nics_per_node");
  facts.nic_gbps = inter.number("nic_gbps");
  facts.nic_type = inter.text("nic_type");
  if (inter.find("devices_per_card") != nullptr) {
    facts.devices_per_card = inter.count("devices_per_card");
    if (facts.devices_per_card != 1 && facts.devices_per_card != 2 && facts.devices_per_card != 4)
      inter.wrong("devices_per_card", "expected 1, 2 or 4");
  }
  facts.ofi_plugin = inter.text("ofi_plugin");
  record.expect("env", Value::Kind::kMessage, "a JSON object of variables and their values");
  record.expect("outlier_sizes", Value::Kind::kList, "a list of sizes");
  for (const Value::Field& variable : record.inside("env").value().fields)
    facts.env.emplace_back(variable.name, variable.value.text);
  facts.outlier_sizes = record.sizes("outlier_sizes");
  return facts;
}

}  // namespace

Expected<std::vector<CollectiveTable>> load_collective_tables(const std::string& tables,
                                                              const std::string& meta) {
  const auto meta_text = read_text_file(meta);
  if (!meta_text) return tl::make_unexpected(meta_text.error());
  const auto csv_text = read_text_file(tables);
  if (!csv_text) return tl::make_unexpected(csv_text.error());
  Problems problems;
  const Document document = parse_json(*meta_text, meta, problems);
  if (problems.empty() && document.root.kind != Value::Kind::kList)
    problems.add({ProblemCode::kWrongType}, {meta, 1, 1},
                 "expected a list of records, one per table");
  if (!problems.empty()) return problems.take();
  std::vector<CollectiveTable> all;
  std::map<std::string, std::size_t> index;
  for (const Value& record : document.root.items) {
    Problems of_record;
    all.push_back({facts_of(Record(record, meta, of_record)), {}});
    if (!of_record.empty()) all.back().problems = of_record.take().value().problems();
    const std::string& name = all.back().facts.table_id;
    if (name.empty()) {
      all.back().problems = Error::request({ProblemCode::kMissing, "table_id"},
                                           "a record has no table_id, which identifies its rows",
                                           {meta, record.at.line, record.at.column})
                                .problems();
    } else if (const auto [first, fresh] = index.emplace(name, all.size() - 1); !fresh) {
      // Discard both records with the same id, because it is unknown which of them is valid.
      all[first->second].problems =
          Error::request({ProblemCode::kDuplicate, "table_id"},
                         fmt::format("a second record of table {}; keep one", name),
                         {meta, record.at.line, record.at.column})
              .problems();
      all.pop_back();
    }
  }
  const CsvTable csv = parse_csv(*csv_text, tables, problems, UnevenRows::kAreKept);
  const std::vector<std::size_t> at =
      csv.required({"table_id", "size_bytes", "time_us"}, tables, problems);
  if (!problems.empty()) return problems.take();
  const std::size_t id = at[0], size = at[1], time = at[2];
  const auto table_of = [&](const std::string& name) -> CollectiveTable& {
    const auto [known, fresh] = index.emplace(name, all.size());
    if (fresh) {
      all.push_back({});
      all.back().facts.table_id = all.back().facts.config = name;
      all.back().problems =
          Error::request(
              {name.empty() ? ProblemCode::kMissing : ProblemCode::kUnknownName, "table_id"},
              name.empty() ? "rows without a table_id"
                           : fmt::format("{} has no record of this table", meta))
              .problems();
    }
    return all[known->second];
  };
  for (const CsvTable::Row& row : csv.rows) {
    const auto cell = [&](std::size_t column) -> const CsvTable::Cell& {
      return row.cells[column];
    };
    const auto where = [&](std::size_t column) {
      return Location{tables, cell(column).at.line, cell(column).at.column};
    };
    CollectiveTable& to = table_of(cell(id).text);
    Problems of_row;
    const auto bytes =
        read_number(cell(size).text, where(size), "size_bytes", 1, kMaxBytes, of_row);
    const auto us = read_number(cell(time).text, where(time), "time_us", 1e-6, kMaxUs, of_row);
    if (!of_row.empty()) {
      to.unread.push_back(of_row.take().value().problems().front());
      continue;
    }
    const auto whole = static_cast<std::int64_t>(*bytes);
    const auto& outliers = to.facts.outlier_sizes;
    to.rows.push_back(
        {whole, *us, std::find(outliers.begin(), outliers.end(), whole) != outliers.end()});
  }
  for (const CsvTable::Row& row : csv.uneven) {
    // In a row with missing or extra cells, the table's name may be in the wrong column. Use it
    // only if a record has this name.
    const std::string name =
        id < row.cells.size() && index.contains(row.cells[id].text) ? row.cells[id].text : "";
    Problem problem;
    problem.where = {tables, row.cells.front().at.line, 1};
    problem.kind = {ProblemCode::kSyntax};
    problem.text = fmt::format("this row has {} cells, the header has {}", row.cells.size(),
                               csv.columns.size());
    table_of(name).unread.push_back(std::move(problem));
  }
  return all;
}

Expected<std::map<std::string, double>> load_noise(const std::string& path) {
  const auto text = read_text_file(path);
  if (!text) return tl::make_unexpected(text.error());
  Problems problems;
  const CsvTable csv = parse_csv(*text, path, problems);
  const std::vector<std::size_t> at = csv.required({"config", "cv"}, path, problems);
  if (!problems.empty()) return problems.take();
  std::map<std::string, std::vector<double>> spreads;
  for (const CsvTable::Row& row : csv.rows) {
    const CsvTable::Cell& cell = row.cells[at[1]];
    const auto cv =
        read_number(cell.text, {path, cell.at.line, cell.at.column}, "cv", 0, 1e6, problems);
    if (cv) spreads[row.cells[at[0]].text].push_back(*cv);
  }
  if (!problems.empty()) return problems.take();
  std::map<std::string, double> medians;
  for (auto& [name, all] : spreads) medians[name] = median(std::move(all));
  return medians;
}

}  // namespace tutti::core
