#pragma once

#include "core/cluster/fabric.h"

namespace tutti::core {

/// The parameters of a two-level fat tree (leaf and spine; a folded Clos).
struct FatTreeShape {
  std::int64_t workers_per_leaf = 1;
  std::int32_t spines = 1;
  /// If true, a block of workers has one leaf per card index, and card i of each worker is attached
  /// to leaf i. If false, all cards of a block's workers are attached to one leaf.
  bool rails = false;
  std::int32_t cards_per_worker = 1;  ///< number of leaves per block; only used if `rails` is true
  Bandwidth uplink;                   ///< bandwidth between a leaf and a spine, per direction
  Time switch_latency;                ///< latency that each switch after the first adds
};

/// A two-level fat tree, in which every leaf has a link to every spine. A message between cards of
/// the same leaf passes only this leaf. A message between different leaves goes up to a spine and
/// down again. All messages from one card to another use the same spine.
///
/// Switches 0 … leaves - 1 are the leaves, and the higher numbers are the spines. Link 2 (leaf ·
/// spines + spine) leads from the leaf up to the spine. Link 2 (leaf · spines + spine) + 1 leads
/// from the spine down to the leaf.
/// SOURCE: Leiserson, "Fat-trees: universal networks for hardware-efficient supercomputing", IEEE
/// Transactions on Computers 1985; Al-Fares, Loukissas, Vahdat, "A scalable, commodity data center
/// network architecture", SIGCOMM 2008.
class FatTree : public Fabric {
 public:
  /// REQUIRES: there are at least one worker, one worker per leaf, and one spine; there are fewer
  /// than 2^31 switches.
  FatTree(std::int64_t workers, const FatTreeShape& shape, PathChoice choice);

  [[nodiscard]] std::int32_t switches() const override { return leaves_ + shape_.spines; }
  [[nodiscard]] std::int64_t links() const override {
    return 2 * static_cast<std::int64_t>(leaves_) * shape_.spines;
  }
  [[nodiscard]] Link link(std::int64_t id) const override;
  [[nodiscard]] std::int32_t switch_of(Card card) const override;
  void append_route(Card from, Card to, std::vector<std::int64_t>& links) const override;
  [[nodiscard]] std::vector<std::int64_t> links_between(std::int32_t a,
                                                        std::int32_t b) const override;
  [[nodiscard]] std::string name(std::int32_t id) const override;
  [[nodiscard]] std::optional<std::int32_t> find(const std::string& name) const override;
  [[nodiscard]] std::string describe() const override;
  [[nodiscard]] Bandwidth widest() const override { return shape_.uplink; }
  [[nodiscard]] Domains domains() const override;

 private:
  [[nodiscard]] std::int64_t up(std::int32_t leaf, std::int64_t spine) const {
    return 2 * (static_cast<std::int64_t>(leaf) * shape_.spines + spine);
  }
  [[nodiscard]] std::int32_t leaves_per_block() const {
    return shape_.rails ? shape_.cards_per_worker : 1;
  }

  FatTreeShape shape_;
  PathChoice choice_;
  std::int64_t blocks_;  ///< number of blocks of workers_per_leaf workers
  std::int32_t leaves_;
};

}  // namespace tutti::core
