#include "core/cluster/fat_tree.h"

#include <fmt/format.h>

#include "core/base/check.h"
#include "core/base/number.h"

namespace tutti::core {
namespace {

/// If `text` is `word` followed by a number, returns the number; otherwise nullopt.
std::optional<std::int32_t> number_after(const std::string& word, const std::string& text) {
  if (!text.starts_with(word)) return std::nullopt;
  const auto number = whole_number<std::int32_t>(std::string_view(text).substr(word.size()));
  return number && *number >= 0 && text == word + std::to_string(*number) ? number : std::nullopt;
}

}  // namespace

FatTree::FatTree(std::int64_t workers, const FatTreeShape& shape, PathChoice choice)
    : shape_(shape),
      choice_(choice),
      blocks_((workers + shape.workers_per_leaf - 1) / shape.workers_per_leaf),
      leaves_(static_cast<std::int32_t>(blocks_ * leaves_per_block())) {
  TUTTI_CHECK(workers > 0 && shape.spines > 0, "{} workers, {} spines", workers, shape.spines);
}

Fabric::Link FatTree::link(std::int64_t id) const {
  const auto leaf = static_cast<std::int32_t>(id / 2 / shape_.spines);
  const auto spine = static_cast<std::int32_t>(leaves_ + id / 2 % shape_.spines);
  const bool upward = id % 2 == 0;
  return {upward ? leaf : spine, upward ? spine : leaf, shape_.uplink, shape_.switch_latency};
}

std::int32_t FatTree::switch_of(Card card) const {
  const auto block = static_cast<std::int32_t>(card.worker / shape_.workers_per_leaf);
  return shape_.rails ? block * shape_.cards_per_worker + card.index : block;
}

void FatTree::append_route(Card from, Card to, std::vector<std::int64_t>& links) const {
  const std::int32_t first = switch_of(from);
  const std::int32_t last = switch_of(to);
  if (first == last) return;
  const auto spine =
      static_cast<std::int64_t>(choice_.pick(from, to, static_cast<std::uint64_t>(shape_.spines)));
  links.push_back(up(first, spine));
  links.push_back(up(last, spine) + 1);
}

std::vector<std::int64_t> FatTree::links_between(std::int32_t a, std::int32_t b) const {
  if (a > b) std::swap(a, b);
  if (a >= leaves_ || b < leaves_) return {};
  return {up(a, b - leaves_), up(a, b - leaves_) + 1};
}

std::string FatTree::name(std::int32_t id) const {
  return id < leaves_ ? fmt::format("leaf{}", id) : fmt::format("spine{}", id - leaves_);
}

std::optional<std::int32_t> FatTree::find(const std::string& name) const {
  if (const auto leaf = number_after("leaf", name)) return *leaf < leaves_ ? leaf : std::nullopt;
  const auto spine = number_after("spine", name);
  return spine && *spine < shape_.spines ? std::optional(leaves_ + *spine) : std::nullopt;
}

std::string FatTree::describe() const {
  const auto plural = [](std::int64_t count, const char* one, const char* many) {
    return fmt::format("{} {}", count, count == 1 ? one : many);
  };
  return fmt::format("fat tree of {} and {}{}", plural(leaves_, "leaf", "leaves"),
                     plural(shape_.spines, "spine", "spines"), shape_.rails ? ", on rails" : "");
}

Fabric::Domains FatTree::domains() const {
  const std::int64_t outward =
      blocks_ == 1 ? 0 : shape_.uplink.count() * shape_.spines * leaves_per_block();
  return {shape_.workers_per_leaf, blocks_, Bandwidth(outward), 2 * shape_.switch_latency};
}

}  // namespace tutti::core
