#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/cluster/cluster.h"
#include "core/strategy/noise.h"

namespace tutti::core {

/// Devices that are slower than their nominal rates for some time.
struct SlowDevices {
  std::int64_t worker = -1;  ///< index of the worker; -1: `random_workers` workers, chosen by the
                             ///< run's seed
  std::int32_t part = -1;    ///< index of the slow device in the machine; -1: all devices of the
                             ///< worker
  std::int64_t random_workers = 0;
  std::int64_t slowdown_ppm = 1'000'000;  ///< factor by which durations grow, in millionths; at
                                          ///< least 1'000'000
  Time from;
  Time to = kNever;
};

/// A worker that never starts, that dies, or that hangs: from the time `from` on, its devices start
/// no work.
struct GoneWorker {
  std::int64_t worker = 0;
  Time from;
};

/// A host that launches the kernels of a layer late in every pass, so that its devices idle before
/// this layer.
struct LateHost {
  std::int64_t worker = 0;
  std::int32_t part = -1;     ///< index of the device in the machine; -1: all devices
  std::string before;         ///< variable of the late layer; empty: the forward pass
  std::int32_t segment = -1;  ///< backward segment of `before`; -1: the forward pass
  Time gap;                   ///< duration of the idle time
};

/// A change of a link's bandwidth at a given time.
struct LinkChange {
  LinkId link = 0;
  std::int64_t share_ppm =
      1'000'000;  ///< fraction of the bandwidth that remains, in millionths; 0: the link fails
  Time at;
};

/// Background traffic on links, which leaves less bandwidth for messages.
struct BackgroundLoad {
  std::vector<LinkId> links;  ///< directed links; each has its own bursts
  std::int64_t share_ppm =
      0;       ///< fraction of the bandwidth that a burst uses, in millionths; below 1'000'000
  Time burst;  ///< mean duration of a burst (exponential distribution); 0: the traffic never pauses
  Time pause;  ///< mean duration of a pause between bursts (exponential distribution)
  std::int32_t entry = 0;  ///< index of this entry in the scenario's list, which selects the stream
                           ///< of random numbers
  std::string where;       ///< description of the links, for reports
};

/// All ways in which a run deviates from the cluster's parameters.
struct Conditions {
  std::vector<SlowDevices> slow;
  std::vector<GoneWorker> gone;
  std::vector<LateHost> late;
  std::vector<LinkChange> links;  ///< one entry for each direction of a link, in order of time
  std::vector<BackgroundLoad> background;
  Noise compute_noise;

  [[nodiscard]] bool any() const {
    return !slow.empty() || !gone.empty() || !late.empty() || !links.empty() ||
           !background.empty() || compute_noise.kind != Noise::Kind::kNone;
  }
};

/// True if steps differ systematically: a device is slow during a part of the run, a link changes
/// during the run, or a worker is lost. Background traffic does not count, because its mean is
/// constant.
bool change_with_time(const Conditions& conditions);

/// Returns the entries of `slow`, in which entries with random workers are replaced by entries for
/// the workers that the seed chooses. No entry chooses a worker twice.
std::vector<SlowDevices> chosen(const std::vector<SlowDevices>& slow, std::uint64_t seed,
                                const Cluster& cluster);

/// Returns a sentence without a full stop about a lost worker: "worker 2 is lost at 800 ms".
std::string describe(const GoneWorker& gone);

/// Returns one sentence without a full stop for each condition, but only for the first eight slow
/// devices; one more sentence counts the remaining slow devices. `slow` is a result of chosen().
std::vector<std::string> describe(const Conditions& conditions,
                                  const std::vector<SlowDevices>& slow, const Cluster& cluster);

}  // namespace tutti::core
