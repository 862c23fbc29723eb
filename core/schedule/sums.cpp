#include "core/schedule/sums.h"

#include <algorithm>
#include <bit>
#include <cstddef>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tutti::core {
namespace {

/// Lists ranks in the form "0, 1, 2". Lists at most eight ranks; an ellipsis stands for the rest.
std::string listed(const std::vector<Rank>& ranks) {
  constexpr std::size_t kMaxListed = 8;
  const auto end = ranks.begin() + std::min(ranks.size(), kMaxListed);
  return fmt::format("{}{}", fmt::join(ranks.begin(), end, ", "),
                     ranks.size() > kMaxListed ? ", …" : "");
}

}  // namespace

Sums::Id Sums::single(Rank rank) {
  std::vector<std::uint64_t> set(words_, 0);
  set[static_cast<std::size_t>(rank) / 64] = std::uint64_t{1} << (rank % 64);
  return intern(std::move(set));
}

Sums::Id Sums::add(Id a, Id b) {
  if (a == kUndefined || b == kUndefined) return kUndefined;
  if (a == kUnlike || b == kUnlike) return kUnlike;
  if (a == kTwice || b == kTwice) return kTwice;
  const auto [known, fresh] = added_.try_emplace(std::pair(std::min(a, b), std::max(a, b)), kTwice);
  if (!fresh) return known->second;
  std::vector<std::uint64_t> set = sets_[a];
  for (std::size_t w = 0; w < words_; ++w) {
    if ((set[w] & sets_[b][w]) != 0) return kTwice;
    set[w] |= sets_[b][w];
  }
  return added_[std::pair(std::min(a, b), std::max(a, b))] = intern(std::move(set));
}

std::int32_t Sums::contributions(Id id) const {
  std::int32_t count = 0;
  for (const std::uint64_t word : sets_[id]) count += std::popcount(word);
  return count;
}

bool Sums::contains(Id id, Rank rank) const {
  const std::size_t r = rank;
  return !sets_[id].empty() && (sets_[id][r / 64] >> (r % 64) & 1) != 0;
}

std::string Sums::show(Id id, const RankSet& contributors) const {
  if (id == kUndefined) return "nothing";
  if (id == kTwice) return "some contribution twice";
  if (id == kUnlike) return "a sum of different elements";
  std::vector<Rank> present, missing;
  for (std::int32_t i = 0; i < contributors.count; ++i) {
    const Rank r = contributors.at(i);
    (contains(id, r) ? present : missing).push_back(r);
  }
  if (missing.empty())
    return contributions(id) > contributors.count ? "more contributions than expected"
                                                  : "everything";
  // Lists either the ranks whose contributions are present or those whose contributions are
  // missing, whichever list is shorter.
  if (present.empty()) return "none of the expected contributions";
  return present.size() < missing.size()
             ? "only the contribution of rank " + listed(present)
             : "all contributions except that of rank " + listed(missing);
}

Sums::Id Sums::intern(std::vector<std::uint64_t> set) {
  const auto [known, fresh] = ids_.try_emplace(set, static_cast<Id>(sets_.size()));
  if (fresh) sets_.push_back(std::move(set));
  return known->second;
}

}  // namespace tutti::core
