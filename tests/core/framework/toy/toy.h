#pragma once

#include <optional>

#include "core/framework/registry.h"

namespace tutti::test {

struct Toy {
  int gradients_per_pack = 1;
  bool updates_each = false;
  std::optional<std::int64_t> most_workers;
};

core::FrameworkKind toy_kind();

}  // namespace tutti::test
