#include "tools/tutti/perf.h"

#include <algorithm>
#include <atomic>
#include <charconv>
#include <optional>
#include <utility>
#include <vector>

#include "core/scenario/rewrite.h"
#include "core/scenario/scenario.h"
#include "core/timeline/timeline.h"
#include "real/tcp_executor.h"
#include "sim/simulator.h"
#include "tools/tutti/interrupt.h"
#include "tools/tutti/join.h"
#include "tools/tutti/perf_table.h"
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

/// Keeps nothing of a run but how long its all-reduce took, and what is to be known about it.
class Timing : public core::DeafSink {
 public:
  void pack(const core::PackRecord& pack) override { whole_ = pack.end - pack.first_start; }
  void span(core::TrackId, const core::Span& span) override {
    if (span.kind != core::SpanKind::kPackInFlight) return;
    ++ranks_;
    of_ranks_ += core::to_us(span.duration);
  }
  void note(const std::string& note) override { notes.push_back(note); }

  /// Microseconds: where each rank has told how long it took it, the mean of that, as nccl-tests has it: no clock is held
  /// against another's then. Else from the first rank's start to the last one's end. Nothing if the run was interrupted.
  [[nodiscard]] std::optional<double> us() const {
    if (!whole_) return std::nullopt;
    return ranks_ > 0 ? of_ranks_ / ranks_ : core::to_us(*whole_);
  }
  std::vector<std::string> notes;

 private:
  std::optional<Time> whole_;
  double of_ranks_ = 0;  ///< sum
  int ranks_ = 0;
};

/// As nccl-tests names them.
std::optional<core::Reduction> parse_op(const std::string& name) {
  if (name == "sum") return core::Reduction::kSum;
  if (name == "prod") return core::Reduction::kProduct;
  if (name == "max") return core::Reduction::kMax;
  if (name == "min") return core::Reduction::kMin;
  if (name == "avg") return core::Reduction::kMean;
  return std::nullopt;
}

/// The first of these options that was given.
std::optional<std::string> first_given(const PerfOptions& options) {
  const JoinOptions& join = options.real.join;
  const std::pair<const char*, bool> all[] = {{"-n", options.iterations.has_value()},
                                              {"-w", options.warm_up.has_value()},
                                              {"--transport", !options.real.transport.empty()},
                                              {"--streams", options.real.streams.has_value()},
                                              {"--timeout-seconds", options.real.timeout_seconds.has_value()},
                                              {"--listen", !join.listen.empty()},
                                              {"--secret-file", !join.secret_file.empty()},
                                              {"--rendezvous", !join.rendezvous.empty()},
                                              {"--launcher", join.launcher != JoinOptions().launcher},
                                              {"--wait-seconds", join.wait_seconds.has_value()}};
  for (const auto& [option, given] : all) {
    if (given) return option;
  }
  return std::nullopt;
}

struct Request {
  Format format = Format::kText;
  core::DataType type = core::DataType::kFloat32;
  core::Reduction reduction = core::Reduction::kSum;
  std::vector<std::int64_t> elements;
  real::LoopOptions loop;
  std::optional<real::TcpExecutorOptions> real;  ///< none: simulated
};

Expected<Request> read_request(const PerfOptions& options) {
  Request request;
  const auto wrong = [](const std::string& text) { return tl::make_unexpected(Error::request(text)); };
  const auto format = choice<Format>("--format", options.format, kFormats, parse_format);
  if (!format) return tl::make_unexpected(format.error());
  request.format = *format;
  if (options.backend != "sim") {
    if (!real::parse_backend(options.backend))
      return wrong(fmt::format("--backend {}: expected one of sim, {}", options.backend, real::kBackends));
    auto real = executor_options(options.real, options.backend);
    if (!real) return tl::make_unexpected(real.error());
    request.real = std::move(*real);
  } else if (const auto given = first_given(options)) {
    return wrong(fmt::format("{} is for a real run; the simulator has no use for it (--backend tcp)", *given));
  }
  const auto op = choice<core::Reduction>("--op", options.op, "sum, prod, max, min, avg", parse_op);
  if (!op) return tl::make_unexpected(op.error());
  request.reduction = *op;
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
  real::LoopOptions& loop = request.loop;
  loop.iterations = options.iterations.value_or(loop.iterations);
  loop.warm_up = options.warm_up.value_or(loop.warm_up);
  if (loop.iterations < 1 || loop.iterations > 100'000'000) return wrong("-n must be from 1 to 100000000");
  if (loop.warm_up < 0 || loop.warm_up > 100'000) return wrong("-w must be from 0 to 100000");
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

/// Measures one size after the other and prints each as it is known.
class Measuring {
 public:
  Measuring(const Request& request, const core::Scenario& scenario, const Environment& environment,
            real::TcpExecutor* processes)
      : request_(request), scenario_(scenario), environment_(environment), processes_(processes) {}

  /// Answers the exit status: what was measured is printed whatever it is.
  int all(PerfTable& table) {
    for (std::size_t i = 0; i < request_.elements.size() && !interrupt_.happened(); ++i) {
      Timing timing;
      if (const auto ran = one(i, timing); !ran) {
        progress_.clear();
        table.end(&ran.error());
        return report(ran.error());
      }
      const auto us = timing.us();
      if (!us) break;  // interrupted
      progress_.clear();
      if (const int printed = table.add(row(request_.elements[i], *us), timing.notes); printed != kDone) return printed;
    }
    progress_.clear();
    const int printed = table.end(nullptr);
    return interrupt_.happened() ? static_cast<int>(kRunFailed) : printed;
  }

 private:
  Expected<void> one(std::size_t i, Timing& timing) {
    const auto sizes = request_.elements.size();
    const auto scenario = core::read_scenario(core::with_one_buffer(scenario_.text, scenario_.file, request_.type,
                                                                    request_.elements[i], 1, request_.reduction),
                                              scenario_.file, environment_.library);
    if (!scenario) return tl::make_unexpected(scenario.error());
    core::RunControl control;
    control.cancel = &stop_;
    control.progress = [&](double share) {
      progress_.update((static_cast<double>(i) + share) / static_cast<double>(sizes));
      if (interrupt_.happened()) stop_.store(true);
    };
    core::RecordOptions record;
    record.level = core::RecordLevel::kNone;
    if (!processes_) return simulator_.run(*scenario, record, control, timing);
    record.level = core::RecordLevel::kPacks;  // what each rank took
    record.last_worker = scenario->cluster->workers() - 1;
    processes_->expect_another(i + 1 < sizes);
    return processes_->run(*scenario, record, control, timing);
  }

  [[nodiscard]] PerfRow row(std::int64_t elements, double us) const {
    const auto n = static_cast<double>(scenario_.cluster->replicas());
    PerfRow row;
    row.elements = elements;
    row.bytes = elements * core::size_of(request_.type).count();
    row.us = processes_ ? us / request_.loop.iterations : us;
    row.algbw = row.us > 0 ? static_cast<double>(row.bytes) / row.us / 1e3 : 0;
    row.busbw = row.algbw * 2 * (n - 1) / n;
    return row;
  }

  const Request& request_;
  const core::Scenario& scenario_;
  const Environment& environment_;
  sim::Simulator simulator_;
  real::TcpExecutor* processes_;
  Interrupt interrupt_;
  Progress progress_{"measuring"};
  std::atomic<bool> stop_{false};
};

int measure(const PerfOptions& options, const Request& request, const Environment& environment,
            real::TcpExecutor* processes) {
  const auto scenario = core::load_scenario(options.scenario, environment.library);
  if (!scenario) return report(scenario.error());
  PerfSubject subject{*scenario, request.type, options.op, options.backend, "", false};
  if (request.real) {
    subject.transport = request.real->transport;
    subject.joined = request.real->gathering.spawn != real::Gathering::Spawn::kAll;
  }
  return Measuring(request, *scenario, environment, processes).all(*make_perf_table(request.format, subject));
}

}  // namespace

int perf(const PerfOptions& options, const Environment& environment) {
  auto request = read_request(options);
  if (!request) return report(request.error());
  if (!request->real) return measure(options, *request, environment, nullptr);
  auto part = own_part(options.real.join);
  if (!part) return report(part.error());
  // The same command runs everywhere; --listen is for the one that coordinates.
  if (!part->coordinates) return join_run(*part, -1, "", false);
  request->real->gathering = part->gathering;
  request->real->loop = request->loop;
  real::TcpExecutor processes(*request->real);
  const int status = measure(options, *request, environment, &processes);
  // Also those who were told to come again for a size that is not measured any more.
  if (status == kRunFailed) processes.turn_away(Error::run("rank 0 has ended the benchmark, and says why"));
  if (status == kWrongRequest) processes.turn_away(Error::request("there is no run: rank 0 says why"));
  return status;
}

}  // namespace tutti::tools
