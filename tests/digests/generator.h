#pragma once

#include <cstdint>
#include <vector>

#include "tests/digests/cases.h"

namespace tutti::test {

/// How many scenarios the corpus has.
inline constexpr std::int32_t kCorpus = 500;

/// Scenario `number` of the corpus: small, and valid as far as the generator knows the rules. The same text from
/// every compiler: it is made of integers and fixed words, drawn by core::Random.
DigestCase generate(std::int32_t number);

}  // namespace tutti::test
