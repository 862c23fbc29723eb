#include "core/scenario/scenario.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <tuple>

#include "core/base/file.h"
#include "core/proto/scenario.pb.h"
#include "core/scenario/all_reduce_spec_reader.h"
#include "core/scenario/byteps_reader.h"
#include "core/scenario/cluster_reader.h"
#include "core/scenario/communicators_reader.h"
#include "core/scenario/conditions_reader.h"
#include "core/scenario/distribution_reader.h"
#include "core/scenario/nccl_model.h"
#include "core/scenario/other_variables_reader.h"
#include "core/scenario/strategy_reader.h"
#include "core/text/bind.h"
#include "core/text/document.h"
#include "core/text/fields.h"
#include "core/text/limits.h"

namespace tutti::core {
namespace {

class ScenarioReader {
 public:
  ScenarioReader(const std::string& path, const Library& library)
      : path_(path), library_(library), sources_(path), fields_(sources_, problems_) {}

  Expected<Scenario> read(const std::string& text) {
    const Document document = parse_document(text, path_, problems_);
    bind(document.root, message_, sources_, problems_);
    if (document.cut_off) return problems_.take();
    scenario_.file = path_;
    scenario_.text = text;
    scenario_.name = message_.name().empty() ? std::filesystem::path(path_).stem().string() : message_.name();
    scenario_.description = message_.description();
    read_run();
    if (auto strategy = strategy_from(message_, fields_)) {
      scenario_.strategy = std::move(*strategy);
      strategy_known_ = true;
    }
    read_cluster();
    read_workload();
    check_together();
    if (!problems_.empty()) return problems_.take();
    return std::move(scenario_);
  }

 private:
  // --- run ---

  void read_run() {
    const proto::Run& run = message_.run();
    scenario_.run.steps = static_cast<std::int32_t>(fields_.integer(run, "steps", "run", 1, kMostSteps).value_or(3));
    scenario_.run.seed = run.seed();
    const auto jitter = fields_.number(run, "compute_jitter_percent", "run", {0, 90});
    scenario_.run.compute_jitter_ppm = static_cast<std::int64_t>(jitter.value_or(0) * 10'000);
    if (run.network_model() == proto::Run::IDEAL) scenario_.run.network_model = NetworkModel::kIdeal;
    if (run.network_model() == proto::Run::FAIR) scenario_.run.network_model = NetworkModel::kFair;
    if (run.interference() == proto::Run::ON) scenario_.run.interference = Interference::kOn;
    if (run.interference() == proto::Run::OFF) scenario_.run.interference = Interference::kOff;
    if (run.nccl() == proto::Run::RINGS) scenario_.run.nccl = NcclModel::kRings;
  }

  // --- cluster ---

  void read_cluster() {
    if (!message_.has_cluster())
      return fields_.complain(message_, "cluster is missing; say at least cluster {{ workers {{ machine: … }} }}");
    if (message_.cluster().has_file()) {
      cluster_file_ = load_cluster_file(message_.cluster(), fields_, path_, library_, scenario_.files);
      if (!cluster_file_) return;
      cluster_ = cluster_file_->message.get();
      cluster_fields_.emplace(cluster_file_->sources, problems_);
    } else {
      cluster_ = &message_.cluster();
      cluster_fields_.emplace(sources_, problems_);
    }
    const std::string& file = cluster_file_ ? cluster_file_->path : path_;
    scenario_.cluster = cluster_from(*cluster_, *cluster_fields_, file, library_, scenario_.files);
    if (scenario_.cluster && message_.has_conditions())
      scenario_.run.conditions = conditions_from(message_.conditions(), fields_, *scenario_.cluster);
  }

  // --- workload ---

  void read_workload() {
    if (!message_.has_workload())
      return fields_.complain(message_, "workload is missing; say at least workload {{ model: … }}");
    const proto::Workload& w = message_.workload();
    WorkloadOptions options;
    const bool have_model = read_model(w, options.model);
    if (have_model && scenario_.cluster)
      take_sparse_gradients(w, scenario_.cluster->replicas(), options.model, fields_);
    std::vector<OnReadVariable> on_read = on_read_from(w, fields_);
    const auto checkpoint = fields_.integer(message_.run(), "checkpoint_every", "run", 1, 1 << 30);
    if (!on_read.empty() && !message_.run().has_checkpoint_every())
      fields_.complain(w.on_read(0),
                       "workload: on_read variables are brought together when they are saved; say how often, "
                       "run {{ checkpoint_every: … }}");
    if (!w.layer_times().empty()) {
      const auto file = library_.read(Library::Kind::kLayerTimes, w.layer_times(), path_);
      if (!file) {
        problems_.add(file.error());
      } else if (!*file) {
        complain_unknown(fields_, w, "layer_times", "profile of layer times", w.layer_times(),
                         library_.names(Library::Kind::kLayerTimes));
      } else if (Expected<LayerTimes> times = read_layer_times((*file)->text, (*file)->path)) {
        options.layer_times = std::move(*times);
        remember(**file, scenario_.files);
      } else {
        problems_.add(times.error());
      }
    }
    options.batch = fields_.integer(w, "batch", "workload", 1, 1 << 30);
    // Times that stand in the scenario are per step, whatever the batch is.
    if (!w.variable().empty()) options.model.batch = options.batch.value_or(1);
    if (w.has_gradient_type()) {
      if (w.gradient_type() == proto::DATA_TYPE_UNSPECIFIED) {
        fields_.complain_at(w, "gradient_type", "workload: gradient_type must be a type, such as FLOAT32");
      } else {
        options.gradient_type = static_cast<DataType>(w.gradient_type());
      }
    }
    options.flops_efficiency = fields_.number(w, "flops_efficiency", "workload", {0, 1, false}).value_or(0.5);
    const auto milliseconds = [&](const char* field) -> std::optional<Time> {
      const auto ms = fields_.number(w, field, "workload", {0, kMostMilliseconds});
      if (!ms) return std::nullopt;
      return time_from_us(*ms * 1e3);
    };
    options.forward = milliseconds("forward_ms");
    options.backward = milliseconds("backward_ms");
    options.update = milliseconds("update_ms");
    options.micro_batches =
        static_cast<std::int32_t>(fields_.integer(w, "micro_batches", "workload", 1, kMostMicroBatches).value_or(1));
    options.accumulate = milliseconds("accumulate_ms");
    if (w.has_accumulate_ms() && options.micro_batches == 1) {
      fields_.complain_at(w, "accumulate_ms",
                          "workload: accumulate_ms does nothing without micro_batches: 2 or more; say that too");
    }
    if (const auto percent = fields_.number(w, "compute_bound_percent", "workload", {0, 100}))
      options.compute_bound_ppm = static_cast<std::int64_t>(*percent * 10'000);
    if (!have_model || !scenario_.cluster || !problems_.empty()) return;
    auto workload = make_workload(options, *scenario_.cluster);
    if (!workload) {
      for (const WorkloadProblem& problem : workload.error()) {
        if (problem.field.empty()) {
          fields_.complain(w, "workload: {}", problem.text);
        } else {
          fields_.complain_at(w, problem.field, "workload: {}: {}", problem.field, problem.text);
        }
      }
      return;
    }
    scenario_.workload = std::move(*workload);
    scenario_.workload.on_read = std::move(on_read);
    scenario_.workload.checkpoint_every = static_cast<std::int32_t>(checkpoint.value_or(0));
  }

  bool read_model(const proto::Workload& w, Model& model) {
    if (!w.model().empty() && !w.variable().empty()) {
      fields_.complain_at(w, "model", "workload: model and variable both list variables; keep one");
      return false;
    }
    if (!w.variable().empty()) return read_variables(w, model);
    if (w.model().empty()) {
      fields_.complain(w, "workload: say model: \"…\", or list variables with variable {{ … }}");
      return false;
    }
    const auto file = library_.read(Library::Kind::kModel, w.model(), path_);
    if (!file) {
      problems_.add(file.error());
      return false;
    }
    if (!*file) {
      complain_unknown(fields_, w, "model", "model", w.model(), library_.names(Library::Kind::kModel));
      return false;
    }
    Expected<Model> loaded = core::read_model((*file)->text, (*file)->path);
    if (!loaded) {
      problems_.add(loaded.error());
      return false;
    }
    model = std::move(*loaded);
    remember(**file, scenario_.files);
    return true;
  }

  bool read_variables(const proto::Workload& w, Model& model) {
    model.name = scenario_.name;
    std::map<std::string, int> names;
    std::int64_t total = 0;
    const std::size_t before = problems_.size();
    for (const proto::Variable& v : w.variable()) {
      Variable variable;
      variable.name = v.name();
      if (v.name().empty()) {
        fields_.complain(v, "a variable needs a name");
      } else if (!names.emplace(v.name(), 0).second) {
        fields_.complain_at(v, "name", "variable \"{}\" is listed twice; names must differ", v.name());
      }
      variable.shape.assign(v.shape().begin(), v.shape().end());
      const auto elements = elements_of(variable.shape);
      if (!elements) {
        fields_.problems().add(
            sources_.at(v, "shape", 0),
            "variable \"{}\": sides of its shape must be 0 or more and multiply to at most 2^46 elements", v.name());
        continue;
      }
      variable.elements = *elements;
      total += *elements;
      if (v.has_data_type() && v.data_type() == proto::DATA_TYPE_UNSPECIFIED) {
        fields_.complain_at(v, "data_type", "variable \"{}\": data_type must be a type, such as FLOAT32", v.name());
      } else if (v.has_data_type()) {
        variable.type = static_cast<DataType>(v.data_type());
      }
      variable.layer = static_cast<std::int64_t>(model.variables.size());
      const std::string what = fmt::format("variable \"{}\"", v.name());
      if (const auto ms = fields_.number(v, "forward_ms", what, {0, kMostMilliseconds}))
        variable.forward = time_from_us(*ms * 1e3);
      if (const auto ms = fields_.number(v, "backward_ms", what, {0, kMostMilliseconds}))
        variable.backward = time_from_us(*ms * 1e3);
      model.variables.push_back(std::move(variable));
    }
    if (total > kMostElements) fields_.complain(w, "workload: {} elements in all are more than 2^46", total);
    return problems_.size() == before;
  }

  // --- together ---

  void check_together() {
    if (!scenario_.cluster || !strategy_known_) return;
    if (scenario_.strategy.collective_all_reduce) {
      lower_collective_all_reduce(scenario_.strategy, *scenario_.cluster, std::ssize(scenario_.workload.gradients));
      take_what_is_asked(message_.strategy(), scenario_.strategy);
    }
    if (message_.strategy().distribution_case() != proto::Strategy::DISTRIBUTION_NOT_SET) {
      lower_distribution(message_.strategy(), *scenario_.cluster, fields_, scenario_.strategy);
      take_what_is_asked(message_.strategy(), scenario_.strategy);
    }
    if (is_byteps(message_.strategy()))
      lower_byteps(message_.strategy(), *scenario_.cluster, fields_, scenario_.strategy);
    if (scenario_.strategy.servers && scenario_.strategy.servers->updates && message_.workload().has_update_ms()) {
      fields_.complain_at(
          message_.workload(), "update_ms",
          "workload: update_ms: the devices that hold the variables update them, in {} passes over their "
          "memory; leave it out",
          kUpdatePasses);
    }
    if (problems_.empty()) take_reduce_to_device(message_.strategy(), *scenario_.cluster, fields_, scenario_.strategy);
    for (const StrategyProblem& problem : problems_of(scenario_.strategy, *scenario_.cluster))
      complain_about_strategy(problem);
    if (scenario_.strategy.spec) check_entries(*scenario_.strategy.spec);
    if (message_.communicator_size() > 0)
      scenario_.communicators = communicators_from(message_, fields_, scenario_.strategy, *scenario_.cluster);
    const bool splits = std::any_of(scenario_.communicators.begin(), scenario_.communicators.end(),
                                    [](const Communicator& c) { return c.splits_model; });
    if (scenario_.strategy.spec && splits) {
      fields_.complain_at(
          message_.strategy(), "all_reduce_spec",
          "strategy: all_reduce_spec reduces over all replicas, which hold different parts of the model "
          "(splits_model); say algorithm: \"ring\" or \"nccl\" in its place");
    }
    if (!problems_.empty()) return;
    auto plan = make_plan(scenario_.workload, scenario_.strategy, *scenario_.cluster, scenario_.communicators);
    if (!plan) return complain_about_strategy(plan.error());
    scenario_.plan = std::move(*plan);
    check_reach();
    check_duration();
    if (problems_.empty()) take_nccl_times(message_.strategy(), library_, fields_, scenario_);
  }

  /// Taken literally, only those matter that get gradients: plan_by_spec() looks at them.
  void check_entries(const AllReduceSpec& spec) {
    if (spec.validation == SpecValidation::kLiteral) return;
    for (std::size_t e = 0; e < spec.entries.size(); ++e) {
      for (const SpecProblem& problem : problems_on(scenario_.strategy, e, *scenario_.cluster))
        complain_about(problem, spec, message_.strategy(), fields_);
    }
  }

  void complain_about_strategy(const StrategyProblem& problem) {
    const proto::Strategy& s = message_.strategy();
    if (problem.field.empty()) return fields_.complain(message_, "{}", problem.text);
    fields_.complain_at(s, problem.field, "strategy: {}: {}", problem.field, problem.text);
  }

  /// Every device that sends must reach every other one. Workers of one machine are alike, so it is enough to look at
  /// the first two of each group.
  void check_reach() {
    const Strategy& strategy = scenario_.strategy;
    if (!strategy.spec) return (void)check_reach_of(strategy);
    for (std::size_t e = 0; e < strategy.spec->entries.size(); ++e) {
      if (strategy.spec->entries[e].algorithm && !check_reach_of(for_entry(strategy, e))) return;
    }
  }

  bool check_reach_of(const Strategy& strategy) {
    const Cluster& cluster = *scenario_.cluster;
    const bool to_host = strategy.algorithm == Algorithm::kReductionToOneDevice && !strategy.reduce_to;
    const bool hosts = sums_on_hosts(strategy.algorithm) || to_host ||
                       (strategy.servers && strategy.servers->on == Servers::On::kHosts);
    std::vector<std::int64_t> workers;
    std::int64_t first = 0;
    for (const WorkerGroup& group : cluster.groups()) {
      workers.push_back(first);
      if (group.count > 1) workers.push_back(first + 1);
      first += group.count;
    }
    std::set<std::tuple<const Machine*, const Machine*, bool>> seen;
    for (const std::int64_t a : workers) {
      for (const std::int64_t b : workers) {
        if (!seen.insert({&cluster.machine(a), &cluster.machine(b), a == b}).second) continue;
        for (const PartId from : senders(a, hosts)) {
          for (const PartId to : senders(b, hosts)) {
            if (!check_route(from, to, strategy.staging)) return false;
          }
        }
      }
    }
    return true;
  }

  [[nodiscard]] std::vector<PartId> senders(std::int64_t worker, bool host) const {
    const Cluster& cluster = *scenario_.cluster;
    std::vector<PartId> parts;
    if (worker >= cluster.workers() - cluster.servers()) return {cluster.host(worker)};
    for (int r = 0; r < cluster.replicas_per_worker(); ++r)
      parts.push_back(cluster.replica(worker * cluster.replicas_per_worker() + r));
    if (host) parts.push_back(cluster.host(worker));
    return parts;
  }

  bool check_route(PartId from, PartId to, Staging staging) {
    const Cluster& cluster = *scenario_.cluster;
    std::vector<Hop> route;
    if (cluster.append_route(from, to, staging, route)) return true;
    const bool staged = from.worker != to.worker && staging != Staging::kDirect;
    const bool rails = from.worker != to.worker && cluster.network()->kind == Network::Kind::kRails;
    cluster_fields_->complain(
        *cluster_,
        "no links lead from {} (machine \"{}\") to {} (machine \"{}\"){}{}; switches and CPUs pass traffic "
        "on, GPUs and network cards do not; add the missing link",
        cluster.part_name(from), cluster.machine(from.worker).name(), cluster.part_name(to),
        cluster.machine(to.worker).name(), staged ? " through both hosts' memory (staging: VIA_HOST)" : "",
        rails ? " on the sender's rail" : "");
    return false;
  }

  /// A unit that is a million times off is found here rather than after a run.
  void check_duration() {
    const Bytes bytes = scenario_.workload.bytes();
    const auto check = [&](const std::string& name, Bandwidth bandwidth) {
      if (transfer_time(bytes, bandwidth) < Time(86'400 * kPicosecondsPerSecond)) return;
      cluster_fields_->complain(
          *cluster_, "{} at {:g} GB/s would take more than a day for the {} bytes of gradients; check its bandwidth",
          name, to_gb_per_s(bandwidth), bytes.count());
    };
    for (const WorkerGroup& group : scenario_.cluster->groups()) {
      const std::vector<Part>& parts = group.machine->parts();
      for (std::size_t l = 0; l < group.machine->links().size(); l += 2) {
        const MachineLink& link = group.machine->links()[l];
        check(fmt::format("link \"{}\"–\"{}\"", parts[static_cast<std::size_t>(link.from)].name,
                          parts[static_cast<std::size_t>(link.to)].name),
              link.bandwidth);
      }
      for (const int nic : group.machine->nics()) {
        check(fmt::format("nic \"{}\"", parts[static_cast<std::size_t>(nic)].name),
              parts[static_cast<std::size_t>(nic)].nic);
      }
    }
    if (scenario_.cluster->network() && scenario_.cluster->network()->port_bandwidth)
      check("the network", *scenario_.cluster->network()->port_bandwidth);
  }

  std::string path_;
  const Library& library_;
  Problems problems_;
  SourceMap sources_;
  Fields fields_;
  proto::Scenario message_;
  Scenario scenario_;
  bool strategy_known_ = false;
  std::optional<ClusterFile> cluster_file_;
  const proto::Cluster* cluster_ = nullptr;  ///< what describes the cluster: in the scenario, or in its file
  std::optional<Fields> cluster_fields_;     ///< and where that was written
};

}  // namespace

std::optional<Interference> parse_interference(const std::string& text) {
  if (text == "auto") return Interference::kWhereKnown;
  if (text == "on") return Interference::kOn;
  if (text == "off") return Interference::kOff;
  return std::nullopt;
}

std::optional<NcclModel> parse_nccl_model(const std::string& text) {
  if (text == "calibrated") return NcclModel::kCalibrated;
  if (text == "rings") return NcclModel::kRings;
  return std::nullopt;
}

Expected<Scenario> read_scenario(const std::string& text, const std::string& path, const Library& library) {
  return ScenarioReader(path, library).read(text);
}

Expected<Scenario> load_scenario(const std::string& path, const Library& library) {
  Expected<std::string> text = read_text_file(path, TextSource::kAnything);
  if (!text) return tl::make_unexpected(text.error());
  return read_scenario(*text, path, library);
}

}  // namespace tutti::core
