#include "core/advice/extrapolation.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "tests/support/clusters.h"
#include "tests/support/program.h"
#include "tests/support/shipped.h"

namespace tutti::core {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr const char* kMachine =
    R"(workers { machine: "pair" }
       machine { name: "pair" source: "made up" device { name: "gpu[0-1]" kind: GPU memory_gb_per_s: 300 }
                 link { from: "gpu0" to: "gpu1" kind: NVLINK bandwidth_gb_per_s: 10 latency_us: 2 } })";

/// The rest of a scenario with gradients of 1000, 4000 and 16000 bytes, each in its own pack.
constexpr const char* kRest =
    R"(workload { variable { name: "a" shape: [250] } variable { name: "b" shape: [1000] }
                  variable { name: "c" shape: [4000] } update_ms: 0 }
       strategy { algorithm: "ring" bytes_per_pack: 1 })";

std::vector<std::string> notes_of(const std::string& cluster) {
  const auto scenario =
      read_scenario("cluster { " + cluster + " } " + kRest, "s", Library(std::string()));
  EXPECT_TRUE(scenario) << scenario.error().message();
  EXPECT_EQ(scenario->plan.packs.size(), 3u);
  return extrapolations(*scenario);
}

std::string fitted(const std::string& to) {
  return fmt::format("{} calibrated {{ {} }}", kMachine, to);
}

TEST(Extrapolation, ReportsPacksOutsideOfTheMeasuredSizes) {
  EXPECT_THAT(notes_of(kMachine), ElementsAre(HasSubstr("without a launch time")))
      << "nothing was fitted";
  EXPECT_THAT(notes_of(fitted("least_bytes: 1000 most_bytes: 16000 workers: 1")), IsEmpty())
      << "the range includes its ends";
  // Packs are numbered in the order in which the backward pass produces their gradients: c, b, a.
  EXPECT_THAT(notes_of(fitted("least_bytes: 1001 most_bytes: 16000")), SizeIs(1));
  EXPECT_THAT(notes_of(fitted("least_bytes: 1 most_bytes: 15999")), SizeIs(1));
  EXPECT_THAT(notes_of(fitted("least_bytes: 5000 most_bytes: 6000")),
              ElementsAre(HasSubstr("packs 1 and 2 of 1.00 KB to 4.00 KB are smaller"),
                          HasSubstr("pack 0")));
}

TEST(Extrapolation, ReportsCollectivesBetweenGpusWithoutALaunchTime) {
  const auto note_on = [](const std::string& machine, const std::string& strategy) {
    const auto scenario = read_scenario("cluster { workers { machine: \"" + machine +
                                            "\" count: 2 } network { kind: ONE_SWITCH link: "
                                            "\"ndr\" } } workload { variable { name: "
                                            "\"a\" shape: 256 } update_ms: 0 } strategy { " +
                                            strategy + " }",
                                        "s", test::shipped_library());
    EXPECT_TRUE(scenario) << scenario.error().message();
    return note_on_launches(*scenario);
  };
  const std::string unknown = testing::TempDir() + "unknown_gpus.textproto";
  std::ofstream(unknown) << R"(name: "unknown"
      device { name: "gpu[0-1]" kind: GPU memory_gb_per_s: 100 }
      nic { name: "nic0" bandwidth_gb_per_s: 10 transport: ROCE }
      link { from: "gpu0" to: "gpu1" kind: PCIE bandwidth_gb_per_s: 10 latency_us: 1 }
      link { from: "gpu[0-1]" to: "nic0" kind: PCIE bandwidth_gb_per_s: 10 latency_us: 1 })";
  for (const char* algorithm : {"ring", "recursive_doubling", "psgpu"}) {
    EXPECT_THAT(note_on(unknown, fmt::format("algorithm: \"{}\"", algorithm)),
                HasSubstr(std::string(algorithm) + " begins on GPUs without a launch time"));
    EXPECT_EQ(note_on("hgx-h100", fmt::format("algorithm: \"{}\"", algorithm)), "")
        << "the default of known GPUs";
  }
  EXPECT_EQ(note_on("hgx-h100", "algorithm: \"ring\" launch_us: 8"), "");
  EXPECT_EQ(note_on("hgx-h100", "algorithm: \"nccl\""), "") << "NCCL's time includes the launch";
  EXPECT_EQ(note_on("hgx-h100", "algorithm: \"nccl/ring\""), "");
  EXPECT_EQ(note_on("cpu-host", "algorithm: \"ring\""), "");
}

/// Returns the notes on a model in FLOPs, with `workload` as further fields.
std::vector<std::string> notes_on_model(const std::string& machine, const std::string& workload,
                                        const std::string& strategy = "") {
  const auto scenario = read_scenario(
      fmt::format("cluster {{ workers {{ machine: \"{}\" }} }} workload {{ {} }} strategy {{ "
                  "algorithm: \"nccl\" {} }}",
                  machine, workload, strategy),
      "s", test::shipped_library());
  EXPECT_TRUE(scenario) << scenario.error().message();
  return extrapolations(*scenario);
}

TEST(Extrapolation, ReportsFloat32OnGpusWithTf32) {
  const std::string resnet = "model: \"resnet50_torchvision\" batch: 8 ";
  const auto note = HasSubstr("float32 without tensor cores; on dgx-a100");
  EXPECT_THAT(notes_on_model("dgx-a100", resnet), ElementsAre(note));
  EXPECT_THAT(notes_on_model("dgx-a100", resnet), ElementsAre(HasSubstr("156 TFLOP/s")));
  for (const char* precision : {"FLOAT32", "TF32", "BFLOAT16"})
    EXPECT_THAT(notes_on_model("dgx-a100", resnet + "precision: " + precision), IsEmpty());
  EXPECT_THAT(notes_on_model("dgx1-v100", resnet), IsEmpty()) << "V100 has no TF32";
  const std::string times = "forward_ms: 1 backward_ms: 2 ";
  EXPECT_THAT(notes_on_model("dgx-a100", resnet + times), IsEmpty());
  EXPECT_THAT(notes_on_model("dgx-a100", resnet + times + "precision: TF32"),
              ElementsAre(HasSubstr("precision does not change the times of layers")));
}

TEST(Extrapolation, ReportsAModelThatDoesNotFitIntoTheMemory) {
  // 8.03 billion variables of bfloat16: 16.1 GB, as many bytes of gradients, and momentum.
  const std::string llama = "model: \"llama3_8b\" batch: 1 ";
  EXPECT_THAT(notes_on_model("dgx-a100", llama),
              ElementsAre(HasSubstr("variables, gradients and momentum take 48.2 GB of each GPU")));
  EXPECT_THAT(notes_on_model("hgx-h100", llama), IsEmpty()) << "80 GB";
  EXPECT_THAT(notes_on_model("dgx-a100", llama + "update_ms: 1"), IsEmpty())
      << "32.1 GB, if the optimizer is unknown";
  EXPECT_THAT(notes_on_model("dgx-a100", llama, "megatron { }"), IsEmpty());
  EXPECT_THAT(notes_on_model("dgx-a100", llama, "collective: REDUCE_SCATTER"), IsEmpty());
  EXPECT_THAT(notes_on_model("ec2-g4dn-12xlarge", llama + "precision: FLOAT16", "deepspeed { }"),
              ElementsAre(HasSubstr("variables take 16.1 GB of each GPU")));
}

TEST(Extrapolation, ReportsADifferentNumberOfWorkers) {
  EXPECT_THAT(notes_of(fitted("workers: 2")), SizeIs(1));
}

TEST(Extrapolation, ReadsTheMeasuredSizesFromAClusterFile) {
  const test::TemporaryFolder folder;
  static_cast<void>(folder.write("c.textproto", fitted("least_bytes: 1 most_bytes: 15999")));
  const auto scenario = read_scenario(std::string("cluster { file: \"c.textproto\" } ") + kRest,
                                      folder.file("s"), Library(std::string()));
  ASSERT_TRUE(scenario) << scenario.error().message();
  EXPECT_EQ(extrapolations(*scenario), notes_of(fitted("least_bytes: 1 most_bytes: 15999")));
  EXPECT_THAT(extrapolations(*scenario), SizeIs(1));
}

}  // namespace
}  // namespace tutti::core
