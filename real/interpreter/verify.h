#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/base/data_type.h"
#include "core/schedule/contract.h"
#include "real/elements/element_ops.h"

namespace tutti::real {

/// The inputs and the expected results of a collective. Every process can compute the inputs of all
/// ranks from the members below, so it can check its results without data from other processes.
///
/// Nearly all inputs differ by rank, element and key.
/// - Integers use all their bits. For products, integers are odd, so that no product becomes 0.
/// - float32 and float64 values are in [0.5, 1.5), or for products in [0.9375, 1.0625), so that
/// results neither cancel nor overflow.
/// - float16 and bfloat16 have so few bits that a tolerance for rounding would hide a missing rank.
/// Inputs of these types are small whole numbers, or for products ±0.5, ±1 or ±2, so that every
/// partial result is exact.
struct Reduced {
  core::DataType type = core::DataType::kFloat32;
  Operation operation = Operation::kSum;
  std::uint64_t key = 0;  ///< a number that identifies the step and the pack
  /// Number of ranks that contribute; these are ranks 0 … contributors - 1.
  std::int32_t contributors = 1;
  /// The factor by which a MEAN multiplies every element of the sum; 1 for all other operations.
  double factor = 1;
};

/// Fills a buffer with `elements` elements of the rank's input, beginning with element `first`.
void fill_inputs(const Reduced& reduced, core::Rank rank, void* data, std::int64_t elements,
                 std::int64_t first = 0);
/// Writes the rank's input to the range of its buffer that `contract` specifies. The rest of the
/// buffer keeps its content.
void fill_inputs(const Reduced& reduced, const core::Contract& contract, core::Rank rank,
                 void* buffer);

struct WrongElement {
  core::Rank rank = 0;
  std::int64_t element = 0;
  double got = 0;
  double expected = 0;
  double tolerance = 0;
};

/// Compares every element of the output in `buffers[i]`, the buffer of rank `ranks[i]`, with the
/// values that the contract requires. If the collective is out of place, also checks that the
/// inputs still have their original values. Returns the first wrong element; nullopt if all
/// elements are right. The following elements must be equal to their expected values: integers
/// (which wrap around), minima, maxima, elements that are not reduced, and float16 and bfloat16
/// without a factor. All other floats may differ by (contributors + 1) rounding errors of their
/// type, relative to the result. This tolerance is sufficient for every order of operations if
/// nothing cancels.
/// SOURCE: Higham, "Accuracy and Stability of Numerical Algorithms", sections 3.1 and 4.2.
std::optional<WrongElement> find_wrong_element(const Reduced& reduced,
                                               const core::Contract& contract,
                                               const std::vector<core::Rank>& ranks,
                                               const std::vector<const std::byte*>& buffers);
/// Returns the first wrong element of an in-place all-reduce; nullopt if all elements are right.
std::optional<WrongElement> find_wrong_element(const Reduced& reduced, std::int64_t elements,
                                               const std::vector<core::Rank>& ranks,
                                               const std::vector<const std::byte*>& results);

}  // namespace tutti::real
