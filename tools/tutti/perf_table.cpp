#include "tools/tutti/perf_table.h"

#include <fmt/format.h>

#include "tools/tutti/json.h"

namespace tutti::tools {
namespace {

std::string nccl_name(core::DataType type) {
  switch (type) {
    case core::DataType::kFloat32: return "float";
    case core::DataType::kFloat64: return "double";
    case core::DataType::kFloat16: return "half";
    case core::DataType::kBfloat16: return "bfloat16";
    case core::DataType::kInt32: return "int32";
    case core::DataType::kInt64: return "int64";
  }
  return "";
}

/// A number as nccl-tests prints it: as many decimals as fit.
std::string number(double value) {
  return fmt::format("{:.{}f}", value, value >= 10'000 ? 0 : value >= 1'000 ? 1 : value >= 0.1 ? 2 : 3);
}

/// The strategy without what only concerns several gradients.
std::string how(const core::Scenario& scenario) {
  const core::Strategy& asked = scenario.strategy;
  core::Strategy plain = core::Strategy::for_algorithm(asked.algorithm);
  plain.shards = asked.shards;
  plain.channels = asked.channels;
  plain.staging = asked.staging;
  return core::describe(plain);
}

std::string where(const PerfSubject& subject) {
  if (subject.backend == "sim") return "simulated; no elements are compared";
  const std::string medium = subject.transport == "shm" ? "shared memory" : "tcp";
  const std::string workers = subject.joined ? "workers that joined" : "processes of this machine";
  if (subject.backend == "tcp") return fmt::format("run over {} by {}", medium, workers);
  if (subject.backend == "nccl") return "run by NCCL, " + workers;
  return fmt::format("run on CUDA devices, between {} over {}", workers, medium);
}

class TextTable : public PerfTable {
 public:
  explicit TextTable(const PerfSubject& subject) : subject_(subject) {}

  int add(const PerfRow& row, const std::vector<std::string>& notes) override {
    std::string text;
    if (rows_ == 0)
      text = fmt::format("# all-reduce by {}, {}, {}\n", how(subject_.scenario), describe(*subject_.scenario.cluster),
                         where(subject_));
    // Some notes are the same for all sizes, and others only come up with one.
    for (const std::string& note : notes) {
      if (said_.insert(note).second) text += fmt::format("# {}\n", note);
    }
    if (rows_++ == 0) text += titles();
    sum_ += row.busbw;
    const bool real = subject_.backend != "sim";
    return print_out(text + fmt::format("  {:>12} {:>13} {:>9} {:>7} {:>6} {:>10} {:>8} {:>8} {:>6}\n", row.bytes,
                                        row.elements, nccl_name(subject_.type), subject_.op, -1, number(row.us),
                                        number(row.algbw), number(row.busbw), real ? "0" : "N/A"));
  }

  int end(const core::Error*) override {
    if (rows_ == 0) return kDone;
    return print_out(fmt::format("# Avg bus bandwidth    : {:g}\n", sum_ / rows_));
  }

 private:
  static std::string titles() {
    return fmt::format("#\n# {:>12} {:>13} {:>9} {:>7} {:>6} {:>34}\n", "", "", "", "", "", "in-place") +
           fmt::format("# {:>12} {:>13} {:>9} {:>7} {:>6} {:>10} {:>8} {:>8} {:>6}\n", "size", "count", "type", "redop",
                       "root", "time", "algbw", "busbw", "#wrong") +
           fmt::format("# {:>12} {:>13} {:>9} {:>7} {:>6} {:>10} {:>8} {:>8}\n", "(B)", "(elements)", "", "", "",
                       "(us)", "(GB/s)", "(GB/s)");
  }

  PerfSubject subject_;
  std::set<std::string> said_;
  int rows_ = 0;
  double sum_ = 0;
};

class JsonTable : public PerfTable {
 public:
  explicit JsonTable(const PerfSubject& subject) : subject_(subject) {}

  int add(const PerfRow& row, const std::vector<std::string>& notes) override {
    rows_.push_back(row);
    for (const std::string& note : notes) {
      if (said_.insert(note).second) notes_.push_back(note);
    }
    return kDone;
  }

  int end(const core::Error* error) override {
    if (error && rows_.empty()) return kDone;
    Json json;
    json.object([&] {
      json.field("collective", std::string_view("all_reduce"));
      json.field("backend", std::string_view(subject_.backend));
      if (!subject_.transport.empty()) json.field("transport", std::string_view(subject_.transport));
      json.field("cluster", std::string_view(describe(*subject_.scenario.cluster)));
      json.field("strategy", std::string_view(how(subject_.scenario)));
      json.field("ranks", subject_.scenario.cluster->replicas());
      json.field("type", core::to_string(subject_.type));
      json.field("redop", std::string_view(subject_.op));
      json.key("rows").array(rows_, [&](const PerfRow& row) {
        json.object([&] {
          json.field("bytes", row.bytes);
          json.field("elements", row.elements);
          json.field("time_us", row.us);
          json.field("algbw_gb_per_s", row.algbw);
          json.field("busbw_gb_per_s", row.busbw);
        });
      });
      json.key("notes").array(notes_, [&](const std::string& note) { json.value(std::string_view(note)); });
      if (error) json.field("error", std::string_view(error->message()));
    });
    return print_out(json.text());
  }

 private:
  PerfSubject subject_;
  std::vector<PerfRow> rows_;
  std::set<std::string> said_;
  std::vector<std::string> notes_;
};

}  // namespace

std::unique_ptr<PerfTable> make_perf_table(Format format, const PerfSubject& subject) {
  if (format == Format::kJson) return std::make_unique<JsonTable>(subject);
  return std::make_unique<TextTable>(subject);
}

}  // namespace tutti::tools
