#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/import/measured_run.h"
#include "core/import/scenario_of_run.h"
#include "core/import/step_model.h"
#include "core/scenario/scenario.h"
#include "core/text/report.h"
#include "core/timeline/timeline.h"
#include "tools/tutti/command.h"

namespace tutti::tools {

struct ImportTraceOptions {
  std::vector<std::string> files;
  std::string from;  ///< name of the format; empty: detected by the content
  /// The files to write: a timeline (.tutti), a scenario (.textproto) or measurements (.log).
  std::vector<std::string> output;
  std::string name;  ///< name of the run; empty: the name of the first file
  std::string machine;
  std::optional<std::int64_t> nodes;
  std::string link;
  std::string model;
  std::string groups;  ///< for Chakra traces: JSON file with the ranks of communicators
  bool force = false;
  std::string format = "text";
};

/// The content of the trace files of a run.
struct ReadTraces {
  core::MeasuredRun run;
  core::StepModel model;
  std::string name;  ///< name of the run
  core::ScenarioFacts facts;
  std::vector<std::string> notes;
  /// The reason why the sizes of gradients are unknown; nullopt if they are known. A scenario needs
  /// these sizes.
  std::optional<core::Error> no_sizes;
};
/// Returns true if the content of the file is a trace or log in a supported format.
bool is_trace(const std::string& path);
/// Reads the files of one run, and determines the sizes of gradients if possible. ERRORS: a file is
/// invalid; the error has the position in the file.
core::Expected<ReadTraces> read_traces(const ImportTraceOptions& options,
                                       const Environment& environment);
/// Returns the model, the name and the facts of a run whose files were read. `options` has the
/// files' names and the user's facts.
core::Expected<ReadTraces> traces_of_run(core::MeasuredRun run, const ImportTraceOptions& options,
                                         const Environment& environment);
/// Simulates the scenario of a run. If packs take much longer than predicted, adds a late rank to
/// the facts: an unrecorded rank for which the recorded rank waits (core::late_layers). Does
/// nothing if facts are missing, or if the simulation was interrupted.
void find_late_rank(ReadTraces& traces, const Environment& environment);
/// Returns the scenario of a run. Appends notes to `notes`. ERRORS: facts are missing. If facts are
/// missing, the error has one problem for each option that could supply a fact.
core::Expected<core::Scenario> scenario_of_traces(const ReadTraces& traces,
                                                  const Environment& environment,
                                                  std::vector<std::string>& notes);
/// Returns the timeline of a run, as the content of a file. `like`: the run with which the timeline
/// will be compared; null: none. If the packs of both runs have equal sizes, the k-th pack of a
/// step gets the gradient names of the k-th pack of `like`. The match by order is valid because a
/// communicator executes its collectives in the same order in both runs. ERRORS: no record of the
/// run has a time.
core::Expected<std::string> timeline_of_traces(const ReadTraces& traces,
                                               const core::RunInfo* like = nullptr);

/// Returns the numbers of used and unused records as lines of a report.
std::string counts_text(const core::RecordCounts& counts);
/// Adds the numbers of used and unused records, by kind, to a report.
void add_counts(const core::RecordCounts& counts, core::Report& to);

/// `tutti import TRACE…`: reads traces and logs that profilers, frameworks or NCCL have recorded of
/// a run, prints a summary of their content, and writes a timeline, a scenario or measurements.
int import_trace(const ImportTraceOptions& options, const Environment& environment);

}  // namespace tutti::tools
