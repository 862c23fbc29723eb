// Reproduces NCCL's choice of algorithm, protocol, channels and threads for one call. When a
// communicator is created, the cost model computes a latency and a bandwidth for each algorithm and
// protocol. For a call, these values are combined with the size: time = latency · operations +
// bytes / bandwidth. NCCL then corrects the times of trees at medium sizes, and the latency of
// rings between nodes. The candidate with the smallest time is chosen. If several candidates have
// the smallest time, the first of them is chosen. The order of candidates and the single precision
// of NCCL's arithmetic therefore affect the choice. Then the number of channels is reduced until
// every thread has enough bytes; after that, the number of threads is reduced for the same purpose.
//
// The rules depend on the release, from 2.6 to 2.30. If there is a tuner, it makes its choices
// before the cost model. A symmetric kernel replaces the choice of the tuner or of the cost model.
// core/nccl/time predicts the actual time of a choice.

#include "core/nccl/tuning/choice.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "core/nccl/collnet.h"
#include "core/nccl/tuner/tuner.h"
#include "core/nccl/tuning/parts.h"
#include "core/nccl/tuning/symmetric.h"

namespace tutti::core::nccl {
namespace {

constexpr int kWarp = 32;

bool is_fp8(ElementType type) {
  return type == ElementType::kFloat8e4m3 || type == ElementType::kFloat8e5m2;
}

/// True if NVLS supports the type and reduction. SOURCE: NVIDIA/nccl src/include/device.h,
/// ncclNvlsSupported.
bool nvls_reduces(ElementType type, Reduction reduction) {
  switch (type) {
    case ElementType::kInt32:
    case ElementType::kUint32:
    case ElementType::kInt64:
    case ElementType::kUint64:
    case ElementType::kFloat16:
    case ElementType::kBfloat16:
      return reduction == Reduction::kSum || reduction == Reduction::kMin ||
             reduction == Reduction::kMax;
    case ElementType::kFloat32:
    case ElementType::kFloat64: return reduction == Reduction::kSum;
    default: return false;
  }
}

/// True if the network supports the type and reduction. SOURCE: Mellanox/nccl-rdma-sharp-plugins
/// src/sharp_plugin.c, typeConvert, opConvert; NVIDIA/nccl src/enqueue.cc, getCollNetSupport.
bool network_adds(const Communicator& comm, ElementType type, Reduction reduction) {
  if (reduction == Reduction::kProduct || is_fp8(type)) return false;
  const bool narrow =
      type == ElementType::kBfloat16 || type == ElementType::kInt8 || type == ElementType::kUint8;
  return !narrow || comm.collnet_narrow;
}

/// Returns the reason why an algorithm cannot execute this call; null if it can.
const char* not_for(const Communicator& comm, const Operation& operation, Algorithm algorithm) {
  const int local = comm.ranks_of_node();
  const bool nvls = algorithm == Algorithm::kNvls || algorithm == Algorithm::kNvlsTree;
  if (local > 8 && (algorithm == Algorithm::kCollNetDirect ||
                    (algorithm == Algorithm::kCollNetChain && comm.version >= Version{2, 28, 0})))
    return "CollNet supports at most 8 GPUs per node";
  if (by_network(algorithm, comm.nodes) && operation.function != Function::kAllGather &&
      !network_adds(comm, operation.type, operation.reduction))
    return "the network does not support this operation on this type";
  if (nvls && operation.function != Function::kAllGather &&
      !nvls_reduces(operation.type, operation.reduction))
    return "NVLS does not support this operation on this type";
  if (nvls && operation.function != Function::kAllReduce && local > 32)
    return "NVLS supports at most 32 GPUs here";
  if (algorithm == Algorithm::kPat && operation.function == Function::kReduceScatter &&
      operation.reduction == Reduction::kMean)
    return "PAT cannot average";
  return nullptr;
}

/// Applies NCCL's correction for trees, which are slower at medium sizes than the model predicts.
float corrected(const Communicator& comm, const Operation& operation, Algorithm algorithm,
                Protocol protocol, float bandwidth) {
  if (operation.function != Function::kAllReduce) return bandwidth;
  const bool nvls_tree = algorithm == Algorithm::kNvlsTree && comm.version >= Version{2, 29, 2} &&
                         comm.compute_capability >= 100 && is_x86(comm.cpu);
  if (algorithm != Algorithm::kTree && !nvls_tree) return bandwidth;
  const std::int64_t lines = operation.bytes >> 6;
  if (lines == 0 && comm.version >= Version{2, 22, 0}) return bandwidth;
  const TreeCorrection& correction = tree_correction_of(comm.version);
  const int size = log2i(lines);
  // From 2.29 on, the last factor also applies to one more size beyond the end of the table.
  const int sizes = comm.version >= Version{2, 29, 2}
                        ? correction.sizes + (correction.sizes == 23 ? 1 : 0)
                        : correction.sizes;
  if (size >= sizes) return bandwidth;
  const auto& factors = correction.factor[static_cast<std::size_t>(protocol)];
  return bandwidth * static_cast<float>(factors[std::min(size, correction.sizes - 1)]);
}

/// Applies the latency plateau of rings between nodes.
float stretched(const Communicator& comm, const Operation& operation, Algorithm algorithm,
                Protocol protocol, float latency) {
  const Version v = comm.version;
  if (algorithm != Algorithm::kRing || protocol != Protocol::kSimple || comm.nodes == 1 ||
      operation.function != Function::kAllReduce || v < Version{2, 7, 0})
    return latency;
  if (v >= Version{2, 18, 0}) {
    if (operation.bytes / (static_cast<std::int64_t>(comm.channels) * comm.ranks) < 64)
      return latency;
    return static_cast<float>(latency * (comm.compute_capability < 80 ? 1.9 : 1.4));
  }
  if (static_cast<double>(operation.bytes) < comm.ranks / 16.0 * 65536) return latency;
  return static_cast<float>(latency *
                            (v >= Version{2, 17, 0} && comm.compute_capability >= 90 ? 1.5 : 1.9));
}

/// Returns NCCL's time estimate for an algorithm and a protocol at this size. `bandwidth` is the
/// model's bandwidth, with or without the user's preferences.
Candidate timed(const Communicator& comm, const Operation& operation, Algorithm algorithm,
                Protocol protocol, const Entry& entry, float bandwidth) {
  Candidate candidate{algorithm, protocol, entry.latency_us, bandwidth, 0, entry.off};
  candidate.bandwidth = corrected(comm, operation, algorithm, protocol, bandwidth);
  const float latency = stretched(comm, operation, algorithm, protocol, entry.latency_us);
  int times = operation.pipelined;
  if (algorithm != Algorithm::kRing) {
    const int batch = constants_of(comm.version).operations_per_batch;
    times = (times + batch - 1) / batch;
  }
  if (comm.version < Version{2, 10, 0}) times = 1;
  candidate.time_us = latency * static_cast<float>(times) +
                      static_cast<float>(operation.bytes) / (1000 * candidate.bandwidth);
  // A ring sums one rank after the other, which loses too much precision for 8-bit floats and many
  // ranks. NCCL therefore uses a ring for such calls only if there is no other candidate.
  if (algorithm == Algorithm::kRing && comm.ranks > 8 && is_fp8(operation.type) &&
      comm.version >= Version{2, 24, 0})
    candidate.time_us *= 1024.0F;
  return candidate;
}

template <class Use>
void for_all(Use use) {
  for (std::size_t a = 0; a < kAlgorithms; ++a) {
    for (std::size_t p = 0; p < kProtocols; ++p)
      use(static_cast<Algorithm>(a), static_cast<Protocol>(p));
  }
}

/// Returns the fastest candidate. If several candidates are equally fast, returns the first of
/// them.
std::optional<Candidate> fastest(const std::vector<Candidate>& all) {
  std::optional<Candidate> best;
  for (const Candidate& candidate : all) {
    if (candidate.off || candidate.time_us < 0) continue;
    if (!best || candidate.time_us < best->time_us) best = candidate;
  }
  return best;
}

/// Returns the best ring even if the user has disabled rings. Releases 2.19 to 2.23 use such a ring
/// if there is no other candidate.
std::optional<Candidate> backup(const Communicator& comm, const Model& model,
                                const Operation& operation) {
  if (comm.version < Version{2, 19, 0} || comm.version >= Version{2, 24, 0}) return std::nullopt;
  std::vector<Candidate> rings;
  for (std::size_t p = 0; p < kProtocols; ++p) {
    const auto protocol = static_cast<Protocol>(p);
    const Entry& entry = model.entry(operation.function, Algorithm::kRing, protocol);
    if (entry.without_preferences == 0) continue;
    rings.push_back(
        timed(comm, operation, Algorithm::kRing, protocol, entry, entry.without_preferences));
    rings.back().off = nullptr;
  }
  return fastest(rings);
}

class Resources {
 public:
  Resources(const Communicator& comm, const Model& model, const Operation& operation,
            Choice& choice)
      : comm_(comm), bytes_(operation.bytes), choice_(choice) {
    const auto a = static_cast<std::size_t>(choice.algorithm);
    const auto p = static_cast<std::size_t>(choice.protocol);
    threads_ = model.max_threads[a][p];
    threshold_ = model.thread_thresholds[a][p];
    channels_ = comm.channels;
  }

  void set() {
    if (is(Algorithm::kCollNetDirect) && at_least(9)) {
      collnet();
    } else if (is(Algorithm::kNvls) || is(Algorithm::kNvlsTree)) {
      channels_ = comm_.nvls_channels;
      const bool as_few = is(Algorithm::kNvls) && comm_.nodes > 1 && at_least(28, 3);
      if (as_few) channels_ = std::min(channels_, comm_.channels);
    } else {
      ring_or_tree();
    }
    choice_.channels = channels_;
    choice_.threads = with_extra_warps();
  }

 private:
  [[nodiscard]] bool is(Algorithm algorithm) const { return choice_.algorithm == algorithm; }
  [[nodiscard]] bool at_least(int minor, int patch = 0) const {
    return comm_.version >= Version{2, minor, patch};
  }

  /// Reduces the number of channels, and then the number of threads, until each thread has enough
  /// bytes.
  void ring_or_tree() {
    const bool old_collnet = is(Algorithm::kCollNetDirect);  // one channel up, one down
    if (old_collnet) channels_ = std::max(1, channels_ / 2);
    const auto too_many = [&] { return bytes_ < std::int64_t{channels_} * threads_ * threshold_; };
    while (too_many() && channels_ >= 2 && !old_collnet) --channels_;
    while (too_many() && threads_ % 128 == 0) threads_ /= 2;
  }

  void collnet() {
    const std::int64_t heads = std::max(1, comm_.collnet_heads);
    bool more = true;
    for (int least = 16; least >= 1 && more; least /= 2) {
      while ((more = bytes_ < channels_ * threads_ * heads * threshold_) && channels_ > least) {
        if (channels_ == least + least / 2) threshold_ /= 2;
        --channels_;
      }
    }
  }

  [[nodiscard]] int with_extra_warps() const {
    int threads = threads_;
    if (choice_.protocol == Protocol::kSimple) {
      const bool tree = is(Algorithm::kTree);
      const bool collnet = is(Algorithm::kCollNetDirect) || is(Algorithm::kCollNetChain);
      if (at_least(18)) {
        threads += is(Algorithm::kRing) ? kWarp : tree ? 4 * kWarp : 0;
      } else if (is(Algorithm::kNvls)) {
        threads = 640;
      } else {
        threads += kWarp;
        if (tree && at_least(8)) threads += (at_least(10) ? 3 : 1) * kWarp;
        if (collnet && at_least(9)) threads += 3 * kWarp;
      }
    }
    if (at_least(13)) threads = std::max(threads, 3 * kWarp);
    const bool always_all = (is(Algorithm::kTree) && at_least(22)) || is(Algorithm::kPat);
    return always_all ? 640 : threads;
  }

  const Communicator& comm_;
  std::int64_t bytes_;
  Choice& choice_;
  int channels_ = 1;
  int threads_ = 0;
  std::int64_t threshold_ = 0;
};

/// Returns the maximum number of channels for the algorithm. The maximum also limits a tuner's
/// choice. SOURCE: NVIDIA/nccl src/enqueue.cc, scheduleCollTasksToPlan (nMaxChannels[kind]).
int channels_for(const Communicator& comm, const Choice& choice) {
  const bool nvls =
      choice.algorithm == Algorithm::kNvls || choice.algorithm == Algorithm::kNvlsTree;
  return std::max(1, nvls ? comm.nvls_channels : comm.channels);
}

}  // namespace

std::vector<Candidate> candidates(const Communicator& communicator, const Model& model,
                                  const Operation& operation) {
  std::vector<Candidate> all;
  for_all([&](Algorithm algorithm, Protocol protocol) {
    const Entry& entry = model.entry(operation.function, algorithm, protocol);
    const char* off = entry.off ? entry.off : not_for(communicator, operation, algorithm);
    all.push_back(
        off ? Candidate{algorithm, protocol, 0, 0, 0, off}
            : timed(communicator, operation, algorithm, protocol, entry, entry.bandwidth));
  });
  return all;
}

Expected<Choice> choose(const Communicator& communicator, const Model& model,
                        const Operation& operation) {
  if (communicator.ranks == 1) return Choice{};
  const std::vector<Candidate> all = candidates(communicator, model, operation);
  Tuner::Pick pick;
  if (model.tuner) pick = model.tuner->pick(communicator, operation, all, model.registered);
  std::optional<Candidate> best;
  if (pick.cell) best = *possible(all, pick.cell->first, pick.cell->second);
  const bool tuned = best.has_value() || pick.channels.has_value();
  if (!best) best = fastest(all);
  if (!best) best = backup(communicator, model, operation);
  if (!best)
    return tl::make_unexpected(Error::request(
        {ProblemCode::kConflict, "NCCL_ALGO"},
        fmt::format("NCCL {} has no algorithm and protocol for {}, because NCCL_ALGO and "
                    "NCCL_PROTO exclude all that this system supports",
                    to_string(communicator.version), to_string(operation.function))));
  Choice choice{best->algorithm, best->protocol, 1, 0, best->time_us};
  Resources(communicator, model, operation, choice).set();
  choice.tuned = tuned;
  if (pick.channels) choice.channels = std::min(*pick.channels, channels_for(communicator, choice));
  // NCCL checks for symmetric kernels before it calls the tuner, so the tuner cannot prevent them.
  if (const auto kernel = symmetric_kernel(communicator, model, operation)) {
    constexpr int kThreads = 512;
    return Choice{
        choice.algorithm,    choice.protocol, kernel->blocks, kernel->blocks ? kThreads : 0,
        kernel->estimate_us, false,           kernel->name};
  }
  return choice;
}

}  // namespace tutti::core::nccl
