#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "core/import/measured_run.h"

namespace tutti::core {

// Functions that read the texts in the fields of PyTorch profiler events.

/// Returns the first list of dimensions in a text such as "[[64,3,7,7]]"; nullopt if the text has
/// no such list.
std::optional<std::vector<std::int64_t>> first_dims(std::string_view text);

/// Returns the number of elements of a tensor; -1 if it is too large for any tensor.
std::int64_t product(const std::vector<std::int64_t>& dims);

/// Returns the first type in a list of types without quotes: "c10::BFloat16" for
/// "[c10::BFloat16,]".
std::string_view first_type(std::string_view text);

bool is_nccl_kernel(std::string_view name);

/// Sets the algorithm and the protocol of `to` from the name of an NCCL kernel, which contains
/// both. The order of the words in the name changed with NCCL 2.19. In earlier releases, all
/// kernels are named after LL ("ncclKernel_…_RING_LL_…"), although they also execute the other
/// protocols, so the protocol is unknown.
void choice_of_kernel(std::string_view name, MeasuredCollective& to);

/// Returns the type of the elements that the kernel of a reduction adds, from the kernel's name:
/// "float" for "ncclKernel_AllReduce_RING_LL_Sum_float(…)". The result is empty if the name has no
/// type.
std::string_view type_of_kernel(std::string_view name);

}  // namespace tutti::core
