#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.h"

namespace tutti::core {

/// The jobs of a TensorFlow cluster and the addresses of their tasks (tf.train.ClusterSpec). The
/// task indices of a job may have gaps.
/// SOURCE: tensorflow/python/training/server_lib.py.
struct ClusterSpec {
  using Tasks = std::map<std::int64_t, std::string>;
  std::map<std::string, Tasks> jobs;

  [[nodiscard]] bool empty() const { return jobs.empty(); }
  [[nodiscard]] bool has(const std::string& job) const { return jobs.contains(job); }
  /// Returns the number of tasks of a job; 0 if the job does not exist.
  [[nodiscard]] std::int64_t tasks(const std::string& job) const;
  /// Returns the address of a task; nullopt if the task does not exist.
  [[nodiscard]] std::optional<std::string> address(const std::string& job,
                                                   std::int64_t index) const;
  /// Returns the addresses of a job by task index; nullopt for task indices that do not exist.
  [[nodiscard]] std::vector<std::optional<std::string>> addresses(const std::string& job) const;
};

/// A task of a cluster.
struct TfConfigTask {
  std::string type;  ///< name of the job; TensorFlow supports "chief", "worker", "ps" and
                     ///< "evaluator"
  std::int64_t index = 0;

  auto operator<=>(const TfConfigTask&) const = default;
};

/// The content of the environment variable TF_CONFIG: the cluster, and the task that this process
/// executes.
struct TfConfig {
  ClusterSpec cluster;
  std::optional<std::string> type;    ///< type of this process's task
  std::optional<std::int64_t> index;  ///< index of this process's task
  std::string rpc_layer;
  std::string session_master;

  /// Returns this process's task; nullopt if TF_CONFIG does not set its type or index.
  [[nodiscard]] std::optional<TfConfigTask> task() const;
};

/// Reads TF_CONFIG's JSON as TFConfigClusterResolver does. The keys are `cluster` (for each job, a
/// list of addresses or a map from index to address), `task` with `type` and `index` (a number, or
/// a number in quotes), `rpc_layer` and `session_master`. All keys are optional; other keys are
/// ignored. Error messages use `source` as the name of the text. ERRORS (invalid requests): the
/// text is not a JSON object; a key has an invalid value; an address has no port.
Expected<TfConfig> read_tf_config(std::string_view text, const std::string& source);

/// Checks that TensorFlow's multi-worker strategies accept the cluster: there is at most one chief
/// and at most one evaluator.
/// An error is a single line without a location. SOURCE (for all functions from here to
/// collective_leader()): tensorflow/python/distribute/multi_worker_util.py.
tl::expected<void, std::string> validate(const ClusterSpec& cluster);
/// Checks the cluster as above. Also checks that `task` exists in the cluster, and that TensorFlow
/// supports the type of `task`.
tl::expected<void, std::string> validate(const ClusterSpec& cluster, const TfConfigTask& task);

/// True if the task is the chief or an evaluator. If the cluster has no chief, also true for worker
/// 0. REQUIRES (for all functions from here on): validate() succeeded.
bool is_chief(const ClusterSpec& cluster, const TfConfigTask& task);
/// Returns the number of tasks that train together: the chief and the workers. If `type` is
/// "evaluator", returns the number of evaluators.
/// ERRORS: the type is "ps".
tl::expected<std::int64_t, std::string> worker_count(const ClusterSpec& cluster,
                                                     const std::string& type);
/// Returns the rank of a task among the tasks that train together. The chief has rank 0, and the
/// workers follow in the order of their indices. Evaluators are numbered separately.
/// ERRORS: the type is "ps".
tl::expected<std::int64_t, std::string> id_in_cluster(const ClusterSpec& cluster,
                                                      const TfConfigTask& task);
/// Returns the name of the task that assigns group and instance keys to TensorFlow's collectives:
/// "/job:chief/replica:0/task:0", or worker 0 if there is no chief. Returns "" if the task is an
/// evaluator or there is no cluster.
std::string collective_leader(const ClusterSpec& cluster, const TfConfigTask& task);

/// Returns the address to which a session connects: `session_master` if it is set, otherwise the
/// address of `task`. Returns "" if there is no cluster, or only a single task.
/// ERRORS: `task` is nullopt, or the cluster does not contain it.
/// SOURCE: tensorflow/python/distribute/cluster_resolver/tfconfig_cluster_resolver.py.
tl::expected<std::string, std::string> session_master(const TfConfig& config,
                                                      const std::optional<TfConfigTask>& task);

}  // namespace tutti::core
