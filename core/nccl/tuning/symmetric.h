#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/nccl/tuning/choice.h"
#include "core/nccl/tuning/model.h"

namespace tutti::core::nccl {

/// The symmetric kernel, or the copy engines, by which NCCL executes a collective instead of an
/// algorithm and a protocol. Symmetric kernels and copy engines work on windows of symmetric memory
/// (ncclCommWindowRegister).
struct SymmetricKernel {
  std::string_view name;  ///< NCCL's name of the kernel, or kCopyEnginesName
  int blocks = 0;         ///< number of thread blocks; 0 for copy engines
  /// NCCL's estimate of the time; 0 for copy engines, for which NCCL has no estimate.
  float estimate_us = 0;
};

inline constexpr std::string_view kCopyEnginesName = "copy engines";

/// Returns the names of NCCL's symmetric kernels, which NCCL_SYM_KERNEL accepts.
std::vector<std::string_view> symmetric_kernel_names();

/// Returns the symmetric kernel that NCCL 2.27 to 2.30 chooses inside one node; nullopt if NCCL
/// uses an algorithm and a protocol instead. NCCL chooses kernels by a separate cost model, which
/// is reproduced here exactly. From 2.28 on, copy engines execute all-gathers if NCCL_CTA_POLICY is
/// ZERO. Three kinds of kernels of 2.30 are not modelled: kernels for several nodes, kernels for
/// TMA (Blackwell), and kernels for buffers that are not windows. SOURCE: NVIDIA/nccl
/// src/symmetric.cc (v2.27.7), src/sym_kernels.cc (v2.28.9 to v2.30.7): queryModel,
/// ncclSymkPickKernel, ncclSymkMask; src/ce_coll.cc, ncclCeImplemented.
std::optional<SymmetricKernel> symmetric_kernel(const Communicator& communicator,
                                                const Model& model, const Operation& operation);

/// Returns a note for the user that states how far predictions for symmetric buffers can be
/// trusted.
std::string note_on_symmetric(const Communicator& communicator);

/// Returns the number of bytes that the GPU with the most traffic sends over its links if this
/// kernel runs.
double symmetric_link_bytes(std::string_view kernel, const Communicator& communicator,
                            const Operation& operation);

}  // namespace tutti::core::nccl
