#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.h"

namespace tutti::core {

/// The jobs of a TensorFlow cluster and the addresses of their tasks: tf.train.ClusterSpec. Tasks have indices, which need
/// not follow each other.
/// SOURCE: tensorflow/python/training/server_lib.py.
struct ClusterSpec {
  using Tasks = std::map<std::int64_t, std::string>;
  std::map<std::string, Tasks> jobs;

  [[nodiscard]] bool empty() const { return jobs.empty(); }
  [[nodiscard]] bool has(const std::string& job) const { return jobs.contains(job); }
  /// 0 of a job that there is not.
  [[nodiscard]] std::int64_t tasks(const std::string& job) const;
  /// Nothing if there is no such task.
  [[nodiscard]] std::optional<std::string> address(const std::string& job, std::int64_t index) const;
  /// By index; nothing in the place of an index that is left out.
  [[nodiscard]] std::vector<std::optional<std::string>> addresses(const std::string& job) const;
};

/// One of a cluster's tasks.
struct TfConfigTask {
  std::string type;  ///< "chief", "worker", "ps" or "evaluator", if it is any of TensorFlow's
  std::int64_t index = 0;

  auto operator<=>(const TfConfigTask&) const = default;
};

/// What the environment variable TF_CONFIG says: who is in the cluster, and which of them this process is.
struct TfConfig {
  ClusterSpec cluster;
  std::optional<std::string> type;    ///< of the task
  std::optional<std::int64_t> index;  ///< of the task
  std::string rpc_layer;
  std::string session_master;

  /// Which task this is; nothing if either part is not said.
  [[nodiscard]] std::optional<TfConfigTask> task() const;
};

/// Reads TF_CONFIG's JSON as TFConfigClusterResolver does: `cluster` (a list of addresses per job, or addresses by index),
/// `task` with `type` and `index` (a number, or a number in quotes), `rpc_layer`, `session_master`; all of them may be
/// missing, and what else is there is not looked at. `source`: what errors call the text.
/// ERRORS (requests): no JSON object; something of these is not what it has to be; an address without a port.
Expected<TfConfig> read_tf_config(std::string_view text, const std::string& source);

/// The cluster is one that TensorFlow's strategies for several workers take: at most one chief, at most one evaluator.
/// ERRORS: texts of one line, without a place.
/// SOURCE (this and the following): tensorflow/python/distribute/multi_worker_util.py.
tl::expected<void, std::string> validate(const ClusterSpec& cluster);
/// … and `task` is one of its tasks, of a type that TensorFlow knows.
tl::expected<void, std::string> validate(const ClusterSpec& cluster, const TfConfigTask& task);

/// The chief and the evaluator are, and worker 0 if there is no chief. REQUIRES (this and the following): validate().
bool is_chief(const ClusterSpec& cluster, const TfConfigTask& task);
/// How many train together with it: chief and workers; of an evaluator the evaluators. ERRORS: it is a ps.
tl::expected<std::int64_t, std::string> worker_count(const ClusterSpec& cluster, const std::string& type);
/// Its place among them: the chief's is 0, workers follow by their indices. Of an evaluator among evaluators. ERRORS: it is a
/// ps.
tl::expected<std::int64_t, std::string> id_in_cluster(const ClusterSpec& cluster, const TfConfigTask& task);
/// The task whose group and instance keys all others take: "/job:chief/replica:0/task:0", worker 0 if there is no chief, ""
/// for an evaluator or without a cluster.
std::string collective_leader(const ClusterSpec& cluster, const TfConfigTask& task);

/// The address that a session connects to: that of `task`; "" if there is no cluster or it is one task by itself.
/// ERRORS: it is not known which task this is, or there is no such one.
/// SOURCE: tensorflow/python/distribute/cluster_resolver/tfconfig_cluster_resolver.py.
tl::expected<std::string, std::string> session_master(const TfConfig& config, const std::optional<TfConfigTask>& task);

}  // namespace tutti::core
