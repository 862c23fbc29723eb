// The text is first parsed to a tree, in which every value has its position, and then converted to
// a protobuf message. Class Fields finds the position of a message's field in the text, and reports
// problems there. Reading continues after a problem, so that as many problems as possible are
// reported together. The cluster is read before the workload, because compute times depend on its
// devices, and sparse gradients on the number of replicas. The workload itself is only made if
// there are no problems so far.
//
// This file reads the run options and the workload. A workload is a model of the library, a list of
// variables, or an execution trace. Other files read the strategy, the cluster, the conditions and
// the communicators. The plan needs both the cluster and the gradients, so lower.cpp makes it
// later.

#include "core/scenario/scenario_reader.h"

#include <algorithm>
#include <filesystem>
#include <map>

#include "core/base/units.h"
#include "core/proto/scenario.pb.h"
#include "core/replay/graph_reader.h"
#include "core/scenario/conditions_reader.h"
#include "core/scenario/custom.h"
#include "core/scenario/nccl_reader.h"
#include "core/scenario/old_form.h"
#include "core/scenario/other_variables_reader.h"
#include "core/scenario/strategy_reader.h"
#include "core/scenario/transformer_reader.h"
#include "core/text/bind.h"
#include "core/text/limits.h"
#include "core/text/text_limits.h"

namespace tutti::core {
namespace {

class ScenarioReader {
 public:
  ScenarioReader(const Library& library, WrittenScenario& written)
      : path_(written.path),
        library_(library),
        written_(written),
        problems_(written.problems),
        fields_(written.fields),
        message_(*written.message),
        scenario_(written.scenario) {}

  void read() {
    scenario_.name =
        message_.name().empty() ? std::filesystem::path(path_).stem().string() : message_.name();
    scenario_.description = message_.description();
    read_run();
    if (auto strategy = strategy_from(message_, written_.guests, fields_, written_.complaints)) {
      scenario_.strategy = std::move(*strategy);
      written_.strategy_known = true;
      scenario_.nccl = nccl_options_from(message_.strategy().nccl(), fields_, path_);
      written_.strategy_known = read_custom(written_, library_);
    }
    read_cluster();
    read_workload();
    written_.communicators = communicators_from(message_, fields_);
  }

 private:
  // --- run ---

  void read_run() {
    const proto::Run& run = message_.run();
    scenario_.run.steps =
        static_cast<std::int32_t>(fields_.integer(run, "steps", "run", 1, kMaxSteps).value_or(3));
    scenario_.run.seed = run.seed();
    const auto jitter = fields_.number(run, "compute_jitter_percent", "run", {0, 90});
    scenario_.run.compute_jitter_ppm = ppm_from_share(jitter.value_or(0) / 100);
    if (run.network_model() == proto::Run::IDEAL)
      scenario_.run.network_model = NetworkModel::kIdeal;
    if (run.network_model() == proto::Run::FAIR) scenario_.run.network_model = NetworkModel::kFair;
    if (run.interference() == proto::Run::ON) scenario_.run.interference = Interference::kOn;
    if (run.interference() == proto::Run::OFF) scenario_.run.interference = Interference::kOff;
    if (run.nccl() == proto::Run::RINGS) scenario_.run.nccl = NcclModel::kRings;
  }

  // --- cluster ---

  void read_cluster() {
    if (!message_.has_cluster())
      return fields_.complain_at(
          message_, "cluster", ProblemCode::kMissing,
          "cluster is missing; the minimum is cluster {{ workers {{ machine: … }} }}");
    if (message_.cluster().has_file()) {
      written_.cluster_file =
          load_cluster_file(message_.cluster(), fields_, path_, library_, scenario_.files);
      if (!written_.cluster_file) return;
    }
    const std::string& file = written_.cluster_file ? written_.cluster_file->path : path_;
    read_calibration(message_.cluster(), fields_, path_);
    if (written_.cluster_file && scenario_.nccl.calibration.empty()) {
      Fields of_file = written_.cluster_fields();
      read_calibration(written_.cluster(), of_file, file);
    }
    Fields fields = written_.cluster_fields();
    written_.cluster_place = fields.sources().at(written_.cluster());
    scenario_.cluster = cluster_from(written_.cluster(), fields, file, library_, scenario_.files);
    if (scenario_.cluster && message_.has_conditions())
      scenario_.run.conditions =
          conditions_from(message_.conditions(), fields_, *scenario_.cluster);
  }

  /// Stores the path of the calibration file. In the scenario, the path is relative to the
  /// scenario's folder. The file is read when NCCL's times are computed.
  void read_calibration(const proto::Cluster& cluster, Fields& fields, const std::string& from) {
    if (!cluster.has_nccl_calibration()) return;
    const std::filesystem::path path(cluster.nccl_calibration());
    const auto folder = std::filesystem::path(from).parent_path();
    scenario_.nccl.calibration = path.is_absolute() ? path.string() : (folder / path).string();
    scenario_.nccl.calibration_at = fields.sources().at(cluster, "nccl_calibration");
  }

  // --- workload ---

  void read_workload() {
    if (!message_.has_workload())
      return fields_.complain_at(message_, "workload", ProblemCode::kMissing,
                                 "workload is missing; the minimum is workload {{ model: … }}");
    const proto::Workload& w = message_.workload();
    if (w.has_execution_trace()) return read_trace(w);
    WorkloadOptions options;
    const bool have_model = read_model(w, options.model);
    if (have_model && scenario_.cluster)
      take_sparse_gradients(w, scenario_.cluster->replicas(), options.model, fields_);
    std::vector<OnReadVariable> on_read = on_read_from(w, fields_);
    const auto checkpoint = fields_.integer(message_.run(), "checkpoint_every", "run", 1, 1 << 30);
    if (!on_read.empty() && !message_.run().has_checkpoint_every())
      fields_.complain(w.on_read(0), ProblemCode::kMissing,
                       "workload: on_read variables are aggregated for checkpoints; set the "
                       "number of steps between checkpoints with the field "
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
    // Times in the scenario are times per step, whatever the batch size.
    if (!w.variable().empty()) options.model.batch = options.batch.value_or(1);
    if (w.has_gradient_type()) {
      if (w.gradient_type() == proto::DATA_TYPE_UNSPECIFIED) {
        fields_.complain_at(w, "gradient_type",
                            "workload: gradient_type must be a data type, such as FLOAT32");
      } else {
        options.gradient_type = static_cast<DataType>(w.gradient_type());
      }
    }
    if (w.has_precision()) {
      if (w.precision() == proto::Flops::PRECISION_UNSPECIFIED) {
        fields_.complain_at(w, "precision",
                            "workload: precision must be a value such as BFLOAT16 or TF32");
      } else {
        options.precision = static_cast<Precision>(w.precision());
      }
    }
    options.flops_efficiency = fields_.number(w, "flops_efficiency", "workload", {0, 1, false});
    if (w.has_channels_last()) options.channels_last = w.channels_last();
    const auto milliseconds = [&](const char* field) -> std::optional<Time> {
      const auto ms = fields_.number(w, field, "workload", {0, kMaxMilliseconds});
      if (!ms) return std::nullopt;
      return time_from_us(*ms * 1e3);
    };
    options.recomputes = w.recompute_activations();
    options.forward = milliseconds("forward_ms");
    options.backward = milliseconds("backward_ms");
    options.update = milliseconds("update_ms");
    options.forward_gap = milliseconds("forward_gap_ms");
    options.micro_batches = static_cast<std::int32_t>(
        fields_.integer(w, "micro_batches", "workload", 1, kMaxMicroBatches).value_or(1));
    options.accumulate = milliseconds("accumulate_ms");
    if (options.recomputes && w.has_backward_ms())
      fields_.complain_at(w, "recompute_activations", ProblemCode::kConflict,
                          "workload: backward_ms is the time of the whole backward pass, including "
                          "repeated forward passes; remove one of backward_ms and "
                          "recompute_activations");
    if (w.has_accumulate_ms() && options.micro_batches == 1) {
      fields_.complain_at(w, "accumulate_ms", ProblemCode::kUnused,
                          "workload: accumulate_ms needs micro_batches of at least 2; set both");
    }
    if (const auto percent = fields_.number(w, "compute_bound_percent", "workload", {0, 100}))
      options.compute_bound_ppm = ppm_from_share(*percent / 100);
    // If there are problems already, compute times would only cause further, misleading problems.
    if (!have_model || !scenario_.cluster || !problems_.empty()) return;
    auto workload = make_workload(options, *scenario_.cluster);
    if (!workload) {
      for (const WorkloadProblem& problem : workload.error()) {
        if (problem.field.empty()) {
          fields_.complain(w, problem.code, "workload: {}", problem.text);
        } else {
          fields_.complain_at(w, problem.field, problem.code, "workload: {}: {}", problem.field,
                              problem.text);
        }
      }
      return;
    }
    scenario_.workload = std::move(*workload);
    scenario_.workload.on_read = std::move(on_read);
    find_late_layers();
    scenario_.workload.checkpoint_every = static_cast<std::int32_t>(checkpoint.value_or(0));
  }

  /// Finds the layers that conditions.late_host names, and gives the workload a gap before each of
  /// them.
  void find_late_layers() {
    Workload& workload = scenario_.workload;
    for (std::size_t i = 0; i < scenario_.run.conditions.late.size(); ++i) {
      LateHost& late = scenario_.run.conditions.late[i];
      if (late.before.empty()) {
        workload.gaps.forward = workload.gaps.forward.value_or(Time());
        continue;
      }
      for (std::size_t s = 0; s < workload.segments.size() && late.segment < 0; ++s) {
        for (const int v : workload.segments[s].variables)
          if (workload.gradients[v].name == late.before) late.segment = static_cast<int>(s);
      }
      if (late.segment < 0) {
        fields_.complain_at(message_.conditions().late_host(static_cast<int>(i)), "before",
                            ProblemCode::kUnknownName,
                            "late_host: the workload has no variable \"{}\"; set the field before "
                            "to the name of a variable, or leave it unset for the forward pass",
                            late.before);
        continue;
      }
      workload.gaps.backward.resize(workload.segments.size());
      std::optional<Time>& gap = workload.gaps.backward[static_cast<std::size_t>(late.segment)];
      gap = gap.value_or(Time());
    }
  }

  /// Reads an execution trace, with which the workload has no other settings.
  void read_trace(const proto::Workload& w) {
    std::vector<const google::protobuf::FieldDescriptor*> set;
    w.GetReflection()->ListFields(w, &set);
    for (const google::protobuf::FieldDescriptor* const field : set) {
      if (field->name() == "execution_trace") continue;
      fields_.complain_at(w, field->name(), ProblemCode::kUnused,
                          "workload: {} has no effect, because execution_trace sets all "
                          "computation and communication; remove {}",
                          field->name(), field->name());
    }
    if (message_.conditions().late_host_size() > 0)
      fields_.complain_at(message_.conditions(), "late_host", ProblemCode::kUnused,
                          "conditions: late_host has no effect, because the execution trace has no "
                          "layers; remove late_host");
    const proto::ExecutionTrace& trace = w.execution_trace();
    const auto scale = fields_.number(trace, "compute_scale", "execution_trace", {0, 1000, false});
    written_.graph_pace_ppm = std::max<std::int64_t>(1, ppm_from_share(scale.value_or(1)));
    if (trace.path().empty())
      return fields_.complain_at(trace, "path", ProblemCode::kMissing,
                                 "execution_trace: path is missing; hint: name a GOAL file, or "
                                 "Chakra's files without \".<rank>.et\"");
    if (!problems_.empty()) return;
    if (library_.folder().empty())
      return fields_.complain_at(trace, "path", ProblemCode::kUnsupported,
                                 "execution_trace: traces can only be simulated, not sent to the "
                                 "workers of a real run; use tutti simulate");
    const auto absolute = [this](const std::string& name) {
      const std::filesystem::path path(name);
      const auto folder = std::filesystem::path(path_).parent_path();
      return name.empty() || path.is_absolute() ? name : (folder / path).string();
    };
    auto graph = read_graph({absolute(trace.path()), absolute(trace.groups()),
                             scenario_.cluster ? scenario_.cluster->replicas() : 0});
    if (!graph) return add_problems_of(trace, graph.error());
    if (scenario_.cluster && scenario_.cluster->replicas() != std::ssize((*graph)->ranks))
      return fields_.complain_at(
          trace, "path", ProblemCode::kConflict,
          "execution_trace: the trace has {} ranks, but the cluster has {} replicas; hint: change "
          "cluster {{ workers {{ count: … replicas: … }} }}",
          (*graph)->ranks.size(), scenario_.cluster->replicas());
    written_.graph = std::move(*graph);
    scenario_.workload.name = std::filesystem::path(trace.path()).filename().string();
    scenario_.workload.timing = fmt::format("durations of the trace ({}){}", written_.graph->source,
                                            scale ? fmt::format(" times {:g}", *scale) : "");
    if (scenario_.cluster) scenario_.workload.times.resize(scenario_.cluster->groups().size());
  }

  /// If a problem is in a line of the trace, reports it there; otherwise, reports it where the
  /// scenario names the trace.
  void add_problems_of(const proto::ExecutionTrace& trace, const Error& error) {
    for (const Problem& problem : error.problems()) {
      if (problem.where.line > 0) {
        problems_.add(problem);
        continue;
      }
      const char* const field = problem.kind.field == "ExecutionTrace.groups" ? "groups" : "path";
      fields_.complain_at(trace, field, problem.kind.code, "execution_trace: {}{}{}",
                          problem.where.file, problem.where.file.empty() ? "" : ": ", problem.text);
    }
  }

  bool read_model(const proto::Workload& w, Model& model) {
    if (!w.model().empty() && !w.variable().empty()) {
      fields_.complain_at(w, "model", ProblemCode::kConflict,
                          "workload: model and variable both list variables; keep one");
      return false;
    }
    if (w.has_transformer()) {
      if (!w.model().empty() || !w.variable().empty()) {
        fields_.complain_at(w, "transformer", ProblemCode::kConflict,
                            "workload: transformer and {} both list variables; keep one",
                            w.model().empty() ? "variable" : "model");
        return false;
      }
      auto made = transformer_from(w.transformer(), scenario_.name, fields_);
      if (made) model = std::move(*made);
      return made.has_value();
    }
    if (w.variable_size() > kMaxVariables) {
      fields_.complain_at(w, "variable", ProblemCode::kTooLarge,
                          "workload: {} variables exceed the limit of {}", w.variable_size(),
                          kMaxVariables);
      return false;
    }
    if (!w.variable().empty()) return read_variables(w, model);
    if (w.model().empty()) {
      fields_.complain_at(
          w, "model", ProblemCode::kMissing,
          "workload: set model: \"…\", list variables with variable {{ … }}, or state "
          "the dimensions of a transformer {{ … }}");
      return false;
    }
    const auto file = library_.read(Library::Kind::kModel, w.model(), path_);
    if (!file) {
      problems_.add(file.error());
      return false;
    }
    if (!*file) {
      complain_unknown(fields_, w, "model", "model", w.model(),
                       library_.names(Library::Kind::kModel));
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
        fields_.complain_at(v, "name", ProblemCode::kMissing, "a variable needs a name");
      } else if (!names.emplace(v.name(), 0).second) {
        fields_.complain_at(v, "name", ProblemCode::kDuplicate,
                            "variable \"{}\" is listed twice; names must differ", v.name());
      }
      variable.shape.assign(v.shape().begin(), v.shape().end());
      const auto elements = elements_of(variable.shape);
      if (!elements) {
        fields_.complain_at(v, "shape",
                            "variable \"{}\": each side of the shape must be at least 0, and the "
                            "shape may have at most 2^46 elements",
                            v.name());
        continue;
      }
      variable.elements = *elements;
      total += *elements;
      if (v.has_data_type() && v.data_type() == proto::DATA_TYPE_UNSPECIFIED) {
        fields_.complain_at(v, "data_type",
                            "variable \"{}\": data_type must be a type, such as FLOAT32", v.name());
      } else if (v.has_data_type()) {
        variable.type = static_cast<DataType>(v.data_type());
      }
      variable.layer = static_cast<std::int64_t>(model.variables.size());
      const std::string what = fmt::format("variable \"{}\"", v.name());
      if (const auto ms = fields_.number(v, "forward_ms", what, {0, kMaxMilliseconds}))
        variable.forward = time_from_us(*ms * 1e3);
      if (const auto ms = fields_.number(v, "backward_ms", what, {0, kMaxMilliseconds}))
        variable.backward = time_from_us(*ms * 1e3);
      if (const auto ms = fields_.number(v, "gap_ms", what, {0, kMaxMilliseconds}))
        variable.gap = time_from_us(*ms * 1e3);
      model.variables.push_back(std::move(variable));
    }
    if (total > kMaxElements)
      fields_.complain(w, ProblemCode::kTooLarge,
                       "workload: {} elements in total exceed the limit of 2^46", total);
    return problems_.size() == before;
  }

  const std::string& path_;
  const Library& library_;
  WrittenScenario& written_;
  Problems& problems_;
  Fields& fields_;
  const proto::Scenario& message_;
  Scenario& scenario_;
};

}  // namespace

bool read(const std::string& text, const Library& library, WrittenScenario& written) {
  const Document document = parse_scenario(text, written.path, written.problems);
  written.places = Places::of(document.root, *proto::Scenario::descriptor(), written.path);
  bind(document.root, *written.message, written.sources, written.problems, &written.guests);
  if (document.cut_off) return false;
  written.scenario.file = written.path;
  written.scenario.text = text;
  ScenarioReader(library, written).read();
  return true;
}

}  // namespace tutti::core
