#include "tests/support/shipped.h"

#include <gtest/gtest.h>

#include "core/cluster/machine_file.h"
#include "tests/support/clusters.h"

namespace tutti::test {

const core::Library& shipped_library() {
  static const core::Library library(source_folder() + "/scenarios");
  return library;
}

std::shared_ptr<const core::Machine> shipped_machine(const std::string& name) {
  const auto machine =
      core::load_machine(source_folder() + "/scenarios/machines/" + name + ".textproto");
  EXPECT_TRUE(machine) << (machine ? "" : machine.error().message());
  return machine ? *machine : nullptr;
}

}  // namespace tutti::test
