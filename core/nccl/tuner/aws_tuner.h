#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/cluster/device_model.h"
#include "core/cluster/machine.h"
#include "core/nccl/tuner/aws_regions.h"
#include "core/nccl/tuner/tuner.h"

namespace tutti::core::nccl {

/// The kinds of machines for which aws-ofi-nccl has tables.
enum class Ec2 { kP5, kP5en, kP6B200, kP6B300 };

/// "p5.48xlarge", "p5e.48xlarge" (which has the tables of p5), "p5en.48xlarge", "p6-b200.48xlarge",
/// "p6-b300.48xlarge". Nothing for others.
std::optional<Ec2> parse_ec2(std::string_view instance);
/// All of them, separated by commas.
std::string ec2_names();

/// Returns the EC2 instance type that has these GPUs; nullopt if it is ambiguous (H200 are in P5e
/// and in P5en) or if there is none.
std::optional<std::string> ec2_of(GpuModel gpus);

/// Returns the model of the machine's first GPU.
GpuModel gpu_model_of(const Machine& machine);

/// True if the tuner of aws-ofi-nccl would decide for this communicator over EFA, if these are GPUs
/// of EC2.
bool aws_would_decide(GpuModel gpus, const Communicator& communicator);

/// The tuner of aws-ofi-nccl, which NCCL finds in the network plugin from 2.21 on. It has nothing
/// to say of communicators of one or two nodes, of those that have not one, two or eight GPUs per
/// node, and of broadcasts and reduces. SOURCE: aws/aws-ofi-nccl v1.21.1
/// src/tuner/nccl_ofi_tuner.cpp, nccl_ofi_regions.cpp.
class AwsTuner final : public Tuner {
 public:
  /// `instance`: one of those of parse_ec2().
  explicit AwsTuner(const std::string& instance);

  [[nodiscard]] Pick pick(const Communicator& communicator, const Operation& operation,
                          const std::vector<Candidate>& all, bool registered) const override;
  [[nodiscard]] std::vector<std::int64_t> boundaries(const Communicator& communicator,
                                                     Function function) const override;
  [[nodiscard]] std::string name() const override;
  [[nodiscard]] std::string why_not(const Communicator& communicator) const override;

 private:
  struct Lists {
    int gpus_per_node = 8;
    std::array<std::vector<Region>, kFunctions> of;
  };
  [[nodiscard]] const Lists* lists_of(const Communicator& communicator) const;

  std::string instance_;
  Ec2 kind_;
  std::array<Lists, 3> lists_;
};

}  // namespace tutti::core::nccl
