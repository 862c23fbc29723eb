#include "core/packing/bytes_per_pack.h"

#include <algorithm>

#include "core/base/check.h"

namespace tutti::core {

std::vector<std::vector<int>> pack_by_bytes(std::span<const std::optional<Bytes>> sizes,
                                            Bytes bytes_per_pack) {
  TUTTI_CHECK(bytes_per_pack.count() >= 0, "bytes_per_pack = {}", bytes_per_pack.count());
  const bool all_known =
      std::all_of(sizes.begin(), sizes.end(), [](const auto& size) { return size.has_value(); });
  const bool one_pack = bytes_per_pack.count() == 0 || !all_known;
  std::vector<std::vector<int>> packs;
  Bytes held;
  for (int i = 0; i < static_cast<int>(sizes.size()); ++i) {
    const bool full = !one_pack && held > bytes_per_pack;
    if (packs.empty() || full) {
      packs.emplace_back();
      held = Bytes();
    }
    packs.back().push_back(i);
    held += sizes[i].value_or(Bytes());
  }
  return packs;
}

}  // namespace tutti::core
