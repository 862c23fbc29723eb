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

/// Returns the kind of an EC2 instance type. Supported are "p5.48xlarge", "p5e.48xlarge" (which
/// uses the tables of p5), "p5en.48xlarge", "p6-b200.48xlarge" and "p6-b300.48xlarge". Returns
/// nullopt for all other instance types.
std::optional<Ec2> parse_ec2(std::string_view instance);
/// Returns the names of all instance types that parse_ec2() supports, separated by commas.
std::string ec2_names();

/// Returns the EC2 instance type that has these GPUs. Returns nullopt if no type or several types
/// have them (P5e and P5en both have H200).
std::optional<std::string> ec2_of(GpuModel gpus);

/// Returns the model of the machine's first GPU.
GpuModel gpu_model_of(const Machine& machine);

/// True if EC2 has instances with these GPUs and, on such instances with EFA, the tuner of
/// aws-ofi-nccl would make choices in this communicator.
bool aws_tuner_decides(GpuModel gpus, const Communicator& communicator);

/// The tuner plugin of aws-ofi-nccl, AWS's network plugin. NCCL 2.21 and later load the tuner from
/// the network plugin. The tuner makes choices only in communicators of more than two nodes with
/// one, two or eight GPUs per node. The tuner makes no choices for broadcasts and reduces. SOURCE:
/// aws/aws-ofi-nccl v1.21.1 src/tuner/nccl_ofi_tuner.cpp, nccl_ofi_regions.cpp.
class AwsTuner final : public Tuner {
 public:
  /// REQUIRES: `instance` is a type that parse_ec2() supports.
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
