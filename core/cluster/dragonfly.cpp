#include "core/cluster/dragonfly.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "core/base/check.h"

namespace tutti::core {

std::int64_t Dragonfly::groups_for(std::int64_t workers, const DragonflyShape& shape) {
  const std::int64_t per_group = shape.workers_per_router * shape.routers_per_group;
  return (workers + per_group - 1) / per_group;
}

Dragonfly::Dragonfly(std::int64_t workers, const DragonflyShape& shape, PathChoice choice)
    : shape_(shape),
      choice_(choice),
      groups_(static_cast<std::int32_t>(groups_for(workers, shape))) {
  const std::int64_t ports =
      static_cast<std::int64_t>(shape.routers_per_group) * shape.global_links_per_router;
  TUTTI_CHECK(groups_ > 0 && ports >= groups_ - 1, "{} groups, {} links from each", groups_, ports);
  copies_ = groups_ == 1 ? 0 : ports / (groups_ - 1);
  local_links_ =
      static_cast<std::int64_t>(groups_) * shape.routers_per_group * (shape.routers_per_group - 1);
}

std::int32_t Dragonfly::router_of(Global global) const {
  return global.group * shape_.routers_per_group +
         static_cast<std::int32_t>(global.index / shape_.global_links_per_router);
}

std::int32_t Dragonfly::target_of(Global global) const {
  const std::int64_t further = 1 + global.index % (groups_ - 1);
  return static_cast<std::int32_t>((global.group + further) % groups_);
}

/// If a link leads d groups ahead, its reverse leads `groups_` - d groups ahead. Among the parallel
/// links between two groups, a link and its reverse have the same index.
Dragonfly::Global Dragonfly::reverse_of(Global global) const {
  const std::int64_t others = groups_ - 1;
  return {target_of(global), global.index / others * others + (others - 1 - global.index % others)};
}

std::int64_t Dragonfly::local(std::int32_t from, std::int32_t to) const {
  const std::int32_t a = from % shape_.routers_per_group;
  const std::int32_t b = to % shape_.routers_per_group;
  return static_cast<std::int64_t>(from) * (shape_.routers_per_group - 1) + (b < a ? b : b - 1);
}

Fabric::Link Dragonfly::link(std::int64_t id) const {
  if (id < local_links_) {
    const std::int32_t others = shape_.routers_per_group - 1;
    const auto from = static_cast<std::int32_t>(id / others);
    auto b = static_cast<std::int32_t>(id % others);
    if (b >= from % shape_.routers_per_group) ++b;
    return {from, group_of(from) * shape_.routers_per_group + b, shape_.local,
            shape_.local_latency};
  }
  const std::int64_t number = id - local_links_;
  const Global global{static_cast<std::int32_t>(number / globals_per_group()),
                      number % globals_per_group()};
  return {router_of(global), router_of(reverse_of(global)), shape_.global, shape_.global_latency};
}

void Dragonfly::append_route(Card from, Card to, std::vector<std::int64_t>& links) const {
  const std::int32_t first = switch_of(from);
  const std::int32_t last = switch_of(to);
  if (first == last) return;
  if (group_of(first) == group_of(last)) return links.push_back(local(first, last));
  const std::int32_t further = (group_of(last) - group_of(first) + groups_) % groups_;
  const auto copy =
      static_cast<std::int64_t>(choice_.pick(from, to, static_cast<std::uint64_t>(copies_)));
  const Global global{group_of(first), copy * (groups_ - 1) + further - 1};
  const std::int32_t leaves = router_of(global);
  const std::int32_t enters = router_of(reverse_of(global));
  if (leaves != first) links.push_back(local(first, leaves));
  links.push_back(id_of(global));
  if (enters != last) links.push_back(local(enters, last));
}

std::vector<std::int64_t> Dragonfly::links_between(std::int32_t a, std::int32_t b) const {
  if (a == b) return {};
  if (group_of(a) == group_of(b)) return {local(a, b), local(b, a)};
  std::vector<std::int64_t> found;
  const std::int64_t first =
      static_cast<std::int64_t>(a % shape_.routers_per_group) * shape_.global_links_per_router;
  for (std::int64_t q = first;
       q < first + shape_.global_links_per_router && q < globals_per_group(); ++q) {
    const Global global{group_of(a), q};
    if (router_of(reverse_of(global)) != b) continue;
    found.push_back(id_of(global));
    found.push_back(id_of(reverse_of(global)));
  }
  return found;
}

std::string Dragonfly::name(std::int32_t id) const {
  return fmt::format("g{}r{}", group_of(id), id % shape_.routers_per_group);
}

std::optional<std::int32_t> Dragonfly::find(const std::string& name) const {
  const std::size_t r = name.find('r');
  if (name.empty() || name[0] != 'g' || r == std::string::npos) return std::nullopt;
  std::int32_t group = 0, router = 0;
  std::from_chars(name.data() + 1, name.data() + r, group);
  std::from_chars(name.data() + r + 1, name.data() + name.size(), router);
  if (group < 0 || group >= groups_ || router < 0 || router >= shape_.routers_per_group)
    return std::nullopt;
  const std::int32_t id = group * shape_.routers_per_group + router;
  return this->name(id) == name ? std::optional(id) : std::nullopt;
}

std::string Dragonfly::describe() const {
  return fmt::format("dragonfly of {} group{} of {} router{}", groups_, groups_ == 1 ? "" : "s",
                     shape_.routers_per_group, shape_.routers_per_group == 1 ? "" : "s");
}

Fabric::Domains Dragonfly::domains() const {
  return {shape_.workers_per_router * shape_.routers_per_group, groups_,
          Bandwidth(shape_.global.count() * globals_per_group()), shape_.global_latency};
}

}  // namespace tutti::core
