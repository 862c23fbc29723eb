#pragma once

// Functions that define the options of each command. Only the .cpp files of this folder and
// command_line.cpp include CLI11, which takes seconds to compile.

#include "tools/tutti/calibrate.h"
#include "tools/tutti/compare.h"
#include "tools/tutti/convert.h"
#include "tools/tutti/doctor.h"
#include "tools/tutti/explain.h"
#include "tools/tutti/explore/sweep.h"
#include "tools/tutti/explore/tune.h"
#include "tools/tutti/export.h"
#include "tools/tutti/import.h"
#include "tools/tutti/init.h"
#include "tools/tutti/join.h"
#include "tools/tutti/options/manual.h"
#include "tools/tutti/perf/perf.h"
#include "tools/tutti/plan.h"
#include "tools/tutti/run.h"
#include "tools/tutti/simulate.h"
#include "tools/tutti/synthesize.h"
#include "tools/tutti/validate.h"
#include "tools/tutti/write_report.h"

namespace CLI {
class App;
}

namespace tutti::tools {

/// Each of these functions adds a command to the program, with help text and options. The parser
/// writes the values of the options to `o`.
void add_simulate(CLI::App& app, SimulateOptions& o);
void add_run(CLI::App& app, RealRunOptions& o);
void add_worker(CLI::App& app, WorkerOptions& o);
void add_perf(CLI::App& app, PerfOptions& o);
void add_plan(CLI::App& app, PlanOptions& o);
void add_explain(CLI::App& app, ExplainOptions& o);
void add_sweep(CLI::App& app, SweepOptions& o);
void add_tune(CLI::App& app, TuneOptions& o);
void add_synthesize(CLI::App& app, SynthesizeOptions& o);
void add_compare(CLI::App& app, CompareOptions& o);
void add_calibrate(CLI::App& app, CalibrateOptions& o);
void add_validate(CLI::App& app, ValidateOptions& o);
void add_report(CLI::App& app, ReportOptions& o);
void add_export(CLI::App& app, ExportOptions& o);
void add_init(CLI::App& app, InitOptions& o);
void add_convert(CLI::App& app, ConvertOptions& o);
void add_import(CLI::App& app, ImportOptions& o);
void add_doctor(CLI::App& app, DoctorOptions& o);
void add_view(CLI::App& app);
void add_completion(CLI::App& app, CompletionOptions& o);
void add_manual(CLI::App& app, ManualOptions& o);

}  // namespace tutti::tools
