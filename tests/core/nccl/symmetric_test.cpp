// NCCL's symmetric kernels and copy engines. The choice for buffers in windows of symmetric memory
// is compared with NCCL's code, and the predicted times with NCCL's estimates.

#include "core/nccl/tuning/symmetric.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "core/nccl/lowering/lower.h"
#include "core/nccl/time/prediction.h"
#include "tests/core/nccl/communicators.h"
#include "tests/support/clusters.h"

namespace tutti::core::nccl {
namespace {

using testing::HasSubstr;

Model symmetric_model() {
  Model model;
  model.symmetric = true;
  return model;
}

ElementType type_of(int nccl) {
  switch (nccl) {
    case 2: return ElementType::kInt32;
    case 6: return ElementType::kFloat16;
    case 8: return ElementType::kFloat64;
    case 10: return ElementType::kFloat8e4m3;
    default: return ElementType::kFloat32;
  }
}

TEST(SymmetricKernels, AreChosenLikeInNcclsCode) {
  std::ifstream in(test::source_folder() + "/tests/reference/nccl/symmetric-2.28.9.csv");
  std::string line;
  int rows = 0;
  while (std::getline(in, line) && line.front() == '#') continue;
  const Model model = symmetric_model();
  while (std::getline(in, line)) {
    std::istringstream text(line);
    std::vector<std::string> cells;
    for (std::string cell; std::getline(text, cell, ',');) cells.push_back(cell);
    Communicator comm;
    comm.ranks = std::stoi(cells[0]);
    comm.compute_capability = std::stoi(cells[1]);
    comm.nvls = cells[2] == "1";
    const auto kernel = symmetric_kernel(comm, model,
                                         {static_cast<Function>(std::stoi(cells[3])),
                                          std::stoll(cells[5]), type_of(std::stoi(cells[4]))});
    ASSERT_EQ(kernel ? std::string(kernel->name) : "none", cells[6]) << line;
    ASSERT_EQ(kernel ? kernel->blocks : 0, std::stoi(cells[7])) << line;
    if (kernel) {
      ASSERT_FLOAT_EQ(kernel->estimate_us, std::stof(cells[8])) << line;
    }
    ++rows;
  }
  EXPECT_GT(rows, 2000);
}

Settings symmetric() {
  Settings settings;
  settings.buffers = Buffers::kSymmetric;
  return settings;
}

Choice choice_of(const Communicator& comm, const Settings& settings, const Operation& operation) {
  const auto choice = choose(comm, tune(comm, settings), operation);
  EXPECT_TRUE(choice);
  return choice.value_or(Choice());
}

TEST(SymmetricKernels, AreUsedOnOneNodeSince2_27IfWindowsAreEnabled) {
  const Operation operation{Function::kAllReduce, 1 << 20};
  const auto kernel = [&](int nodes, Version version, const Settings& settings) {
    return std::string(choice_of(test::hopper(nodes, 8, version), settings, operation).symmetric);
  };
  EXPECT_EQ(kernel(1, {2, 28, 9}, symmetric()), "AllReduce_RSxLDMC_AGxSTMC");
  EXPECT_EQ(kernel(1, {2, 27, 7}, symmetric()), "AllReduce_RSxLDMC_AGxSTMC");
  EXPECT_EQ(kernel(1, {2, 26, 2}, symmetric()), "");
  EXPECT_EQ(kernel(2, {2, 28, 9}, symmetric()), "");
  EXPECT_EQ(kernel(1, {2, 28, 9}, {}), "");
  Settings off = symmetric();
  off.windows = false;
  EXPECT_EQ(kernel(1, {2, 28, 9}, off), "");
  Settings one = symmetric();
  one.symmetric_kernel = "AllReduce_RSxLD_AGxST";
  one.symmetric_blocks = 7;
  EXPECT_EQ(kernel(1, {2, 28, 9}, one), "AllReduce_RSxLD_AGxST");
  EXPECT_EQ(choice_of(test::hopper(1, 8), one, operation).channels, 7);
  // There are no symmetric kernels for broadcasts and averages.
  EXPECT_EQ(choice_of(test::hopper(1, 8), symmetric(), {Function::kBroadcast, 1 << 20}).symmetric,
            "");
  EXPECT_EQ(choice_of(test::hopper(1, 8), symmetric(),
                      {Function::kAllReduce, 1 << 20, ElementType::kFloat32, Reduction::kMean})
                .symmetric,
            "");
}

TEST(SymmetricKernels, CopyEnginesReplaceThemForAllGathersWithPolicyZero) {
  const auto settings = read_settings({{"NCCL_CTA_POLICY", "2"}}, {2, 28, 9});
  ASSERT_TRUE(settings);
  Settings zero = *settings;
  zero.buffers = Buffers::kSymmetric;
  const Operation gather{Function::kAllGather, 1 << 26}, reduce{Function::kAllReduce, 1 << 26};
  EXPECT_EQ(choice_of(test::hopper(1, 8), zero, gather).symmetric, kCopyEnginesName);
  EXPECT_EQ(choice_of(test::hopper(1, 8, {2, 27, 7}), zero, gather).symmetric, "AllGather_STMC");
  EXPECT_EQ(choice_of(test::hopper(1, 8), zero, reduce).symmetric, "AllReduce_RSxLDMC_AGxSTMC");
}

/// The predicted time is NCCL's estimate plus the launch, but at least the time that NVLink needs.
TEST(SymmetricKernels, TakeTheTimeOfNcclsEstimate) {
  const System system = test::hopper_system(1, 8);
  const Communicator comm = test::hopper(1, 8);
  const Parameters parameters = *Parameters::load(test::source_folder() + "/scenarios");
  for (std::int64_t bytes = 1024; bytes <= std::int64_t{1} << 32; bytes *= 8) {
    const Operation operation{Function::kAllReduce, bytes};
    const Choice choice = choice_of(comm, symmetric(), operation);
    ASSERT_FALSE(choice.symmetric.empty()) << bytes;
    const Prediction time = predict(system, comm, operation, choice, parameters);
    EXPECT_NEAR(time.us() - time.launch, choice.estimate_us, 1e-3) << bytes;
    EXPECT_GT(time.launch, 0);
    EXPECT_EQ(time.channels, choice.channels);
  }
}

TEST(SymmetricKernels, AreNotLoweredToSteps) {
  const Communicator comm = test::hopper(1, 8);
  const Operation operation{Function::kAllReduce, 1 << 20};
  const auto steps =
      lower(comm, {CollectiveKind::kAllReduce, choice_of(comm, symmetric(), operation),
                   DataType::kFloat32, 1 << 18});
  ASSERT_FALSE(steps);
  EXPECT_THAT(steps.error().message(), HasSubstr("AllReduce_RSxLDMC_AGxSTMC is not lowered"));
}

TEST(SymmetricKernels, VariablesAreValidatedByVersion) {
  const auto wrong = [](const std::string& name, const std::string& value, Version version) {
    const auto read = read_settings({{name, value}}, version);
    return read ? std::string() : read.error().message();
  };
  EXPECT_THAT(wrong("NCCL_SYM_KERNEL", "AllReduce", {2, 28, 9}), HasSubstr("AllReduce_AGxLL_R"));
  EXPECT_THAT(wrong("NCCL_CTA_POLICY", "3", {2, 28, 9}), HasSubstr("expected 0"));
  EXPECT_THAT(wrong("NCCL_CTA_POLICY", "ZERO", {2, 28, 9}),
              HasSubstr("NCCL 2.29 and later also accept"));
  EXPECT_EQ(read_settings({{"NCCL_CTA_POLICY", "ZERO"}}, {2, 29, 2})->cta_policy, CtaPolicy::kZero);
  const auto old = read_settings({{"NCCL_CTA_POLICY", "2"}}, {2, 21, 5});
  ASSERT_TRUE(old);
  EXPECT_THAT(old->notes, testing::ElementsAre(HasSubstr("has no effect in NCCL 2.21.5")));
  EXPECT_EQ(old->cta_policy, CtaPolicy::kDefault);
}

}  // namespace
}  // namespace tutti::core::nccl
