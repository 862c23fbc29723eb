// The bytes that each algorithm of all_reduce_spec sends over every kind of link, compared with
// those of TensorFlow's builders. The expected values are the formulas of
// docs/tensorflow-all-reduce-spec.md, in elements so that nothing is rounded.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <map>

#include "core/packing/device_groups.h"
#include "core/timeline/summary.h"
#include "sim/simulator.h"
#include "tests/support/clusters.h"

namespace tutti::sim {
namespace {

/// Elements by kind of link and worker: over the network card, into and out of all GPUs, and into
/// and out of the CPU.
struct Carried {
  std::vector<std::int64_t> nic_out, nic_in, gpu_out, gpu_in, cpu_out, cpu_in;
  explicit Carried(int workers)
      : nic_out(static_cast<std::size_t>(workers)),
        nic_in(nic_out),
        gpu_out(nic_out),
        gpu_in(nic_out),
        cpu_out(nic_out),
        cpu_in(nic_out) {}
  bool operator==(const Carried&) const = default;
};

void PrintTo(const Carried& c, std::ostream* out) {
  *out << fmt::format("nic out {} in {}, gpus out {} in {}, cpu out {} in {}",
                      fmt::join(c.nic_out, " "), fmt::join(c.nic_in, " "),
                      fmt::join(c.gpu_out, " "), fmt::join(c.gpu_in, " "),
                      fmt::join(c.cpu_out, " "), fmt::join(c.cpu_in, " "));
}

struct Shape {
  int workers = 1;
  int gpus = 1;
  [[nodiscard]] int replicas() const { return workers * gpus; }
};

/// Returns a scenario with one float32 gradient and one algorithm. Nothing is staged, so every link
/// carries exactly what its ends send.
core::Expected<core::Scenario> scenario(const Shape& shape, const std::string& spec,
                                        std::int64_t elements) {
  const std::string text = fmt::format(
      "cluster {{ workers {{ machine: \"m\" count: {} }} network {{ kind: ONE_SWITCH latency_us: 1 "
      "}} machine {{ name: "
      "\"m\" device {{ name: \"gpu[0-{}]\" kind: GPU memory_gb_per_s: 100 }} device {{ name: "
      "\"cpu0\" kind: CPU "
      "memory_gb_per_s: 50 }} nic {{ name: \"nic0\" bandwidth_gb_per_s: 10 }} switch {{ name: "
      "\"plx\" kind: "
      "PCIE_SWITCH }} link {{ from: \"gpu[0-{}]\" to: \"plx\" kind: PCIE bandwidth_gb_per_s: 10 "
      "latency_us: 0 }} link "
      "{{ from: \"plx\" to: \"cpu0\" kind: PCIE bandwidth_gb_per_s: 10 latency_us: 0 }} link {{ "
      "from: \"plx\" to: "
      "\"nic0\" kind: PCIE bandwidth_gb_per_s: 10 latency_us: 0 }} }} }}\nworkload {{ variable {{ "
      "name: \"v\" shape: "
      "{} }} }}\nstrategy {{ staging: DIRECT tensorflow {{ multi_worker_all_reduce {{ "
      "all_reduce_spec {{ text: \"{}\" "
      "}} }} }} }}\nrun {{ steps: 1 }}\n",
      shape.workers, shape.gpus - 1, shape.gpus - 1, elements, spec);
  return core::read_scenario(text, "f", core::Library(std::vector<core::Library::File>()));
}

Carried simulated(const core::Scenario& s, int workers) {
  core::Summary summary;
  EXPECT_TRUE(Simulator().run(s, {}, {}, summary));
  Carried carried(workers);
  for (const core::LinkRecord& link : summary.busiest_links()) {
    const std::size_t arrow = link.name.find("→");
    const std::string from = link.name.substr(0, arrow),
                      to = link.name.substr(arrow + std::string("→").size());
    const std::string& of_worker = from == "network" ? to : from;
    const auto w = static_cast<std::size_t>(std::stoi(of_worker.substr(1)));
    EXPECT_EQ(link.bytes.count() % 4, 0);
    const std::int64_t elements = link.bytes.count() / 4;
    const auto is = [](const std::string& part, const char* name) {
      return part.find(name) != std::string::npos;
    };
    if (to == "network") carried.nic_out[w] += elements;
    if (from == "network") carried.nic_in[w] += elements;
    if (is(from, "gpu")) carried.gpu_out[w] += elements;
    if (is(to, "gpu")) carried.gpu_in[w] += elements;
    if (is(from, "cpu")) carried.cpu_out[w] += elements;
    if (is(to, "cpu")) carried.cpu_in[w] += elements;
  }
  return carried;
}

// --- the bytes of TensorFlow's builders ---

std::int64_t ceil_of(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

/// Returns the pieces of a shuffle. The last piece takes the remainder.
std::vector<std::int64_t> ragged(std::int64_t elements, std::int64_t pieces) {
  std::vector<std::int64_t> sizes(static_cast<std::size_t>(pieces), elements / pieces);
  sizes.back() = elements - elements / pieces * (pieces - 1);
  return sizes;
}

/// n ranks each send their whole piece j to the rank that gathers piece j, and receive the sum.
struct Shuffled {
  std::vector<int> worker_of_piece;
  std::vector<int> gpu_of_piece;  ///< -1: on the CPU
  std::vector<std::int64_t> sizes;
};
void add_shuffle(const Shuffled& s, const Shape& shape, int sources_per_worker,
                 bool sources_are_gpus, Carried& c) {
  for (std::size_t j = 0; j < s.sizes.size(); ++j) {
    for (int w = 0; w < shape.workers; ++w) {
      for (int i = 0; i < sources_per_worker; ++i) {
        const int home = s.worker_of_piece[j];
        if (w == home && s.gpu_of_piece[j] == i && sources_are_gpus) continue;  // its own piece
        if (w == home && !sources_are_gpus && s.gpu_of_piece[j] < 0) continue;  // a CPU's own piece
        const auto at = static_cast<std::size_t>(w), there = static_cast<std::size_t>(home);
        const std::int64_t size = s.sizes[j];
        (sources_are_gpus ? c.gpu_out : c.cpu_out)[at] += size;
        (sources_are_gpus ? c.gpu_in : c.cpu_in)[at] += size;
        (s.gpu_of_piece[j] < 0 ? c.cpu_in : c.gpu_in)[there] += size;
        (s.gpu_of_piece[j] < 0 ? c.cpu_out : c.gpu_out)[there] += size;
        if (w == home) continue;
        c.nic_out[at] += size;
        c.nic_in[at] += size;
        c.nic_out[there] += size;
        c.nic_in[there] += size;
      }
    }
  }
}

/// Returns the elements of `rings` rings of all devices, with chunks of `chunk`.
void add_rings(const Shape& shape, std::int64_t rings, std::int64_t chunk, Carried& c) {
  const std::int64_t sent = 2 * (shape.replicas() - 1) * rings * chunk;
  for (std::size_t w = 0; w < c.nic_out.size(); ++w) {
    c.gpu_out[w] += shape.gpus * sent;
    c.gpu_in[w] += shape.gpus * sent;
    if (shape.workers == 1) continue;
    c.nic_out[w] += sent;
    c.nic_in[w] += sent;
  }
}

/// Returns the elements of NCCL's all-reduce inside every worker, and of its broadcast if there are
/// several workers.
void add_nccl_inside(const Shape& shape, std::int64_t elements, Carried& c) {
  for (std::size_t w = 0; w < c.nic_out.size(); ++w) {
    const std::int64_t all =
        2 * (shape.gpus - 1) * elements + (shape.workers > 1 ? (shape.gpus - 1) * elements : 0);
    c.gpu_out[w] += all;
    c.gpu_in[w] += all;
  }
}

/// Returns the elements between the first GPUs of all workers.
void add_across(std::int64_t sent, Carried& c) {
  for (std::size_t w = 0; w < c.nic_out.size(); ++w) {
    for (auto* list : {&c.nic_out, &c.nic_in, &c.gpu_out, &c.gpu_in}) (*list)[w] += sent;
  }
}

std::vector<int> first_group(int devices, int shards) {
  return core::group_devices(devices, shards).front();
}

Carried expected(const std::string& name, int shards, const Shape& shape, std::int64_t elements) {
  Carried c(shape.workers);
  const std::int64_t n = shape.replicas(), workers = shape.workers;
  if (name == "nccl") {
    add_rings(shape, 1, elements / n, c);
  } else if (name == "xring") {
    add_rings(shape, shards, ceil_of(elements, n * shards), c);
  } else if (name == "pscpu") {
    Shuffled s{first_group(shape.workers, shards),
               std::vector<int>(static_cast<std::size_t>(shards), -1), ragged(elements, shards)};
    add_shuffle(s, shape, shape.gpus, true, c);
  } else if (name == "psgpu") {
    Shuffled s{{}, {}, ragged(elements, shards)};
    for (const int aux : first_group(shape.replicas(), shards)) {
      s.worker_of_piece.push_back(aux % shape.workers);
      s.gpu_of_piece.push_back(aux / shape.workers);
    }
    add_shuffle(s, shape, shape.gpus, true, c);
  } else if (name == "pscpu/pscpu") {
    for (std::size_t w = 0; w < c.nic_out.size(); ++w) {
      for (auto* list : {&c.gpu_out, &c.gpu_in, &c.cpu_out, &c.cpu_in})
        (*list)[w] += shape.gpus * elements;
    }
    Shuffled s{
        {}, std::vector<int>(static_cast<std::size_t>(shards), -1), ragged(elements, shards)};
    for (int j = 0; j < shards; ++j) s.worker_of_piece.push_back(j);
    if (workers > 1) add_shuffle(s, shape, 1, false, c);
  } else if (name == "nccl/xring") {
    const std::int64_t padded =
        workers * ceil_of(elements, workers);  // NCCL also sends the few elements of padding
    add_nccl_inside(shape, padded, c);
    if (workers > 1) add_across(2 * (workers - 1) * padded / workers, c);
  } else if (name == "nccl/rechd") {
    add_nccl_inside(shape, elements, c);
    if (workers > 1) add_across(2 * (workers - 1) * elements / workers, c);
  } else if (name == "nccl/pscpu") {
    add_nccl_inside(shape, elements, c);
    Shuffled s{
        {}, std::vector<int>(static_cast<std::size_t>(workers), -1), ragged(elements, workers)};
    for (int w = 0; w < shape.workers; ++w) s.worker_of_piece.push_back(w);
    if (workers > 1) add_shuffle(s, shape, 1, true, c);
  }
  return c;
}

/// Returns the number of shards that TensorFlow uses for the algorithm.
std::vector<int> shards_of(const std::string& name, const Shape& shape) {
  if (name == "xring") return shape.gpus > 2 ? std::vector{1, 2, shape.gpus} : std::vector{1};
  if (name == "pscpu" || name == "pscpu/pscpu")
    return shape.workers > 1 ? std::vector{1, 2, shape.workers} : std::vector{1};
  if (name == "psgpu") return shape.replicas() > 3 ? std::vector{1, 3, shape.gpus} : std::vector{1};
  return {1};
}

class SpecBytes : public testing::TestWithParam<std::string> {};

TEST_P(SpecBytes, MatchThoseOfTensorFlowsBuilders) {
  const std::string name = GetParam();
  int seen = 0;
  for (int workers = 1; workers <= 4; ++workers) {
    for (int gpus = 1; gpus <= 8; ++gpus) {
      const Shape shape{workers, gpus};
      if (name == "xring" && shape.replicas() == 1) continue;
      if (name == "nccl/rechd" && workers == 3) continue;
      for (const int shards : shards_of(name, shape)) {
        // NCCL's rings and halves have equal shares only if the number of ranks divides the number
        // of elements.
        const bool even = name.starts_with("nccl");
        const std::int64_t elements = even ? 96 * 7 * shape.replicas() : 10'007;
        const std::string spec = fmt::format("('{}', {}, -1)", name, shards);
        const auto s = scenario(shape, spec, elements);
        ASSERT_TRUE(s) << spec << ": " << s.error().message();
        const Carried carried = simulated(*s, workers);
        EXPECT_EQ(carried.nic_out[0] > 0, workers > 1) << spec;
        EXPECT_EQ(carried, expected(name, shards, shape, elements))
            << spec << " on " << workers << " workers of " << gpus;
        ++seen;
      }
    }
  }
  EXPECT_GE(seen, 24);
}

INSTANTIATE_TEST_SUITE_P(EightNames, SpecBytes, testing::ValuesIn(core::spec_algorithm_names()),
                         [](const auto& i) {
                           std::string name = i.param;
                           std::replace(name.begin(), name.end(), '/', '_');
                           return name;
                         });

/// The ring across workers is padded: every card sends 2(W - 1) chunks of ⌈E / W⌉ elements.
TEST(SpecBytes, ARingAcrossWorkersSendsEqualChunks) {
  for (const std::int64_t elements : {1, 5, 1001}) {
    const Shape shape{3, 2};
    const auto s = scenario(shape, "nccl/xring", elements);
    ASSERT_TRUE(s) << s.error().message();
    for (const std::int64_t sent : simulated(*s, 3).nic_out)
      EXPECT_EQ(sent, 4 * ceil_of(elements, 3));
  }
}

}  // namespace
}  // namespace tutti::sim
