// The elements that the strategies of tf.distribute and the modes of tf_cnn_benchmarks send over
// every link in one step. The numbers are compared with the table in docs/tensorflow.md. The unit
// is elements, so that nothing is rounded.

#include <gtest/gtest.h>

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "core/framework/byteps/keys.h"
#include "core/schedule/checker.h"
#include "core/timeline/summary.h"
#include "sim/simulator.h"
#include "tests/support/clusters.h"

namespace tutti {
namespace {

using Links = std::map<std::string, std::int64_t>;

struct Shape {
  int workers = 1;
  int gpus = 1;
  int servers = 0;
};

/// Returns a scenario with variables of these numbers of elements. Nothing is staged, so every link
/// carries exactly what its ends send.
core::Scenario scenario(const Shape& shape, const std::string& strategy,
                        const std::vector<std::int64_t>& elements) {
  std::string text = fmt::format(
      "cluster {{ workers {{ machine: \"m\" count: {} }} {} network {{ kind: ONE_SWITCH "
      "latency_us: 1 }} machine {{ "
      "name: "
      "\"m\" device {{ name: \"gpu[0-{}]\" kind: GPU memory_gb_per_s: 100 }} device {{ name: "
      "\"cpu0\" kind: CPU "
      "memory_gb_per_s: 50 }} nic {{ name: \"nic0\" bandwidth_gb_per_s: 10 }} switch {{ name: "
      "\"plx\" kind: "
      "PCIE_SWITCH }} "
      "link {{ from: \"gpu[0-{}]\" to: \"plx\" kind: PCIE bandwidth_gb_per_s: 10 latency_us: 0 }} "
      "link {{ from: \"plx\" to: \"cpu0\" kind: PCIE bandwidth_gb_per_s: 10 latency_us: 0 }} "
      "link {{ from: \"plx\" to: \"nic0\" kind: PCIE bandwidth_gb_per_s: 10 latency_us: 0 }} }} "
      "machine {{ name: \"s\" device {{ name: \"cpu0\" kind: CPU memory_gb_per_s: 50 }} nic {{ "
      "name: \"nic0\" "
      "bandwidth_gb_per_s: 10 }} link {{ from: \"cpu0\" to: \"nic0\" kind: PCIE "
      "bandwidth_gb_per_s: 10 latency_us: 0 "
      "}} }} }}\n",
      shape.workers,
      shape.servers > 0
          ? fmt::format("workers {{ machine: \"s\" count: {} server: true }}", shape.servers)
          : "",
      shape.gpus - 1, shape.gpus - 1);
  text += "workload { ";
  for (std::size_t v = 0; v < elements.size(); ++v)
    text += fmt::format("variable {{ name: \"v{}\" shape: {} backward_ms: 1 }} ", v, elements[v]);
  text += fmt::format("}}\nstrategy {{ staging: DIRECT {} }}\nrun {{ steps: 1 }}\n", strategy);
  auto read = core::read_scenario(text, "f", core::Library(std::vector<core::Library::File>()));
  EXPECT_TRUE(read) << strategy << ": " << (read ? "" : read.error().message());
  return read ? std::move(*read) : core::Scenario{};
}

/// Returns elements by link: "w0/gpu1 out", "w0/nic in", ….
Links bytes_of_links(core::Scenario s) {
  s.run.until_steady = false;
  core::Summary summary;
  EXPECT_TRUE(sim::Simulator().run(s, {}, {}, summary));
  Links links;
  for (const core::LinkRecord& link : summary.busiest_links()) {
    if (link.bytes.count() == 0) continue;
    EXPECT_EQ(link.bytes.count() % 4, 0);
    const std::int64_t elements = link.bytes.count() / 4;
    const std::size_t arrow = link.name.find("→");
    const std::string from = link.name.substr(0, arrow),
                      to = link.name.substr(arrow + std::string("→").size());
    if (to == "network") {
      links[from.substr(0, from.find('/')) + "/nic out"] += elements;
    } else if (from == "network") {
      links[to.substr(0, to.find('/')) + "/nic in"] += elements;
    } else if (from.find("nic") == std::string::npos && to.find("nic") == std::string::npos) {
      if (from.find("plx") == std::string::npos) links[from + " out"] += elements;
      if (to.find("plx") == std::string::npos) links[to + " in"] += elements;
    }
  }
  return links;
}

std::string gpu(int worker, int i) { return fmt::format("w{}/gpu{}", worker, i); }
void both(Links& links, const std::string& part, std::int64_t elements) {
  if (elements == 0) return;
  links[part + " out"] += elements;
  links[part + " in"] += elements;
}

/// Returns the sums of all packs. The checker proves every pack first.
void expect_all_proved(const core::Scenario& s) {
  for (const core::Pack& pack : s.plan.packs) {
    const auto problems =
        core::check(*s.plan.collective(pack).schedule, s.plan.collective(pack).contract());
    EXPECT_EQ(problems, std::vector<core::Violation>{});
  }
}

void expect_bytes(const core::Scenario& s, const Links& expected, const std::string& what) {
  expect_all_proved(s);
  EXPECT_EQ(bytes_of_links(s), expected) << what;
}

// --- one machine ---

TEST(StrategyBytes, OneDeviceSendsNothing) {
  expect_bytes(scenario({1, 1}, "tensorflow { one_device {} }", {100}), {}, "one_device");
}

TEST(StrategyBytes, IndependentReplicasSendNothing) {
  expect_bytes(
      scenario({2, 2}, "tensorflow { tf_cnn_benchmarks { variable_update: INDEPENDENT } }", {100}),
      {}, "independent");
}

/// The root receives (n - 1)·N elements and sends the same number.
TEST(StrategyBytes, ReductionToOneDevice) {
  for (const int gpus : {2, 3, 8}) {
    Links expected;
    both(expected, gpu(0, 0), (gpus - 1) * 100);
    for (int i = 1; i < gpus; ++i) both(expected, gpu(0, i), 100);
    expect_bytes(
        scenario(
            {1, gpus},
            "tensorflow { mirrored { cross_device_ops: REDUCTION_TO_ONE_DEVICE } } reduction: MEAN",
            {100}),
        expected, fmt::format("{} GPUs", gpus));
    Links by_cpu;
    both(by_cpu, "w0/cpu0", gpus * 100);
    for (int i = 0; i < gpus; ++i) both(by_cpu, gpu(0, i), 100);
    expect_bytes(
        scenario({1, gpus}, "algorithm: \"reduction_to_one_device\" reduce_to_device: \"cpu0\"",
                 {100}),
        by_cpu, fmt::format("{} GPUs by the CPU", gpus));
  }
}

/// Per pack, each root receives and sends g·N elements, and every other device N. The root changes
/// from pack to pack.
TEST(StrategyBytes, HierarchicalCopy) {
  for (const int gpus : {2, 4, 8}) {
    Links expected;
    const int g = gpus / 2;
    for (int i = 0; i < gpus; ++i) {
      // If there are as many packs as devices, each device is a root twice: once as the first root
      // and once as the second.
      both(expected, gpu(0, i), 2 * g * 100 + (gpus - 2) * 100);
    }
    expect_bytes(scenario({1, gpus},
                          fmt::format("tensorflow {{ mirrored {{ cross_device_ops: "
                                      "HIERARCHICAL_COPY_ALL_REDUCE num_packs: {} }} }}",
                                      gpus),
                          {100 * gpus}),
                 expected, fmt::format("{} GPUs", gpus));
  }
}

/// The CPU receives G·N elements and sends G·N.
TEST(StrategyBytes, CentralStorage) {
  for (const int gpus : {2, 8}) {
    Links expected;
    both(expected, "w0/cpu0", gpus * 130);
    for (int i = 0; i < gpus; ++i) both(expected, gpu(0, i), 130);
    expect_bytes(scenario({1, gpus}, "tensorflow { central_storage {} }", {100, 30}), expected,
                 fmt::format("{} GPUs", gpus));
    expect_bytes(
        scenario({1, gpus}, "tensorflow { tf_cnn_benchmarks { local_parameter_device: CPU } }",
                 {100, 30}),
        expected, "parameter_server on the CPU");
  }
  EXPECT_TRUE(
      bytes_of_links(scenario({1, 1}, "tensorflow { central_storage {} }", {100, 30})).empty())
      << "the only GPU holds the variables";
}

/// A variable is placed on the GPU with the fewest elements: 100 on the first, 60 and 30 on the
/// second.
TEST(StrategyBytes, ParameterServerOnGpus) {
  Links expected;
  both(expected, gpu(0, 0), 100 + 90);
  both(expected, gpu(0, 1), 100 + 90);
  expect_bytes(scenario({1, 2}, "tensorflow { tf_cnn_benchmarks {} }", {100, 60, 30}), expected,
               "two GPUs");
}

/// Every GPU sends 2(G - 1)/G·N elements, if the number of tensors is the number of GPUs, or twice
/// that.
TEST(StrategyBytes, ReplicatedWithAlternatingDevices) {
  for (const int gpus : {2, 4}) {
    Links expected;
    for (int i = 0; i < gpus; ++i) both(expected, gpu(0, i), 2 * (2 * (gpus - 1) * 50));
    expect_bytes(
        scenario({1, gpus}, "tensorflow { tf_cnn_benchmarks { variable_update: REPLICATED } }",
                 std::vector<std::int64_t>(static_cast<std::size_t>(2 * gpus), 50)),
        expected, fmt::format("{} GPUs", gpus));
  }
}

// --- servers ---

/// Each worker reads G·N elements (or N with a cache) and pushes N. A server sends and receives its
/// share of these elements for every worker.
TEST(StrategyBytes, ParameterServerStrategy) {
  const std::vector<std::int64_t> sizes{100, 60, 30};
  const std::int64_t all = 190;
  for (const bool cached : {false, true}) {
    for (const int workers : {1, 3}) {
      const int gpus = 2, servers = 2;
      Links expected;
      for (int w = 0; w < workers; ++w) {
        const std::string worker = fmt::format("w{}", w);
        const std::int64_t reads = (cached ? 1 : gpus) * all;
        expected[worker + "/nic in"] = reads;
        expected[worker + "/nic out"] = all;
        for (int i = 0; i < gpus; ++i) both(expected, gpu(w, i), all);
        expected[worker + "/cpu0 in"] = gpus * all + (cached ? all : 0);
        expected[worker + "/cpu0 out"] = all + (cached ? gpus * all : 0);
      }
      // Round robin: 100 and 30 on the first server, 60 on the second.
      const std::int64_t on[] = {130, 60};
      for (int s = 0; s < servers; ++s) {
        const std::string server = fmt::format("w{}", workers + s);
        expected[server + "/nic out"] = workers * (cached ? 1 : gpus) * on[s];
        expected[server + "/nic in"] = workers * on[s];
      }
      expect_bytes(
          scenario({workers, gpus, servers},
                   fmt::format("tensorflow {{ parameter_server {{ {} }} }} reduction: MEAN",
                               cached ? "variable_read_cache: CPU" : ""),
                   sizes),
          expected, fmt::format("{} workers{}", workers, cached ? ", cached" : ""));
    }
  }
}

/// Every worker sends and receives N elements, and a server W times the elements of its variables.
/// Both modes of tf_cnn_benchmarks send these numbers of elements.
TEST(StrategyBytes, ServersOfTfCnnBenchmarks) {
  // Greedy by bytes: 100 on the first server, 60 and 30 on the second.
  const std::vector<std::int64_t> sizes{100, 60, 30};
  const std::int64_t all = 190, on[] = {100, 90};
  const int workers = 3, gpus = 2;
  for (const char* mode : {"PARAMETER_SERVER", "DISTRIBUTED_REPLICATED"}) {
    Links expected;
    for (int w = 0; w < workers; ++w) {
      const std::string worker = fmt::format("w{}", w);
      expected[worker + "/nic in"] = expected[worker + "/nic out"] = all;
      both(expected, worker + "/cpu0", (gpus + 1) * all);
      for (int i = 0; i < gpus; ++i) both(expected, gpu(w, i), all);
    }
    for (int s = 0; s < 2; ++s) {
      const std::string server = fmt::format("w{}", workers + s);
      expected[server + "/nic out"] = expected[server + "/nic in"] = workers * on[s];
    }
    const std::string flags = fmt::format("variable_update: {} local_parameter_device: CPU", mode);
    expect_bytes(scenario({workers, gpus, 2},
                          fmt::format("tensorflow {{ tf_cnn_benchmarks {{ {} }} }}", flags), sizes),
                 expected, mode);

    // The same servers on the first two workers: variables on a worker's own server do not cross
    // the network.
    Links shared;
    for (int w = 0; w < workers; ++w) {
      const std::string worker = fmt::format("w{}", w);
      const std::int64_t own = w < 2 ? on[w] : 0;
      shared[worker + "/nic in"] = shared[worker + "/nic out"] = all - own + (workers - 1) * own;
      both(shared, worker + "/cpu0", gpus * all + all - own + (workers - 1) * own);
      for (int i = 0; i < gpus; ++i) both(shared, gpu(w, i), all);
    }
    expect_bytes(
        scenario(
            {workers, gpus},
            fmt::format("tensorflow {{ tf_cnn_benchmarks {{ {} servers_on_workers: 2 }} }}", flags),
            sizes),
        shared, fmt::format("{} on workers", mode));
  }
}

/// BytePS: inside a worker, each GPU sends and receives (G - 1)/G·N elements twice (NCCL's
/// reduce-scatter and all-gather), and its share of N to and from the CPU. Elements that remain
/// when N is divided by G travel along a chain of GPUs to the last GPU and back. A worker sends and
/// receives N, and a server W times the elements of its variables.
TEST(StrategyBytes, BytePs) {
  const std::vector<std::int64_t> sizes{10'000, 4, 61, 2};
  // The size is a page for each GPU: 1024 float32.
  for (const int gpus : {1, 2, 3}) {
    for (const bool on_workers : {false, true}) {
      const int workers = 3, servers = 2;
      Links expected;
      for (std::size_t v = 0; v < sizes.size(); ++v) {
        std::int64_t rest = sizes[v];
        for (std::uint64_t part = 0; rest > 0; ++part) {
          const std::int64_t n = std::min<std::int64_t>(rest, 1024 * gpus);
          rest -= n;
          const auto server =
              static_cast<int>(core::byteps_hash(core::KeyHash::kDjb2, core::byteps_key(v, part)) %
                               static_cast<std::uint64_t>(servers));
          const int own = on_workers ? server : -1;
          const std::int64_t share = n / gpus, left = n % gpus;
          for (int w = 0; w < workers; ++w) {
            const std::string worker = fmt::format("w{}", w);
            for (int i = 0; i < gpus; ++i) {
              both(expected, gpu(w, i), 2 * (gpus - 1) * share);
              const std::int64_t whole = share + (i == gpus - 1 ? left : 0);
              both(expected, gpu(w, i), whole);
              if (gpus == 1 || left == 0) continue;
              // The remainder travels to the last GPU through all others, and from there the same
              // way back.
              expected[gpu(w, i) + " out"] +=
                  (i < gpus - 1 ? left : 0) + (i != gpus - 2 ? left : 0);
              expected[gpu(w, i) + " in"] += (i > 0 ? left : 0) + (i < gpus - 1 ? left : 0);
            }
            const std::int64_t away = w == own ? (workers - 1) * n : n;
            both(expected, worker + "/nic", away);
            both(expected, worker + "/cpu0", n + away);
          }
          if (!on_workers) both(expected, fmt::format("w{}/nic", workers + server), workers * n);
        }
      }
      expect_bytes(
          scenario({workers, gpus, on_workers ? 0 : servers},
                   fmt::format("byteps {{ partition_bytes: 100 {} }}",
                               on_workers ? "servers_on_workers: 2" : "scheduling_credit: 2"),
                   sizes),
          expected, fmt::format("{} GPUs{}", gpus, on_workers ? ", servers on workers" : ""));
    }
  }
}

/// Large variables are read through the GPU with the fewest elements, and small variables through
/// the CPU. Gradient i is added up on GPU i mod G.
TEST(StrategyBytes, CachesOnGpus) {
  const std::vector<std::int64_t> sizes{70'000, 65'536, 100};
  const std::int64_t all = 70'000 + 65'536 + 100;
  Links expected;
  // Pushes: variables 0 and 2 on GPU 0, variable 1 on GPU 1. Reads: variable 0 arrives at GPU 0,
  // variable 1 at GPU 1, and variable 2 at the CPU.
  expected["w0/nic out"] = expected["w0/nic in"] = expected["w1/nic out"] = expected["w1/nic in"] =
      all;
  for (const char* gpu0 : {"w0/gpu0", "w0/gpu1"}) {
    const bool first = gpu0[6] == '0';
    const std::int64_t adds = first ? 70'100 : 65'536, caches = first ? 70'000 : 65'536;
    expected[fmt::format("{} in", gpu0)] = adds + all;  // from the other GPU, and all reads
    expected[fmt::format("{} out", gpu0)] =
        (all - adds) + adds + caches;  // to the other GPU, to the server, and to the other GPU
  }
  expected["w0/cpu0 in"] = 100;
  expected["w0/cpu0 out"] = 200;
  for (const char* direction : {"in", "out"}) {
    for (const char* part : {"gpu0", "gpu1", "cpu0"})
      expected[fmt::format("w1/{} {}", part, direction)] =
          expected[fmt::format("w0/{} {}", part, direction)];
    expected[fmt::format("w2/nic {}", direction)] = 2 * all;
  }
  expect_bytes(scenario({2, 2, 1}, "tensorflow { tf_cnn_benchmarks {} }", sizes), expected,
               "two GPUs");
}

}  // namespace
}  // namespace tutti
