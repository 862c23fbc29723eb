#pragma once

#include <cstdint>
#include <vector>

#include "tests/digests/cases.h"

namespace tutti::test {

/// The number of scenarios of the corpus.
inline constexpr std::int32_t kCorpus = 500;

/// Generates scenario `number` of the corpus, which is small, and valid as far as the generator
/// knows the rules. The text is the same with every compiler, since it consists of integers and
/// fixed words that core::Random chooses.
DigestCase generate(std::int32_t number);

}  // namespace tutti::test
