#include "core/packing/concat_and_split.h"

#include "core/base/check.h"

namespace tutti::core {

std::vector<std::int64_t> concat_and_split(std::int64_t total_elements, std::int64_t num_packs) {
  TUTTI_CHECK(total_elements >= 0 && num_packs >= 1, "{} elements, {} packs", total_elements,
              num_packs);
  std::vector<std::int64_t> packs(num_packs, total_elements / num_packs);
  packs.back() += total_elements % num_packs;
  return packs;
}

std::vector<std::int64_t> chunk_by_count(std::int64_t tensors, std::int64_t num_packs) {
  return tensors < num_packs ? std::vector<std::int64_t>{tensors}
                             : concat_and_split(tensors, num_packs);
}

}  // namespace tutti::core
