#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/cluster/cluster.h"
#include "core/strategy/noise.h"

namespace tutti::core {

/// Devices that are slower than their stated rates during an interval.
struct SlowDevices {
  std::int64_t worker = -1;  ///< -1: `random_workers` workers, chosen by the seed
  std::int32_t part = -1;    ///< the slow device of the worker; -1: all
  std::int64_t random_workers = 0;
  std::int64_t slowdown_ppm = 1'000'000;  ///< duration relative to the stated rates, in millionths;
                                          ///< ≥ 1'000'000
  Time from;
  Time to = kNever;
};

/// A worker whose devices begin nothing any more after some time: it never starts, dies, or hangs.
struct GoneWorker {
  std::int64_t worker = 0;
  Time from;
};

/// A link with a reduced bandwidth after some time.
struct LinkChange {
  LinkId link = 0;
  std::int64_t share_ppm =
      1'000'000;  ///< remaining share of the bandwidth, in millionths; 0: the link is dead
  Time at;
};

/// Background traffic on links, which does not yield: it reduces the bandwidth that is left.
struct BackgroundLoad {
  std::vector<LinkId> links;  ///< directed links, each with its own bursts
  std::int64_t share_ppm =
      0;                   ///< share of the bandwidth during bursts, in millionths; below 1'000'000
  Time burst;              ///< mean duration, exponentially distributed; 0: they always send
  Time pause;              ///< mean time between bursts, exponentially distributed
  std::int32_t entry = 0;  ///< index of the entry in the scenario, which selects the stream of
                           ///< random numbers
  std::string where;       ///< description of the links for reports
};

/// Deviations from the cluster's stated parameters.
struct Conditions {
  std::vector<SlowDevices> slow;
  std::vector<GoneWorker> gone;
  std::vector<LinkChange> links;  ///< each direction is a separate entry; in order of time
  std::vector<BackgroundLoad> background;
  Noise compute_noise;

  [[nodiscard]] bool any() const {
    return !slow.empty() || !gone.empty() || !links.empty() || !background.empty() ||
           compute_noise.kind != Noise::Kind::kNone;
  }
};

/// True if the conditions of training steps differ other than by chance: a device that is slow for
/// a while, a link that changes during the run, a worker that leaves. Background traffic is random,
/// but its mean is constant.
bool change_with_time(const Conditions& conditions);

/// Returns the slow devices with their workers; random ones are selected, each worker at most once
/// per entry.
std::vector<SlowDevices> chosen(const std::vector<SlowDevices>& slow, std::uint64_t seed,
                                const Cluster& cluster);

/// Returns descriptions of all conditions, one sentence each; `slow` has the selected workers.
std::vector<std::string> describe(const Conditions& conditions,
                                  const std::vector<SlowDevices>& slow, const Cluster& cluster);

}  // namespace tutti::core
