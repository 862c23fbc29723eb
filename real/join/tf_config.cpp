#include "real/join/tf_config.h"

#include "core/cluster/tf_config.h"

namespace tutti::real {

using core::Error;
using core::Expected;
using core::ProblemCode;

Expected<Launch> launch_of_tf_config(const std::string& text) {
  const auto wrong = [](core::ProblemKind kind, const std::string& what) {
    return tl::make_unexpected(Error::request(std::move(kind), what, {"TF_CONFIG", 0, 0}));
  };
  const auto config = core::read_tf_config(text, "TF_CONFIG");
  if (!config) return tl::make_unexpected(config.error());
  const core::ClusterSpec& cluster = config->cluster;
  if (cluster.empty())
    return wrong({ProblemCode::kMissing, "cluster"},
                 "cluster is missing; without it, TF_CONFIG describes a single process");
  const auto task = config->task();
  if (!task)
    return wrong({ProblemCode::kMissing, "task"},
                 "task must have type and index, which identify this task in the cluster");
  if (const auto valid = core::validate(cluster, *task); !valid)
    return wrong({ProblemCode::kInvalid, "task"}, valid.error());
  if (task->type == "ps" || task->type == "evaluator") {
    return wrong({ProblemCode::kUnused, "task"},
                 fmt::format("a task of job \"{}\" does not take part in a run; start only the "
                             "chief and the workers",
                             task->type));
  }
  const std::string first = cluster.has("chief") ? "chief" : "worker";
  Launch launch;
  launch.launcher = LauncherKind::kTfConfig;
  launch.address_from = "TF_CONFIG";
  launch.size = static_cast<int>(*core::worker_count(cluster, task->type));
  launch.rank = static_cast<int>(*core::id_in_cluster(cluster, *task));
  const std::string address = cluster.jobs.at(first).begin()->second;
  launch.address = parse_address(address);
  if (!launch.address)
    return wrong(
        {ProblemCode::kSyntax, "cluster"},
        fmt::format("{}:0 has the address \"{}\", which is not \"host:port\"", first, address));
  return launch;
}

}  // namespace tutti::real
