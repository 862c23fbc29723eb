// Reads the JSON of nccl-tests (all_reduce_perf -J FILE, version 3) and of tutti perf --format
// json.

#include <charconv>
#include <cmath>

#include "core/base/number.h"
#include "core/measured/nccl_tests_reader.h"

namespace tutti::core {
namespace {

const Value* find(const Value& object, std::string_view name) {
  for (const Value::Field& field : object.fields) {
    if (field.name == name) return &field.value;
  }
  return nullptr;
}

class JsonReader {
 public:
  JsonReader(const std::string& file, Problems& problems) : file_(file), problems_(problems) {}

  std::vector<NcclTestsTable> read(const Value& root) {
    const Value* results = find(root, "results");
    const bool of_perf = results == nullptr;
    if (of_perf) results = find(root, "rows");
    if (results == nullptr || results->kind != Value::Kind::kList) return {};
    NcclTestsTable table;
    table.where = at(*results);
    if (of_perf) {
      table.collective = find(root, "collective") ? text(root, "collective") : "all_reduce";
      if (const auto ranks = whole(root, "ranks")) table.ranks = *ranks;
    } else {
      if (const Value* args = find(root, "args"); args && !args->items.empty())
        table.collective = collective_of_program(args->items.front().text);
      if (const Value* devices = find(root, "devices"); devices && !devices->items.empty())
        table.ranks = static_cast<std::int64_t>(devices->items.size());
      read_run(root, table.run);
    }
    for (const Value& result : results->items) {
      if (problems_.full()) break;
      of_perf ? add_perf_row(root, result, table) : add_result(result, table);
    }
    return {std::move(table)};
  }

 private:
  [[nodiscard]] Location at(const Value& value) const {
    return {file_, value.at.line, value.at.column};
  }

  std::optional<double> number(const Value& object, const char* name, double most) {
    const Value* value = find(object, name);
    if (value == nullptr) return std::nullopt;
    return read_number(value->text, at(*value), name, 0, most, problems_);
  }

  std::optional<std::int64_t> whole(const Value& object, const char* name) {
    const auto value = number(object, name, static_cast<double>(kMaxLogBytes));
    if (!value) return std::nullopt;
    return static_cast<std::int64_t>(*value);
  }

  std::optional<std::int64_t> required(const Value& object, const char* name) {
    if (find(object, name) == nullptr)
      problems_.add({ProblemCode::kMissing, name}, at(object), "{} is missing", name);
    return whole(object, name);
  }

  /// Returns a number that describes the run; nullopt if it is missing or not a number, because
  /// such facts are optional.
  static std::optional<std::int64_t> fact(const Value& object, const char* name) {
    const Value* value = find(object, name);
    return value == nullptr ? std::nullopt : whole_number<std::int64_t>(value->text);
  }

  static void read_run(const Value& root, NcclTestsRun& run) {
    if (const Value* config = find(root, "config")) {
      run.threads = fact(*config, "nthreads");
      run.gpus_of_thread = fact(*config, "ngpus");
    }
    RankList ranks;
    if (const Value* devices = find(root, "devices")) {
      for (const Value& one : devices->items)
        ranks.add(text(one, "hostname"), text(one, "pid"), text(one, "device_info"));
    }
    ranks.put(run, 0);
    run.nccl_version = text(root, "nccl_version");
    const Value* environment = find(root, "env");
    if (environment == nullptr) return;
    for (const Value& one : environment->items) {
      const std::size_t equals = one.text.find('=');
      if (equals != std::string::npos)
        add_variable(run, std::string_view(one.text).substr(0, equals),
                     std::string_view(one.text).substr(equals + 1));
    }
  }

  static std::string text(const Value& object, const char* name) {
    const Value* value = find(object, name);
    return value == nullptr ? "" : value->text;
  }

  void add_perf_row(const Value& root, const Value& result, NcclTestsTable& table) {
    NcclTestsRow row;
    row.where = at(result);
    const auto bytes = required(result, "bytes");
    const auto elements = required(result, "count");
    const auto type = parse_data_type(text(root, "type"));
    if (!type) problems_.add(at(root), "type is missing, or not a type that tutti perf writes");
    if (!bytes || !elements || !type) return;
    row.bytes = *bytes;
    row.elements = *elements;
    row.type = nccl_name(*type);
    row.redop = find(root, "redop") ? text(root, "redop") : "sum";
    if (row.redop == "none") row.redop.clear();
    row.root = whole(root, "root").value_or(0);
    const std::size_t before = problems_.size();
    row.out_of_place = perf_timing(result, "out_of_place");
    row.in_place = perf_timing(result, "in_place");
    if (!row.out_of_place && !row.in_place && problems_.size() == before)
      problems_.add({ProblemCode::kMissing, "out_of_place"}, at(result),
                    "out_of_place and in_place are both missing");
    if (problems_.size() == before) add_row(table, std::move(row), problems_);
  }

  std::optional<NcclTestsTiming> perf_timing(const Value& result, const char* half) {
    const Value* value = find(result, half);
    if (value == nullptr || value->kind != Value::Kind::kMessage) return std::nullopt;
    const auto us = number(*value, "time_us", kMaxLogUs);
    if (!us) {
      if (find(*value, "time_us") == nullptr)
        problems_.add({ProblemCode::kMissing, "time_us"}, at(*value), "time_us is missing");
      return std::nullopt;
    }
    return NcclTestsTiming{*us, number(*value, "algbw_gb_per_s", kMaxLogGbPerS).value_or(0),
                           number(*value, "busbw_gb_per_s", kMaxLogGbPerS).value_or(0), 0};
  }

  void add_result(const Value& result, NcclTestsTable& table) {
    NcclTestsRow row;
    row.where = at(result);
    const auto bytes = required(result, "size");
    if (!bytes) return;
    row.bytes = *bytes;
    row.type = text(result, "type");
    row.redop = text(result, "redop") == "none" ? "" : text(result, "redop");
    // Tools that store results often keep the size and the bandwidths only.
    const bool is_reduced = find(result, "count") == nullptr;
    if (is_reduced && !set_reduced(row, table)) return;
    if (!is_reduced) {
      const auto elements = whole(result, "count");
      if (!elements) return;
      row.elements = *elements;
    }
    set_root(row, text(result, "root"));
    const std::size_t before = problems_.size();
    row.out_of_place = timing(result, "out_of_place", row, table);
    row.in_place = timing(result, "in_place", row, table);
    if (problems_.size() == before) add_row(table, std::move(row), problems_);
  }

  /// Sets the type and the number of elements of a row that lacks them. Returns false if the size
  /// is not a number of whole elements, or the number of ranks is needed but missing.
  bool set_reduced(NcclTestsRow& row, const NcclTestsTable& table) {
    if (row.type.empty()) row.type = row.bytes % 4 == 0 ? "float" : "half";
    const auto type = data_type_of_nccl_name(row.type);
    const auto kind = parse_collective(table.collective.empty() ? "all_reduce" : table.collective);
    const std::int64_t blocks = kind && has_blocks(*kind) ? table.ranks.value_or(0) : 1;
    if (!type || blocks < 1 || row.bytes % (size_of(*type).count() * blocks) != 0) {
      problems_.add(
          {ProblemCode::kMissing, "count"}, row.where,
          "count is missing, and cannot be computed from the size, type and number of ranks");
      return false;
    }
    row.elements = row.bytes / size_of(*type).count() / blocks;
    if (row.redop.empty() && kind && reduces(*kind)) row.redop = "sum";
    return true;
  }

  /// Returns the time of a row that has only a bandwidth. The time follows from the algorithm
  /// bandwidth or, if the number of ranks is known, from the bus bandwidth.
  std::optional<double> time_of_bandwidth(const Value& half, const NcclTestsRow& row,
                                          const NcclTestsTable& table) {
    const auto bytes = static_cast<double>(row.bytes);
    if (const auto algbw = number(half, "alg_bw", kMaxLogGbPerS); algbw && *algbw > 0)
      return bytes / *algbw / 1e3;
    const auto busbw = number(half, "bus_bw", kMaxLogGbPerS);
    const auto kind = parse_collective(table.collective.empty() ? "all_reduce" : table.collective);
    if (!busbw || !(*busbw > 0) || !kind || table.ranks.value_or(0) < 2) return std::nullopt;
    return bytes * busbw_factor(*kind, *table.ranks) / *busbw / 1e3;
  }

  std::optional<NcclTestsTiming> timing(const Value& result, const char* half,
                                        const NcclTestsRow& row, const NcclTestsTable& table) {
    const Value* value = find(result, half);
    if (value == nullptr || value->kind != Value::Kind::kMessage) return std::nullopt;
    const char* time = find(*value, "time") == nullptr ? "cpu_time" : "time";
    const bool has_time = find(*value, time) != nullptr;
    const auto us =
        has_time ? number(*value, time, kMaxLogUs) : time_of_bandwidth(*value, row, table);
    if (!us) {
      if (!has_time)
        problems_.add({ProblemCode::kMissing, "time"}, at(*value),
                      "time is missing, and cannot be computed without alg_bw, or bus_bw and the "
                      "list of devices");
      return std::nullopt;
    }
    NcclTestsTiming timing;
    timing.us = *us;
    timing.algbw_gb_per_s = number(*value, "alg_bw", kMaxLogGbPerS).value_or(0);
    timing.busbw_gb_per_s = number(*value, "bus_bw", kMaxLogGbPerS).value_or(0);
    // The value is "N/A" or "nan" if the run did not check results.
    if (const Value* wrong = find(*value, "nwrong")) {
      const char* const end = wrong->text.data() + wrong->text.size();
      double count = 0;
      timing.is_checked =
          std::from_chars(wrong->text.data(), end, count).ec == std::errc() && !std::isnan(count);
      if (timing.is_checked && count > 0 && count < 1e15)
        timing.wrong = static_cast<std::int64_t>(count);
    }
    return timing;
  }

  const std::string& file_;
  Problems& problems_;
};

}  // namespace

std::vector<NcclTestsTable> parse_nccl_tests_json(std::string_view text, const std::string& file,
                                                  Problems& problems) {
  const Document document = parse_json(text, file, problems);
  if (!problems.empty()) return {};
  return JsonReader(file, problems).read(document.root);
}

}  // namespace tutti::core
