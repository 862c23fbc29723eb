// This file converts measurements to scenarios that the simulator can run. A timeline contains its
// scenario. All runs with the same scenario text become one experiment with the median of their
// times. A log of nccl-tests contains no scenario. For each combination of collective, type, size
// and root in the log, a copy of the user's scenario is made that contains only this collective on
// one buffer. To predict the times of an experiment, the tested values are written into its cluster
// and the scenario is simulated. TimeKey connects each measured time with its predicted time.
// fit.cpp finds the values; run_times.cpp extracts times from timelines.

#include "core/calibrate/experiment.h"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/ranges.h>
#include <google/protobuf/text_format.h>

#include "core/base/format.h"
#include "core/base/median.h"
#include "core/measured/nccl_tests.h"
#include "core/proto/scenario.pb.h"
#include "core/scenario/rewrite.h"
#include "core/strategy/algorithm_table.h"
#include "core/timeline/reader.h"

namespace tutti::core {
namespace {

tl::unexpected<Error> wrong(const std::string& file, const std::string& text,
                            ProblemKind kind = {}) {
  return tl::make_unexpected(Error::request(std::move(kind), text, {file, 0, 0}));
}

/// The experiment that one timeline describes, with the recorded times.
struct OneRun {
  Experiment experiment;
  std::string text;
  std::string executor;
  std::map<TimeKey, double> us;
  std::vector<RunInfo::PackInfo> packs;
};

Expected<OneRun> read_run(const std::string& path, RunTimes::Detail detail,
                          const ClusterFigures& figures, const Library& library) {
  const auto timeline = TimelineReader::open(path);
  if (!timeline) return tl::make_unexpected(timeline.error());
  if (!timeline->complete())
    return wrong(path, fmt::format("this file {}, so the run is incomplete; record the run again",
                                   timeline->damage()));
  RunTimes times(detail);
  if (const auto done = timeline->replay(times); !done) return tl::make_unexpected(done.error());
  if (times.steps() == 0)
    return wrong(path, "no training step ended in this timeline; record a complete run");
  const RunInfo& info = timeline->run();
  const auto of_run = ClusterFigures::of(info.scenario_text, info.scenario_file, library);
  if (!of_run) {
    return wrong(path,
                 fmt::format("this version of Tutti cannot read the scenario in this timeline: {}",
                             of_run.error().message()));
  }
  if (of_run->structure() != figures.structure()) {
    return wrong(
        path,
        fmt::format(
            "this timeline was recorded on another cluster ({}); the workers, machine parts and "
            "links of both clusters must be the same (only bandwidths and latencies may differ)",
            info.cluster),
        {ProblemCode::kConflict, "Cluster"});
  }
  OneRun run;
  auto scenario = scenario_message(info.scenario_text, info.scenario_file);
  if (!scenario) return tl::make_unexpected(scenario.error());
  run.experiment.scenario = std::move(*scenario);
  // A few training steps are enough. RunTimes ignores the first step if there are others.
  run.experiment.scenario->mutable_run()->set_steps(
      static_cast<std::int32_t>(std::clamp<std::int64_t>(info.steps, 1, 3)));
  // Simulate NCCL as rings that send messages over the links, because the parameters of the links
  // are fitted.
  run.experiment.scenario->mutable_run()->set_nccl(proto::Run::RINGS);
  // In emulated runs, communication and computation do not slow each other down.
  if (info.executor.starts_with("emulated"))
    run.experiment.scenario->mutable_run()->set_interference(proto::Run::OFF);
  run.experiment.file = info.scenario_file;
  run.experiment.source = path;
  run.experiment.step_us = times.step_us();
  run.text = info.scenario_text;
  run.executor = info.executor;
  run.us = times.us();
  run.packs = info.packs;
  run.experiment.detail = detail;
  bool has_lane_steps = false;
  for (const auto& [key, us] : run.us) {
    if (static_cast<std::size_t>(key.pack) >= info.packs.size())
      return wrong(path, fmt::format("the timeline has times of pack {}, but its plan does not "
                                     "have this pack; is the file damaged?",
                                     key.pack));
    has_lane_steps = has_lane_steps || key.step_kind != TimeKey::kPack;
  }
  if (run.us.empty())
    return wrong(path,
                 "this timeline contains no packs, so it has no measurements of links; record the "
                 "run with --record packs or steps");
  if (detail == RunTimes::Detail::kLaneSteps && !has_lane_steps)
    return wrong(
        path,
        "--lane-steps: this timeline has no schedule steps; record the run with --record steps",
        {ProblemCode::kMissing, "--lane-steps"});
  return run;
}

/// Combines the runs of one scenario into an experiment with the median of their times.
void join(std::vector<OneRun>& runs, Experiments& experiments) {
  std::map<TimeKey, std::vector<double>> times;
  std::vector<double> steps;
  std::string files;
  for (const OneRun& run : runs) {
    for (const auto& [key, us] : run.us) times[key].push_back(us);
    if (run.experiment.step_us) steps.push_back(*run.experiment.step_us);
    files += (files.empty() ? "" : ", ") + run.experiment.source;
  }
  Experiment experiment = std::move(runs.front().experiment);
  experiment.source = files;
  if (!steps.empty()) experiment.step_us = median(steps);
  for (auto& [key, us] : times) {
    const Bytes bytes = runs.front().packs[key.pack].bytes;
    std::string what = fmt::format("pack {}, {}", key.pack, show(bytes));
    if (key.step_kind != TimeKey::kPack) what += ": " + span_name(key.step_kind);
    if (!key.device.empty()) what += " on " + key.device;
    experiment.measurements.push_back({files, what, key, median(us), bytes});
  }
  experiments.list.push_back(std::move(experiment));
}

}  // namespace

Experiment::Experiment() = default;
Experiment::Experiment(Experiment&&) noexcept = default;
Experiment& Experiment::operator=(Experiment&&) noexcept = default;
Experiment::~Experiment() = default;

Expected<void> add_timelines(const std::vector<std::string>& paths, RunTimes::Detail detail,
                             const ClusterFigures& figures, const Library& library,
                             Experiments& experiments) {
  // The key is the text of the scenario, so the order and the names of the files have no effect.
  std::map<std::string, std::vector<OneRun>> runs;
  Problems problems;
  for (const std::string& path : paths) {
    auto run = read_run(path, detail, figures, library);
    if (!run) {
      problems.add(run.error());
      continue;
    }
    for (const char* made : {"simulated", "emulated"}) {
      if (!run->executor.starts_with(made)) continue;
      experiments.notes.push_back(
          fmt::format("the run in {} was {}, not measured on the cluster; the fitted parameters "
                      "describe this run, not the cluster",
                      path, made));
    }
    runs[run->text].push_back(std::move(*run));
  }
  if (!problems.empty()) return problems.take();
  for (auto& [text, identical] : runs) join(identical, experiments);
  return {};
}

namespace {

/// Identifies an operation in logs. All times of the same operation are combined.
struct OfOneKind {
  CollectiveKind kind;
  DataType type;
  std::int64_t elements;  ///< total number of elements of all blocks
  Rank root;
  bool out_of_place;
  auto operator<=>(const OfOneKind&) const = default;
};

struct LoggedTimes {
  std::vector<double> us;
  std::vector<std::string> files;
};

/// Collects the times in logs that were measured on the scenario's cluster.
class Logs {
 public:
  Logs(const Scenario& scenario, Experiments& experiments)
      : scenario_(scenario), experiments_(experiments) {}

  Expected<void> add(const std::vector<std::string>& paths) {
    for (const std::string& path : paths) add(path);
    if (times_.empty() && !types_.empty()) {
      const auto& [type, where] = *types_.begin();
      problems_.add({ProblemCode::kUnsupported, "type"}, where,
                    "no row has a data type that Tutti reduces: Tutti does not reduce {}", type);
    }
    if (!problems_.empty()) return problems_.take();
    if (wrong_rows_ > 0)
      experiments_.notes.push_back(fmt::format(
          "{} measured times were ignored, because the results of their collectives were wrong",
          wrong_rows_));
    if (!types_.empty()) {
      std::vector<std::string_view> names;
      for (const auto& [type, where] : types_) names.push_back(type);
      experiments_.notes.push_back(
          fmt::format("rows of data types that Tutti does not reduce were ignored: {}",
                      fmt::join(names, ", ")));
    }
    if (other_ranks_ > 0)
      experiments_.notes.push_back(
          fmt::format("ignored {} table{} of the Intel MPI Benchmarks with another number of "
                      "processes than the {} ranks of the scenario's cluster",
                      other_ranks_, other_ranks_ == 1 ? "" : "s", scenario_.cluster->replicas()));
    if (has_chars_)
      experiments_.notes.emplace_back(
          "a log has reductions of characters (MPI_CHAR); they are simulated as reductions of "
          "floats with the same number of bytes");
    if (ranks_assumed_)
      experiments_.notes.push_back(
          fmt::format("a log of the OSU micro-benchmarks does not state the number of ranks; Tutti "
                      "assumes the {} ranks of the scenario's cluster",
                      scenario_.cluster->replicas()));
    if (!paths.empty() && !ranks_known_) {
      experiments_.notes.push_back(
          "a log does not list its ranks, so their number was checked only against the ratio of "
          "busbw to algbw");
    }
    for (const auto& [what, times] : times_) {
      if (auto added = add_experiment(what, times); !added) return added;
    }
    return {};
  }

 private:
  void add(const std::string& path) {
    const auto tables = load_nccl_tests(path);
    if (!tables) return problems_.add(tables.error());
    if (std::string note = damaged_rows_note(*tables); !note.empty())
      experiments_.notes.push_back(std::move(note));
    const std::int64_t ranks = scenario_.cluster->replicas();
    // The Intel MPI Benchmarks also run on some of the processes.
    const bool has_all = std::any_of(tables->begin(), tables->end(), [&](const auto& table) {
      return table.is_imb && table.ranks == ranks;
    });
    for (const NcclTestsTable& logged : *tables) {
      if (has_all && logged.is_imb && logged.ranks != ranks) {
        ++other_ranks_;
        continue;
      }
      const NcclTestsTable table = with_ranks(logged, ranks);
      const auto kind = check_collective(table, ranks);
      if (!kind) return problems_.add(kind.error());  // one problem per log is enough
      has_chars_ = has_chars_ || logged.has_chars;
      if (logged.is_osu)
        ranks_assumed_ = true;
      else
        ranks_known_ = ranks_known_ && table.ranks.has_value();
      for (const NcclTestsRow& row : table.rows) {
        if (!add(row, *kind, path)) break;
      }
    }
  }

  /// Adds the times of a row. Returns false if the row is invalid.
  bool add(NcclTestsRow row, CollectiveKind kind, const std::string& path) {
    const auto type = modelled_type(row, kind);
    if (!type) {
      types_.emplace(row.type, row.where);
      return true;
    }
    const std::int64_t elements =
        row.elements * (has_blocks(kind) ? scenario_.cluster->replicas() : 1);
    if (elements * size_of(*type).count() != row.bytes) {
      problems_.add(
          {ProblemCode::kConflict, "count"}, row.where, "{} bytes as {} elements of {}: {}",
          row.bytes, row.elements, row.type,
          has_blocks(kind)
              ? fmt::format("in {}, count is the number of elements of one rank's block",
                            to_string(kind))
              : "the number of bytes must be the number of elements times the size of the type");
      return false;
    }
    for (const bool out_of_place : {true, false}) {
      const auto& timing = out_of_place ? row.out_of_place : row.in_place;
      // Ignore in-place times of collectives that cannot run in place. nccl-tests prints such
      // times, too.
      if (!timing || (!out_of_place && !can_be_in_place(kind))) continue;
      // In some out-of-place runs, data is also copied. The time of the copies cannot be fitted,
      // because the copies overlap with transfers at all sizes.
      const bool copies = out_of_place && !is_same_out_of_place(kind);
      if (copies && row.in_place && can_be_in_place(kind)) continue;
      if (timing->wrong > 0) {
        ++wrong_rows_;
        continue;
      }
      LoggedTimes& times =
          times_[{kind, *type, elements, has_root(kind) ? static_cast<Rank>(row.root) : 0, copies}];
      times.us.push_back(timing->us);
      if (std::find(times.files.begin(), times.files.end(), path) == times.files.end())
        times.files.push_back(path);
    }
    return true;
  }

  /// True if an out-of-place run needs no copy, so that it moves the same data as an in-place run.
  /// Rings and chains that reduce need no copy, because their first step reads the input directly.
  [[nodiscard]] bool is_same_out_of_place(CollectiveKind kind) const {
    return !scenario_.strategy.spec && reduces(kind) &&
           traits(scenario_.strategy.algorithm).reads_inputs_in_place;
  }

  Expected<void> add_experiment(const OfOneKind& what, const LoggedTimes& times) {
    Experiment experiment;
    OneBuffer one;
    one.type = what.type;
    one.elements = what.elements;
    one.collective = what.kind;
    one.root = what.root;
    one.out_of_place = what.out_of_place;
    const std::string text = with_one_buffer(scenario_.text, scenario_.file, one);
    auto message = scenario_message(text, scenario_.file);
    if (!message) return tl::make_unexpected(message.error());
    experiment.scenario = std::move(*message);
    experiment.file = scenario_.file;
    for (const std::string& file : times.files)
      experiment.source += (experiment.source.empty() ? "" : ", ") + file;
    const bool all_reduce = what.kind == CollectiveKind::kAllReduce;
    Measurement measurement;
    measurement.source = experiment.source;
    measurement.what = fmt::format("{}{} bytes ({}){}",
                                   all_reduce ? "" : fmt::format("{} of ", to_string(what.kind)),
                                   what.elements * size_of(what.type).count(), to_string(what.type),
                                   what.out_of_place ? ", out of place" : "");
    measurement.us = median(times.us);
    measurement.bytes = Bytes(what.elements * size_of(what.type).count());
    experiment.measurements.push_back(std::move(measurement));
    experiments_.list.push_back(std::move(experiment));
    return {};
  }

  const Scenario& scenario_;
  Experiments& experiments_;
  std::map<OfOneKind, LoggedTimes> times_;
  Problems problems_;
  std::int64_t wrong_rows_ = 0;
  std::map<std::string, Location> types_;  ///< types that Tutti does not reduce: the first row
  bool has_chars_ = false;
  std::int64_t other_ranks_ = 0;  ///< tables of the Intel MPI Benchmarks with other processes
  bool ranks_known_ = true, ranks_assumed_ = false;
};

}  // namespace

Expected<void> add_logs(const std::vector<std::string>& paths, const Scenario& scenario,
                        Experiments& experiments) {
  return Logs(scenario, experiments).add(paths);
}

Expected<Prediction> predict(const Experiment& experiment, const ClusterFigures& figures,
                             const std::vector<double>& values, Executor& simulator,
                             const Library& library, const RunControl& control) {
  proto::Scenario message = *experiment.scenario;
  figures.put(values, message);
  std::string text;
  google::protobuf::TextFormat::PrintToString(message, &text);
  const auto scenario = read_scenario(text, experiment.file, library);
  if (!scenario) return tl::make_unexpected(without_lines(scenario.error()));
  RunTimes times(experiment.detail);
  RecordOptions record;
  record.level =
      experiment.detail == RunTimes::Detail::kPacks ? RecordLevel::kNone : RecordLevel::kSteps;
  record.last_worker = scenario->cluster->workers() - 1;
  if (const auto ran = simulator.run(*scenario, record, control, times); !ran)
    return tl::make_unexpected(ran.error());
  const std::map<TimeKey, double> predicted = times.us();
  Prediction prediction;
  prediction.step_us = times.step_us();
  for (const Measurement& measurement : experiment.measurements) {
    const auto found = predicted.find(measurement.key);
    if (found == predicted.end())
      return tl::make_unexpected(Error::run(fmt::format(
          "{}: the simulation of this measurement recorded no time", measurement.what)));
    prediction.us.push_back(found->second);
  }
  return prediction;
}

}  // namespace tutti::core
