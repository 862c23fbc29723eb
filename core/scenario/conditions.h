#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/cluster/cluster.h"
#include "core/strategy/noise.h"

namespace tutti::core {

/// Devices that take longer than their figures say, for a while.
struct SlowDevices {
  std::int64_t worker = -1;  ///< -1: `random_workers` of them, chosen by the seed
  std::int32_t part = -1;    ///< a device of it; -1: all
  std::int64_t random_workers = 0;
  std::int64_t slowdown_ppm = 1'000'000;  ///< how many times as long, in millionths; ≥ 1'000'000
  Time from;
  Time to = kNever;
};

/// A worker whose devices begin nothing any more from some moment on: it never comes, dies, or
/// stalls for good.
struct GoneWorker {
  std::int64_t worker = 0;
  Time from;
};

/// A link that carries less from some moment on.
struct LinkChange {
  LinkId link = 0;
  std::int64_t share_ppm =
      1'000'000;  ///< of its bandwidth that is left, in millionths; 0: it is dead
  Time at;
};

/// What others send over links, whatever we do: so much less is left for us.
struct BackgroundLoad {
  std::vector<LinkId> links;  ///< directed; each has bursts of its own
  std::int64_t share_ppm =
      0;                   ///< of the bandwidth, while they send, in millionths; below 1'000'000
  Time burst;              ///< mean, exponential; 0: they always send
  Time pause;              ///< mean, exponential, between bursts
  std::int32_t entry = 0;  ///< which of the scenario's: each has another stream of random numbers
  std::string where;       ///< in words
};

/// What is not as the cluster's figures say.
struct Conditions {
  std::vector<SlowDevices> slow;
  std::vector<GoneWorker> gone;
  std::vector<LinkChange> links;  ///< both directions, each by itself; in order of time
  std::vector<BackgroundLoad> background;
  Noise compute_noise;

  [[nodiscard]] bool any() const {
    return !slow.empty() || !gone.empty() || !links.empty() || !background.empty() ||
           compute_noise.kind != Noise::Kind::kNone;
  }
};

/// True if what one training step meets differs from what another one meets other than by chance: a
/// device that is slow for a while, a link that changes during the run, a worker that leaves.
/// Background traffic comes and goes, but always with the same means.
bool change_with_time(const Conditions& conditions);

/// Slow devices with their workers named: those that were left to chance are chosen, each worker at
/// most once per entry.
std::vector<SlowDevices> chosen(const std::vector<SlowDevices>& slow, std::uint64_t seed,
                                const Cluster& cluster);

/// What is unusual, in words, one sentence each; `slow` as chosen.
std::vector<std::string> describe(const Conditions& conditions,
                                  const std::vector<SlowDevices>& slow, const Cluster& cluster);

}  // namespace tutti::core
