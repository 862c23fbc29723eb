#include "tools/tutti/perf/perf_table.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/measured/nccl_tests.h"
#include "core/text/report.h"
#include "tools/tutti/io/terminal.h"
#include "tools/tutti/perf/perf_columns.h"

namespace tutti::tools {
namespace {

using core::Report;

/// Describes the strategy. Omits settings that have an effect only if there are several gradients,
/// because the table has a single buffer.
std::string how(const core::Scenario& scenario) {
  const core::Strategy& requested = scenario.strategy;
  core::Strategy plain = core::Strategy::for_algorithm(requested.algorithm);
  plain.shards = requested.shards;
  plain.channels = requested.channels;
  plain.staging = requested.staging;
  plain.spec = requested.spec;
  plain.custom = requested.custom;
  return core::describe(plain);
}

std::string where(const PerfSubject& subject) {
  if (subject.backend == "sim") return "simulated, without verification of elements";
  const std::string medium = subject.transport == "shm" ? "shared memory" : "tcp";
  const std::string workers = subject.joined ? "workers that joined" : "processes of this machine";
  if (subject.backend == "tcp") return fmt::format("run over {} by {}", medium, workers);
  if (subject.backend == "nccl") return "run by NCCL, " + workers;
  return fmt::format("run on CUDA devices, between {} over {}", workers, medium);
}

/// Returns the name used in titles, such as "reduce-scatter".
std::string name_of(core::CollectiveKind kind) {
  std::string name(to_string(kind));
  std::replace(name.begin(), name.end(), '_', '-');
  return name;
}

/// Returns the content of the column "redop" of nccl-tests, which shows an operation even for
/// sendrecv.
std::string redop(const PerfSubject& subject) {
  const bool has =
      core::reduces(subject.collective) || subject.collective == core::CollectiveKind::kSendReceive;
  return has ? subject.op : "none";
}

class TextTable : public PerfTable {
 public:
  explicit TextTable(const PerfSubject& subject)
      : subject_(subject), columns_(columns(subject), line_width()) {}

  int add(const PerfRow& row, const std::vector<std::string>& notes) override {
    std::string text;
    if (rows_ == 0)
      text =
          fmt::format("# {} by {}, {}, {}\n", name_of(subject_.collective), how(subject_.scenario),
                      describe(*subject_.scenario.cluster), where(subject_));
    // Print each note once, because some notes are the same for all sizes.
    for (const std::string& note : notes) {
      if (notes_seen_.insert(note).second) text += fmt::format("# {}\n", note);
    }
    if (rows_++ == 0) text += columns_.titles();
    std::vector<std::string> cells = {
        std::to_string(row.bytes), std::to_string(row.count),
        std::string(core::nccl_name(subject_.type)), redop(subject_),
        std::to_string(core::has_root(subject_.collective) ? subject_.root : -1)};
    if (subject_.out_of_place) add_half(cells, row.out_of_place);
    if (subject_.in_place) add_half(cells, row.in_place);
    return print_report(text + columns_.row(cells));
  }

  int end(const core::Error* error) override {
    if (rows_ == 0) return kDone;
    const std::string checked =
        subject_.backend == "sim" || error ? "" : "# Out of bounds values : 0 OK\n";
    return print_out(
        checked + fmt::format("# Avg bus bandwidth    : {:g}\n", halves_ > 0 ? sum_ / halves_ : 0));
  }

 private:
  void add_half(std::vector<std::string>& cells, const std::optional<PerfTime>& time) {
    if (!time) {
      cells.insert(cells.end(), 4, "N/A");
      return;
    }
    sum_ += time->busbw;
    ++halves_;
    for (const double number : {time->us, time->algbw, time->busbw})
      cells.push_back(perf_number(number));
    cells.emplace_back(subject_.backend == "sim" ? "N/A" : "0");
  }

  static std::vector<PerfColumn> columns(const PerfSubject& subject) {
    std::vector<PerfColumn> columns = perf_columns_of_request();
    if (subject.out_of_place) add_perf_half(columns, "out-of-place");
    if (subject.in_place) add_perf_half(columns, "in-place");
    return columns;
  }

  PerfSubject subject_;
  PerfColumns columns_;
  std::set<std::string> notes_seen_;
  int rows_ = 0;
  int halves_ = 0;
  double sum_ = 0;
};

class JsonTable : public PerfTable {
 public:
  explicit JsonTable(const PerfSubject& subject) : subject_(subject) {}

  int add(const PerfRow& row, const std::vector<std::string>& notes) override {
    rows_.push_back(row);
    for (const std::string& note : notes) {
      if (notes_seen_.insert(note).second) notes_.push_back(note);
    }
    return kDone;
  }

  int end(const core::Error* error) override {
    if (error && rows_.empty()) return kDone;
    const core::Scenario& scenario = subject_.scenario;
    Report report{{"collective", core::to_string(subject_.collective)},
                  {"backend", subject_.backend},
                  {"transport", core::unless_empty(subject_.transport)},
                  {"cluster", describe(*scenario.cluster)},
                  {"strategy", how(scenario)},
                  {"ranks", scenario.cluster->replicas()},
                  {"type", core::to_string(subject_.type)},
                  {"redop", redop(subject_)}};
    if (core::has_root(subject_.collective)) report.add("root", subject_.root);
    report.add("rows", core::list_of(rows_, [](const PerfRow& row) {
                 return Report{{"bytes", row.bytes},
                               {"count", row.count},
                               {"out_of_place", half(row.out_of_place)},
                               {"in_place", half(row.in_place)}};
               }));
    report.add("notes", notes_);
    if (error) report.add("error", error->message());
    return print_out(result_json(report));
  }

 private:
  static core::ReportValue half(const std::optional<PerfTime>& time) {
    if (!time) return {};
    return Report{
        {"time_us", time->us}, {"algbw_gb_per_s", time->algbw}, {"busbw_gb_per_s", time->busbw}};
  }

  PerfSubject subject_;
  std::vector<PerfRow> rows_;
  std::set<std::string> notes_seen_;
  std::vector<std::string> notes_;
};

}  // namespace

std::string perf_number(double value) {
  return fmt::format("{:.{}f}", value,
                     value >= 10'000  ? 0
                     : value >= 1'000 ? 1
                     : value >= 0.1   ? 2
                                      : 3);
}

std::int64_t rounded_elements(core::CollectiveKind kind, std::int64_t ranks, std::int64_t elements,
                              core::DataType type) {
  if (!core::has_blocks(kind)) return elements;
  const std::int64_t in_16_bytes = 16 / core::size_of(type).count();
  return elements / ranks / in_16_bytes * in_16_bytes * ranks;
}

std::unique_ptr<PerfTable> make_perf_table(Format format, const PerfSubject& subject) {
  if (format == Format::kJson) return std::make_unique<JsonTable>(subject);
  return std::make_unique<TextTable>(subject);
}

}  // namespace tutti::tools
