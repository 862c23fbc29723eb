// Generates strategies by family: single algorithms by name, frameworks that pack in their own
// ways, and TensorFlow's strategies, specs and benchmarks. draw_family() sets the constraints of a
// family on the cluster. When the cluster is known, draw_strategy() adds the fields that depend on
// its size.

#include <algorithm>
#include <array>
#include <map>

#include <fmt/format.h>

#include "tests/digests/draft.h"

namespace tutti::test {

namespace {

constexpr std::array<const char*, 18> kAlgorithms{"ring",
                                                  "nccl",
                                                  "halving_doubling",
                                                  "pscpu",
                                                  "nccl/ring",
                                                  "double_tree",
                                                  "tf_ring",
                                                  "xring",
                                                  "nccl/xring",
                                                  "psgpu",
                                                  "pscpu/pscpu",
                                                  "nccl/halving_doubling",
                                                  "nccl",
                                                  "nccl/pscpu",
                                                  "recursive_doubling",
                                                  "nccl/double_tree",
                                                  "reduction_to_one_device",
                                                  "hierarchical_copy"};

/// 25 consecutive scenarios have each of these entries once.
constexpr std::array<const char*, 25> kFamilies{
    "plain",     "plain",     "ddp",       "mwms",
    "plain",     "horovod",   "byteps",    "spec",
    "plain",     "deepspeed", "push_pull", "plain",
    "mwms",      "megatron",  "plain",     "parameter_server",
    "spec",      "tf_cnn",    "mirrored",  "plain",
    "horovod",   "tf_cnn",    "push_pull", "mwms_or_one_device",
    "collective"};

/// Sets the constraints of the algorithm.
void require(Draft& draft) {
  const std::string& a = draft.algorithm;
  Needs& needs = draft.needs;
  needs.gpus = draft.starts_with_nccl() || a == "psgpu" || a.find('/') != std::string::npos;
  needs.power_of_two_replicas = a == "halving_doubling" || a == "recursive_doubling";
  needs.power_of_two_workers = a == "nccl/halving_doubling";
  if (a == "hierarchical_copy") {
    needs.most_workers = 1;
    const bool odd = draft.chance(50);
    needs.min_replicas_per_worker = odd ? 3 : 2;
    needs.max_replicas_per_worker = odd ? 3 : 8;
  }
  if (a == "xring" || a == "psgpu") needs.min_replicas_per_worker = 2;
  if (a.find('/') != std::string::npos) needs.min_workers = 2;
}

// --- fields that most strategies share ---

std::string reduction(Draft& draft) {
  return draft.maybe(50, "reduction",
                     {"reduction: MEAN", "reduction: MEAN", "reduction: MEAN", "reduction: MAX"});
}
std::string mean_or_sum(Draft& draft) { return draft.maybe(50, "reduction", {"reduction: MEAN"}); }
std::string staging(Draft& draft) {
  return draft.maybe(25, "staging",
                     {"staging: DIRECT", "staging: VIA_HOST", "staging: VIA_HOST_ON_REQUEST"});
}
std::string launch(Draft& draft) {
  return draft.maybe(30, "launch", {"launch: CONCURRENT", "launch: SERIAL"});
}
std::string launch_us(Draft& draft) {
  return draft.maybe(30, "launch_us", {"launch_us: 1", "launch_us: 5.5", "launch_us: 30"});
}
std::string update(Draft& draft) {
  return draft.maybe(25, "update", {"update: AFTER_ALL", "update: PER_PACK"});
}
std::string compression(Draft& draft, bool packs) {
  const std::string type = draft.one_of({"FLOAT16", "BFLOAT16"});
  const std::string gradients = "compression { type: " + type + " of: GRADIENTS }";
  const std::string as_packs = "compression { type: " + type + " of: PACKS }";
  if (!draft.chance(20)) return "";
  const bool of_packs = packs && draft.chance(50);
  draft.note("compression", of_packs ? "PACKS" : "GRADIENTS");
  return " " + (of_packs ? as_packs : gradients);
}

/// Returns the release and settings of NCCL, if NCCL takes part in the collectives.
std::string nccl_settings(Draft& draft) {
  const bool has_part =
      draft.algorithm == "nccl" ? draft.replicas() > 1 : draft.replicas_per_worker > 1;
  if (!draft.starts_with_nccl() || !has_part) return "";
  return draft.maybe(20, "nccl_settings",
                     {"nccl { version: \"2.18.3\" }", "nccl { version: \"2.12.12\" }",
                      "nccl { set: \"NCCL_ALGO=Ring\" }", "nccl { set: \"NCCL_PROTO=Simple\" }",
                      "nccl { set: \"NCCL_MAX_NCHANNELS=2\" }"});
}

/// Returns the fields of the algorithm, which depend on the size of the cluster.
std::string of_algorithm(Draft& draft) {
  const std::string& a = draft.algorithm;
  std::string text = " algorithm: \"" + a + "\"";
  const auto shards = [&](int most) {
    if (most < 2 || !draft.chance(50)) return;
    const int s = draft.between(2, std::min(most, 3));
    draft.note("shards", std::to_string(s));
    text += fmt::format(" shards: {}", s);
  };
  if (a == "ring" || a == "xring") shards(draft.replicas_per_worker);
  if (a == "pscpu" || a == "pscpu/pscpu") shards(draft.workers);
  if (a == "psgpu") shards(draft.replicas());
  if (draft.starts_with_nccl())
    text += draft.maybe(40, "channels", {"channels: 1", "channels: 2", "channels: 3"});
  if (a == "tf_ring") {
    const bool turns = draft.replicas_per_worker > 1;
    text += draft.maybe(
        70, "tf_ring",
        {"shards: 2",
         turns ? "tf_ring { subdiv_offsets: [0, 1] }" : "tf_ring { subdiv_offsets: [0, 0] }",
         "tf_ring { max_subdivs_per_device: 2 align_bytes: 32 }", "tf_ring { align_bytes: 16 }",
         turns ? "tf_ring { task_order: BY_NUMBER subdiv_offsets: -1 }"
               : "tf_ring { task_order: BY_NUMBER }"});
  }
  if (a == "reduction_to_one_device" && draft.on_gpus && draft.replicas_per_worker > 1)
    text +=
        draft.maybe(50, "reduce_to", {"reduce_to_device: \"gpu1\"", "reduce_to_device: \"cpu0\""});
  if (a == "hierarchical_copy") text += draft.maybe(30, "drop_odd", {"drop_odd_device: true"});
  return text + nccl_settings(draft);
}

// --- families ---

struct Packing {
  std::string text;
  bool merging_goes = true;
  bool of_small = false;
};

Packing packing(Draft& draft) {
  switch (draft.between(0, 7)) {
    case 0:
    case 1:
      return {
          draft.maybe(100, "packing",
                      {"bytes_per_pack: 0", "bytes_per_pack: 30000", "bytes_per_pack: 200000"})};
    case 2:
      draft.needs.one_type = true;
      return {draft.maybe(100, "packing", {"num_packs: 1", "num_packs: 2", "num_packs: 3"}), false};
    case 3:
      return {draft.maybe(100, "packing",
                          {"agg_small_grads_max_bytes: 40000 agg_small_grads_max_group: 1",
                           "agg_small_grads_max_bytes: 4096",
                           "agg_small_grads_max_bytes: 100000 agg_small_grads_max_group: 2 "
                           "agg_small_grads_exact_group: true"}),
              true, true};
    case 4:
      return {
          draft.maybe(100, "packing", {"all_reduce_merge_scope: 2", "all_reduce_merge_scope: 3"})};
    default: return {};
  }
}

std::string plain(Draft& draft) {
  std::string text = of_algorithm(draft);
  // Without packing, consecutive gradients use different roots of the hierarchical copy.
  const bool one_by_one = draft.algorithm == "hierarchical_copy" && draft.chance(60);
  const Packing p = one_by_one ? Packing() : packing(draft);
  text += p.text;
  if (p.merging_goes)
    text += draft.maybe(30, "merging",
                        {"merging: SCOPED_ALLOCATOR", "merging: CONCAT", "merging: SEPARATE"});
  if (draft.algorithm != "tf_ring") text += draft.maybe(12, "pad_packs", {"pad_packs: true"});
  text +=
      in_order({launch(draft), update(draft), staging(draft), launch_us(draft), reduction(draft)});
  if (!p.of_small) text += compression(draft, true);
  return text;
}

std::string with_framework(Draft& draft) {
  std::string text;
  if (draft.family == "ddp") {
    text = draft.maybe(100, "framework",
                       {"pytorch_ddp {}", "pytorch_ddp { bucket_cap_mb: 0.1 }",
                        "pytorch_ddp { bucket_cap_mb: 0.25 first_bucket_bytes: 20000 }",
                        "pytorch_ddp { bucket_cap_mb: 0.05 gradient_as_bucket_view: true }"});
  } else if (draft.family == "deepspeed") {
    text = draft.maybe(100, "framework",
                       {"deepspeed {}", "deepspeed { reduce_bucket_size: 20000 }",
                        "deepspeed { reduce_bucket_size: 20000 overlap_comm: true }",
                        "deepspeed { reduce_bucket_size: 60000 overlap_comm: true }"});
  } else if (draft.family == "megatron") {
    text =
        draft.maybe(100, "framework",
                    {"megatron {}", "megatron { overlap_grad_reduce: true ddp_bucket_size: 10000 }",
                     "megatron { overlap_grad_reduce: true ddp_bucket_size: 50000 }"});
  } else if (draft.family == "byteps") {
    text = draft.maybe(
        100, "framework",
        {"byteps {}", "byteps { partition_bytes: 16384 }", "byteps { partition_bytes: 65536 }"});
  } else {
    text =
        draft.maybe(100, "framework",
                    {"horovod {}", "horovod { cycle_time_ms: 0.05 }",
                     "horovod { cycle_time_ms: 0.3 fusion_threshold: 100000 }",
                     "horovod { fusion_threshold: 0 }",
                     "horovod { cycle_time_ms: 0.1 fusion_threshold: 300000 cache_capacity: 0 }",
                     "horovod { cycle_time_ms: 0.02 fusion_threshold: 150000 cache_capacity: 2 }",
                     "horovod { cycle_time_ms: 0.2 fusion_threshold: 23040 }"});
    // Two gradients fill a bucket exactly.
    draft.needs.equal = text.find("23040") != std::string::npos;
    draft.needs.one_type = draft.needs.equal;
  }
  const bool horovod = draft.family == "horovod";
  text += of_algorithm(draft);
  if (!horovod) text += launch(draft);
  return in_order({text, update(draft), staging(draft), launch_us(draft), reduction(draft),
                   compression(draft, !horovod)});
}

std::string push_pull(Draft& draft) {
  std::string text = draft.one_of(
      {"partition_bytes: 8192", "partition_bytes: 30000", "partition_bytes: 100000", ""});
  text += draft.maybe(50, "credit",
                      {"scheduling_credit: 1", "scheduling_credit: 2", "scheduling_credit: 5"});
  text += draft.maybe(50, "hash", {"key_hash_fn: NAIVE", "key_hash_fn: SDBM"});
  if (draft.dedicated_servers == 0)
    text += fmt::format(" servers_on_workers: {}", draft.between(1, draft.workers));
  return in_order({" byteps { ", text, " }", update(draft), staging(draft), launch_us(draft),
                   mean_or_sum(draft)});
}

std::string in_tensorflow(const std::string& strategy, const std::string& fields) {
  return " tensorflow { " + strategy + " {" + fields + " } }";
}

std::string mwms(Draft& draft) {
  const std::string generation =
      draft.one_of({"TF_1_15", "TF_2_1", "TF_2_4", "TF_2_4", "TF_2_5", "TF_2_5"});
  draft.note("generation", generation);
  const bool old = generation == "TF_1_15" || generation == "TF_2_1";
  std::string how = "generation: " + generation;
  std::string options, call, text;
  how += draft.maybe(25, "collective_nccl", {"collective_nccl: true", "collective_nccl: false"});
  if (generation == "TF_1_15") {
    text += draft.maybe(60, "packing", {"all_reduce_merge_scope: 1", "all_reduce_merge_scope: 3"});
  } else {
    options += draft.maybe(75, "implementation", {"implementation: RING", "implementation: NCCL"});
    how += draft.maybe(20, "eager", {"eager: true"});
  }
  if (generation == "TF_2_1") text += draft.maybe(60, "packing", {"num_packs: 2", "num_packs: 3"});
  if (!old) {
    options += draft.maybe(60, "packing", {"bytes_per_pack: 20000", "bytes_per_pack: 150000"});
    options +=
        draft.maybe(35, "timeout",
                    {"timeout_seconds: 30", "timeout_seconds: 0.0004", "timeout_seconds: 0.0001"});
    how += draft.maybe(30, "aggregates", {"experimental_aggregate_gradients: false"});
    call = draft.maybe(20, "hints", {"hints { bytes_per_pack: 60000 }"});
  }
  text = call + " collective_all_reduce { " + how + text + " }";
  if (!options.empty()) text.insert(0, " communication_options {" + options + " }");
  return in_order({in_tensorflow("multi_worker_mirrored", text), staging(draft), launch_us(draft),
                   mean_or_sum(draft), compression(draft, true)});
}

/// Returns an entry of a spec that the cluster supports.
std::string entry(Draft& draft) {
  std::vector<std::string> of{"xring", "pscpu", "xring"};
  if (draft.replicas_per_worker > 1) of.insert(of.end(), {"xring#2", "xring#2"});
  if (draft.workers > 1) of.insert(of.end(), {"pscpu#2", "pscpu/pscpu"});
  if (draft.on_gpus) {
    of.insert(of.end(), {"psgpu", "nccl", "nccl/xring"});
    if (draft.replicas() > 1) of.emplace_back("psgpu#2");
    if (draft.workers > 1) of.emplace_back("nccl/pscpu");
    if ((draft.workers & (draft.workers - 1)) == 0) of.emplace_back("nccl/rechd");
  }
  const std::string name =
      draft.one_of(draft.on_gpus ? of : std::vector<std::string>{"xring", "pscpu"});
  draft.note("entry", name);
  return name;
}

std::string spec(Draft& draft, int max_entries) {
  const int entries = draft.between(1, max_entries);
  std::string text;
  for (int e = 0; e < entries; ++e) {
    text += entry(draft);
    if (e + 1 < entries) text += e == 0 ? ":2k:" : ":64k:";
  }
  std::string fields = "text: \"" + text + "\"";
  fields += draft.maybe(20, "limit_unit", {"limit_unit: BYTES", "limit_unit: ELEMENTS"});
  fields += draft.maybe(20, "api", {"api: MULTI_WORKER_ALL_REDUCE", "api: TF_CNN_BENCHMARKS"});
  return " all_reduce_spec { " + fields + " }";
}

std::string with_spec(Draft& draft) {
  std::string text = spec(draft, 3);
  switch (draft.between(0, 3)) {
    case 0:
      draft.needs.one_type = true;
      text += draft.maybe(100, "packing", {"num_packs: 1", "num_packs: 2"});
      break;
    case 1: text += draft.maybe(100, "packing", {"agg_small_grads_max_bytes: 8192"}); break;
    default: break;
  }
  return in_order({in_tensorflow("multi_worker_all_reduce", text), launch(draft), update(draft),
                   staging(draft), launch_us(draft), mean_or_sum(draft)});
}

std::string parameter_server(Draft& draft) {
  std::string text = draft.maybe(50, "placement", {"placement: GREEDY_BY_BYTES"});
  text += draft.maybe(50, "read_cache", {"variable_read_cache: CPU"});
  return in_order({in_tensorflow("parameter_server", text), staging(draft), launch_us(draft),
                   mean_or_sum(draft)});
}

std::string mirrored(Draft& draft) {
  std::vector<std::string> of{"", "cross_device_ops: REDUCTION_TO_ONE_DEVICE",
                              "cross_device_ops: HIERARCHICAL_COPY_ALL_REDUCE"};
  if (draft.on_gpus) {
    of.insert(of.end(), {"cross_device_ops: NCCL_ALL_REDUCE num_packs: 2",
                         "cross_device_ops: NCCL_ALL_REDUCE num_packs: 0",
                         "cross_device_ops: HIERARCHICAL_COPY_ALL_REDUCE num_packs: 3",
                         "nccl_kernels: false"});
  }
  const std::string text = draft.maybe(100, "mirrored", of);
  draft.needs.one_type = true;
  return in_order(
      {in_tensorflow("mirrored", text), launch_us(draft), mean_or_sum(draft), staging(draft)});
}

std::string on_devices(Draft& draft) {
  return draft.on_gpus ? draft.maybe(40, "local_device", {"local_parameter_device: CPU"}) : "";
}

std::string servers_on_workers(Draft& draft) {
  return draft.dedicated_servers > 0
             ? ""
             : fmt::format(" servers_on_workers: {}", draft.between(1, draft.workers));
}

std::string tf_cnn(Draft& draft) {
  const bool one = draft.workers == 1 && draft.dedicated_servers == 0;
  std::vector<std::string> modes{"PARAMETER_SERVER", "DISTRIBUTED_REPLICATED"};
  if (draft.dedicated_servers == 0)
    modes.insert(modes.end(), {"COLLECTIVE_ALL_REDUCE", "DISTRIBUTED_ALL_REDUCE", "INDEPENDENT"});
  if (one) modes = {"REPLICATED", "PARAMETER_SERVER", "REPLICATED", "COLLECTIVE_ALL_REDUCE"};
  const std::string mode = draft.one_of(modes);
  draft.note("tf_cnn", mode);
  std::string flags = "variable_update: " + mode, rest;
  if (mode == "PARAMETER_SERVER" || mode == "DISTRIBUTED_REPLICATED") {
    flags += on_devices(draft);
    if (!one) flags += servers_on_workers(draft);
    if (mode == "PARAMETER_SERVER" && draft.dedicated_servers > 0)
      flags += draft.maybe(50, "sync", {"cross_replica_sync: false"});
  } else if (mode == "REPLICATED") {
    switch (draft.between(0, 2)) {
      case 0: rest += spec(draft, 1); break;
      case 1:
        if (draft.replicas_per_worker > 1) {
          flags += " hierarchical_copy: true";
          draft.note("tf_cnn_copy", "hierarchical");
          break;
        }
        [[fallthrough]];
      default: flags += on_devices(draft);
    }
  } else if (mode == "COLLECTIVE_ALL_REDUCE") {
    rest += draft.maybe(50, "shards", {"shards: 2"});
  } else if (mode == "DISTRIBUTED_ALL_REDUCE") {
    rest += spec(draft, 2);
  }
  return in_order({in_tensorflow("tf_cnn_benchmarks", " " + flags + rest), mean_or_sum(draft),
                   launch_us(draft)});
}

std::string central_storage(Draft& draft) {
  return in_tensorflow("central_storage", "") + mean_or_sum(draft);
}

std::string one_device(Draft&) { return in_tensorflow("one_device", ""); }

std::string many(Draft& draft) {
  return " algorithm: \"" + draft.algorithm + "\" pad_packs: true" + reduction(draft);
}

std::string other_collective(Draft& draft) {
  const std::string& a = draft.algorithm;
  std::vector<std::string> kinds{"ALL_GATHER", "BROADCAST", "REDUCE"};
  if (a == "tf_ring") kinds = {"ALL_GATHER", "BROADCAST"};
  if (a == "ring") kinds.insert(kinds.end(), {"REDUCE_SCATTER", "SEND_RECEIVE"});
  if (a == "halving_doubling") kinds.insert(kinds.end(), {"REDUCE_SCATTER", "GATHER", "SCATTER"});
  if (a == "psgpu" || a == "nccl")
    kinds.insert(kinds.end(),
                 {"REDUCE_SCATTER", "ALL_TO_ALL", "GATHER", "SCATTER", "SEND_RECEIVE"});
  const std::string kind = draft.one_of(kinds);
  draft.note("collective", kind);
  std::string text = fmt::format(" algorithm: \"{}\" collective: {}", a, kind);
  const bool root =
      kind == "BROADCAST" || kind == "REDUCE" || kind == "GATHER" || kind == "SCATTER";
  if (root && draft.chance(50))
    text += fmt::format(" root: {}", draft.between(0, draft.replicas() - 1));
  if (kind == "ALL_TO_ALL" || kind == "SEND_RECEIVE" || draft.chance(25))
    text += " out_of_place: true";
  return in_order({text, launch(draft), staging(draft), launch_us(draft)});
}

}  // namespace

namespace {

/// Chooses the algorithm for families that support several.
void draw_algorithm(Draft& draft, std::int32_t round, std::ptrdiff_t slot) {
  Needs& needs = draft.needs;
  if (draft.family == "plain") {
    // The algorithms take turns, so that none is left out.
    const auto before = std::count(kFamilies.begin(), kFamilies.begin() + slot, draft.family);
    const auto of_a_round = std::count(kFamilies.begin(), kFamilies.end(), draft.family);
    draft.algorithm =
        kAlgorithms[static_cast<std::size_t>(round * of_a_round + before) % kAlgorithms.size()];
  } else if (draft.family == "collective") {
    draft.algorithm = draft.one_of(
        {"ring", "nccl", "halving_doubling", "recursive_doubling", "tf_ring", "psgpu", "nccl"});
    needs.divisible = needs.no_communicators = needs.no_sparse = needs.no_on_read =
        needs.no_update_time = true;
  } else if (draft.family == "many") {
    draft.algorithm = draft.one_of({"ring", "ring", "nccl", "nccl/ring"});
  } else if (draft.family == "horovod") {
    draft.algorithm =
        draft.one_of({"ring", "nccl", "nccl", "halving_doubling", "double_tree", "nccl/ring",
                      "nccl/halving_doubling", "nccl/double_tree", "recursive_doubling"});
    needs.no_split_model = true;
  } else if (draft.family == "ddp" || draft.family == "deepspeed" || draft.family == "megatron" ||
             draft.family == "byteps") {
    draft.algorithm = draft.one_of(
        {"ring", "nccl", "nccl", "nccl/ring", "halving_doubling", "double_tree", "pscpu"});
  }
}

/// Sets the constraints of the families that determine the algorithm themselves.
void need_for_family(Draft& draft) {
  Needs& needs = draft.needs;
  needs.no_communicators = true;
  if (draft.family == "push_pull") {
    needs.min_workers = 2;
    needs.servers = draft.chance(60);
    needs.gpus = !needs.servers;
    needs.no_sparse = needs.no_on_read = true;
  } else if (draft.family == "parameter_server") {
    needs.servers = needs.no_on_read = needs.no_update_time = true;
  } else if (draft.family == "spec") {
    needs.min_replicas_per_worker = 2;
    needs.gpus = draft.chance(85);
    needs.no_sparse = true;
  } else if (draft.family == "tf_cnn") {
    needs.servers = draft.chance(50);
    needs.gpus = true;
    needs.min_replicas_per_worker = 2;
    needs.no_sparse = needs.no_on_read = needs.no_update_time = needs.one_type = true;
  } else if (draft.family == "mirrored") {
    needs.most_workers = 1;
    needs.gpus = draft.chance(85);
    needs.min_replicas_per_worker = 2;
    needs.max_replicas_per_worker = needs.gpus ? 8 : 2;
  } else if (draft.family == "central_storage") {
    needs.most_workers = 1;
    needs.gpus = needs.no_on_read = needs.no_update_time = true;
  } else if (draft.family == "one_device") {
    needs.most_workers = needs.max_replicas_per_worker = 1;
  }
}

/// Makes all workers identical in some of the scenarios that allow this.
void draw_identically(Draft& draft) {
  Needs& needs = draft.needs;
  needs.many = draft.family == "many";
  const bool never = draft.family == "horovod" || draft.family == "push_pull" || needs.servers ||
                     needs.most_workers == 1;
  needs.identical = needs.many || (!never && draft.chance(45));
  if (!needs.identical) return;
  draft.note("workers_are", "alike");
  needs.divisible = needs.no_communicators = true;
  needs.min_workers = std::max(2, needs.min_workers);
  if (!needs.many) return;
  needs.no_sparse = needs.no_on_read = true;
  needs.min_replicas_per_worker = 2;
  needs.min_workers = 900;
  needs.most_workers = 1'900;
}

}  // namespace

void draw_family(Draft& draft, std::int32_t number) {
  const std::int32_t round = number / static_cast<std::int32_t>(kFamilies.size());
  const std::ptrdiff_t slot = number % std::ssize(kFamilies);
  draft.family = kFamilies[slot];
  if (draft.family == "mwms_or_one_device")
    draft.family = round % 4 == 0 ? "one_device" : round % 4 == 1 ? "central_storage" : "mwms";
  if (draft.family == "collective" && round % 2 == 1) draft.family = "many";
  draft.note("family", draft.family);
  draw_algorithm(draft, round, slot);
  if (draft.algorithm.empty()) {
    need_for_family(draft);
  } else {
    require(draft);
    draft.note("algorithm", draft.algorithm);
  }
  draw_identically(draft);
}

std::string draw_strategy(Draft& draft) {
  const std::map<std::string, std::string (*)(Draft&)> drawn_by{
      {"plain", plain},
      {"many", many},
      {"collective", other_collective},
      {"push_pull", push_pull},
      {"mwms", mwms},
      {"spec", with_spec},
      {"parameter_server", parameter_server},
      {"mirrored", mirrored},
      {"central_storage", central_storage},
      {"one_device", one_device},
      {"tf_cnn", tf_cnn},
  };
  const auto known = drawn_by.find(draft.family);
  return "strategy {" + (known == drawn_by.end() ? with_framework(draft) : known->second(draft)) +
         " }\n";
}

}  // namespace tutti::test
