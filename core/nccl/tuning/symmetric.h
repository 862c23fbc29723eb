#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/nccl/tuning/choice.h"
#include "core/nccl/tuning/model.h"

namespace tutti::core::nccl {

/// A symmetric kernel, or a collective by copy engines. Symmetric kernels and copy engines move
/// data between windows of symmetric memory (ncclCommWindowRegister), and replace an algorithm and
/// a protocol.
struct SymmetricKernel {
  std::string_view name;  ///< NCCL's name of the kernel, or kCopyEnginesName
  int blocks = 0;         ///< number of thread blocks; 0 for copy engines
  /// NCCL's estimate of the time; 0 for copy engines, for which NCCL has no estimate.
  float estimate_us = 0;
};

inline constexpr std::string_view kCopyEnginesName = "copy engines";

/// Returns the names of NCCL's symmetric kernels, which NCCL_SYM_KERNEL accepts.
std::vector<std::string_view> symmetric_kernel_names();

/// Returns the kernel that NCCL 2.27 to 2.30 chooses inside one node; nullopt if NCCL uses an
/// algorithm and a protocol. NCCL chooses kernels by a separate cost model, which is reproduced
/// here exactly. From 2.28 on, copy engines execute all-gathers if NCCL_CTA_POLICY is ZERO. Three
/// kinds of kernels of 2.30 are not modelled: kernels for several nodes, kernels for TMA
/// (Blackwell), and kernels for buffers that are not windows.
/// SOURCE: NVIDIA/nccl src/symmetric.cc (v2.27.7), src/sym_kernels.cc (v2.28.9 to v2.30.7):
/// queryModel, ncclSymkPickKernel, ncclSymkMask; src/ce_coll.cc, ncclCeImplemented.
std::optional<SymmetricKernel> symmetric_kernel(const Communicator& communicator,
                                                const Model& model, const Operation& operation);

/// Returns a note on the limits of predictions for symmetric buffers.
std::string note_on_symmetric(const Communicator& communicator);

/// Returns the number of bytes that the busiest GPU sends over its links with this kernel.
double symmetric_link_bytes(std::string_view kernel, const Communicator& communicator,
                            const Operation& operation);

}  // namespace tutti::core::nccl
