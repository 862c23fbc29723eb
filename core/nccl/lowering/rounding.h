#pragma once

#include <cstdint>

namespace tutti::core::nccl {

/// Returns a / b, rounded up. REQUIRES: a ≥ 0, b > 0.
constexpr std::int64_t divided_up(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

}  // namespace tutti::core::nccl
