#pragma once

#include <algorithm>

#include "core/cluster/fabric.h"

namespace tutti::core {

/// The parameters of a dragonfly network.
struct DragonflyShape {
  std::int64_t workers_per_router = 1;
  std::int32_t routers_per_group = 1;
  std::int32_t global_links_per_router = 1;
  Bandwidth local;      ///< bandwidth between two routers of a group, per direction
  Bandwidth global;     ///< bandwidth of one link between two groups, per direction
  Time local_latency;   ///< latency that each router after the first adds, including the cable that
                        ///< leads to this router
  Time global_latency;  ///< additional latency of a link between groups
};

/// A dragonfly network: groups of routers. Within a group, each pair of routers has a link. Between
/// each pair of groups, there are routers_per_group · global_links_per_router / (groups - 1) links,
/// rounded down.
///
/// Routing is minimal: a message takes a local link to the router that has the global link, then
/// the global link, then a local link to the receiver's router. If several global links join two
/// groups, all messages from one card to another use the same link.
///
/// Global links have the relative arrangement: link q of group g belongs to router q /
/// global_links_per_router of the group, and leads to group (g + 1 + q mod (groups - 1)) mod
/// groups.
/// SOURCE: Kim, Dally, Scott, Abts, "Technology-driven, highly-scalable dragonfly topology", ISCA
/// 2008; for the arrangement of global links: Camarero, Vallejo, Beivide, "Topological
/// characterization of Hamming and dragonfly networks and its implications on routing", ACM TACO
/// 2014.
class Dragonfly : public Fabric {
 public:
  /// Returns the number of groups that are needed for `workers` workers.
  static std::int64_t groups_for(std::int64_t workers, const DragonflyShape& shape);

  /// REQUIRES: each group has enough global links to reach every other group; there are fewer than
  /// 2^31 routers.
  Dragonfly(std::int64_t workers, const DragonflyShape& shape, PathChoice choice);

  [[nodiscard]] std::int32_t switches() const override {
    return groups_ * shape_.routers_per_group;
  }
  [[nodiscard]] std::int64_t links() const override {
    return local_links_ + groups_ * globals_per_group();
  }
  [[nodiscard]] Link link(std::int64_t id) const override;
  [[nodiscard]] std::int32_t switch_of(Card card) const override {
    return static_cast<std::int32_t>(card.worker / shape_.workers_per_router);
  }
  void append_route(Card from, Card to, std::vector<std::int64_t>& links) const override;
  [[nodiscard]] std::vector<std::int64_t> links_between(std::int32_t a,
                                                        std::int32_t b) const override;
  [[nodiscard]] std::string name(std::int32_t id) const override;
  [[nodiscard]] std::optional<std::int32_t> find(const std::string& name) const override;
  [[nodiscard]] std::string describe() const override;
  [[nodiscard]] Bandwidth widest() const override { return std::max(shape_.local, shape_.global); }
  [[nodiscard]] Domains domains() const override;

 private:
  /// Identifies a global link by a group, and by the link's index among the global links that leave
  /// this group.
  struct Global {
    std::int32_t group = 0;
    std::int64_t index = 0;
  };
  [[nodiscard]] std::int64_t globals_per_group() const { return copies_ * (groups_ - 1); }
  [[nodiscard]] std::int32_t group_of(std::int32_t router) const {
    return router / shape_.routers_per_group;
  }
  [[nodiscard]] std::int32_t router_of(Global global) const;
  [[nodiscard]] std::int32_t target_of(Global global) const;
  [[nodiscard]] Global reverse_of(Global global) const;
  [[nodiscard]] std::int64_t id_of(Global global) const {
    return local_links_ + global.group * globals_per_group() + global.index;
  }
  /// Returns the number of the link from one router to another of the same group.
  [[nodiscard]] std::int64_t local(std::int32_t from, std::int32_t to) const;

  DragonflyShape shape_;
  PathChoice choice_;
  std::int32_t groups_;
  std::int64_t copies_;  ///< number of links from one group to another
  std::int64_t local_links_;
};

}  // namespace tutti::core
