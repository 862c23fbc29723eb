#pragma once

#include <vector>

#include "core/cluster/cluster.h"

namespace tutti::sim {

/// Links first … end - 1.
struct LinkRange {
  core::LinkId first = 0;
  core::LinkId end = 0;
};

/// What every link carried, in all and over time. Time is binned: up to `kBins` bins of equal width, which doubles
/// whenever a run outgrows them, so that memory does not grow with the length of the run.
class LinkLoads {
 public:
  static constexpr int kBins = 1024;

  /// Bins are kept for the links of `binned` only, totals for all.
  LinkLoads(core::LinkId links, LinkRange binned)
      : bytes_(static_cast<std::size_t>(links)),
        binned_(binned),
        bins_(static_cast<std::size_t>(binned.end - binned.first)) {}

  /// `bytes` went over `link` evenly from `start` to `end`.
  void add(core::LinkId link, core::Bytes bytes, core::Time start, core::Time end);

  /// By link.
  [[nodiscard]] const std::vector<core::Bytes>& totals() const { return bytes_; }
  [[nodiscard]] core::Bytes total(core::LinkId link) const { return bytes_[static_cast<std::size_t>(link)]; }
  [[nodiscard]] core::Time bin_width() const { return width_; }
  /// Bytes per bin; empty if the link carried nothing or is not binned.
  [[nodiscard]] const std::vector<std::int64_t>& bins(core::LinkId link) const;
  [[nodiscard]] core::LinkId links() const { return static_cast<core::LinkId>(bytes_.size()); }

 private:
  void widen(core::Time end);

  core::Time width_ = core::microseconds(1);
  std::vector<core::Bytes> bytes_;
  LinkRange binned_;
  std::vector<std::vector<std::int64_t>> bins_;
};

}  // namespace tutti::sim
