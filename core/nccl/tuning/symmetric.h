#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/nccl/tuning/choice.h"
#include "core/nccl/tuning/model.h"

namespace tutti::core::nccl {

/// A symmetric kernel, or the copy engines: moves the data of a collective between windows of
/// symmetric memory (ncclCommWindowRegister), in place of an algorithm and a protocol.
struct SymmetricKernel {
  std::string_view name;  ///< name in NCCL, or kCopyEnginesName
  int blocks = 0;         ///< thread blocks; copy engines have none
  float estimate_us = 0;  ///< NCCL's own estimate; 0 for copy engines, for which NCCL has none
};

inline constexpr std::string_view kCopyEnginesName = "copy engines";

/// NCCL's symmetric kernels, by which NCCL_SYM_KERNEL names them.
std::vector<std::string_view> symmetric_kernel_names();

/// Returns the kernel that NCCL 2.27 to 2.30 chooses inside one node; nullopt if it uses an
/// algorithm and a protocol as usual. NCCL chooses kernels by a separate cost model, which is
/// reproduced exactly. Copy engines execute all-gathers with NCCL_CTA_POLICY=ZERO, from 2.28 on.
/// Not modelled: 2.30's kernels for several nodes and by TMA (Blackwell), and its kernels for
/// buffers that are no windows. SOURCE: NVIDIA/nccl src/symmetric.cc (v2.27.7), src/sym_kernels.cc
/// (v2.28.9 to v2.30.7): queryModel, ncclSymkPickKernel, ncclSymkMask; src/ce_coll.cc,
/// ncclCeImplemented.
std::optional<SymmetricKernel> symmetric_kernel(const Communicator& communicator,
                                                const Model& model, const Operation& operation);

/// Returns a note on the limits of predictions for symmetric buffers.
std::string note_on_symmetric(const Communicator& communicator);

/// Returns the number of bytes that the busiest GPU sends over its links.
double symmetric_link_bytes(std::string_view kernel, const Communicator& communicator,
                            const Operation& operation);

}  // namespace tutti::core::nccl
