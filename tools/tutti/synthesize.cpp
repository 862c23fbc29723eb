// Finds candidates (core/synthesis), simulates each candidate as soon as it is found, and keeps the
// best candidate. If the user stops the search, the best candidate until then is the result.

#include "tools/tutti/synthesize.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <filesystem>
#include <system_error>

#include <fmt/format.h>

#include "core/base/file.h"
#include "core/edit/overrides.h"
#include "core/measured/nccl_tests.h"
#include "core/scenario/rewrite.h"
#include "core/synthesis/fabric_of_cluster.h"
#include "core/synthesis/synthesis.h"
#include "core/text/report.h"
#include "tools/tutti/io/interrupt.h"
#include "tools/tutti/io/output_file.h"
#include "tools/tutti/io/progress.h"
#include "tools/tutti/io/terminal.h"
#include "tools/tutti/perf/perf_table.h"
#include "tools/tutti/report/table.h"
#include "tools/tutti/scenario_options.h"
#include "tools/tutti/synthesis/ranking.h"
#include "tools/tutti/synthesis/subject.h"

namespace tutti::tools {
namespace {

using core::Error;
using core::Expected;
using core::ProblemCode;
using core::Time;
namespace synthesis = core::synthesis;

/// Parses a size as nccl-tests does, with powers of 1024: "64K", "128M", "1G".
std::optional<std::int64_t> parse_size(const std::string& written) {
  std::int64_t number = 0;
  const char* const end = written.data() + written.size();
  const auto [stop, status] = std::from_chars(written.data(), end, number);
  if (status != std::errc() || number < 1 || end - stop > 1) return std::nullopt;
  const std::string_view units = " KMG";
  const std::size_t unit =
      stop == end ? 0
                  : units.find(static_cast<char>(std::toupper(static_cast<unsigned char>(*stop))));
  constexpr std::int64_t kMax = std::int64_t{1} << 40;
  if (unit == std::string_view::npos || number > kMax >> (10 * unit)) return std::nullopt;
  return number << (10 * unit);
}

struct Request {
  Format format = Format::kText;
  core::CollectiveKind kind = core::CollectiveKind::kAllGather;
  core::DataType type = core::DataType::kFloat32;
  std::int64_t bytes = 0;
  bool as_xml = false;
};

Expected<Request> read_request(const SynthesizeOptions& options) {
  Request request;
  const auto format = format_of(options.format);
  if (!format) return failed(format);
  request.format = *format;
  std::string name = options.collective;
  std::replace(name.begin(), name.end(), '-', '_');
  const auto kind = core::parse_collective(name);
  if (!kind || !synthesis::can_synthesize(*kind))
    return refused({kind ? ProblemCode::kUnsupported : ProblemCode::kUnknownName, "--collective"},
                   "--collective {}: expected one of {}", options.collective,
                   synthesis::synthesized_collectives());
  request.kind = *kind;
  const auto type = core::parse_data_type(options.type);
  if (!type)
    return refused({ProblemCode::kUnknownName, "--type"},
                   "--type {}: expected one of float32, float64, float16, bfloat16, int32, int64",
                   options.type);
  request.type = *type;
  const auto bytes = parse_size(options.bytes);
  if (!bytes)
    return refused({ProblemCode::kSyntax, "--bytes"},
                   "--bytes {}: expected a number of bytes up to 1024G, such as 64K, 128M or 1G",
                   options.bytes);
  request.bytes = *bytes;
  if (options.timeout_seconds && !(*options.timeout_seconds > 0))
    return refused({ProblemCode::kTooSmall, "--timeout-seconds"},
                   "--timeout-seconds must be above 0");
  if (options.scenario.empty() && options.cluster.empty())
    return refused({ProblemCode::kMissing, "--cluster"},
                   "synthesize: name a scenario, or a machine (--cluster dgx-a100 --nodes 2)");
  if (!options.scenario.empty() && !options.cluster.empty())
    return refused({ProblemCode::kConflict, "--cluster"},
                   "a scenario and --cluster exclude each other; give only one of them");
  if (options.rows < 1)
    return refused({ProblemCode::kTooSmall, "--rows"}, "--rows {}: expected 1 or more",
                   options.rows);
  if (!options.output.empty()) {
    const std::string ending = std::filesystem::path(options.output).extension().string();
    request.as_xml = ending == ".xml";
    if (!request.as_xml && ending != ".tutti-algorithm")
      return refused({ProblemCode::kUnknownName, "-o"},
                     "-o {}: expected a name that ends in .tutti-algorithm or .xml",
                     options.output);
    if (request.as_xml && has_root(request.kind))
      return refused(
          {ProblemCode::kUnsupported, "-o"},
          "-o {}: MSCCL's XML does not support {}; use a name that ends in .tutti-algorithm",
          options.output, to_string(request.kind));
  }
  return request;
}

/// Returns a scenario that consists only of the cluster in the options.
Expected<std::string> scenario_text(const SynthesizeOptions& options) {
  if (options.nodes < 1 || options.nodes > 1'000'000'000)
    return refused(out_of_range("--nodes", options.nodes, 1e9), "--nodes {}: expected 1 or more",
                   options.nodes);
  if (options.gpus && *options.gpus < 1)
    return refused({ProblemCode::kTooSmall, "--gpus"}, "--gpus {}: expected 1 or more",
                   *options.gpus);
  if (options.network != "one_switch" && options.network != "rails")
    return refused(
        {ProblemCode::kUnknownName, "--network"},
        "--network {}: expected one_switch or rails; for other networks, name a scenario",
        options.network);
  std::string text =
      fmt::format("cluster {{\n  workers {{ machine: \"{}\" count: {}{} }}\n", options.cluster,
                  options.nodes, options.gpus ? fmt::format(" replicas: {}", *options.gpus) : "");
  if (options.nodes > 1)
    text += fmt::format("  network {{ kind: {} {} }}\n",
                        options.network == "rails" ? "RAILS" : "ONE_SWITCH",
                        options.link.empty() ? std::string("latency_us: 2")
                                             : fmt::format("link: \"{}\"", options.link));
  return text +
         "}\nworkload {\n  variable { name: \"buffer\" shape: 1048576 }\n  update_ms: 0\n}\n"
         "strategy { algorithm: \"ring\" staging: DIRECT }\nrun { steps: 1 }\n";
}

Expected<core::Scenario> load_cluster(const SynthesizeOptions& options,
                                      const Environment& environment) {
  if (!options.scenario.empty()) {
    ScenarioOptions from;
    from.file = options.scenario;
    from.set = options.set;
    return load_scenario(from, environment);
  }
  const auto text = scenario_text(options);
  if (!text) return failed(text);
  auto overrides = settings_of(options.set);
  if (!overrides) return failed(overrides);
  auto scenario = core::read_scenario(*text, "", environment.library, *overrides);
  if (!scenario) return tl::make_unexpected(core::without_lines(scenario.error()));
  return scenario;
}

/// Executes the search of the command within the command's time limit.
class Synthesizing {
 public:
  Synthesizing(const SynthesizeOptions& options, const Request& request,
               const SynthesisSubject& subject, const synthesis::FabricGraph& graph)
      : options_(options), request_(request), subject_(subject), graph_(graph) {
    if (options.timeout_seconds)
      deadline_ = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                     std::chrono::duration<double>(*options.timeout_seconds));
    control_.cancel = &stop_;
    control_.progress = [this](double) { static_cast<void>(go_on(shown_)); };
  }

  int run() {
    const synthesis::Task task{request_.kind, subject_.root(), subject_.bytes()};
    const auto bound = synthesis::bandwidth_bound(graph_, task);
    if (!bound)
      return refuse({ProblemCode::kConflict, "--cluster"},
                    "no schedule exists, because the fabric does not connect all ranks");
    bound_ = *bound;
    switch_bound_ = synthesis::bound_with_switches(graph_, task);
    built_in_ = rank_built_in(subject_, control_);
    const auto found = [&](synthesis::Candidate candidate) {
      if (stopped() || failure_) return;
      if (candidate.switch_sums && without_switches()) return;
      auto ranked = rank(subject_, std::move(candidate), bound_.time, control_);
      if (!ranked)
        failure_ = ranked.error();
      else if (*ranked)
        ranked_.push_back(std::move(**ranked));
    };
    // Even if the search was stopped at the deadline, keep the results that it has found.
    complete_ = synthesis::find_candidates(
        graph_, task, [&](double share) { return go_on(share); }, found);
    progress_.clear();
    if (failure_) return report(*failure_);
    if (ranked_.empty()) {
      return report(Error::run({ProblemCode::kStopped, ""},
                               "stopped before a schedule was found; allow more time"));
    }
    std::stable_sort(ranked_.begin(), ranked_.end(),
                     [](const auto& a, const auto& b) { return a.time < b.time; });
    if (const auto proved = prove(); !proved) return report(proved.error());
    if (const auto written = write(); !written) return report(written.error());
    const int printed = print();
    return interrupt_.happened() ? static_cast<int>(kRunFailed) : printed;
  }

 private:
  using Clock = std::chrono::steady_clock;

  [[nodiscard]] bool stopped() const { return stop_.load(); }
  bool go_on(double share) {
    shown_ = share;
    progress_.update(share);
    if (interrupt_.happened() || (deadline_ && Clock::now() > *deadline_)) stop_.store(true);
    return !stopped();
  }

  /// True if reductions in switches are left out, because the user requests this, or because the
  /// output format does not support them.
  [[nodiscard]] bool without_switches() const { return options_.no_switch_sums || request_.as_xml; }
  /// Returns the lower bound that holds for all listed schedules.
  [[nodiscard]] Time lower_bound() const {
    return switch_bound_ && !without_switches() ? std::min(bound_.time, *switch_bound_)
                                                : bound_.time;
  }

  [[nodiscard]] std::string text_of_schedule(const RankedSchedule& schedule) const {
    synthesis::TextOptions options;
    options.pieces = schedule.pieces;
    options.name = "synthesized";
    options.remarks = {
        fmt::format("{} for {}.", to_string(request_.kind), describe(subject_.cluster())),
        fmt::format("Found by tutti synthesize: {}.", schedule.candidate.name),
        fmt::format(
            "Simulated time: {} for {} bytes; lower bound from the bandwidth of the fabric: {}.",
            core::shown(schedule.time), subject_.bytes().count(), core::shown(lower_bound()))};
    return text_of(schedule.candidate, request_.kind, options);
  }

  /// Proves every listed schedule. ERRORS: a schedule is wrong, which is a bug.
  Expected<void> prove() {
    for (std::size_t i = 0; i < ranked_.size(); ++i) {
      // The best schedule is proved even if the search was stopped, because the schedule will be
      // written to a file.
      if (i > 0 && stopped()) break;
      // All pieces have the same schedule, so a proof with two pieces is sufficient, and also
      // covers the order of pieces. A proof with hundreds of pieces would take minutes.
      RankedSchedule few = ranked_[i];
      few.pieces = std::min<std::int64_t>(few.pieces, 2);
      const auto algorithm = subject_.compiled(text_of_schedule(few));
      if (!algorithm) return failed(algorithm);
      constexpr std::int64_t kMaxProvedSteps = 4'000'000;
      if ((*algorithm)->total_steps() > kMaxProvedSteps) continue;
      if (i > 0) static_cast<void>(go_on(1));
      if (const std::string flaw = subject_.flaw_of(**algorithm); !flaw.empty())
        return tl::make_unexpected(Error::run(
            {ProblemCode::kWrongResult, ""},
            fmt::format("the synthesized schedule \"{}\" is wrong, which is a bug of Tutti: {}",
                        ranked_[i].candidate.name, flaw)));
      ranked_[i].proved = true;
    }
    return {};
  }

  Expected<void> write() {
    if (options_.output.empty()) return {};
    const std::string text = text_of_schedule(ranked_.front());
    if (!request_.as_xml) return write_file(options_.output, {options_.scenario}, text);
    const auto algorithm = subject_.compiled(text);
    if (!algorithm) return failed(algorithm);
    const auto xml = subject_.msccl_of(**algorithm, "synthesized");
    if (!xml) return failed(xml);
    return write_file(options_.output, {options_.scenario}, *xml);
  }

  [[nodiscard]] core::Report row(const std::string& name, Time time) const {
    const auto bytes = static_cast<double>(subject_.bytes().count());
    const double algbw = time > Time() ? bytes / core::to_us(time) / 1e3 : 0;
    core::Report row;
    row.add("schedule", name, "<schedule");
    row.add("time_us", time, "time");
    row.add("algbw_gb_per_s", algbw, "algbw", fmt::format("{:.2f}", algbw));
    const double busbw = algbw * core::busbw_factor(request_.kind, graph_.ranks);
    row.add("busbw_gb_per_s", busbw, "busbw", fmt::format("{:.2f}", busbw));
    row.add("of_bound", core::Fraction{share(lower_bound(), time)}, "of bound");
    return row;
  }

  [[nodiscard]] std::vector<core::Report> schedule_rows() const {
    std::vector<core::Report> rows;
    for (const RankedSchedule& one : ranked_) {
      core::Report row = this->row(one.candidate.name, one.time);
      const bool forest = one.candidate.forest.has_value();
      row.add("pieces", one.pieces, "pieces");
      row.add("busiest_link_of_bound",
              forest ? core::ReportValue(1 / one.candidate.busiest_link) : core::ReportValue(),
              "busiest link",
              forest ? fmt::format("{:.1f} %", 100 / one.candidate.busiest_link) : "");
      row.add("proved", one.proved, "proved", one.proved ? "yes" : "no");
      rows.push_back(std::move(row));
    }
    return rows;
  }

  [[nodiscard]] std::vector<core::Report> built_in_rows() const {
    std::vector<core::Report> rows;
    for (const RankedBuiltIn& one : built_in_) rows.push_back(row(one.algorithm, one.time));
    return rows;
  }

  /// Returns the names of the ranks on the smaller side of the narrowest cut.
  [[nodiscard]] std::string cut_in_words() const {
    int inside = 0;
    for (int rank = 0; rank < graph_.ranks; ++rank) inside += bound_.inside[rank] ? 1 : 0;
    if (!bound_.by_cut) return "limited by the routes between ranks";
    const bool few_inside = inside * 2 <= graph_.ranks;
    std::string names;
    int listed = 0;
    for (int rank = 0; rank < graph_.ranks; ++rank) {
      if (bound_.inside[rank] != few_inside) continue;
      if (++listed <= 4)
        names += fmt::format("{}{}", names.empty() ? "" : ", ", graph_.names[rank]);
    }
    if (listed > 4) names += fmt::format(" and {} more", listed - 4);
    return fmt::format("the links {} {}", few_inside ? "out of" : "into", names);
  }

  [[nodiscard]] std::vector<std::string> notes() const {
    std::vector<std::string> notes;
    if (std::any_of(built_in_.begin(), built_in_.end(), [](const auto& one) {
          return one.algorithm.find("nccl") != std::string::npos;
        }))
      notes.push_back(
          "nccl is simulated as rings on the same links; use tutti perf --cluster to predict NCCL "
          "itself");
    if (stopped() || !complete_)
      notes.push_back("stopped early: more time may find a better schedule");
    if (graph_.rounded)
      notes.push_back(
          "bandwidths were rounded down by up to a millionth, because they have no common divisor");
    if (graph_.switches_reduce) notes.push_back(note_on_switches());
    return notes;
  }

  /// States whether the cluster's switches, which reduce and multicast, can help.
  [[nodiscard]] std::string note_on_switches() const {
    const std::string_view name = to_string(request_.kind);
    if (!switch_bound_ && bound_.by_cut)
      return fmt::format(
          "the switches can reduce and multicast, but this does not lower the bandwidth bound of "
          "{}: {} carry the same bytes in both cases",
          name, cut_in_words());
    if (!switch_bound_)
      return "the search uses reductions and multicasts in switches only for all_reduce";
    if (without_switches())
      return fmt::format("schedules with reductions in switches were left out{}",
                         options_.no_switch_sums ? "" : ", because MSCCL's XML does not have them");
    if (*switch_bound_ >= bound_.time)
      return fmt::format(
          "reductions in switches do not lower the bandwidth bound of {}, because the links "
          "between the nodes are the bottleneck",
          name);
    return fmt::format(
        "switches that reduce and multicast lower the bandwidth bound from {} to {}{}",
        core::shown(bound_.time), core::shown(*switch_bound_),
        ranked_.front().candidate.switch_sums
            ? "; tutti run and MSCCL's XML do not have reductions in switches, and "
              "--no-switch-sums finds a schedule without them"
            : "");
  }

  int print() {
    const std::vector<std::string> all_notes = notes();
    if (request_.format == Format::kJson) {
      core::Report report{
          {"collective", to_string(request_.kind)},
          {"cluster", describe(subject_.cluster())},
          {"bytes", subject_.bytes().count()},
          {"bandwidth_bound_us", bound_.time},
          {"bound_by", cut_in_words()},
          {"switch_bound_us",
           switch_bound_ ? core::ReportValue(*switch_bound_) : core::ReportValue()},
          {"schedules", core::list_of(schedule_rows(), [](const core::Report& r) { return r; })},
          {"built_in", core::list_of(built_in_rows(), [](const core::Report& r) { return r; })},
          {"written", core::unless_empty(options_.output)},
          {"notes", all_notes}};
      return print_out(result_json(report));
    }
    std::string text = fmt::format(
        "{} of {} on {}\nbandwidth bound{}: {}, {}\n\nsynthesized\n{}", to_string(request_.kind),
        core::shown(subject_.bytes()), describe(subject_.cluster()),
        request_.kind == core::CollectiveKind::kAllReduce
            ? " of a reduce-scatter and then an all-gather"
            : "",
        core::shown(bound_.time), cut_in_words(), table_text(schedule_rows(), 2, options_.rows));
    if (!built_in_.empty())
      text += fmt::format("\nbuilt in\n{}", table_text(built_in_rows(), 2, options_.rows));
    text += note_lines(all_notes);
    if (const int printed = print_report(text); printed != kDone) return printed;
    if (!options_.output.empty())
      print_note(fmt::format(
          "written: {}; to use it in a scenario, set strategy {{ custom {{ file: \"{}\" }} }}\n",
          options_.output, options_.output));
    return kDone;
  }

  const SynthesizeOptions& options_;
  const Request& request_;
  const SynthesisSubject& subject_;
  const synthesis::FabricGraph& graph_;
  synthesis::BandwidthBound bound_;
  std::optional<Time> switch_bound_;  ///< the bound if switches may reduce and multicast
  std::vector<RankedSchedule> ranked_;
  std::vector<RankedBuiltIn> built_in_;
  std::optional<Error> failure_;
  bool complete_ = true;
  Interrupt interrupt_;
  Progress progress_{"synthesizing"};
  double shown_ = 0;
  std::atomic<bool> stop_{false};
  std::optional<Clock::time_point> deadline_;
  core::RunControl control_;
};

}  // namespace

int synthesize(const SynthesizeOptions& options, const Environment& environment) {
  const auto request = read_request(options);
  if (!request) return report(request.error());
  std::error_code ignored;
  if (!options.output.empty() && !options.force && std::filesystem::exists(options.output, ignored))
    return report(Error::request({ProblemCode::kConflict, "-o"},
                                 "this file exists; --force overwrites it",
                                 {options.output, 0, 0}));
  const auto scenario = load_cluster(options, environment);
  if (!scenario) return report(scenario.error());
  const std::int64_t ranks = scenario->cluster->replicas();
  if (options.root < 0 || options.root >= ranks)
    return refuse(out_of_range("--root", options.root, static_cast<double>(ranks - 1)),
                  "--root {}: expected 0 to {}", options.root, ranks - 1);
  if (options.root != 0 && !has_root(request->kind))
    return refuse({ProblemCode::kUnused, "--root"}, "--root: {} has no root; remove --root",
                  to_string(request->kind));
  const auto graph = synthesis::fabric_of(*scenario->cluster);
  if (!graph) return report(graph.error());
  const std::int64_t elements = rounded_elements(
      request->kind, ranks, request->bytes / core::size_of(request->type).count(), request->type);
  if (elements < 1)
    return refuse({ProblemCode::kTooSmall, "--bytes"},
                  "--bytes {}: {} between {} ranks needs at least {} bytes", options.bytes,
                  to_string(request->kind), ranks, 16 * ranks);
  const SynthesisSubject subject(*scenario, request->kind, static_cast<core::Rank>(options.root),
                                 request->type, elements, environment);
  return Synthesizing(options, *request, subject, *graph).run();
}

}  // namespace tutti::tools
