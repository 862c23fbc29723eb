#include "core/cluster/tf_config.h"

#include <iterator>

#include "core/base/check.h"
#include "core/base/number.h"
#include "core/text/document.h"

namespace tutti::core {
namespace {

/// All task indices of a job must be below this limit.
constexpr std::int64_t kMaxTasks = 1'000'000;

std::optional<std::int64_t> index_from(const std::string& text) {
  const auto n = whole_number<std::int64_t>(text);
  return n && *n >= 0 && *n < kMaxTasks ? n : std::nullopt;
}

/// True if the address has the form "host:port", which TensorFlow's server requires. An IPv6
/// address is in brackets.
bool has_port(const std::string& address) {
  const std::size_t colon = address.rfind(':');
  if (colon == std::string::npos || colon == 0) return false;
  const auto port = index_from(address.substr(colon + 1));
  return port && *port < 65'536;
}

class TfConfigReader {
 public:
  TfConfigReader(std::string_view text, const std::string& source) : source_(source) {
    root_ = parse_json(text, source, problems_).root;
    if (problems_.empty() && root_.kind != Value::Kind::kMessage)
      complain(root_, {ProblemCode::kWrongType},
               "expected {{\"cluster\": {{…}}, \"task\": {{\"type\": …, \"index\": …}}}}");
  }

  Expected<TfConfig> read() {
    TfConfig config;
    if (problems_.empty()) {
      if (const Value* cluster = field(root_, "cluster")) read_cluster(*cluster, config.cluster);
      if (const Value* task = field(root_, "task")) read_task(*task, config);
      config.rpc_layer = text_of("rpc_layer");
      config.session_master = text_of("session_master");
    }
    if (!problems_.empty()) return problems_.take();
    return config;
  }

 private:
  template <class... Args>
  void complain(const Value& at, ProblemKind kind, fmt::format_string<Args...> format,
                Args&&... args) {
    problems_.add(std::move(kind), {source_, at.at.line, at.at.column}, format,
                  std::forward<Args>(args)...);
  }

  /// If a name occurs several times, returns the last field, like Python's dictionaries. A JSON
  /// null counts as missing.
  static const Value* field(const Value& message, std::string_view name) {
    const Value* found = nullptr;
    for (const Value::Field& f : message.fields) {
      if (f.name == name) found = &f.value;
    }
    const bool null = found && found->kind == Value::Kind::kIdentifier && found->text == "null";
    return null ? nullptr : found;
  }

  std::string text_of(std::string_view name) {
    const Value* value = field(root_, name);
    if (!value) return "";
    if (value->kind != Value::Kind::kString)
      complain(*value, {ProblemCode::kWrongType, std::string(name)}, "{} is {}; expected a string",
               name, describe(*value));
    return value->text;
  }

  void read_cluster(const Value& cluster, ClusterSpec& spec) {
    if (cluster.kind != Value::Kind::kMessage) {
      complain(cluster, {ProblemCode::kWrongType, "cluster"},
               "cluster is {}; expected an object with a list of addresses for every job, such as "
               "{{\"worker\": "
               "[\"host1:2222\", \"host2:2222\"]}}",
               describe(cluster));
      return;
    }
    for (const Value::Field& job : cluster.fields) {
      ClusterSpec::Tasks& tasks = spec.jobs[job.name];
      tasks.clear();
      if (job.value.kind == Value::Kind::kList) {
        std::int64_t index = 0;
        for (const Value& address : job.value.items) add(tasks, index++, address);
      } else if (job.value.kind == Value::Kind::kMessage) {
        for (const Value::Field& task : job.value.fields) {
          if (const auto index = index_from(task.name)) {
            add(tasks, *index, task.value);
          } else {
            complain(task.value, {ProblemCode::kWrongType, "cluster"},
                     "\"{}\" is not a task index; expected a whole number from 0 to {}", task.name,
                     kMaxTasks - 1);
          }
        }
      } else {
        complain(job.value, {ProblemCode::kWrongType, "cluster"},
                 "the tasks of job \"{}\" are {}; expected a list of addresses", job.name,
                 describe(job.value));
      }
    }
  }

  void add(ClusterSpec::Tasks& tasks, std::int64_t index, const Value& address) {
    if (index >= kMaxTasks)
      return complain(address, {ProblemCode::kTooLarge, "cluster"}, "a job has at most {} tasks",
                      kMaxTasks);
    if (address.kind != Value::Kind::kString || !has_port(address.text))
      return complain(address, {ProblemCode::kWrongType, "cluster"}, "{} is no \"host:port\"",
                      describe(address));
    tasks[index] = address.text;
  }

  void read_task(const Value& task, TfConfig& config) {
    if (task.kind != Value::Kind::kMessage)
      return complain(task, {ProblemCode::kWrongType, "task"},
                      "task is {}; expected {{\"type\": \"worker\", \"index\": 0}}",
                      describe(task));
    if (const Value* type = field(task, "type")) {
      // TensorFlow accepts a number as an index and converts it to text. SOURCE:
      // tensorflow/python/distribute/cluster_resolver/tfconfig_cluster_resolver.py, task_type.
      if (type->kind != Value::Kind::kString && type->kind != Value::Kind::kNumber)
        complain(*type, {ProblemCode::kWrongType, "type"}, "type is {}; expected a string",
                 describe(*type));
      config.type = type->text;
    }
    if (const Value* index = field(task, "index")) {
      config.index = index_from(index->text);
      if (!config.index)
        complain(*index, {ProblemCode::kWrongType, "index"},
                 "index must be a whole number from 0 to {} (got {})", kMaxTasks - 1,
                 describe(*index));
    }
  }

  const std::string& source_;
  Problems problems_;
  Value root_;
};

bool is_ps(const std::string& type) { return type == "ps"; }

}  // namespace

std::int64_t ClusterSpec::tasks(const std::string& job) const {
  const auto found = jobs.find(job);
  return found == jobs.end() ? 0 : static_cast<std::int64_t>(found->second.size());
}

std::optional<std::string> ClusterSpec::address(const std::string& job, std::int64_t index) const {
  const auto found = jobs.find(job);
  if (found == jobs.end()) return std::nullopt;
  const auto task = found->second.find(index);
  if (task == found->second.end()) return std::nullopt;
  return task->second;
}

std::vector<std::optional<std::string>> ClusterSpec::addresses(const std::string& job) const {
  std::vector<std::optional<std::string>> all;
  const auto found = jobs.find(job);
  if (found == jobs.end() || found->second.empty()) return all;
  all.resize(static_cast<std::size_t>(found->second.rbegin()->first) + 1);
  for (const auto& [index, address] : found->second) all[index] = address;
  return all;
}

std::optional<TfConfigTask> TfConfig::task() const {
  if (!type || !index) return std::nullopt;
  return TfConfigTask{*type, *index};
}

Expected<TfConfig> read_tf_config(std::string_view text, const std::string& source) {
  return TfConfigReader(text, source).read();
}

tl::expected<void, std::string> validate(const ClusterSpec& cluster) {
  for (const char* alone : {"chief", "evaluator"}) {
    if (cluster.tasks(alone) > 1) {
      return tl::make_unexpected(
          fmt::format("there is more than one {0} ({1}); a cluster has at most one such task, so "
                      "make all other tasks workers",
                      alone, cluster.tasks(alone)));
    }
  }
  return {};
}

tl::expected<void, std::string> validate(const ClusterSpec& cluster, const TfConfigTask& task) {
  if (task.type != "chief" && task.type != "worker" && task.type != "evaluator" &&
      !is_ps(task.type)) {
    return tl::make_unexpected(fmt::format(
        "\"{}\" is not a task type; expected chief, worker, evaluator or ps", task.type));
  }
  if (const auto valid = validate(cluster); !valid) return valid;
  if (!cluster.has(task.type))
    return tl::make_unexpected(
        fmt::format("this task's job \"{}\" is not in the cluster", task.type));
  if (!cluster.address(task.type, task.index)) {
    return tl::make_unexpected(fmt::format("the cluster has no task {}:{}; job {} has {}",
                                           task.type, task.index, task.type,
                                           cluster.tasks(task.type)));
  }
  return {};
}

bool is_chief(const ClusterSpec& cluster, const TfConfigTask& task) {
  if (task.type == "chief" || task.type == "evaluator") return true;
  return !cluster.has("chief") && task == TfConfigTask{"worker", 0};
}

tl::expected<std::int64_t, std::string> worker_count(const ClusterSpec& cluster,
                                                     const std::string& type) {
  if (is_ps(type))
    return tl::make_unexpected("a task of job \"ps\" does not train, and there are no other tasks");
  if (type == "evaluator") return cluster.tasks("evaluator");
  return cluster.tasks("chief") + cluster.tasks("worker");
}

tl::expected<std::int64_t, std::string> id_in_cluster(const ClusterSpec& cluster,
                                                      const TfConfigTask& task) {
  if (is_ps(task.type))
    return tl::make_unexpected("a task of job \"ps\" is not among the tasks that train");
  const auto job = cluster.jobs.find(task.type);
  TUTTI_CHECK(job != cluster.jobs.end(), "no job {}", task.type);
  const std::int64_t place = std::distance(job->second.begin(), job->second.find(task.index));
  return task.type == "worker" ? cluster.tasks("chief") + place : place;
}

std::string collective_leader(const ClusterSpec& cluster, const TfConfigTask& task) {
  if (cluster.empty() || task.type == "evaluator") return "";
  return fmt::format("/job:{}/replica:0/task:0", cluster.has("chief") ? "chief" : "worker");
}

tl::expected<std::string, std::string> session_master(const TfConfig& config,
                                                      const std::optional<TfConfigTask>& task) {
  if (!config.session_master.empty()) return config.session_master;
  const auto& jobs = config.cluster.jobs;
  if (jobs.empty() || (jobs.size() == 1 && jobs.begin()->second.size() == 1)) return "";
  if (!task)
    return tl::make_unexpected(
        "task must have type and index, which identify this task in the cluster");
  const auto address = config.cluster.address(task->type, task->index);
  if (!address)
    return tl::make_unexpected(
        fmt::format("the cluster has no task {}:{}", task->type, task->index));
  return config.rpc_layer.empty() ? *address : config.rpc_layer + "://" + *address;
}

}  // namespace tutti::core
