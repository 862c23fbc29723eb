#include "core/framework/program_setting.h"

#include <algorithm>

#include <fmt/format.h>

namespace tutti::core {

const char* const kOtherPackingRule =
    "closes packs by another rule than the simulated packing, so a pack may have one gradient more "
    "or less than simulated";

std::optional<std::int64_t> pack_bytes(const Planned& planned) {
  if (!planned.strategy.bytes_per_pack) return std::nullopt;
  const std::int64_t bytes = planned.strategy.bytes_per_pack->count();
  return bytes > 0 ? bytes : std::max<std::int64_t>(1, planned.workload.bytes().count());
}

std::optional<std::int64_t> bytes_to_come_near(const Planned& planned) {
  return planned.strategy.framework ? std::nullopt : pack_bytes(planned);
}

std::int64_t element_bytes(const Planned& planned) {
  std::int64_t most = 0, size = 4;
  for (const DataType type :
       {DataType::kFloat32, DataType::kFloat16, DataType::kBfloat16, DataType::kFloat64}) {
    std::int64_t bytes = 0;
    for (const Pack& pack : planned.plan.packs) {
      const Collective& collective = planned.plan.collective(pack);
      if (collective.type == type) bytes += collective.bytes().count();
    }
    if (bytes > most) most = bytes, size = size_of(type).count();
  }
  return size;
}

ProgramSetting near_setting(ProgramSetting setting, const std::vector<std::string>& fields) {
  setting.as_simulated = false;
  if (setting.remark.find(kOtherPackingRule) == std::string::npos)
    setting.remark += fmt::format("; {} {}", setting.framework, kOtherPackingRule);
  setting.readings = {packed_by(fields)};
  return setting;
}

std::vector<std::string> packed_by(const std::vector<std::string>& fields) {
  std::vector<std::string> changes;
  for (const char* name :
       {"bytes_per_pack", "num_packs", "agg_small_grads_max_bytes", "agg_small_grads_max_group",
        "agg_small_grads_exact_group", "all_reduce_merge_scope", "merging", "launch", "update",
        "shards", "pad_packs"})
    changes.push_back(fmt::format("strategy.{}=", name));
  for (const std::string& field : fields) changes.push_back("strategy." + field);
  return changes;
}

std::string in_mebibytes(std::int64_t bytes) {
  constexpr std::int64_t kMebibyte = std::int64_t{1} << 20;
  if (bytes % kMebibyte == 0) return fmt::format("{}", bytes / kMebibyte);
  // The text has enough digits to restore the exact number of bytes.
  return fmt::format("{}", static_cast<double>(bytes) / static_cast<double>(kMebibyte));
}

}  // namespace tutti::core
