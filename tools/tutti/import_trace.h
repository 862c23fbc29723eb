#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/import/measured_run.h"
#include "core/import/scenario_of_run.h"
#include "core/import/step_model.h"
#include "core/scenario/scenario.h"
#include "core/timeline/timeline.h"
#include "tools/tutti/command.h"

namespace tutti::tools {

struct ImportTraceOptions {
  std::vector<std::string> files;
  std::string from;  ///< the format's name; empty: recognised by the content
  std::vector<std::string>
      output;        ///< .tutti: a timeline; .textproto: a scenario; .log: measurements
  std::string name;  ///< name of the run; empty: that of the first file
  std::string machine;
  std::optional<std::int64_t> nodes;
  std::string link;
  std::string model;
  bool force = false;
  std::string format = "text";
};

/// Traces that were read.
struct ReadTraces {
  core::MeasuredRun run;
  core::StepModel model;
  std::string name;  ///< name of the run
  core::ScenarioFacts facts;
  std::vector<std::string> notes;
  /// Reason why gradients have no sizes, which a scenario needs.
  std::optional<core::Error> no_sizes;
};
/// True if the file is a trace or log that is read, by its content.
bool is_trace(const std::string& path);
/// Reads the files of one run, and gives its gradients sizes where that is possible. ERRORS: those
/// of the readers, with their place.
core::Expected<ReadTraces> read_traces(const ImportTraceOptions& options,
                                       const Environment& environment);
/// The scenario of a run. ERRORS: what has to be given, each by its option.
core::Expected<core::Scenario> scenario_of_traces(const ReadTraces& traces,
                                                  const Environment& environment,
                                                  std::vector<std::string>& notes);
/// The timeline of a run, in the bytes of a file. `like`: the run of a timeline that it will be
/// compared with, or null: the k-th pack of a step gets the names of the k-th pack there if all
/// packs agree in size, since collectives of a communicator are executed in the same order whatever
/// their gradients are called. ERRORS: nothing in it has a time.
core::Expected<std::string> timeline_of_traces(const ReadTraces& traces,
                                               const core::RunInfo* like = nullptr);

/// `tutti import TRACE…`: reads what profilers, frameworks and NCCL wrote about a run, says what is
/// in it, and writes it as a timeline, a scenario or measurements.
int import_trace(const ImportTraceOptions& options, const Environment& environment);

}  // namespace tutti::tools
