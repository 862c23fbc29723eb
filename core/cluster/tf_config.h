#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.h"

namespace tutti::core {

/// The jobs of a TensorFlow cluster and the addresses of their tasks: tf.train.ClusterSpec. Task
/// indices need not be contiguous.
/// SOURCE: tensorflow/python/training/server_lib.py.
struct ClusterSpec {
  using Tasks = std::map<std::int64_t, std::string>;
  std::map<std::string, Tasks> jobs;

  [[nodiscard]] bool empty() const { return jobs.empty(); }
  [[nodiscard]] bool has(const std::string& job) const { return jobs.contains(job); }
  /// Returns the number of tasks of a job; 0 if the job does not exist.
  [[nodiscard]] std::int64_t tasks(const std::string& job) const;
  /// Returns the address of a task; nullopt if it does not exist.
  [[nodiscard]] std::optional<std::string> address(const std::string& job,
                                                   std::int64_t index) const;
  /// Returns the addresses of a job by index, with nullopt for each index that is left out.
  [[nodiscard]] std::vector<std::optional<std::string>> addresses(const std::string& job) const;
};

/// A task of a cluster.
struct TfConfigTask {
  std::string type;  ///< "chief", "worker", "ps" or "evaluator" for the types that TensorFlow knows
  std::int64_t index = 0;

  auto operator<=>(const TfConfigTask&) const = default;
};

/// The content of the environment variable TF_CONFIG: the members of the cluster, and which of them
/// this process is.
struct TfConfig {
  ClusterSpec cluster;
  std::optional<std::string> type;    ///< type of the task
  std::optional<std::int64_t> index;  ///< index of the task
  std::string rpc_layer;
  std::string session_master;

  /// Returns the task of this process; nullopt if its type or index is not set.
  [[nodiscard]] std::optional<TfConfigTask> task() const;
};

/// Reads TF_CONFIG's JSON as TFConfigClusterResolver does: `cluster` (a list of addresses per job,
/// or addresses by index), `task` with `type` and `index` (a number, or a number in quotes),
/// `rpc_layer`, `session_master`. All of them are optional, other keys are ignored. Errors call the
/// text `source`.
/// ERRORS (requests): no JSON object; a key with an invalid value; an address without a port.
Expected<TfConfig> read_tf_config(std::string_view text, const std::string& source);

/// Checks that the cluster is one that TensorFlow's multi-worker strategies accept: at most one
/// chief, at most one evaluator.
/// ERRORS: texts of one line, without a location.
/// SOURCE (this and the following): tensorflow/python/distribute/multi_worker_util.py.
tl::expected<void, std::string> validate(const ClusterSpec& cluster);
/// Checks the cluster, and that `task` is one of its tasks and of a type that TensorFlow knows.
tl::expected<void, std::string> validate(const ClusterSpec& cluster, const TfConfigTask& task);

/// True for the chief and the evaluator, and for worker 0 if there is no chief. REQUIRES (this and
/// the following): validate().
bool is_chief(const ClusterSpec& cluster, const TfConfigTask& task);
/// Returns the number of tasks that train together: chief and workers; for an evaluator, the
/// evaluators. ERRORS: a ps.
tl::expected<std::int64_t, std::string> worker_count(const ClusterSpec& cluster,
                                                     const std::string& type);
/// Returns the task's rank among them: 0 for the chief, workers follow by index; for an evaluator,
/// among the evaluators. ERRORS: a ps.
tl::expected<std::int64_t, std::string> id_in_cluster(const ClusterSpec& cluster,
                                                      const TfConfigTask& task);
/// Returns the task that assigns group and instance keys to all others:
/// "/job:chief/replica:0/task:0", worker 0 if there is no chief, "" for an evaluator or without a
/// cluster.
std::string collective_leader(const ClusterSpec& cluster, const TfConfigTask& task);

/// Returns the address that a session connects to: that of `task`; "" without a cluster, or if its
/// only task is this one.
/// ERRORS: the task of this process is not known, or does not exist.
/// SOURCE: tensorflow/python/distribute/cluster_resolver/tfconfig_cluster_resolver.py.
tl::expected<std::string, std::string> session_master(const TfConfig& config,
                                                      const std::optional<TfConfigTask>& task);

}  // namespace tutti::core
