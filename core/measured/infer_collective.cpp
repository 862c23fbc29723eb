// Infers which collective a table of nccl-tests measures if the log does not name its program.
// Each program prints other values in the same columns:
//                    redop   root   busbw / algbw   count
//   all_reduce        yes    -      2(n-1)/n        all elements
//   reduce            yes    yes    1               all elements
//   reduce_scatter    yes    -      (n-1)/n         one block
//   broadcast         -      yes    1               all elements
//   all_gather        -      -      (n-1)/n         one block
//   alltoall          -      -      (n-1)/n         one block, results in place are not checked
//   gather, scatter   -      yes    (n-1)/n         one block
// If several collectives remain, the name of the file may decide.

#include <algorithm>
#include <cctype>

#include "core/measured/nccl_tests_reader.h"

namespace tutti::core {
namespace {

/// The facts that rows state about their collective.
struct RowFacts {
  bool has_redop = false, has_root = false, is_unchecked_in_place = false;
  std::optional<bool> has_blocks;
  NcclTestsTiming precise;  ///< the timing whose bandwidths have the most digits
};

RowFacts facts_of(const NcclTestsTable& table, std::int64_t ranks) {
  RowFacts facts;
  for (const NcclTestsRow& row : table.rows) {
    facts.has_redop = facts.has_redop || !row.redop.empty();
    facts.has_root = facts.has_root || row.has_root;
    if (row.in_place && row.out_of_place && row.out_of_place->is_checked &&
        !row.in_place->is_checked)
      facts.is_unchecked_in_place = true;
    if (const auto type = data_type_of_nccl_name(row.type); type && ranks > 1) {
      const std::int64_t bytes = row.elements * size_of(*type).count();
      if (bytes == row.bytes)
        facts.has_blocks = false;
      else if (bytes <= row.bytes / ranks)
        facts.has_blocks = true;
    }
    for (const auto& timing : {row.out_of_place, row.in_place}) {
      if (timing && timing->algbw_gb_per_s > facts.precise.algbw_gb_per_s) facts.precise = *timing;
    }
  }
  return facts;
}

/// True if the table may be of this collective. Some releases print a root for collectives that
/// have none; such roots are accepted if `any_root`.
bool may_be(CollectiveKind kind, const RowFacts& facts, std::int64_t ranks, bool any_root) {
  if (reduces(kind) != facts.has_redop) return false;
  if (has_root(kind) ? !facts.has_root : facts.has_root && !any_root) return false;
  if (facts.has_blocks && *facts.has_blocks != has_blocks(kind)) return false;
  if (!has_busbw_factor(facts.precise, busbw_factor(kind, ranks))) return false;
  return kind != CollectiveKind::kAllGather || !facts.is_unchecked_in_place;
}

/// Returns the letters of the name of a file, in lower case: "ncclallreducelog".
std::string letters_of(const std::string& file) {
  std::string letters;
  for (const char c : file.substr(file.rfind('/') + 1)) {
    if (std::isalpha(static_cast<unsigned char>(c)) != 0)
      letters += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return letters;
}

bool is_named(const std::string& letters, CollectiveKind kind) {
  if (kind == CollectiveKind::kBroadcast && letters.find("bcast") != std::string::npos) return true;
  return letters.find(letters_of(std::string(to_string(kind)))) != std::string::npos;
}

}  // namespace

CollectiveKind collective_of_columns(const NcclTestsTable& table) {
  const auto has = [&](const auto& property) {
    return std::any_of(table.rows.begin(), table.rows.end(), property);
  };
  if (has([](const NcclTestsRow& row) { return !row.redop.empty(); }))
    return CollectiveKind::kAllReduce;
  return has([](const NcclTestsRow& row) { return row.has_root; }) ? CollectiveKind::kBroadcast
                                                                   : CollectiveKind::kAllGather;
}

std::vector<CollectiveKind> possible_collectives(const NcclTestsTable& table, std::int64_t ranks) {
  const RowFacts facts = facts_of(table, ranks);
  std::vector<CollectiveKind> kinds;
  for (const bool any_root : {false, true}) {
    for (const CollectiveKind kind : collective_kinds()) {
      if (may_be(kind, facts, ranks, any_root)) kinds.push_back(kind);
    }
    if (!kinds.empty()) break;
  }
  if (kinds.size() < 2) return kinds;
  const std::string letters = letters_of(table.where.file);
  std::vector<CollectiveKind> named;
  for (const CollectiveKind kind : kinds) {
    if (is_named(letters, kind)) named.push_back(kind);
  }
  return named.size() == 1 ? named : kinds;
}

}  // namespace tutti::core
