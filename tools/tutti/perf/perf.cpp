// perf() selects one of four ways: a simulated or a real run of a scenario, NCCL's model of a named
// cluster (perf_nccl.cpp), or a comparison of several algorithms (perf_algorithms.cpp). Options,
// sizes and rounding follow nccl-tests. For a scenario, each row is a separate scenario with a
// single buffer. The scenario of a row is executed like any other scenario, and the row is printed
// as soon as it is complete. In real runs, worker processes that were started elsewhere stay and
// also execute the next row. The time of a measured row is the mean of the ranks' durations, as in
// nccl-tests, since clocks of different ranks cannot be compared. The time of a simulated row is
// the time from the first start to the last end. The file perf_request.cpp reads the
// options, and perf_table.cpp prints the tables.

#include "tools/tutti/perf/perf.h"

#include <algorithm>
#include <atomic>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "core/base/check.h"
#include "core/custom/custom_algorithm.h"
#include "core/lowering/reduction_scope.h"
#include "core/measured/nccl_tests.h"
#include "core/scenario/rewrite.h"
#include "core/scenario/scenario.h"
#include "core/timeline/timeline.h"
#include "real/coordinator/tcp_executor.h"
#include "real/worker/run_limits.h"
#include "sim/simulator.h"
#include "tools/tutti/io/interrupt.h"
#include "tools/tutti/io/progress.h"
#include "tools/tutti/join.h"
#include "tools/tutti/perf/collective_timing.h"
#include "tools/tutti/perf/perf_algorithms.h"
#include "tools/tutti/perf/perf_request.h"
#include "tools/tutti/perf/perf_table.h"

namespace tutti::tools {
namespace {

using core::Error;
using core::Expected;
using core::ProblemCode;
using core::Time;

/// Measures the sizes in sequence, and prints each result as soon as it is available.
class Measuring {
 public:
  Measuring(const PerfRequest& request, const core::Scenario& scenario,
            const Environment& environment, real::TcpExecutor* processes)
      : request_(request), scenario_(scenario), environment_(environment), processes_(processes) {
    const core::CollectiveKind kind = request.what.collective;
    for (const std::int64_t requested : request.sizes) {
      const std::int64_t elements = rounded_elements(kind, ranks(), requested, request.what.type);
      if (elements > 0 && (elements_.empty() || elements > elements_.back()))
        elements_.push_back(elements);
    }
    if (request.out_of_place) halves_.push_back(true);
    if (request.in_place && core::can_be_in_place(kind)) halves_.push_back(false);
  }

  /// Runs all sizes and returns the exit status. Rows that were measured are printed even if a
  /// later size fails.
  int all(PerfTable& table) {
    if (elements_.empty()) {
      return refuse({ProblemCode::kTooSmall, "-e"},
                    "-e: {} between {} ranks needs at least {} bytes, 16 per rank",
                    to_string(request_.what.collective), ranks(), 16 * ranks());
    }
    std::vector<std::string> notes = left_out();
    for (const std::int64_t elements : elements_) {
      auto row = this->row(elements, notes);
      progress_.clear();
      if (!row) {
        table.end(&row.error());
        return report(row.error());
      }
      if (!*row) break;  // interrupted
      if (const int printed = table.add(**row, notes); printed != kDone) return printed;
      notes.clear();
    }
    progress_.clear();
    if (!interrupt_.happened()) return table.end(nullptr);
    const Error stopped = Error::run(
        {ProblemCode::kStopped}, "interrupted; the table lacks the sizes that were not measured");
    table.end(&stopped);
    return report(stopped);
  }

 private:
  [[nodiscard]] std::int64_t ranks() const { return scenario_.cluster->replicas(); }

  /// Returns a note about the parts of the scenario that do not affect the table.
  [[nodiscard]] std::vector<std::string> left_out() const {
    std::string what;
    const auto add = [&what](bool there, const char* name) {
      if (there) what += fmt::format("{}{}", what.empty() ? "" : ", ", name);
    };
    add(scenario_.run.conditions.any(), "conditions");
    add(!scenario_.communicators.empty(), "communicators");
    add(scenario_.strategy.compression.has_value(), "compression");
    add(scenario_.strategy.pad_packs, "pad_packs");
    if (what.empty()) return {};
    return {
        fmt::format("tutti perf times a single collective of all replicas, and ignores these "
                    "settings of the scenario: {}",
                    what)};
  }

  /// Runs one size; returns nullopt if the run was interrupted.
  Expected<std::optional<PerfRow>> row(std::int64_t elements, std::vector<std::string>& notes) {
    PerfRow row;
    row.bytes = elements * core::size_of(request_.what.type).count();
    row.count = core::has_blocks(request_.what.collective) ? elements / ranks() : elements;
    for (const bool out_of_place : halves_) {
      if (interrupt_.happened()) return std::nullopt;
      CollectiveTiming timing;
      if (const auto ran = one(elements, out_of_place, timing); !ran) return failed(ran);
      const auto us = timing.us();
      if (!us) return std::nullopt;
      (out_of_place ? row.out_of_place : row.in_place) = time(row.bytes, *us);
      notes.insert(notes.end(), timing.notes.begin(), timing.notes.end());
    }
    return row;
  }

  Expected<void> one(std::int64_t elements, bool out_of_place, CollectiveTiming& timing) {
    const std::size_t runs = elements_.size() * halves_.size();
    const auto number = static_cast<double>(done_++);
    core::OneBuffer what = request_.what;
    what.elements = elements;
    what.out_of_place = out_of_place;
    const auto scenario =
        core::read_scenario(core::with_one_buffer(scenario_.text, scenario_.file, what),
                            scenario_.file, environment_.library);
    if (!scenario) return tl::make_unexpected(core::without_lines(scenario.error()));
    TUTTI_CHECK(scenario->strategy.collective == what.collective, "{} instead of {}",
                to_string(scenario->strategy.collective), to_string(what.collective));
    core::RunControl control;
    control.cancel = &stop_;
    control.progress = [&](double share) {
      progress_.update((number + share) / static_cast<double>(runs));
      if (interrupt_.happened()) stop_.store(true);
    };
    core::RecordOptions record;
    record.level = core::RecordLevel::kNone;
    if (!processes_) return simulator_.run(*scenario, record, control, timing);
    record.level = core::RecordLevel::kPacks;  // records the time of each rank
    record.last_worker = scenario->cluster->workers() - 1;
    processes_->expect_another(done_ < runs);
    return processes_->run(*scenario, record, control, timing);
  }

  [[nodiscard]] PerfTime time(std::int64_t bytes, double us) const {
    PerfTime time;
    time.us = processes_ ? us / request_.loop.iterations : us;
    time.algbw = time.us > 0 ? static_cast<double>(bytes) / time.us / 1e3 : 0;
    time.busbw = time.algbw * core::busbw_factor(request_.what.collective, ranks());
    return time;
  }

  const PerfRequest& request_;
  const core::Scenario& scenario_;
  const Environment& environment_;
  std::vector<std::int64_t> elements_;  ///< number of elements of each row
  std::vector<bool> halves_;  ///< the parts of the table: true for out of place, false for in place
  std::size_t done_ = 0;      ///< number of runs that were begun
  sim::Simulator simulator_;
  real::TcpExecutor* processes_;
  Interrupt interrupt_;
  Progress progress_{"measuring"};
  std::atomic<bool> stop_{false};
};

int measure(const PerfOptions& options, const PerfRequest& request, const Environment& environment,
            real::TcpExecutor* processes) {
  const auto scenario = load_scenario(options.scenario, environment);
  if (!scenario) return report(scenario.error());
  const core::ReductionScope who = core::reduction_scope(scenario->strategy, scenario->plan);
  if (core::on_servers(who) || who == core::ReductionScope::kNoReduction) {
    return report(Error::request({ProblemCode::kUnsupported, "Strategy"},
                                 fmt::format("tutti perf times a collective of all replicas, but "
                                             "{} has none; use an algorithm (ring, nccl, …)",
                                             scenario->strategy.distribution_name),
                                 {scenario->file, 0, 0}));
  }
  if (const auto& custom = scenario->strategy.custom;
      custom && !core::executes(*custom->text, request.what.collective)) {
    const std::string_view described = to_string(custom->text->kind());
    return report(
        Error::request({ProblemCode::kConflict, "--collective"},
                       fmt::format("--collective {}: \"{}\" describes {}; use --collective {}",
                                   options.collective, custom->file, described, described),
                       {scenario->file, 0, 0}));
  }
  // A framework may use different algorithms for different collectives. The heading has the
  // algorithm of the table's collective.
  core::OneBuffer first = request.what;
  first.elements = request.sizes.front();
  first.out_of_place = request.out_of_place;
  const auto timed =
      core::read_scenario(core::with_one_buffer(scenario->text, scenario->file, first),
                          scenario->file, environment.library);
  PerfSubject subject{timed ? *timed : *scenario};
  subject.type = request.what.type;
  subject.collective = request.what.collective;
  subject.op = options.op;
  subject.root = request.what.root;
  subject.out_of_place = request.out_of_place;
  subject.in_place = request.in_place;
  subject.backend = options.backend;
  if (request.real) {
    subject.transport = request.real->transport;
    subject.joined = request.real->gathering.spawn != real::Gathering::Spawn::kAll;
  }
  return Measuring(request, *scenario, environment, processes)
      .all(*make_perf_table(request.format, subject));
}

}  // namespace

/// Prints NCCL's own choice and time, without a scenario.
int perf_of_nccl(const PerfOptions& options, const PerfRequest& request,
                 const Environment& environment) {
  const auto wrong = [](const char* option, const std::string& text) {
    return report(Error::request({ProblemCode::kConflict, option}, text));
  };
  if (!options.scenario.file.empty())
    return wrong("--cluster", "a scenario and --cluster exclude each other; give only one of them");
  if (request.real) return wrong("--backend", "--cluster only predicts times; remove --backend");
  if (!options.scenario.tf_config.empty())
    return wrong("--tf-config", "--tf-config applies to scenarios; with --cluster use --nodes");
  if (options.scenario.ranks)
    return wrong("--ranks", "--ranks applies to scenarios; with --cluster use --nodes and --gpus");
  if (options.place != "both" && options.place != "out")
    return wrong("--place",
                 "--place in: with --cluster, NCCL's times are predicted only out of place; use "
                 "--place out, or give a scenario instead of --cluster");
  NcclPerfRequest requested;
  requested.options = options.nccl;
  requested.options.calibration = options.scenario.calibration;
  requested.set = options.scenario.set;
  requested.format = request.format;
  requested.collective = request.what.collective;
  requested.root = request.what.root;
  requested.type = request.what.type;
  requested.reduction = request.what.reduction;
  requested.op = options.op;
  requested.sizes = request.sizes;
  const PerfOptions defaults;
  requested.default_sizes = options.least == defaults.least && options.most == defaults.most &&
                            options.factor == defaults.factor && options.step.empty();
  // The remaining options have the names of nccl-tests.
  if (const auto threads = requested.options.threads) {
    const std::int32_t gpus = requested.options.gpus.value_or(1);
    if (*threads < 1)
      return refuse({ProblemCode::kTooSmall, "-t"}, "-t {}: expected 1 or more", *threads);
    if (*threads > 1 && gpus > 1)
      return refuse({ProblemCode::kUnsupported, "-t"},
                    "-t {0} -g {1}: several threads with several GPUs each are not modelled; use "
                    "-t {2} for a thread per GPU, or -t 1 -g {2} for one thread",
                    *threads, gpus, std::int64_t{*threads} * gpus);
    requested.options.driving = *threads > 1 ? "thread_per_gpu" : "one_thread";
    requested.options.gpus = std::max(*threads, gpus);
  }
  if (const auto kind = requested.options.local_register) {
    constexpr const char* kKinds[] = {"plain", "registered", "symmetric"};
    if (*kind < 0 || *kind > 2)
      return refuse(out_of_range("-R", *kind, 2), "-R {}: expected 0, 1 or 2", *kind);
    requested.options.buffers = kKinds[*kind];
  }
  return perf_nccl(std::move(requested), environment);
}

/// Executes `coordinate` with the executor of the real run, and returns its exit status. If
/// another process coordinates the run, this process runs as a worker instead.
int run_real(const PerfOptions& options, PerfRequest& request,
             const std::function<int(real::TcpExecutor&)>& coordinate) {
  auto part = own_part(options.real.join);
  if (!part) return report(part.error());
  // The same command line is used on all machines. Only the coordinator uses --listen.
  if (!part->coordinates) return join_run(*part, -1, "", false);
  request.real->gathering =
      gathering_of(part->gathering, options.real, request.real->timeout_seconds);
  request.real->loop = request.loop;
  real::TcpExecutor processes(*request.real);
  const int status = coordinate(processes);
  // Also end processes that were asked to join again for a size that will not be measured.
  if (status == kRunFailed)
    processes.refuse_joiners(
        Error::run("rank 0 has ended the benchmark; see its output for the reason"));
  if (status == kWrongRequest)
    processes.refuse_joiners(
        Error::request("the run did not start; see the output of rank 0 for the reason"));
  return status;
}

/// Compares several algorithms.
int perf_of_algorithms(const PerfOptions& options, PerfRequest& request,
                       const Environment& environment) {
  const auto wrong = [](const char* option, const std::string& text) {
    return report(Error::request({ProblemCode::kConflict, option}, text));
  };
  if (!options.nccl.cluster.empty())
    return wrong("--cluster",
                 "--algorithms needs a scenario, not --cluster; to include NCCL, name nccl among "
                 "the algorithms");
  if (options.scenario.file.empty())
    return refuse({ProblemCode::kMissing, "--algorithms"},
                  "perf --algorithms: name a scenario, whose cluster is used");
  PerfAlgorithmsRequest compared;
  compared.scenario = options.scenario;
  compared.algorithms = options.algorithms;
  compared.what = request.what;
  compared.what.out_of_place = options.place == "out" || !request.in_place ||
                               !core::can_be_in_place(request.what.collective);
  compared.sizes = request.sizes;
  compared.format = options.format;
  compared.backend = options.backend;
  if (!request.real) return perf_algorithms(compared, environment, nullptr);
  compared.transport = request.real->transport;
  compared.iterations = request.loop.iterations;
  return run_real(options, request, [&](real::TcpExecutor& processes) {
    return perf_algorithms(compared, environment, &processes);
  });
}

/// Returns the collective that the options specify, or else the collective of the scenario. Errors
/// in the scenario are reported later.
std::string collective_of(const PerfOptions& options, const Environment& environment) {
  if (options.scenario.file.empty()) return "all_reduce";
  const auto scenario = load_scenario(options.scenario, environment);
  return scenario ? std::string(to_string(scenario->strategy.collective)) : "all_reduce";
}

int perf(const PerfOptions& given_options, const Environment& environment) {
  PerfOptions options = given_options;
  if (options.collective.empty()) options.collective = collective_of(options, environment);
  PerfOptions read = options;
  if (!options.algorithms.empty() && options.format == "csv") read.format = "text";
  auto request = read_perf_request(read);
  if (!request) return report(request.error());
  // Command lines of nccl-tests usually have these options.
  if (!request->real && (options.iterations || options.warm_up))
    print_note("note: -n and -w do not change a prediction, which is the time of one iteration\n");
  if (!options.algorithms.empty()) return perf_of_algorithms(options, *request, environment);
  if (!options.nccl.cluster.empty()) return perf_of_nccl(options, *request, environment);
  if (const char* const given = options.nccl.first_given())
    return refuse({ProblemCode::kUnused, given},
                  "{} applies only to the prediction of NCCL; name the machines with --cluster",
                  given);
  if (options.scenario.file.empty())
    return refuse(
        {ProblemCode::kMissing, "--cluster"},
        "perf: name a scenario, or a machine on which NCCL is predicted (--cluster hgx-h100)");
  if (!request->real) return measure(options, *request, environment, nullptr);
  return run_real(options, *request, [&](real::TcpExecutor& processes) {
    return measure(options, *request, environment, &processes);
  });
}

}  // namespace tutti::tools
