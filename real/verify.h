#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "core/base/data_type.h"
#include "core/schedule/step.h"
#include "real/elements/element_ops.h"

namespace tutti::real {

/// What rank `rank` puts into element `element` of a pack: told by the numbers alone, different for (nearly) every rank,
/// element and pack, and rounded to `type`. Floats lie in [0.5, 1.5), so that sums neither cancel nor overflow;
/// integers have all their bits.
double input_element(core::DataType type, std::uint64_t pack_key, core::Rank rank, std::int64_t element);

/// Fills a buffer with it.
void fill_inputs(core::DataType type, std::uint64_t pack_key, core::Rank rank, void* data, std::int64_t elements);

struct WrongElement {
  core::Rank rank = 0;
  std::int64_t element = 0;
  double got = 0;
  double expected = 0;
  double tolerance = 0;
};

/// Compares every element of `results[i]` (of rank `ranks[i]`) with the sum over `contributors` ranks, multiplied by
/// `factor` (1, or that of a MEAN). Integers must be equal (sums wrap around); a float may differ by (contributors + 1)
/// rounding errors of its type relative to the sum of magnitudes: no order of additions errs by more.
/// SOURCE: Higham, "Accuracy and Stability of Numerical Algorithms", section 4.2.
std::optional<WrongElement> find_wrong_sum(core::DataType type, std::uint64_t pack_key, std::int64_t elements,
                                           std::int32_t contributors, double factor,
                                           const std::vector<core::Rank>& ranks,
                                           const std::vector<const std::byte*>& results);

}  // namespace tutti::real
