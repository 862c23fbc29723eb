#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/cluster/cluster.h"
#include "core/strategy/noise.h"

namespace tutti::core {

/// Devices that are slower than their nominal rates during an interval.
struct SlowDevices {
  std::int64_t worker = -1;  ///< the worker; -1: `random_workers` workers, which the seed chooses
  std::int32_t part = -1;    ///< slow device of the worker; -1: all its devices
  std::int64_t random_workers = 0;
  std::int64_t slowdown_ppm = 1'000'000;  ///< factor by which durations are multiplied, in
                                          ///< millionths; at least 1'000'000
  Time from;
  Time to = kNever;
};

/// A worker that never starts, dies or hangs. The worker's devices start no work after the time
/// `from`.
struct GoneWorker {
  std::int64_t worker = 0;
  Time from;
};

/// A link whose bandwidth is reduced from some time on.
struct LinkChange {
  LinkId link = 0;
  std::int64_t share_ppm =
      1'000'000;  ///< remaining share of the bandwidth, in millionths; 0: the link fails
  Time at;
};

/// Background traffic on links, which reduces the bandwidth that messages get.
struct BackgroundLoad {
  std::vector<LinkId> links;  ///< directed links, each with its own bursts
  std::int64_t share_ppm =
      0;       ///< share of the bandwidth that bursts take, in millionths; below 1'000'000
  Time burst;  ///< mean duration of bursts, which are exponentially distributed; 0: traffic without
               ///< pauses
  Time pause;  ///< mean duration of the pauses between bursts, which are exponentially distributed
  std::int32_t entry = 0;  ///< index of the entry in the scenario; selects the stream of random
                           ///< numbers
  std::string where;       ///< description of the links for reports
};

/// Deviations from the cluster's stated parameters.
struct Conditions {
  std::vector<SlowDevices> slow;
  std::vector<GoneWorker> gone;
  std::vector<LinkChange> links;  ///< one entry for each direction, in order of time
  std::vector<BackgroundLoad> background;
  Noise compute_noise;

  [[nodiscard]] bool any() const {
    return !slow.empty() || !gone.empty() || !links.empty() || !background.empty() ||
           compute_noise.kind != Noise::Kind::kNone;
  }
};

/// True if the conditions change systematically from step to step: a device is slow during a part
/// of the run, a link changes during the run, or a worker is lost. Background traffic is not
/// included, because its mean is constant.
bool change_with_time(const Conditions& conditions);

/// Returns the slow devices, in which random workers are replaced by workers that the seed chooses.
/// An entry chooses each worker at most once.
std::vector<SlowDevices> chosen(const std::vector<SlowDevices>& slow, std::uint64_t seed,
                                const Cluster& cluster);

/// Returns one sentence for each condition. `slow` is the result of chosen().
std::vector<std::string> describe(const Conditions& conditions,
                                  const std::vector<SlowDevices>& slow, const Cluster& cluster);

}  // namespace tutti::core
