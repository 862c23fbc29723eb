#include "tools/tutti/import.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/formats/recognise.h"
#include "tools/tutti/import_graph.h"
#include "tools/tutti/scenario_options.h"

namespace tutti::tools {

namespace {

using core::ProblemCode;

int import_tf_config(const ImportTfConfigOptions& options, const Environment& environment) {
  const auto config = load_tf_config(options.from);
  if (!config) return report(config.error());
  InitOptions scenario = options.scenario;
  scenario.nodes = *core::worker_count(config->cluster, "worker");
  const auto leave_out = [&](const char* job) {
    if (const auto tasks = config->cluster.tasks(job); tasks > 0)
      print_note(
          fmt::format("note: TF_CONFIG: {} {} of job {} {} no part in all-reduces and {} ignored\n",
                      tasks, tasks == 1 ? "task" : "tasks", job, tasks == 1 ? "has" : "have",
                      tasks == 1 ? "is" : "are"));
  };
  // If TF_CONFIG lists servers, the strategy is ParameterServerStrategy, unless an algorithm is
  // requested.
  if (scenario.algorithm.empty()) {
    scenario.servers = config->cluster.tasks("ps");
  } else {
    leave_out("ps");
  }
  for (const auto& [job, tasks] : config->cluster.jobs) {
    if (job != "chief" && job != "worker" && job != "ps") leave_out(job.c_str());
  }
  return init(scenario, environment);
}

}  // namespace

int import_files(const ImportOptions& options, const Environment& environment) {
  switch (options.kind) {
    case ImportOptions::Kind::kTfConfig: return import_tf_config(options.tf_config, environment);
    case ImportOptions::Kind::kNcclTopology:
      return import_nccl_topology(options.nccl_topology, environment);
    case ImportOptions::Kind::kTrace: break;
  }
  if (options.trace.files.empty())
    return refuse(
        {ProblemCode::kMissing, "TRACE"},
        "import needs a trace or log (tutti import FILE…), or a format: {}, {}, tf-config, "
        "nccl-topology",
        fmt::join(core::trace_format_names(), ", "), fmt::join(graph_format_names(), ", "));
  if (is_graph_import(options.trace)) return import_graph(options.trace, environment);
  if (!options.trace.groups.empty())
    return refuse({ProblemCode::kUnused, "--groups"},
                  "--groups {}: only Chakra traces need a file with the ranks of communicators; "
                  "remove the option",
                  options.trace.groups);
  return import_trace(options.trace, environment);
}

}  // namespace tutti::tools
