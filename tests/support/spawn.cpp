#include "tests/support/spawn.h"

#include <unistd.h>

#include <string_view>

namespace tutti::test {
namespace {

/// Variables of the launcher that started the tests themselves must not reach the program.
bool left_by_a_launcher(std::string_view setting) {
  for (const char* prefix :
       {"OMPI_", "PMI_", "PMIX_", "MPI_", "SLURM_", "TF_CONFIG=", "RANK=", "WORLD_SIZE=", "MASTER_",
        "LOCAL_", "TORCHELASTIC_", "TUTTI_SECRET="}) {
    if (setting.starts_with(prefix)) return true;
  }
  return false;
}

}  // namespace

EnvironmentWith::EnvironmentWith(const std::map<std::string, std::string>& more) {
  for (char** entry = environ; *entry; ++entry) {
    if (!left_by_a_launcher(*entry)) settings_.emplace_back(*entry);
  }
  for (const auto& [name, value] : more) settings_.push_back(name + "=" + value);
  for (std::string& setting : settings_) pointers_.push_back(setting.data());
  pointers_.push_back(nullptr);
}

}  // namespace tutti::test
