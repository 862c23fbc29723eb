#include "core/calibrate/experiment.h"

#include <algorithm>
#include <map>
#include <utility>

#include <google/protobuf/text_format.h>

#include "core/base/format.h"
#include "core/measured/nccl_tests.h"
#include "core/proto/scenario.pb.h"
#include "core/scenario/rewrite.h"
#include "core/timeline/reader.h"

namespace tutti::core {
namespace {

tl::unexpected<Error> wrong(const std::string& file, const std::string& text) {
  return tl::make_unexpected(Error::request(text, {file, 0, 0}));
}

/// A timeline's experiment, with its packs' times as far as it goes.
struct OneRun {
  Experiment experiment;
  std::string text;
  std::string executor;
  std::map<TimeKey, double> us;
  std::vector<RunInfo::PackInfo> packs;
};

Expected<OneRun> read_run(const std::string& path, bool lane_steps, const ClusterFigures& figures,
                          const Library& library) {
  const auto timeline = TimelineReader::open(path);
  if (!timeline) return tl::make_unexpected(timeline.error());
  if (!timeline->complete())
    return wrong(path,
                 fmt::format("this file {}; its times are not those of a whole run; run it again", timeline->damage()));
  RunTimes times(lane_steps);
  if (const auto done = timeline->replay(times); !done) return tl::make_unexpected(done.error());
  if (times.steps() == 0) return wrong(path, "no step ended in this timeline; run it again, to its end");
  const RunInfo& info = timeline->run();
  const auto of_run = ClusterFigures::of(info.scenario_text, info.scenario_file, library);
  if (!of_run) {
    return wrong(path, fmt::format("the scenario that this timeline is of cannot be read any more: {}",
                                   of_run.error().message()));
  }
  if (of_run->structure() != figures.structure()) {
    return wrong(path,
                 fmt::format("this timeline is of another cluster ({}): workers, parts and links must be those of "
                             "the scenario, only their figures may differ",
                             info.cluster));
  }
  OneRun run;
  auto scenario = scenario_message(info.scenario_text, info.scenario_file);
  if (!scenario) return tl::make_unexpected(scenario.error());
  run.experiment.scenario = std::move(*scenario);
  run.experiment.scenario->mutable_run()->set_steps(
      static_cast<std::int32_t>(std::clamp<std::int64_t>(info.steps, 1, 3)));
  run.experiment.file = info.scenario_file;
  run.experiment.source = path;
  run.experiment.step_us = times.step_us();
  run.text = info.scenario_text;
  run.executor = info.executor;
  run.us = times.us();
  run.packs = info.packs;
  run.experiment.lane_steps = lane_steps;
  bool has_lane_steps = false;
  for (const auto& [key, us] : run.us) {
    if (static_cast<std::size_t>(key.pack) >= info.packs.size())
      return wrong(path, fmt::format("pack {} is not in this timeline's plan; is the file damaged?", key.pack));
    has_lane_steps = has_lane_steps || key.step_kind != TimeKey::kPack;
  }
  if (run.us.empty()) return wrong(path, "no pack was in flight in this timeline, so it says nothing of links");
  if (lane_steps && !has_lane_steps)
    return wrong(path, "--lane-steps: this timeline holds none (it was recorded with --record packs or none)");
  return run;
}

/// The median over runs of the same scenario.
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
    const Bytes bytes = runs.front().packs[static_cast<std::size_t>(key.pack)].bytes;
    std::string what = fmt::format("pack {}, {}", key.pack, show(bytes));
    if (key.step_kind != TimeKey::kPack) what += ": " + span_name(key.step_kind);
    experiment.measurements.push_back({files, what, key, median(us)});
  }
  experiments.list.push_back(std::move(experiment));
}

}  // namespace

Experiment::Experiment() = default;
Experiment::Experiment(Experiment&&) noexcept = default;
Experiment& Experiment::operator=(Experiment&&) noexcept = default;
Experiment::~Experiment() = default;

Expected<void> add_timelines(const std::vector<std::string>& paths, bool lane_steps, const ClusterFigures& figures,
                             const Library& library, Experiments& experiments) {
  // By the scenario's text, so that neither the order nor the names of the files matter.
  std::map<std::string, std::vector<OneRun>> runs;
  Problems problems;
  for (const std::string& path : paths) {
    auto run = read_run(path, lane_steps, figures, library);
    if (!run) {
      problems.add(run.error());
      continue;
    }
    for (const char* made : {"simulated", "emulated"}) {
      if (!run->executor.starts_with(made)) continue;
      experiments.notes.push_back(
          fmt::format("{} was {}, not measured on the cluster: that is what the figures are fitted to", path, made));
    }
    runs[run->text].push_back(std::move(*run));
  }
  if (!problems.empty()) return problems.take();
  for (auto& [text, alike] : runs) join(alike, experiments);
  return {};
}

Expected<void> add_logs(const std::vector<std::string>& paths, const Scenario& scenario, Experiments& experiments) {
  struct Times {
    std::vector<double> us;
    std::vector<std::string> files;
  };
  std::map<std::pair<DataType, std::int64_t>, Times> sizes;
  Problems problems;
  std::int64_t wrong_rows = 0;
  bool ranks_known = true;
  for (const std::string& path : paths) {
    const auto tables = load_nccl_tests(path);
    if (!tables) {
      problems.add(tables.error());
      continue;
    }
    for (const NcclTestsTable& table : *tables) {
      if (const auto done = check_all_reduce(table, scenario.cluster->replicas()); !done) {
        problems.add(done.error());
        break;  // one per log says it
      }
      ranks_known = ranks_known && table.ranks.has_value();
      for (const NcclTestsRow& row : table.rows) {
        const auto type = data_type_of_nccl_name(row.type);
        if (!type || row.elements * size_of(*type).count() != row.bytes) {
          problems.add(row.where, "{} bytes as {} elements of {}: {}", row.bytes, row.elements, row.type,
                       type ? "an all-reduce has as many bytes as its elements" : "Tutti does not reduce this type");
          break;
        }
        Times& times = sizes[{*type, row.elements}];
        for (const auto& timing : {row.out_of_place, row.in_place}) {
          if (!timing) continue;
          if (timing->wrong > 0) {
            ++wrong_rows;
            continue;
          }
          times.us.push_back(timing->us);
          if (std::find(times.files.begin(), times.files.end(), path) == times.files.end()) times.files.push_back(path);
        }
      }
    }
  }
  if (!problems.empty()) return problems.take();
  if (wrong_rows > 0) experiments.notes.push_back(fmt::format("{} times of wrong results were left out", wrong_rows));
  if (!paths.empty() && !ranks_known)
    experiments.notes.push_back(
        "a log does not list its ranks; whether they are the cluster's was told by busbw alone");
  for (const auto& [key, times] : sizes) {
    if (times.us.empty()) continue;
    const auto& [type, elements] = key;
    Experiment experiment;
    auto message = scenario_message(with_one_buffer(scenario.text, scenario.file, type, elements, 1), scenario.file);
    if (!message) return tl::make_unexpected(message.error());
    experiment.scenario = std::move(*message);
    experiment.file = scenario.file;
    for (const std::string& file : times.files) experiment.source += (experiment.source.empty() ? "" : ", ") + file;
    experiment.measurements.push_back({experiment.source,
                                       fmt::format("{} bytes ({})", elements * size_of(type).count(), to_string(type)),
                                       {},
                                       median(times.us)});
    experiments.list.push_back(std::move(experiment));
  }
  return {};
}

Expected<Prediction> predict(const Experiment& experiment, const ClusterFigures& figures,
                             const std::vector<double>& values, Executor& simulator, const Library& library,
                             const RunControl& control) {
  proto::Scenario message = *experiment.scenario;
  figures.put(values, message);
  std::string text;
  google::protobuf::TextFormat::PrintToString(message, &text);
  const auto scenario = read_scenario(text, experiment.file, library);
  if (!scenario) return tl::make_unexpected(scenario.error());
  RunTimes times(experiment.lane_steps);
  RecordOptions record;
  record.level = experiment.lane_steps ? RecordLevel::kSteps : RecordLevel::kNone;
  if (const auto ran = simulator.run(*scenario, record, control, times); !ran) return tl::make_unexpected(ran.error());
  const std::map<TimeKey, double> predicted = times.us();
  Prediction prediction;
  prediction.step_us = times.step_us();
  for (const Measurement& measurement : experiment.measurements) {
    const auto found = predicted.find(measurement.key);
    if (found == predicted.end())
      return tl::make_unexpected(Error::run(fmt::format("{}: the simulator has no time for it", measurement.what)));
    prediction.us.push_back(found->second);
  }
  return prediction;
}

}  // namespace tutti::core
