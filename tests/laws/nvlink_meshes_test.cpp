// NCCL on machines whose NVLinks connect pairs of GPUs (a DGX-1, or four GPUs that are connected
// all-to-all). If the orders of NCCL's rings are unknown, the links' lower bound must not assume
// one: it is the bound of the cut around a GPU. No time is below this cut.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <limits>

#include <fmt/format.h>

#include "core/cluster/machine_file.h"
#include "core/nccl/machine_communicator.h"
#include "core/nccl/system_of_machine.h"
#include "core/scenario/scenario.h"
#include "core/strategy/nccl_links.h"
#include "tests/laws/nccl_scenarios.h"
#include "tests/support/shipped.h"

namespace tutti {
namespace {

using core::CollectiveKind;
namespace nccl = core::nccl;

constexpr std::int64_t kGibibyte = std::int64_t{1} << 30;

struct Mesh {
  const char* model = "A100";
  int generation = 3;
  int lanes = 4;  ///< NVLinks between each pair of GPUs
  std::string rings = "";
  std::string pcie =
      "link { from: \"cpu0\" to: \"gpu[0-3]\" kind: PCIE generation: 3 "
      "latency_us: 0.5 }\n";
};

/// Returns the text of a machine with four GPUs that NVLinks connect all-to-all.
std::string mesh_text(const Mesh& mesh) {
  std::string text = fmt::format(
      "name: \"mesh\" source: \"test\"\n"
      "device {{ name: \"gpu[0-3]\" kind: GPU gpu_model: {} memory_gb_per_s: 1000 }}\n"
      "device {{ name: \"cpu0\" kind: CPU memory_gb_per_s: 100 }}\n{}",
      mesh.model, mesh.pcie);
  for (int a = 0; a < 4; ++a) {
    for (int b = a + 1; b < 4; ++b)
      text += fmt::format(
          "link {{ from: \"gpu{}\" to: \"gpu{}\" kind: NVLINK generation: {} lanes: {} latency_us: "
          "0.6 }}\n",
          a, b, mesh.generation, mesh.lanes);
  }
  return text + mesh.rings;
}

std::shared_ptr<const core::Machine> mesh_machine(const Mesh& mesh) {
  auto read = core::read_machine(mesh_text(mesh), "mesh");
  if (!read) throw std::invalid_argument(read.error().message());
  return *read;
}

/// The prediction for one machine, before and after the links' bound.
struct MeshTime {
  nccl::CollectiveTime own, bounded;
  std::shared_ptr<const nccl::Communicator> communicator;
};
MeshTime mesh_time(const std::shared_ptr<const core::Machine>& machine, std::optional<int> gpus,
                   CollectiveKind kind = CollectiveKind::kAllReduce,
                   std::int64_t bytes = kGibibyte) {
  static const auto parameters = nccl::Parameters::load(test::shipped_library().folder());
  static const auto bands = nccl::ErrorBands::load(test::shipped_library().folder());
  const auto system = nccl::system_of(*machine, 1, gpus, std::nullopt);
  if (!system) throw std::invalid_argument(system.error().message());
  const auto known =
      nccl::on_machines(*machine, *system, std::nullopt, "--network", {}, nccl::kDefaultVersion);
  if (!known) throw std::invalid_argument(known.error().message());
  const nccl::Predictor predictor(known->system, known->communicator, {}, *parameters, *bands);
  MeshTime made;
  made.communicator = std::make_shared<const nccl::Communicator>(known->communicator);
  bytes -= bytes % (4 * made.communicator->ranks);
  made.own = *predictor.of(kind, bytes, core::DataType::kFloat32, core::Reduction::kSum);
  made.bounded = made.own;
  core::NcclLinkBound(machine, std::nullopt, made.communicator, kind, 0).apply(made.bounded);
  return made;
}

/// Returns the total nominal rate in GB/s of the NVLinks to other participants, of the GPU with the
/// lowest rate.
double narrowest_cut(const core::Machine& machine, int gpus) {
  double least = std::numeric_limits<double>::infinity();
  const auto end = machine.gpus().begin() + gpus;
  for (auto gpu = machine.gpus().begin(); gpu != end; ++gpu) {
    double all = 0;
    for (const core::MachineLink& link : machine.links()) {
      if (link.from == *gpu && link.kind == core::LinkKind::kNvlink &&
          std::find(machine.gpus().begin(), end, link.to) != end)
        all += core::to_gb_per_s(std::max(link.bandwidth, link.nominal));
    }
    least = std::min(least, all);
  }
  return least;
}

void expect_above_cut(const MeshTime& predicted, const core::Machine& machine, int gpus) {
  const double least = predicted.own.time.links.bytes / narrowest_cut(machine, gpus) / 1e3;
  EXPECT_GE(predicted.bounded.time.us(), least);
  EXPECT_GE(predicted.bounded.time.us() * predicted.bounded.band.low, least * (1 - 1e-9));
}

TEST(NvlinkMeshes, SomeGpusOfADgx1TakeThePublishedTimes) {
  // vTrain's all-reduces of 1 GiB on a V100 host, in us (VIA-Research/vTrain, trace/v100).
  constexpr double kMeasured[] = {47610, 31714, 18869, 46223, 39121, 21156, 13969};
  const auto machine = test::shipped_machine("dgx1-v100");
  for (int gpus = 2; gpus <= 8; ++gpus) {
    SCOPED_TRACE(gpus);
    const MeshTime predicted = mesh_time(machine, gpus);
    EXPECT_NEAR(predicted.bounded.time.us() / kMeasured[gpus - 2], 1, 0.2);
    EXPECT_EQ(predicted.bounded.time.us(), predicted.own.time.us()) << "raised to the bound";
    expect_above_cut(predicted, *machine, gpus);
  }
}

TEST(NvlinkMeshes, TimesOnPartsOfADgx1AreAboveTheCut) {
  const auto machine = test::shipped_machine("dgx1-v100");
  for (int gpus = 2; gpus <= 8; ++gpus) {
    for (const CollectiveKind kind :
         {CollectiveKind::kReduceScatter, CollectiveKind::kAllGather, CollectiveKind::kBroadcast,
          CollectiveKind::kReduce, CollectiveKind::kAllToAll}) {
      SCOPED_TRACE(fmt::format("{} among {} GPUs", to_string(kind), gpus));
      const MeshTime predicted = mesh_time(machine, gpus, kind);
      EXPECT_EQ(predicted.bounded.time.capped_at, "");
      expect_above_cut(predicted, *machine, gpus);
    }
  }
}

TEST(NvlinkMeshes, WithoutRingsInTheMachineFileTheBoundIsTheCut) {
  for (const Mesh& mesh : {Mesh{"GH200", 4, 6}, Mesh{"A100", 3, 4}, Mesh{"V100", 2, 2}}) {
    SCOPED_TRACE(mesh.model);
    const auto machine = mesh_machine(mesh);
    for (int gpus = 2; gpus <= 4; ++gpus) {
      const MeshTime predicted = mesh_time(machine, gpus);
      EXPECT_EQ(predicted.bounded.time.us(), predicted.own.time.us()) << gpus << " GPUs";
      expect_above_cut(predicted, *machine, gpus);
      // A time that is too short is raised exactly to the cut around a GPU.
      nccl::CollectiveTime instant = predicted.own;
      instant.delay = instant.work = core::Time();
      core::NcclLinkBound(machine, std::nullopt, predicted.communicator, CollectiveKind::kAllReduce,
                          0)
          .apply(instant);
      const double cut = predicted.own.time.links.bytes / narrowest_cut(*machine, gpus) / 1e3;
      EXPECT_NEAR(core::to_us(instant.delay + instant.work) / cut, 1, 1e-6) << gpus << " GPUs";
    }
  }
}

TEST(NvlinkMeshes, RingsInTheMachineFileChangeNothingIfTheyUseAllLinksEvenly) {
  Mesh mesh{"GH200", 4, 6};
  const double without = mesh_time(mesh_machine(mesh), 4).bounded.time.us();
  for (const char* order : {"0,1,2,3", "0,3,2,1", "0,2,1,3", "0,3,1,2", "0,1,3,2", "0,2,3,1"})
    mesh.rings += fmt::format("ring {{ span: ONE_WORKER gpu: [{}] channels: 4 }}\n", order);
  EXPECT_EQ(mesh_time(mesh_machine(mesh), 4).bounded.time.us(), without);
}

TEST(NvlinkMeshes, NvlinksAreUsedEvenIfPcieIsFaster) {
  // NCCL's rate of two NVLinks of a V100 is 40 GB/s, that of PCIe generation 5 is 48 GB/s.
  Mesh mesh{"V100", 2, 2};
  const double usual = mesh_time(mesh_machine(mesh), 4).bounded.time.us();
  mesh.pcie = "link { from: \"cpu0\" to: \"gpu[0-3]\" kind: PCIE generation: 5 latency_us: 0.5 }\n";
  EXPECT_EQ(mesh_time(mesh_machine(mesh), 4).bounded.time.us(), usual);
}

TEST(NvlinkMeshes, OrdersOfGpusOnPcieDoNotChangeTheBound) {
  // GPUs of two sockets, numbered socket by socket or alternately.
  const auto machine = [](const std::array<int, 4>& sockets) {
    std::string text =
        "name: \"pcie\" source: \"test\"\n"
        "device { name: \"gpu[0-3]\" kind: GPU gpu_model: L40S memory_gb_per_s: 800 }\n"
        "device { name: \"cpu[0-1]\" kind: CPU memory_gb_per_s: 100 }\n"
        "link { from: \"cpu0\" to: \"cpu1\" kind: SOCKET bandwidth_gb_per_s: 10 latency_us: 0.5 "
        "}\n";
    for (int gpu = 0; gpu < 4; ++gpu)
      text += fmt::format(
          "link {{ from: \"cpu{}\" to: \"gpu{}\" kind: PCIE generation: 4 latency_us: 0.5 }}\n",
          sockets[gpu], gpu);
    auto read = core::read_machine(text, "pcie");
    if (!read) throw std::invalid_argument(read.error().message());
    return *read;
  };
  const MeshTime grouped = mesh_time(machine({0, 0, 1, 1}), 4);
  EXPECT_EQ(mesh_time(machine({0, 1, 0, 1}), 4).bounded.time.us(), grouped.bounded.time.us());
  EXPECT_GE(grouped.bounded.time.us(), grouped.own.time.links.bytes / 10 / 1e3)
      << "every order crosses the link between the sockets";
}

TEST(NvlinkMeshes, SimulatedStepsTakeTheTimeOfPerf) {
  for (const int gpus : {3, 4, 5, 7}) {
    const auto read = core::read_scenario(
        test::scenario_on({"dgx1-v100", 1, gpus},
                          test::variable("v", kGibibyte - kGibibyte % (4 * gpus)),
                          "algorithm: \"nccl\""),
        "s", test::shipped_library());
    ASSERT_TRUE(read) << read.error().message();
    const auto& pack = read->plan.collective(read->plan.packs.front());
    ASSERT_TRUE(pack.nccl);
    EXPECT_NEAR(pack.nccl->time.us() /
                    mesh_time(test::shipped_machine("dgx1-v100"), gpus).bounded.time.us(),
                1, 1e-6)
        << gpus;
    // While the collective runs, no link is busy for longer than the collective moves data.
    const core::PathTable paths(*read->cluster, core::NetworkModel::kFifo);
    const core::NcclLinks links(pack, pack.group, paths);
    double most = 0;
    for (const core::LinkUse& use : links.uses(*pack.nccl))
      most = std::max(most, core::to_us(use.busy));
    EXPECT_LE(most, core::to_us(pack.nccl->delay + pack.nccl->work)) << gpus;
    EXPECT_GT(most, 0.5 * core::to_us(pack.nccl->work)) << gpus;
  }
}

}  // namespace
}  // namespace tutti
