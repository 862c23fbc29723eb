#include "real/join/tf_config.h"

#include <algorithm>
#include <charconv>
#include <map>

#include "core/text/document.h"

namespace tutti::real {

using core::Error;
using core::Expected;
using core::Value;

namespace {

class TfConfig {
 public:
  explicit TfConfig(const std::string& text) {
    core::Document document = core::parse_json(text, "TF_CONFIG", problems_);
    root_ = std::move(document.root);
    if (problems_.empty() && root_.kind != Value::Kind::kMessage)
      complain(root_, "expected {{\"cluster\": {{…}}, \"task\": {{\"type\": …, \"index\": …}}}}");
  }

  Expected<Launch> read() {
    if (problems_.empty()) read_cluster();
    Launch launch;
    if (problems_.empty()) place(launch);
    if (!problems_.empty()) return problems_.take();
    return launch;
  }

 private:
  template <class... Args>
  void complain(const Value& at, fmt::format_string<Args...> format, Args&&... args) {
    problems_.add({"TF_CONFIG", at.at.line, at.at.column}, format, std::forward<Args>(args)...);
  }

  static const Value* field(const Value& message, const std::string& name) {
    const auto found = std::find_if(message.fields.begin(), message.fields.end(),
                                    [&](const Value::Field& f) { return f.name == name; });
    return found == message.fields.end() ? nullptr : &found->value;
  }

  void add_task(const std::string& job, std::int64_t index, const Value& address) {
    const auto parsed = address.kind == Value::Kind::kString ? parse_address(address.text) : std::nullopt;
    if (!parsed) return complain(address, "{} is no \"host:port\"", core::describe(address));
    jobs_[job][index] = *parsed;
  }

  static std::optional<std::int64_t> whole(const std::string& text) {
    std::int64_t n = 0;
    const char* const end = text.data() + text.size();
    const auto [stop, status] = std::from_chars(text.data(), end, n);
    if (status != std::errc() || stop != end || n < 0 || n > 1'000'000) return std::nullopt;
    return n;
  }

  void read_cluster() {
    const Value* const cluster = field(root_, "cluster");
    if (!cluster) return complain(root_, "cluster is missing; TF_CONFIG without one starts nothing together");
    for (const Value::Field& job : cluster->fields) {
      std::int64_t index = 0;
      for (const Value& address : job.value.items) add_task(job.name, index++, address);
      for (const Value::Field& task : job.value.fields) {
        if (const auto number = whole(task.name)) {
          add_task(job.name, *number, task.value);
        } else {
          complain(task.value, "\"{}\" is no index of a task", task.name);
        }
      }
    }
  }

  void place(Launch& launch) {
    launch.launcher = LauncherKind::kTfConfig;
    launch.address_from = "TF_CONFIG";
    const std::map<std::int64_t, Address>& chiefs = jobs_["chief"];
    const std::map<std::int64_t, Address>& workers = jobs_["worker"];
    if (chiefs.size() > 1) return complain(root_, "there is more than one chief");
    launch.size = static_cast<int>(chiefs.size() + workers.size());
    if (launch.size == 0) return complain(root_, "cluster has neither a chief nor workers");
    launch.address = chiefs.empty() ? workers.begin()->second : chiefs.begin()->second;

    const Value* const task = field(root_, "task");
    const Value* const type = task ? field(*task, "type") : nullptr;
    const Value* const index = task ? field(*task, "index") : nullptr;
    if (!type || !index) return complain(root_, "task must say type and index: which of the cluster's tasks is this?");
    const auto number = whole(index->text);
    if (!number) return complain(*index, "index must be a number from 0 on (got {})", core::describe(*index));
    if (type->text == "ps" || type->text == "evaluator") {
      return complain(*type, "a task of job \"{}\" has no part in a run; start only the chief and the workers",
                      type->text);
    }
    if (type->text != "chief" && type->text != "worker")
      return complain(*type, "{} is no type of a task; expected chief or worker", core::describe(*type));
    const std::map<std::int64_t, Address>& job = jobs_[type->text];
    const auto found = job.find(*number);
    if (found == job.end()) return complain(*index, "cluster has no task {}:{}", type->text, *number);
    launch.rank = static_cast<int>(std::distance(job.begin(), found) +
                                   (type->text == "worker" ? static_cast<std::ptrdiff_t>(chiefs.size()) : 0));
  }

  core::Problems problems_;
  Value root_;
  std::map<std::string, std::map<std::int64_t, Address>> jobs_;
};

}  // namespace

Expected<Launch> read_tf_config(const std::string& text) { return TfConfig(text).read(); }

}  // namespace tutti::real
