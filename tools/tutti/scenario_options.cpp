#include "tools/tutti/scenario_options.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <vector>

#include <fmt/format.h>

#include "core/base/file.h"
#include "core/edit/old_form_text.h"
#include "core/explore/database.h"
#include "core/formats/byte_input.h"
#include "core/formats/recognise.h"
#include "tools/tutti/io/capture.h"
#include "tools/tutti/io/input_files.h"
#include "tools/tutti/unknown_file.h"

namespace tutti::tools {

using core::Error;
using core::Expected;
using core::ProblemCode;

std::vector<std::string> ScenarioOptions::settings() const {
  std::vector<std::string> all = set;
  if (calibration.empty()) return all;
  std::error_code status;
  const auto path = std::filesystem::absolute(calibration, status);
  all.push_back("cluster.nccl_calibration=" + (status ? calibration : path.string()));
  return all;
}

Expected<std::vector<core::Override>> settings_of(const std::vector<std::string>& set) {
  std::vector<core::Override> made;
  for (const std::string& written : set) {
    auto parsed = core::parse_override("--set", written);
    if (!parsed) return failed(parsed);
    made.push_back(std::move(*parsed));
  }
  return made;
}

Expected<core::TfConfig> load_tf_config(const std::string& from) {
  const bool environment = from == "env";
  const std::string source = environment ? "TF_CONFIG" : from;
  std::string text;
  if (environment) {
    const char* const value = std::getenv("TF_CONFIG");
    if (!value)
      return refused({ProblemCode::kMissing, "--tf-config"},
                     "--tf-config env: TF_CONFIG is not set");
    text = value;
  } else {
    auto read = core::read_text_file(from, core::TextSource::kAnything);
    if (!read) return failed(read);
    text = std::move(*read);
  }
  auto config = core::read_tf_config(text, source);
  if (!config) return config;
  const auto wrong = [&](ProblemCode code, const std::string& what) {
    return tl::make_unexpected(Error::request({code, "--tf-config"}, what, {source, 0, 0}));
  };
  const auto task = config->task();
  const auto valid =
      task ? core::validate(config->cluster, *task) : core::validate(config->cluster);
  if (!valid) return wrong(ProblemCode::kInvalid, valid.error());
  if (*core::worker_count(config->cluster, "worker") == 0)
    return wrong(ProblemCode::kMissing,
                 "the cluster has neither a chief nor workers, so no task trains");
  return config;
}

namespace {

/// Adds the names of similar files in the same folder to the error that a file does not exist.
Error with_similar_file(const Error& error, const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code failed;
  const fs::path file(path);
  if (path == "-")
    return Error::request(error.problems().front().kind,
                          "a scenario cannot be read from standard input, because the names of "
                          "files in it are relative to its folder; name a file",
                          {path, 0, 0});
  if (fs::exists(file, failed)) return error;
  const fs::path folder = file.has_parent_path() ? file.parent_path() : fs::path(".");
  std::vector<std::string> names;
  for (fs::directory_iterator entry(folder, failed), end; !failed && entry != end;
       entry.increment(failed)) {
    const std::string ending = entry->path().extension().string();
    // Long folders and endings, which the names share, do not make the names similar.
    if ((ending == ".textproto" || ending == ".json") &&
        !core::did_you_mean(file.stem().string(), {entry->path().stem().string()}).empty())
      names.push_back((file.parent_path() / entry->path().filename()).string());
  }
  std::sort(names.begin(), names.end());
  core::Problem problem = error.problems().front();
  problem.text += core::did_you_mean(path, names);
  return Error(error.kind(), {std::move(problem)});
}

}  // namespace

Expected<std::string> read_scenario_file(const std::string& path) {
  if (const Capture* const caller = capture()) {
    if (const auto known = caller->scenarios.find(path); known != caller->scenarios.end())
      return known->second;
  }
  if (core::is_database(path)) {
    return tl::make_unexpected(Error::request({ProblemCode::kWrongType, ""},
                                              "this file is a sweep, not a scenario; use tutti "
                                              "sweep to print it, or tutti view to show it",
                                              {path, 0, 0}));
  }
  // Recognise traces and logs before the whole file is read, because they may be large.
  if (const auto begin = core::first_bytes(path, core::kBytesToRecognise);
      begin && !may_be_scenario(*begin))
    return tl::make_unexpected(wrong_file(path, *begin));
  auto text = core::read_text_file(path, core::TextSource::kAnything);
  if (!text) return tl::make_unexpected(with_similar_file(text.error(), path));
  return text;
}

void warn_of_old_form(const std::string& text, const std::string& path) {
  if (const std::string warning = core::old_form_warning(text, path); !warning.empty())
    print_note(warning);
}

/// Returns the override that gives the scenario `ranks` ranks by a smaller number of workers.
/// ERRORS (requests): the workers have another number of replicas; there are several groups of
/// workers.
static Expected<core::Override> workers_for(std::int64_t ranks, const core::Scenario& scenario) {
  const std::string label = fmt::format("--ranks {}", ranks);
  const std::int64_t each = scenario.cluster->replicas_per_worker();
  const std::int64_t all = scenario.cluster->replicas();
  if (ranks < 1 || ranks > all || ranks % each != 0)
    return refused({ranks < 1 ? ProblemCode::kTooSmall : ProblemCode::kInvalid, "--ranks"},
                   "{}: expected {} to {}{}; the scenario has {} workers with {} each", label, each,
                   all, each > 1 ? fmt::format(" in steps of {}", each) : "", all / each,
                   each == 1 ? "1 rank" : fmt::format("{} ranks", each));
  std::vector<core::Override> changes = core::workers_for(ranks / each, scenario.text, label);
  if (changes.empty())
    return refused({ProblemCode::kUnsupported, "--ranks"},
                   "{}: the scenario has several groups of workers, or its cluster is in another "
                   "file; use --set cluster.workers[0].count=N instead",
                   label);
  return std::move(changes.front());
}

void add_inputs_of(const core::Scenario& scenario) {
  add_input_file(scenario.file);
  for (const core::Library::File& file : scenario.files) add_input_file(file.path);
  add_input_file(scenario.nccl.calibration);
  add_input_file(scenario.nccl.tuner_file);
  if (!scenario.plan.graph) return;
  // A trace is one file, or a file for each rank. `file` may be the name of rank 0's file.
  std::string trace = scenario.plan.graph->file;
  add_input_file(trace);
  for (const std::string_view ending : {".0.et", ".0.et.gz", ".0.json", ".0.json.gz"}) {
    if (trace.ends_with(ending)) trace.resize(trace.size() - ending.size());
  }
  add_input_file(trace + ".groups.json");
  for (std::size_t rank = 0; rank < scenario.plan.graph->ranks.size(); ++rank) {
    for (const char* const ending : {"et", "et.gz", "json", "json.gz"})
      add_input_file(fmt::format("{}.{}.{}", trace, rank, ending));
  }
}

Expected<core::Scenario> load_scenario(const ScenarioOptions& options,
                                       const Environment& environment) {
  auto overrides = settings_of(options.settings());
  if (!overrides) return failed(overrides);
  std::optional<core::TfConfig> tf_config;
  if (!options.tf_config.empty()) {
    auto loaded = load_tf_config(options.tf_config);
    if (!loaded) return failed(loaded);
    tf_config = std::move(*loaded);
  }
  const auto text = read_scenario_file(options.file);
  if (!text) return failed(text);
  warn_of_old_form(*text, options.file);
  if (tf_config) {
    std::vector<core::Override> workers = core::workers_of(tf_config->cluster, *text);
    overrides->insert(overrides->begin(), workers.begin(), workers.end());
  }
  auto scenario = core::read_scenario(*text, options.file, environment.library, *overrides);
  if (scenario && options.ranks) {
    auto fewer = workers_for(*options.ranks, *scenario);
    if (!fewer) return failed(fewer);
    overrides->push_back(std::move(*fewer));
    scenario = core::read_scenario(*text, options.file, environment.library, *overrides);
    if (scenario) add_inputs_of(*scenario);
    return scenario;
  }
  if (scenario) add_inputs_of(*scenario);
  if (!scenario || !tf_config) return scenario;
  if (const auto checked = core::check_workers(tf_config->cluster, *scenario); !checked)
    return failed(checked);
  return scenario;
}

}  // namespace tutti::tools
