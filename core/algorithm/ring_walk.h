#pragma once

#include <algorithm>
#include <vector>

#include "core/algorithm/ring.h"
#include "core/base/check.h"

namespace tutti::core {

/// Computes the position and the neighbours of a rank in each lane's ring.
class RingWalk {
 public:
  /// REQUIRES: each path is a permutation of the ranks of a worker; `ranks` is a multiple of the
  /// number of ranks per worker.
  RingWalk(std::int32_t ranks, const std::vector<RingPath>& paths) : n_(ranks), paths_(paths) {
    for (const RingPath& path : paths_) {
      TUTTI_CHECK(path.local.size() == static_cast<std::size_t>(path.per_worker) &&
                      ranks % path.per_worker == 0,
                  "{} ranks, {} ranks per worker, but a local order of {} ranks", ranks,
                  path.per_worker, path.local.size());
      Places places;
      places.of.resize(path.local.size());
      for (std::size_t i = 0; i < path.local.size(); ++i) {
        places.of[path.local[i]] = static_cast<std::int32_t>(i);
        if (path.local[i] != static_cast<std::int32_t>(i)) places.in_order = false;
      }
      places_.push_back(std::move(places));
    }
  }

  [[nodiscard]] std::int64_t position(Rank rank, Lane lane) const {
    const Places& places = places_[lane];
    if (places.in_order) return rank;
    const auto per_worker = static_cast<std::int32_t>(places.of.size());
    return rank - rank % per_worker + places.of[rank % per_worker];
  }

  /// REQUIRES: 0 ≤ position < ranks.
  [[nodiscard]] Rank rank_at(std::int64_t position, Lane lane) const {
    const RingPath& path = paths_[lane];
    const auto place = static_cast<std::int32_t>(position);
    return place - place % path.per_worker + path.local[place % path.per_worker];
  }

  /// Returns the peer `delta` positions ahead of `rank` in the lane's ring, on the same lane.
  /// REQUIRES: |delta| < ranks.
  [[nodiscard]] Peer neighbour(Rank rank, Lane lane, std::int32_t delta) const {
    Peer peer;
    neighbour(rank, lane, delta, peer);
    return peer;
  }
  /// Writes the peer `delta` positions ahead of `rank` into `peer`, which must be
  /// default-constructed. Writing into `peer` is faster than returning a Peer (see ring.cpp).
  void neighbour(Rank rank, Lane lane, std::int32_t delta, Peer& peer) const {
    peer.relative = places_[lane].in_order;
    peer.value = peer.relative ? delta : rank_at((position(rank, lane) + delta + n_) % n_, lane);
    peer.lane = lane;
  }

  /// True if shifting all rank numbers by a multiple of `ranks` leaves every ring unchanged.
  [[nodiscard]] bool same_after(std::int32_t ranks) const {
    return std::all_of(places_.begin(), places_.end(), [ranks](const Places& places) {
      return places.in_order || ranks % static_cast<std::int32_t>(places.of.size()) == 0;
    });
  }

 private:
  /// The inverse of a lane's path through a worker: `of[i]` is the path position of the worker's
  /// i-th rank.
  struct Places {
    std::vector<std::int32_t> of;
    bool in_order = true;
  };

  std::int64_t n_;
  std::vector<RingPath> paths_;
  std::vector<Places> places_;
};

}  // namespace tutti::core
