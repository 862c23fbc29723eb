// libFuzzer target: reads any bytes as a trace or log of each format. The bytes must be rejected
// with a message that names a place, or be read. From the result, a timeline, a scenario and
// measurements must be derivable.

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <string_view>
#include <vector>

#include "core/import/import.h"
#include "core/import/measurements_of_run.h"
#include "core/import/operation_graph.h"
#include "core/import/scenario_of_run.h"
#include "core/import/step_model.h"
#include "core/import/timeline_of_run.h"
#include "core/measured/nccl_tests.h"
#include "core/timeline/reader.h"
#include "core/timeline/writer.h"

namespace {

using namespace tutti::core;

void must_hold(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "%s\n", what);
  std::abort();
}

void import_as(TraceFormat format, std::string_view bytes) {
  MeasuredRun run;
  if (const auto read = import_bytes(format, bytes, "fuzz", run); !read) {
    must_hold(!read.error().problems().empty(), "an error has a problem");
    for (const Problem& problem : read.error().problems())
      must_hold(problem.where.file == "fuzz" && !problem.text.empty(),
                "a problem has a place and a text");
    return;
  }
  finish_import(run);
  StepModel model = step_model(run);
  static_cast<void>(fit_gradients(model, {}));
  static_cast<void>(scenario_of_run(run, model, "fuzz", {"dgx-a100", 1, "", {}, false}));
  if (const auto log = measurements_of_run(run))
    must_hold(parse_nccl_tests(*log, "log").has_value(), "measurements can be read again");
  std::ostringstream out;
  TimelineWriter writer(out);
  if (!write_timeline(run, model, "fuzz", writer)) return;
  const auto timeline = TimelineReader::from_bytes(out.str(), "fuzz");
  must_hold(timeline && timeline->complete(), "the timeline can be read again");
}

/// Reads the bytes as a log of operations, and predicts its steps.
void explain_operations(std::string_view bytes) {
  std::vector<LoggedOperation> operations;
  RecordCounts counts;
  const auto input = byte_input_of(bytes, "fuzz");
  const auto read = read_operation_log(
      *input, "fuzz", [&](const LoggedOperation& o) { operations.push_back(o); }, counts);
  if (!read) return must_hold(!read.error().problems().empty(), "an error has a problem");
  const auto graph = operation_graph(operations);
  if (!graph) return must_hold(!graph.error().problems().empty(), "an error has a problem");
  for (const OperationGraph::Step& step : graph->steps())
    must_hold(graph->step_time(step.durations) >= 0, "every step ends");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  static_cast<void>(recognise(bytes));
  for (const std::string& name : trace_format_names()) import_as(*parse_trace_format(name), bytes);
  explain_operations(bytes);
  return 0;
}
