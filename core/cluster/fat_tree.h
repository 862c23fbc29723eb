#pragma once

#include "core/cluster/fabric.h"

namespace tutti::core {

/// How a two-level fat tree is built (leaf and spine; a folded Clos).
struct FatTreeShape {
  std::int64_t workers_per_leaf = 1;
  std::int32_t spines = 1;
  /// Card i of so many workers hangs on leaf i of theirs, rather than all cards on one leaf.
  bool rails = false;
  std::int32_t cards_per_worker = 1;  ///< of rails: how many leaves stand side by side
  Bandwidth uplink;                   ///< between a leaf and a spine, per direction
  Time switch_latency;                ///< what each switch beyond the first adds
};

/// Every leaf is joined to every spine. Cards of one leaf meet there; others go up to one spine and down again, all
/// messages from one card to another over the same one.
///
/// Leaves are switches 0 … leaves - 1, spines follow. Link 2 (leaf · spines + spine) leads up, the next one down.
/// SOURCE: Leiserson, "Fat-trees: universal networks for hardware-efficient supercomputing", IEEE Trans. Computers 1985;
/// Al-Fares, Loukissas, Vahdat, "A scalable, commodity data center network architecture", SIGCOMM 2008.
class FatTree : public Fabric {
 public:
  /// REQUIRES: at least one worker, worker per leaf, and spine; fewer than 2^31 switches.
  FatTree(std::int64_t workers, const FatTreeShape& shape, PathChoice choice);

  [[nodiscard]] std::int32_t switches() const override { return leaves_ + shape_.spines; }
  [[nodiscard]] std::int64_t links() const override { return 2 * static_cast<std::int64_t>(leaves_) * shape_.spines; }
  [[nodiscard]] Link link(std::int64_t id) const override;
  [[nodiscard]] std::int32_t switch_of(Card card) const override;
  void append_route(Card from, Card to, std::vector<std::int64_t>& links) const override;
  [[nodiscard]] std::vector<std::int64_t> links_between(std::int32_t a, std::int32_t b) const override;
  [[nodiscard]] std::string name(std::int32_t id) const override;
  [[nodiscard]] std::optional<std::int32_t> find(const std::string& name) const override;
  [[nodiscard]] std::string describe() const override;
  [[nodiscard]] Bandwidth widest() const override { return shape_.uplink; }
  [[nodiscard]] Domains domains() const override;

 private:
  [[nodiscard]] std::int64_t up(std::int32_t leaf, std::int64_t spine) const {
    return 2 * (static_cast<std::int64_t>(leaf) * shape_.spines + spine);
  }
  [[nodiscard]] std::int32_t leaves_per_block() const { return shape_.rails ? shape_.cards_per_worker : 1; }

  FatTreeShape shape_;
  PathChoice choice_;
  std::int64_t blocks_;  ///< of workers_per_leaf workers
  std::int32_t leaves_;
};

}  // namespace tutti::core
