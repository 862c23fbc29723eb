// Sets every field of every message of the schemas to values of the wrong type, and to extreme
// values of the right type, in scenarios that are otherwise valid. The tests find the fields by
// reflection, so they cover a new field without a change. A new message has to be added to one of
// the scenarios below.
//
// The scenario is printed with one field per line, with the value to try instead of the field's
// value. A value of the wrong type must be an error on its line. No value may crash the program.

#include <gmock/gmock.h>
#include <google/protobuf/descriptor.h>
#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <functional>
#include <set>

#include "core/proto/machine.pb.h"
#include "core/proto/scenario.pb.h"
#include "core/scenario/scenario.h"
#include "core/text/bind.h"
#include "tests/support/clusters.h"

namespace tutti::core {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

// --- scenarios ---

const std::string kMachine = R"(
  name: "m" description: "d" source: "s"
  device {
    name: "gpu[0-1]" kind: GPU memory_gb_per_s: 100 reduce_gb_per_s: 10 copy_gb_per_s: 20 threads: 2 multiprocessors: 80
    source: "s" flops { data_type: FLOAT32 tflops: 1 source: "s" }
  }
  device { name: "cpu0" kind: CPU memory_gb_per_s: 10 }
  switch { name: "plx" kind: PCIE_SWITCH source: "s" }
  nic { name: "nic0" bandwidth_gb_per_s: 1 source: "s" }
  link { from: "gpu[0-1]" to: "plx" kind: PCIE generation: 3 lanes: 8 latency_us: 0.5 source: "s" }
  link { from: "plx" to: "cpu0" kind: PCIE bandwidth_gb_per_s: 1 latency_us: 0.5 }
  link { from: "plx" to: "nic0" kind: PCIE bandwidth_gb_per_s: 1 latency_us: 0.5 }
  link { from: "gpu0" to: "gpu1" kind: NVLINK bandwidth_gb_per_s: 1 latency_us: 0.5 }
  ring { span: ONE_WORKER gpu: [1, 0] channels: 2 source: "s" }
  ring { span: SEVERAL_WORKERS gpu: [0, 1] })";
const std::string kLink = R"(
  name: "l" description: "d" source: "s" port_gbit_per_s: 100 packet_payload_bytes: 4096 packet_overhead_bytes: 66
  latency_us: 2 switch_us: 0.3 connection_gb_per_s: 1)";
const std::string kOneSwitch = "kind: ONE_SWITCH latency_us: 1";
const std::string kNetworks[] = {
    kOneSwitch + " bandwidth_gb_per_s: 1 connection_gb_per_s: 0.5 source: \"s\"",
    "kind: RAILS link: \"l\"",
    "kind: FAT_TREE latency_us: 1 switch_us: 0.5 path_seed: 3 fat_tree { workers_per_leaf: 4 "
    "spines: 2 "
    "oversubscription: 2 }",
    "kind: FAT_TREE link: \"l\" path_choice: DESTINATION fat_tree { workers_per_leaf: 4 spines: 2 "
    "uplink_gb_per_s: 1 "
    "rails: true }",
    "kind: DRAGONFLY latency_us: 1 switch_us: 0.5 dragonfly { workers_per_router: 2 "
    "routers_per_group: 3 "
    "global_links_per_router: 3 local_gb_per_s: 1 global_gb_per_s: 1 global_us: 1 }",
    "kind: DRAGONFLY link: \"l\" dragonfly { routers_per_group: 4 global_links_per_router: 2 }",
    kOneSwitch +
        " transport: TCP host_transport { library: GRPC send_us_per_message: 1 "
        "receive_us_per_message: 2 "
        "thread_gb_per_s: 1 threads: 2 host_gb_per_s: 3 receive_us_per_mb2: 4 overlay: IPIP "
        "overlay_factor: 2 "
        "pod_per_gpu: true }",
};
const std::string kWorkers = "workers { machine: \"m\" count: 24 }";
const std::string kOneWorker = "workers { machine: \"m\" }";
const std::string kServers =
    "workers { machine: \"m\" count: 24 replicas: 1 } workers { machine: \"m\" count: 2 server: "
    "true }";
const std::string kVariables = R"(
  variable { name: "a" shape: [30, 5] data_type: FLOAT32 forward_ms: 1 backward_ms: 2 }
  variable { name: "b" shape: 7 forward_ms: 1 backward_ms: 2 })";
const std::string kRing = "algorithm: \"ring\"";

struct Case {
  std::string cluster = kWorkers;
  std::string network = kOneSwitch;
  std::string workload = kVariables;
  std::string strategy = kRing;
  std::string run{};
  std::string rest{};

  [[nodiscard]] std::string text() const {
    return fmt::format(
        "cluster {{ {} network {{ {} }} machine {{ {} }} }} workload {{ {} }} strategy {{ {} }} "
        "run {{ steps: 2 {} }} "
        "{}",
        cluster, network, kMachine, workload, strategy, run, rest);
  }
};

/// A scenario, and the path of the field under which all fields are tried. "": all fields.
struct Tried {
  Case scenario;
  std::string under;
  bool reads_files = false;
};

std::vector<Tried> all_tried() {
  std::vector<Tried> all{
      {{}, "cluster"},
      {{.cluster = kServers, .strategy = "tensorflow { parameter_server { } }"}, "cluster"}};
  for (const std::string& network : kNetworks)
    all.push_back({{.network = network}, "cluster.network"});
  all.push_back(
      {{.cluster = kWorkers + " calibrated { least_bytes: 4 most_bytes: 400 workers: 2 }"},
       "cluster"});

  all.push_back(
      {{.cluster = "workers { machine: \"m\" count: 4 replicas: 1 }",
        .workload = fmt::format("execution_trace {{ path: \"{}/tests/data/execution_traces/"
                                "all_reduce_4npus_1MB\" compute_scale: 2 }}",
                                test::source_folder())},
       "workload",
       true});

  const char* const times =
      " batch: 4 forward_ms: 1 backward_ms: 2 update_ms: 1 micro_batches: 2 accumulate_ms: 1";
  all.push_back(
      {{.workload = kVariables + times + " gradient_type: FLOAT16 compute_bound_percent: 50",
        .rest = "name: \"n\" description: \"d\""},
       ""});
  all.push_back(
      {{.workload =
            "model: \"model.csv\" layer_times: \"times.csv\" batch: 4 flops_efficiency: 0.5"},
       "workload"});
  all.push_back(
      {{.workload =
            kVariables + R"( sparse_gradient { variable: "a" rows_per_step: 3 index_type: INT32 }
                    on_read { name: "r" shape: 3 data_type: FLOAT32 aggregation: MEAN count: 2 })",
        .strategy = "tensorflow { multi_worker_mirrored { communication_options { implementation: "
                    "RING } } }",
        .run = "checkpoint_every: 2"},
       "workload"});
  for (const char* strategy :
       {"algorithm: \"ring\" shards: 2 bytes_per_pack: 100 merging: CONCAT launch: SERIAL "
        "reduction: MEAN update: "
        "AFTER_ALL staging: DIRECT launch_us: 1 pad_packs: true compression { type: FLOAT16 of: "
        "PACKS }",
        "algorithm: \"ring\" collective: BROADCAST root: 3",
        "custom { file: \"a.tutti-algorithm\" set: \"slices=3\" }",
        "algorithm: \"ring\" agg_small_grads_max_bytes: 100 agg_small_grads_max_group: 3 "
        "agg_small_grads_exact_group: true all_reduce_merge_scope: 1",
        "algorithm: \"pscpu/pscpu\" shards: 2 num_packs: 3",
        "algorithm: \"nccl\" channels: 2 nccl { version: \"2.21.5\" set: \"NCCL_ALGO=Ring\" "
        "network: \"infiniband\" }",
        "algorithm: \"tf_ring\" tf_ring { subdiv_offsets: [0, 1] align_bytes: 32 task_order: "
        "BY_NUMBER gpu_ring_order: "
        "\"1,0\" }",
        "tensorflow { multi_worker_mirrored { communication_options { bytes_per_pack: 100 "
        "timeout_seconds: 9 "
        "implementation: RING } hints { bytes_per_pack: 50 } collective_all_reduce { generation: "
        "TF_2_4 eager: true "
        "experimental_aggregate_gradients: false } } }",
        "tensorflow { multi_worker_all_reduce { all_reduce_spec { entry { algorithm: \"pscpu\" "
        "shards: 2 limit: 100 } "
        "entry { algorithm: \"xring\" } limit_unit: ELEMENTS result_order: RESTORED validation: "
        "STRICT } } }",
        "tensorflow { multi_worker_all_reduce { all_reduce_spec { text: \"pscpu:2k:xring\" api: "
        "TF_CNN_BENCHMARKS } } "
        "}",
        "algorithm: \"ring\" pytorch_ddp { bucket_cap_mb: 1 first_bucket_bytes: 100 "
        "gradient_as_bucket_view: true }",
        "algorithm: \"ring\" deepspeed { reduce_bucket_size: 100 overlap_comm: true }",
        "algorithm: \"ring\" megatron { overlap_grad_reduce: true ddp_bucket_size: 100 }",
        "algorithm: \"ring\" horovod { fusion_threshold: 100 cycle_time_ms: 1 cache_capacity: 9 }",
        "byteps { partition_bytes: 4096 scheduling_credit: 2 key_hash_fn: NAIVE "
        "servers_on_workers: 2 }",
        "tensorflow { tf_cnn_benchmarks { variable_update: DISTRIBUTED_REPLICATED "
        "servers_on_workers: 2 } }"}) {
    all.push_back({{.strategy = strategy}, "strategy"});
  }
  const auto of_one = [](const std::string& workers, const std::string& strategy) {
    return Tried{{.cluster = workers, .strategy = strategy}, "strategy"};
  };
  all.push_back(of_one("workers { machine: \"m\" replicas: 1 }", "tensorflow { one_device { } }"));
  all.push_back(of_one(
      kOneWorker,
      "tensorflow { mirrored { cross_device_ops: NCCL_ALL_REDUCE num_packs: 2 tf_1_15: true } }"));
  all.push_back(
      of_one(kOneWorker, "algorithm: \"reduction_to_one_device\" reduce_to_device: \"gpu1\""));
  all.push_back(of_one(kOneWorker, "tensorflow { central_storage { } }"));
  all.push_back(
      of_one(kOneWorker, "tensorflow { tf_cnn_benchmarks { local_parameter_device: CPU } }"));
  all.push_back(of_one(
      kServers,
      "tensorflow { parameter_server { placement: GREEDY_BY_BYTES variable_read_cache: CPU } }"));
  for (const char* rule : {"fixed_size { num_shards: 2 axis: 0 }",
                           "min_max_variable { max_partitions: 3 min_slice_bytes: 8 axis: 0 }",
                           "variable_axis_size { max_shard_bytes: 8 max_shards: 2 axis: 0 }"})
    all.push_back(
        of_one(kServers,
               fmt::format("tensorflow {{ parameter_server {{ variable_partitioner {{ {} }} }} }}",
                           rule)));
  all.push_back(of_one(kServers, "tensorflow { tf_cnn_benchmarks { cross_replica_sync: true } }"));

  all.push_back({{.rest = R"(conditions {
      slow { worker: 1 device: "gpu0" slowdown: 2 from_ms: 1 to_ms: 2 } slow { random_workers: 2 slowdown: 2 }
      link { from: "w1/nic0" to: "network" bandwidth_share: 0.5 at_ms: 1 }
      background { where: PORTS share: 0.5 burst_ms: 1 pause_ms: 1 }
      compute_noise { distribution: EXPONENTIAL mean_percent: 1 } gone { worker: 3 from_ms: 9 }
      late_host { worker: 0 device: "gpu0" before: "a" ms: 1 } })"},
                 "conditions"});
  for (const char* noise :
       {"PARETO mean_percent: 1 tail_index: 2", "BERNOULLI mean_percent: 1 probability_percent: 5"})
    all.push_back(
        {{.rest = fmt::format("conditions {{ compute_noise {{ distribution: {} }} }}", noise)},
         "conditions"});
  all.push_back({{.network = kNetworks[4],
                  .rest = "conditions { background { from: \"g0r0\" to: \"g0r1\" share: 0.5 } }"},
                 "conditions"});
  all.push_back({{.rest = R"(communicator {
      name: "t" size: 2 stride: 1 splits_model: true algorithm: "ring" launch_us: 1
      exchange { collective: ALL_REDUCE bytes: 8 type: FLOAT32 per_forward: 1 per_backward: 2 overlaps: true } })"},
                 "communicator"});
  return all;
}

// --- one field per line ---

/// The text to print instead of a field's value.
struct Substitute {
  const Message* message;
  const FieldDescriptor* field;
  std::string value;
};

class Printer {
 public:
  explicit Printer(const Substitute& substitute) : substitute_(substitute) {}

  std::string text;
  int line = 0;    ///< line of the substitute
  int column = 0;  ///< column at which its value starts

  void print(const Message& message, int indent = 0) {
    const Descriptor& type = *message.GetDescriptor();
    for (int i = 0; i < type.field_count(); ++i) print(message, *type.field(i), indent);
  }

 private:
  void print(const Message& message, const FieldDescriptor& field, int indent) {
    const Reflection& reflection = *message.GetReflection();
    int first = 0;
    if (&message == substitute_.message && &field == substitute_.field) {
      const std::string name =
          std::string(static_cast<std::size_t>(indent), ' ') + field.name() + ": ";
      line = lines_ + 1;
      column = static_cast<int>(name.size()) + 1;
      add(name + substitute_.value);
      first = 1;
    }
    const int count = field.is_repeated() ? reflection.FieldSize(message, &field)
                                          : (reflection.HasField(message, &field) ? 1 : 0);
    for (int i = first; i < count; ++i) {
      const std::string name = std::string(static_cast<std::size_t>(indent), ' ') + field.name();
      if (field.cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) {
        add(name + " {");
        print(field.is_repeated() ? reflection.GetRepeatedMessage(message, &field, i)
                                  : reflection.GetMessage(message, &field),
              indent + 2);
        add(std::string(static_cast<std::size_t>(indent), ' ') + "}");
      } else {
        std::string value;
        google::protobuf::TextFormat::PrintFieldValueToString(message, &field,
                                                              field.is_repeated() ? i : -1, &value);
        add(name + ": " + value);
      }
    }
  }

  void add(const std::string& written) {
    text += written + "\n";
    ++lines_;
  }

  const Substitute& substitute_;
  int lines_ = 0;
};

// --- values ---

/// Returns values that do not have the field's type.
std::vector<std::string> of_wrong_type(const FieldDescriptor& field) {
  std::vector<std::string> values;
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT32:
    case FieldDescriptor::CPPTYPE_INT64:
    case FieldDescriptor::CPPTYPE_UINT32:
    case FieldDescriptor::CPPTYPE_UINT64:
      values = {
          "3.5", "\"many\"", "\"\"", "{ }", "true", "nan", "-inf", "1e300", "99999999999999999999",
          "--5"};
      break;
    case FieldDescriptor::CPPTYPE_DOUBLE:
    case FieldDescriptor::CPPTYPE_FLOAT:
      values = {"\"fast\"", "\"\"", "{ }", "true", "nan", "inf", "-inf", "\"NaN\"", "1e400"};
      break;
    case FieldDescriptor::CPPTYPE_BOOL: values = {"1", "0.5", "\"true\"", "{ }", "maybe"}; break;
    case FieldDescriptor::CPPTYPE_ENUM:
      values = {"NO_SUCH_NAME", "\"\"", "1", "3.5", "{ }", "true"};
      break;
    case FieldDescriptor::CPPTYPE_STRING: values = {"5", "-3.5", "true", "WORD", "{ }"}; break;
    case FieldDescriptor::CPPTYPE_MESSAGE:
      values = {"5", "\"text\"", "WORD", "{ no_such_field: 1 }"};
      break;
  }
  const std::size_t scalars = values.size();
  for (std::size_t i = 0; i < scalars; ++i) values.push_back("[" + values[i] + "]");
  if (!field.is_repeated()) values.push_back("[]");
  return values;
}

/// Returns extreme and unusual values of the field's type.
std::vector<std::string> at_the_ends(const FieldDescriptor& field) {
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT32: return {"0", "-1", "1", "7", "2147483647", "-2147483648"};
    case FieldDescriptor::CPPTYPE_INT64:
      return {"0",
              "-1",
              "1",
              "7",
              "2147483647",
              "70368744177664",
              "9223372036854775807",
              "-9223372036854775808"};
    case FieldDescriptor::CPPTYPE_UINT32: return {"0", "4294967295"};
    case FieldDescriptor::CPPTYPE_UINT64: return {"0", "18446744073709551615"};
    case FieldDescriptor::CPPTYPE_DOUBLE:
    case FieldDescriptor::CPPTYPE_FLOAT:
      return {"0", "-0.0", "-1", "1e300", "-1e300", "1e-300", "5e-324", "1e6", "1e9"};
    case FieldDescriptor::CPPTYPE_BOOL: return {"true", "false"};
    case FieldDescriptor::CPPTYPE_ENUM: {
      std::vector<std::string> names;
      for (int i = 0; i < field.enum_type()->value_count(); ++i)
        names.push_back(field.enum_type()->value(i)->name());
      return names;
    }
    case FieldDescriptor::CPPTYPE_STRING:
      return {"\"\"",
              "\"x\"",
              "\"/\"",
              "\"[0-\"",
              "\"gpu[0-4095]\"",
              "\"a b\\n\"",
              "\"" + std::string(5000, 'y') + "\""};
    case FieldDescriptor::CPPTYPE_MESSAGE: return {"{ }"};
  }
  return {};
}

// --- visiting all fields ---

using Try = std::function<void(const Substitute&)>;
using Values = std::vector<std::string> (*)(const FieldDescriptor&);

/// Visits all fields of a message and of the messages inside it. If there are several messages of
/// one type, only the first is visited.
class Walk {
 public:
  Walk(Values values, const Try& attempt) : values_(values), try_(attempt) {}

  /// `under`: the path from here on, with dots between the fields.
  void walk(const Message& message, const std::string& under = "") {
    const Descriptor& type = *message.GetDescriptor();
    const std::string name = under.substr(0, under.find('.'));
    const std::string rest = name.size() < under.size() ? under.substr(name.size() + 1) : "";
    if (name.empty() && !seen.insert(&type).second) return;
    for (int i = 0; i < type.field_count(); ++i) {
      const FieldDescriptor& field = *type.field(i);
      if (!name.empty() && field.name() != name) continue;
      for (const std::string& value :
           excluded(message, field) ? std::vector<std::string>() : values_(field))
        try_({&message, &field, value});
      for (const Message* inside : messages_of(message, field)) walk(*inside, rest);
    }
  }

  std::set<const Descriptor*> seen;

 private:
  /// Returns true if another field of the same `oneof` is set. Setting both would be the only
  /// error.
  static bool excluded(const Message& message, const FieldDescriptor& field) {
    const auto* const one_of = field.real_containing_oneof();
    const auto* const there =
        one_of ? message.GetReflection()->GetOneofFieldDescriptor(message, one_of) : nullptr;
    return there && there != &field;
  }

  static std::vector<const Message*> messages_of(const Message& message,
                                                 const FieldDescriptor& field) {
    const Reflection& reflection = *message.GetReflection();
    std::vector<const Message*> messages;
    if (field.cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE) return messages;
    for (int i = 0; field.is_repeated() && i < reflection.FieldSize(message, &field); ++i)
      messages.push_back(&reflection.GetRepeatedMessage(message, &field, i));
    if (!field.is_repeated() && reflection.HasField(message, &field))
      messages.push_back(&reflection.GetMessage(message, &field));
    return messages;
  }

  Values values_;
  const Try& try_;
};

/// Prints the input when the program aborts, since no other output would name it.
class ShowsWhatAborts {
 public:
  ShowsWhatAborts() : before_(std::signal(SIGABRT, show)) {}
  ~ShowsWhatAborts() { std::signal(SIGABRT, before_); }
  ShowsWhatAborts(const ShowsWhatAborts&) = delete;
  ShowsWhatAborts& operator=(const ShowsWhatAborts&) = delete;

  static void reading(std::string text) { text_ = std::move(text); }

 private:
  static void show(int) {
    [[maybe_unused]] const auto written = ::write(STDERR_FILENO, text_.data(), text_.size());
  }
  static inline std::string text_;
  void (*before_)(int);
};

// --- reading ---

/// Returns the files that these scenarios name. The file of this kind has another text.
Library library_with(Library::Kind kind = Library::Kind::kModel, const std::string& text = "") {
  std::vector<Library::File> files{
      {Library::Kind::kMachine, "m", "m.textproto", kMachine},
      {Library::Kind::kLink, "l", "l.textproto", kLink},
      {Library::Kind::kCluster, "c.textproto", "c.textproto", ""},
      {Library::Kind::kAlgorithm, "a.tutti-algorithm", "a.tutti-algorithm",
       "parameter slices = 2 collective all_reduce chunks 1 lane { send data[0] to rank + 1 "
       "receive data[0] from rank "
       "- 1 }"},
      {Library::Kind::kModel, "model.csv", "model.csv",
       "name,shape,type,layer,forward_flops,backward_flops,forward_us,backward_us\na,30x5,float32,"
       "0,1e6,2e6,1,2\n"
       "b,7,float32,1,1e6,2e6,1,2\n"},
      {Library::Kind::kLayerTimes, "times.csv", "times.csv",
       "# batch: 4\nlayer,forward_us,backward_us,variables\none,1,2,a\ntwo,1,2,b\n"}};
  for (Library::File& file : files) {
    if (file.kind == kind && !text.empty()) file.text = text;
  }
  return Library(files);
}

using Read = std::function<Expected<Scenario>(const std::string& text)>;

template <class M>
M message_of(const std::string& text) {
  M message;
  Problems problems;
  SourceMap sources("here");
  bind(parse_document(text, "here", problems).root, message, sources, problems);
  EXPECT_TRUE(problems.empty()) << text;
  return message;
}

class WrongValues : public testing::Test {
 protected:
  /// Expects that values of the wrong type are rejected at their place, and that all other errors
  /// have a place.
  void try_all(const Message& message, const std::string& file, const Read& read,
               const std::string& under = "") {
    Substitute nothing{};
    Printer whole(nothing);
    whole.print(message);
    const auto right = read(whole.text);
    ASSERT_TRUE(right) << right.error().message() << "\n" << whole.text;

    const Try wrong_type = [&](const Substitute& substitute) {
      const auto [text, place, scenario] = read_with(message, file, read, substitute);
      ++tried;
      if (scenario) {
        ADD_FAILURE() << "accepted: " << substitute.field->full_name() << ": " << substitute.value;
        return;
      }
      for (const Problem& problem : scenario.error().problems()) {
        if (problem.where.file == file && problem.where.line == place.line &&
            problem.where.column >= place.column)
          return;
      }
      ADD_FAILURE() << "no problem at " << to_string(place) << " but\n"
                    << scenario.error().message() << "\n"
                    << text;
    };
    Walk types(of_wrong_type, wrong_type);
    types.walk(message, under);
    seen.insert(types.seen.begin(), types.seen.end());

    const Try at_end = [&](const Substitute& substitute) {
      const auto [text, place, scenario] = read_with(message, file, read, substitute);
      ++tried;
      if (scenario) return;
      for (const Problem& problem : scenario.error().problems()) {
        EXPECT_FALSE(problem.text.empty());
        EXPECT_FALSE(problem.where.file.empty() || problem.where.line == 0)
            << to_string(problem) << "\n"
            << substitute.field->full_name() << ": " << substitute.value;
      }
    };
    Walk(at_the_ends, at_end).walk(message, under);
  }

  std::set<const Descriptor*> seen;
  int tried = 0;

 private:
  struct Outcome {
    std::string text;
    Location place;
    Expected<Scenario> scenario;
  };

  static Outcome read_with(const Message& message, const std::string& file, const Read& read,
                           const Substitute& substitute) {
    Printer printer(substitute);
    printer.print(message);
    ShowsWhatAborts::reading(printer.text);
    return {printer.text, {file, printer.line, printer.column}, read(printer.text)};
  }

  ShowsWhatAborts shows_;
};

/// Collects the types of all messages that a message of this type can contain, including itself.
void collect(const Descriptor& type, std::set<const Descriptor*>& types) {
  if (!types.insert(&type).second) return;
  for (int i = 0; i < type.field_count(); ++i) {
    if (const Descriptor* const inside = type.field(i)->message_type()) collect(*inside, types);
  }
}

TEST_F(WrongValues, InAnyFieldOfAScenarioAreErrorsWhereTheyStand) {
  const Library sent = library_with(), shipped(test::source_folder() + "/scenarios");
  for (const Tried& one : all_tried()) {
    const Read read = [&library = one.reads_files ? shipped : sent](const std::string& text) {
      return read_scenario(text, "s", library);
    };
    const auto message = message_of<proto::Scenario>(one.scenario.text());
    try_all(message, "s", read, one.under);
  }
  std::set<const Descriptor*> all;
  collect(*proto::Scenario::descriptor(), all);
  for (const Descriptor* type : all)
    EXPECT_TRUE(seen.contains(type)) << type->full_name() << " is in no scenario here";
  EXPECT_GT(tried, 10'000);
}

TEST_F(WrongValues, InAnyFieldOfAMachineFileAreErrorsOfThatFile) {
  const std::string scenario =
      fmt::format("cluster {{ {} network {{ {} }} }} workload {{ {} }} strategy {{ {} }}", kWorkers,
                  kNetworks[4], kVariables, kRing);
  try_all(message_of<proto::Machine>(kMachine), "m.textproto", [&](const std::string& text) {
    return read_scenario(scenario, "s", library_with(Library::Kind::kMachine, text));
  });
}

TEST_F(WrongValues, InAnyFieldOfAKindOfLinkAreErrorsOfThatFile) {
  const Case scenario{.network = kNetworks[5]};
  try_all(message_of<proto::NetworkLink>(kLink), "l.textproto", [&](const std::string& text) {
    return read_scenario(scenario.text(), "s", library_with(Library::Kind::kLink, text));
  });
}

TEST_F(WrongValues, InAnyFieldOfAClusterFileAreErrorsOfThatFile) {
  const std::string scenario = fmt::format(
      "cluster {{ file: \"c.textproto\" }} workload {{ {} }} strategy {{ {} }}", kVariables, kRing);
  for (const std::string& network : kNetworks) {
    const std::string cluster = fmt::format("{} network {{ {} }}", kWorkers, network);
    try_all(message_of<proto::Cluster>(cluster), "c.textproto", [&](const std::string& text) {
      return read_scenario(scenario, "s", library_with(Library::Kind::kCluster, text));
    });
  }
}

/// Cells of models and profiles, which are CSV files rather than messages.
TEST_F(WrongValues, InAnyCellOfAModelOrAProfileAreErrorsWhereTheyStand) {
  const Case scenario{.workload =
                          "model: \"model.csv\" layer_times: \"times.csv\" flops_efficiency: 0.5"};
  const auto try_cells = [&](Library::Kind kind, const std::string& file, const std::string& head,
                             const std::vector<std::string>& cells,
                             const std::vector<std::size_t>& numbers) {
    for (const std::size_t wrong : numbers) {
      for (const char* value :
           {"many", "nan", "inf", "-1", "1e300", "{}", "--5", "\"", "1x", "3.5.5"}) {
        std::string row;
        for (std::size_t i = 0; i < cells.size(); ++i)
          row += (i > 0 ? "," : "") + (i == wrong ? std::string(value) : cells[i]);
        const auto line = static_cast<int>(std::count(head.begin(), head.end(), '\n')) + 1;
        const auto read =
            read_scenario(scenario.text(), "s", library_with(kind, head + row + "\n"));
        ASSERT_FALSE(read) << head << row;
        const Problem& first = read.error().problems().front();
        EXPECT_EQ(std::tie(first.where.file, first.where.line), std::tie(file, line))
            << to_string(first) << "\n"
            << row;
        EXPECT_GT(first.where.column, 0) << row;
      }
    }
  };
  try_cells(Library::Kind::kModel, "model.csv",
            "name,shape,type,layer,forward_flops,backward_flops,forward_us,backward_us\nb,7,"
            "float32,1,1e6,2e6,1,2\n",
            {"a", "30x5", "float32", "0", "1e6", "2e6", "1", "2"}, {1, 2, 3, 4, 5, 6, 7});
  try_cells(Library::Kind::kLayerTimes, "times.csv",
            "# batch: 4\nlayer,forward_us,backward_us,variables\ntwo,1,2,b\n",
            {"one", "1", "2", "a"}, {1, 2});
}

}  // namespace
}  // namespace tutti::core
