#include "tests/core/scenario/every_field.h"

#include "tests/support/clusters.h"

namespace tutti::core::wrong_values {

const std::string kMachine = R"(
  name: "m" description: "d" source: "s"
  device {
    name: "gpu[0-1]" kind: GPU memory_gb: 9 memory_gb_per_s: 100 reduce_gb_per_s: 10 copy_gb_per_s: 20 threads: 2 multiprocessors: 80 peer_access: false
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
  latency_us: 2 switch_us: 0.3 connection_gb_per_s: 1 nccl_socket_threads: 2
  nccl_sockets_per_thread: 8)";
const std::string kOneSwitch = "kind: ONE_SWITCH latency_us: 1";
const std::vector<std::string> kNetworks{
    kOneSwitch +
        " bandwidth_gb_per_s: 1 connection_gb_per_s: 0.5 nccl_socket_threads: 2 "
        "nccl_sockets_per_thread: 8 source: \"s\"",
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
            "model: \"model.csv\" layer_times: \"times.csv\" batch: 4 flops_efficiency: 0.5 "
            "precision: FLOAT32 channels_last: true"},
       "workload"});
  all.push_back(
      {{.workload = "transformer { layers: 2 hidden: 8 heads: 4 kv_heads: 2 ffn: 16 gated: true "
                    "vocabulary: 32 sequence: 4 tied_embedding: true data_type: FLOAT32 "
                    "tensor_parallel: 2 } batch: 1 recompute_activations: true"},
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
        "algorithm: \"nccl\" launch: CONCURRENT nccl { communicators: 2 }",
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
        "algorithm: \"ring\" reduction: MEAN megatron { overlap_grad_reduce: true ddp_bucket_size: "
        "100 average_in_collective: true }",
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

Library library_with(Library::Kind kind, const std::string& text) {
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

}  // namespace tutti::core::wrong_values
