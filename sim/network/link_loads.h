#pragma once

#include <vector>

#include "core/cluster/cluster.h"

namespace tutti::sim {

/// A range of links, from `first` to `end` - 1.
struct LinkRange {
  core::LinkId first = 0;
  core::LinkId end = 0;
};

/// The bytes that every link carried, in total and over time. The time of the run is divided into
/// at most `kBins` bins of equal width. The width doubles whenever the run becomes longer than all
/// bins together, so that memory does not grow with the length of the run.
class LinkLoads {
 public:
  static constexpr int kBins = 1024;

  /// `links` is the number of links. Totals are kept for all links, and bins only for the links in
  /// `binned`.
  LinkLoads(core::LinkId links, LinkRange binned)
      : totals_{std::vector<core::Bytes>(links), {}},
        binned_(binned),
        bins_(binned.end - binned.first) {}

  /// Adds `bytes` that `link` carried from `start` to `end` at a constant rate.
  void add(core::LinkId link, core::Bytes bytes, core::Time start, core::Time end);

  /// Does the same as add() for traffic that occupies the link for the time `busy`. This function
  /// is used for NCCL collectives with predicted times. The time for which these collectives occupy
  /// a link does not follow from their bytes and the link's bandwidth, because NCCL's protocols
  /// transfer more than the data, and Tutti's time model of NCCL uses measured bandwidths.
  void add_occupation(core::LinkId link, core::Bytes bytes, core::Time busy, core::Time start,
                      core::Time end);

  /// The part of a link's load that add_occupation() has recorded.
  struct Occupied {
    core::Bytes bytes;
    core::Time busy;
  };
  /// Totals by link.
  struct Totals {
    std::vector<core::Bytes> carried;
    std::vector<Occupied> occupied;  ///< empty if add_occupation() was never called
  };
  [[nodiscard]] const Totals& totals() const { return totals_; }
  [[nodiscard]] core::Bytes total(core::LinkId link) const { return totals_.carried[link]; }
  [[nodiscard]] Occupied occupied(core::LinkId link) const {
    return totals_.occupied.empty() ? Occupied{} : totals_.occupied[link];
  }
  /// Adds the loads that were recorded since the totals were `before`, multiplied by `times`.
  void add_again(const Totals& before, std::int64_t times);

  [[nodiscard]] core::Time bin_width() const { return width_; }
  /// Returns the bytes in each bin; empty if the link carried nothing or has no bins.
  [[nodiscard]] const std::vector<std::int64_t>& bins(core::LinkId link) const;
  [[nodiscard]] core::LinkId links() const {
    return static_cast<core::LinkId>(totals_.carried.size());
  }

 private:
  void widen(core::Time end);
  void add_held_total(core::LinkId link, core::Bytes bytes, core::Time busy);

  core::Time width_ = core::microseconds(1);
  Totals totals_;
  LinkRange binned_;
  std::vector<std::vector<std::int64_t>> bins_;
};

}  // namespace tutti::sim
