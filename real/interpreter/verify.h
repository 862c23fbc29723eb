#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/base/data_type.h"
#include "core/schedule/contract.h"
#include "real/elements/element_ops.h"

namespace tutti::real {

/// The inputs and the expected results of a collective, computed from a few numbers: no process
/// needs to see another's buffer.
///
/// Inputs differ for (nearly) every rank, element and key. Integers use all their bits (for
/// products they are odd, so that the product does not become 0). float32 and float64 lie in [0.5,
/// 1.5), for products in [0.9375, 1.0625): nothing cancels, overflows or is lost. float16 and
/// bfloat16 have so few bits that a bound on their rounding would hide a missing rank. Their inputs
/// for sums are small whole numbers (for products, plus and minus a half, one or two), chosen so
/// that every partial result is exact.
struct Reduced {
  core::DataType type = core::DataType::kFloat32;
  Operation operation = Operation::kSum;
  std::uint64_t key = 0;          ///< identifies the step and the pack
  std::int32_t contributors = 1;  ///< ranks 0 … contributors - 1
  double factor =
      1;  ///< factor that every element of the result is multiplied by at the end, for a MEAN
};

/// Fills a buffer with `elements` of the rank's inputs, starting with its element `first`.
void fill_inputs(const Reduced& reduced, core::Rank rank, void* data, std::int64_t elements,
                 std::int64_t first = 0);
/// Writes the rank's input into its buffer, where the contract places it; the rest of the buffer is
/// not changed.
void fill_inputs(const Reduced& reduced, const core::Contract& contract, core::Rank rank,
                 void* buffer);

struct WrongElement {
  core::Rank rank = 0;
  std::int64_t element = 0;
  double got = 0;
  double expected = 0;
  double tolerance = 0;
};

/// Compares every element of the outputs in `buffers[i]` (of rank `ranks[i]`) with the contract,
/// and if the collective is out of place, the inputs with their original values. Integers, minima,
/// maxima, elements that are not added to anything, and float16 and bfloat16 that are not
/// multiplied by a factor must be equal (integers wrap around). Any other float may differ by
/// (contributors + 1) rounding errors of its type relative to the result, which bounds the error of
/// every order of operations if nothing cancels.
/// SOURCE: Higham, "Accuracy and Stability of Numerical Algorithms", sections 3.1 and 4.2.
std::optional<WrongElement> find_wrong_element(const Reduced& reduced,
                                               const core::Contract& contract,
                                               const std::vector<core::Rank>& ranks,
                                               const std::vector<const std::byte*>& buffers);
/// Same as above, for an all-reduce in place.
std::optional<WrongElement> find_wrong_element(const Reduced& reduced, std::int64_t elements,
                                               const std::vector<core::Rank>& ranks,
                                               const std::vector<const std::byte*>& results);

}  // namespace tutti::real
