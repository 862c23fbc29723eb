#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/base/data_type.h"
#include "core/schedule/contract.h"
#include "real/elements/element_ops.h"

namespace tutti::real {

/// What a collective is given and must come to, told by numbers alone: no process needs to see another's buffer.
///
/// Inputs differ for (nearly) every rank, element and key. Integers have all their bits (of a product they are odd, so
/// that it does not become 0). float32 and float64 lie in [0.5, 1.5), of a product in [0.9375, 1.0625): nothing
/// cancels, overflows or gets lost. float16 and bfloat16 have so few bits that a bound on their rounding would hide a
/// missing rank: what is added are small whole numbers (what is multiplied, plus and minus a half, one or two), so chosen
/// that every partial result is exact.
struct Reduced {
  core::DataType type = core::DataType::kFloat32;
  Operation operation = Operation::kSum;
  std::uint64_t key = 0;          ///< of the step and pack
  std::int32_t contributors = 1;  ///< ranks 0 … contributors - 1
  double factor = 1;              ///< what every element of the result is then multiplied with: that of a MEAN
};

/// Fills a buffer with the rank's inputs, `elements` of them from its element `first` on.
void fill_inputs(const Reduced& reduced, core::Rank rank, void* data, std::int64_t elements, std::int64_t first = 0);
/// Puts the rank's input into its buffer, where the contract has it; the rest of the buffer stays as it is.
void fill_inputs(const Reduced& reduced, const core::Contract& contract, core::Rank rank, void* buffer);

struct WrongElement {
  core::Rank rank = 0;
  std::int64_t element = 0;
  double got = 0;
  double expected = 0;
  double tolerance = 0;
};

/// Compares every element of the outputs in `buffers[i]` (of rank `ranks[i]`) with what the contract says, and out of place
/// the inputs with what they were. Integers, minima, maxima, what is not added to anything, and float16 and bfloat16 that
/// are not multiplied with a factor must be equal (integers wrap around); else a float may differ by (contributors + 1)
/// rounding errors of its type relative to the result: no order of operations errs by more where nothing cancels.
/// SOURCE: Higham, "Accuracy and Stability of Numerical Algorithms", sections 3.1 and 4.2.
std::optional<WrongElement> find_wrong_element(const Reduced& reduced, const core::Contract& contract,
                                               const std::vector<core::Rank>& ranks,
                                               const std::vector<const std::byte*>& buffers);
/// The same of an all-reduce in place.
std::optional<WrongElement> find_wrong_element(const Reduced& reduced, std::int64_t elements,
                                               const std::vector<core::Rank>& ranks,
                                               const std::vector<const std::byte*>& results);

}  // namespace tutti::real
