#include "tools/tutti/perf.h"

#include <algorithm>
#include <atomic>
#include <charconv>
#include <optional>

#include "core/scenario/rewrite.h"
#include "core/scenario/scenario.h"
#include "core/timeline/timeline.h"
#include "real/tcp_executor.h"
#include "sim/simulator.h"
#include "tools/tutti/interrupt.h"
#include "tools/tutti/json.h"
#include "tools/tutti/progress.h"

namespace tutti::tools {
namespace {

using core::Error;
using core::Expected;
using core::Time;

/// "8", "64K", "128M", "1G": as nccl-tests reads them, with powers of 1024.
std::optional<std::int64_t> parse_size(const std::string& written) {
  std::int64_t number = 0;
  const char* const end = written.data() + written.size();
  const auto [stop, status] = std::from_chars(written.data(), end, number);
  if (status != std::errc() || number < 0 || end - stop > 1) return std::nullopt;
  const char unit = stop == end ? ' ' : *stop;
  const int shift = unit == ' ' ? 0 : unit == 'K' || unit == 'k' ? 10 : unit == 'M' ? 20 : unit == 'G' ? 30 : -1;
  constexpr std::int64_t kMost = std::int64_t{1} << 44;
  if (shift < 0 || number > kMost >> shift) return std::nullopt;
  return number << shift;
}

/// Keeps nothing of a run but how long its packs took (of a real run the one of all iterations together), and what is to be
/// known about it.
class PackTimes : public core::DeafSink {
 public:
  void pack(const core::PackRecord& pack) override { times.push_back(pack.end - pack.first_start); }
  void note(const std::string& note) override { notes.push_back(note); }
  std::vector<Time> times;
  std::vector<std::string> notes;
};

struct Row {
  std::int64_t bytes = 0;
  std::int64_t elements = 0;
  double us = 0;
  double algbw = 0;  ///< bytes / time, GB/s
  double busbw = 0;  ///< algbw · 2(n - 1)/n: what a link would carry in a ring
};

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

std::string text_of(const core::Scenario& scenario, core::DataType type, const std::vector<Row>& rows,
                    const std::string& backend, const std::string& transport, const std::vector<std::string>& notes) {
  const bool real = backend != "sim";
  const std::string medium = transport == "shm" ? "shared memory" : "tcp";
  const std::string ran =
      !real              ? "simulated; no elements are compared"
      : backend == "tcp" ? "run over " + medium + " by processes of this machine; every element compared"
      : backend == "nccl"
          ? "run by NCCL, processes of this machine; every element compared"
          : "run on CUDA devices, between processes of this machine over " + medium + "; every element compared";
  std::string text = fmt::format("# all-reduce by {}, {}, {}\n", how(scenario), describe(*scenario.cluster), ran);
  for (const std::string& note : notes) text += fmt::format("# {}\n", note);
  text += "#\n";
  text += fmt::format("# {:>12} {:>13} {:>9} {:>7} {:>6} {:>34}\n", "", "", "", "", "", "in-place");
  text += fmt::format("# {:>12} {:>13} {:>9} {:>7} {:>6} {:>10} {:>8} {:>8} {:>6}\n", "size", "count", "type", "redop",
                      "root", "time", "algbw", "busbw", "#wrong");
  text += fmt::format("# {:>12} {:>13} {:>9} {:>7} {:>6} {:>10} {:>8} {:>8}\n", "(B)", "(elements)", "", "", "", "(us)",
                      "(GB/s)", "(GB/s)");
  double sum = 0;
  for (const Row& row : rows) {
    text += fmt::format("  {:>12} {:>13} {:>9} {:>7} {:>6} {:>10} {:>8} {:>8} {:>6}\n", row.bytes, row.elements,
                        nccl_name(type), "sum", -1, number(row.us), number(row.algbw), number(row.busbw),
                        real ? "0" : "N/A");
    sum += row.busbw;
  }
  return text +
         fmt::format("# Avg bus bandwidth    : {:g}\n", rows.empty() ? 0 : sum / static_cast<double>(rows.size()));
}

std::string json_of(const core::Scenario& scenario, core::DataType type, const std::vector<Row>& rows,
                    const std::string& backend, const std::string& transport) {
  Json json;
  json.object([&] {
    json.field("backend", std::string_view(backend));
    if (!transport.empty()) json.field("transport", std::string_view(transport));
    json.field("cluster", std::string_view(describe(*scenario.cluster)));
    json.field("strategy", std::string_view(how(scenario)));
    json.field("ranks", scenario.cluster->replicas());
    json.field("type", core::to_string(type));
    json.key("rows").array(rows, [&](const Row& row) {
      json.object([&] {
        json.field("bytes", row.bytes);
        json.field("elements", row.elements);
        json.field("time_us", row.us);
        json.field("algbw_gb_per_s", row.algbw);
        json.field("busbw_gb_per_s", row.busbw);
      });
    });
  });
  return json.text();
}

struct Request {
  bool real = false;
  real::Backend backend = real::Backend::kTcp;
  std::string transport;
  core::DataType type = core::DataType::kFloat32;
  std::vector<std::int64_t> elements;
  std::int32_t iterations = 20;
  std::int32_t warm_up = 5;
};

Expected<Request> read_request(const PerfOptions& options) {
  Request request;
  const auto wrong = [](const std::string& text) { return tl::make_unexpected(Error::request(text)); };
  request.real = options.backend != "sim";
  const auto backend = request.real ? real::parse_backend(options.backend) : real::Backend::kTcp;
  if (!backend) return wrong(fmt::format("--backend {}: expected one of sim, {}", options.backend, real::kBackends));
  request.backend = *backend;
  if (!request.real && !options.transport.empty())
    return wrong("--transport is that of a real run; the simulator needs none (--backend tcp)");
  if (!options.transport.empty() && options.transport != "tcp" && options.transport != "shm")
    return wrong(fmt::format("--transport {}: expected tcp or shm", options.transport));
  if (request.real) request.transport = options.transport.empty() ? "tcp" : options.transport;
  const auto type = core::parse_data_type(options.type);
  if (!type)
    return wrong(
        fmt::format("--type {}: expected one of float32, float64, float16, bfloat16, int32, int64", options.type));
  request.type = *type;
  const auto least = parse_size(options.least);
  const auto most = parse_size(options.most);
  if (!least) return wrong(fmt::format("-b {}: expected bytes, such as 8, 64K, 128M or 1G", options.least));
  if (!most) return wrong(fmt::format("-e {}: expected bytes, such as 8, 64K, 128M or 1G", options.most));
  if (*least > *most) return wrong(fmt::format("-b {} is more than -e {}", options.least, options.most));
  if (!(options.factor > 1)) return wrong("-f must be above 1");
  if (!request.real && (options.iterations || options.warm_up))
    return wrong("-n and -w repeat a real run; the simulator needs no repetition (--backend tcp)");
  request.iterations = options.iterations.value_or(request.iterations);
  request.warm_up = options.warm_up.value_or(request.warm_up);
  if (request.iterations < 1 || request.iterations > 100'000'000) return wrong("-n must be from 1 to 100000000");
  if (request.warm_up < 0 || request.warm_up > 100'000) return wrong("-w must be from 0 to 100000");
  const std::int64_t item = core::size_of(*type).count();
  for (std::int64_t bytes = std::max(*least, item); bytes <= *most;) {
    const std::int64_t elements = bytes / item;
    if (request.elements.empty() || elements > request.elements.back()) request.elements.push_back(elements);
    const double next = static_cast<double>(bytes) * options.factor;
    if (next > static_cast<double>(*most)) break;
    bytes = std::max(bytes + 1, static_cast<std::int64_t>(next));
  }
  if (request.elements.empty()) return wrong(fmt::format("-e {} is less than one element", options.most));
  return request;
}

}  // namespace

int perf(const PerfOptions& options, const Environment& environment) {
  const auto format = choice<Format>("--format", options.format, kFormats, parse_format);
  if (!format) return report(format.error());
  const auto request = read_request(options);
  if (!request) return report(request.error());
  const auto scenario = core::load_scenario(options.scenario, environment.library);
  if (!scenario) return report(scenario.error());

  sim::Simulator simulator;
  real::TcpExecutorOptions process_options;
  process_options.program = "/proc/self/exe";
  process_options.backend = request->backend;
  process_options.transport = request->transport;
  process_options.loop = real::LoopOptions{request->iterations, request->warm_up};
  real::TcpExecutor processes(process_options);
  core::Executor& executor = request->real ? static_cast<core::Executor&>(processes) : simulator;
  const std::int32_t repetitions = request->real ? request->iterations : 1;
  const auto n = static_cast<double>(scenario->cluster->replicas());

  Interrupt interrupt;
  Progress progress("measuring");
  std::atomic<bool> stop{false};
  std::vector<Row> rows;
  std::vector<std::string> notes;  // of the devices: they are the same for all sizes
  for (std::size_t i = 0; i < request->elements.size() && !interrupt.happened(); ++i) {
    const std::int64_t elements = request->elements[i];
    const auto one =
        core::read_scenario(core::with_one_buffer(scenario->text, scenario->file, request->type, elements, 1),
                            scenario->file, environment.library);
    if (!one) return report(one.error());
    PackTimes packs;
    core::RunControl control;
    control.cancel = &stop;
    control.progress = [&](double share) {
      progress.update((static_cast<double>(i) + share) / static_cast<double>(request->elements.size()));
      if (interrupt.happened()) stop.store(true);
    };
    core::RecordOptions record;
    record.level = core::RecordLevel::kNone;
    if (const auto ran = executor.run(*one, record, control, packs); !ran) return report(ran.error());
    if (packs.times.size() != 1) break;  // interrupted
    if (request->backend != real::Backend::kTcp) notes = packs.notes;
    Row row;
    row.elements = elements;
    row.bytes = elements * core::size_of(request->type).count();
    row.us = core::to_us(packs.times.front()) / repetitions;
    row.algbw = row.us > 0 ? static_cast<double>(row.bytes) / row.us / 1e3 : 0;
    row.busbw = row.algbw * 2 * (n - 1) / n;
    rows.push_back(row);
  }
  const int printed = print_out(
      *format == Format::kJson ? json_of(*scenario, request->type, rows, options.backend, request->transport)
                               : text_of(*scenario, request->type, rows, options.backend, request->transport, notes));
  return interrupt.happened() ? static_cast<int>(kRunFailed) : printed;
}

}  // namespace tutti::tools
