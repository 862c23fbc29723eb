#pragma once

#include <cstdint>
#include <vector>

#include "tests/digests/cases.h"

namespace tutti::test {

/// The number of scenarios of the corpus.
inline constexpr std::int32_t kCorpus = 500;

/// Generates scenario `number` of the corpus. Scenarios are small, and satisfy all rules that the
/// generator knows. The text is the same with every compiler, because it consists of integers and
/// fixed words that core::Random chooses.
DigestCase generate(std::int32_t number);

}  // namespace tutti::test
