#include "core/nccl/tuning/model.h"

#include <algorithm>

#include "core/base/check.h"
#include "core/nccl/tuner/tuner.h"
#include "core/nccl/tuning/parts.h"

namespace tutti::core::nccl {
namespace {

/// Returns the requested number of threads, or a default.
int threads(const std::optional<std::int64_t>& requested, int otherwise) {
  return static_cast<int>(requested.value_or(otherwise));
}

void set_threads(Model& model, const Communicator& comm, const Settings& settings) {
  const Graph& ring = comm.graphs.ring;
  const bool slow = ring.bw_intra * static_cast<float>(ring.channels) <= 12.0F;
  const bool old = comm.version < Version{2, 18, 0};
  for (std::size_t a = 0; a < kAlgorithms; ++a) {
    const auto algorithm = static_cast<Algorithm>(a);
    const bool ring_or_tree = algorithm == Algorithm::kRing || algorithm == Algorithm::kTree;
    auto& most = model.max_threads[a];
    if (algorithm == Algorithm::kPat) continue;
    if (!ring_or_tree) {
      // The single CollNet before 2.14 supports LL in the same way as rings.
      const bool ll = algorithm == Algorithm::kCollNetDirect && comm.version < Version{2, 14, 0};
      most = {ll ? threads(settings.threads, 512) : 0, 0, old ? 512 : 640};
      continue;
    }
    const int usual = algorithm == Algorithm::kRing && slow ? 256 : 512;
    most = {threads(settings.threads, 512), threads(settings.ll128_threads, 640),
            threads(settings.threads, usual)};
  }
}

void set_thresholds(Model& model, const Communicator& comm, const Settings& settings) {
  const auto ring = static_cast<std::size_t>(Algorithm::kRing);
  model.thread_thresholds.fill({8, 8, 64});
  model.thread_thresholds[ring][0] *= comm.ranks;
  if (comm.version >= Version{2, 9, 0})
    model.thread_thresholds[static_cast<std::size_t>(Algorithm::kCollNetDirect)][2] = 512;
  if (comm.version >= Version{2, 14, 0})
    model.thread_thresholds[static_cast<std::size_t>(Algorithm::kCollNetChain)][2] = 512;
  for (std::size_t i = 0; i < settings.thread_thresholds.size(); ++i) {
    const std::int64_t given = settings.thread_thresholds[i];
    if (given >= 0) model.thread_thresholds[i / kProtocols][i % kProtocols] = given;
  }
}

/// True if NCCL_ALGO applies to the cell. Up to 2.18, NCCL_ALGO has an effect only if several
/// algorithms are possible.
bool listens(const Cell& cell) {
  if (!cell.at_least(17)) return cell.all_reduce();
  return cell.at_least(19) || cell.all_reduce() || !cell.is(Algorithm::kRing);
}

Entry entry(const Cell& cell) {
  Entry entry;
  entry.off = missing(cell);
  if (entry.off) return entry;
  entry.latency_us = latency_of(cell);
  entry.bandwidth = bandwidth_of(cell);
  entry.off = switched_off(cell);
  if (!entry.off && entry.bandwidth == 0) entry.off = "its estimated bandwidth is 0";
  const auto f = static_cast<std::size_t>(cell.function);
  const Preference protocol = cell.settings.protocols[f][static_cast<std::size_t>(cell.protocol)];
  if (!entry.off && protocol == Preference::kNo) entry.off = "NCCL_PROTO leaves it out";
  if (entry.off) entry.bandwidth = 0;
  entry.without_preferences = entry.bandwidth;
  const Preference algorithm =
      cell.settings.algorithms[f][static_cast<std::size_t>(cell.algorithm)];
  if (!entry.off && algorithm == Preference::kNo && listens(cell)) {
    entry.off = "NCCL_ALGO leaves it out";
    entry.bandwidth = 0;
  }
  return entry;
}

/// True if the user has specified algorithms or protocols.
bool has_preferences(const Settings& settings) {
  const auto any = [](const auto& of_all) {
    return std::any_of(of_all.begin(), of_all.end(), [](const auto& of_function) {
      return std::any_of(of_function.begin(), of_function.end(),
                         [](Preference one) { return one != Preference::kNone; });
    });
  };
  return any(settings.algorithms) || any(settings.protocols);
}

/// True if the tuner plugin is used. In 2.21, a tuner would override the user's settings, so the
/// plugin is not used if the user has specified algorithms or protocols.
bool tuner_is_used(const Communicator& comm, const Settings& settings) {
  return comm.version >= Version{2, 22, 0} || !has_preferences(settings);
}

}  // namespace

Model tune(const Communicator& communicator, const Settings& settings) {
  TUTTI_CHECK(communicator.ranks > 1 && communicator.nodes > 0, "{} ranks, {} nodes",
              communicator.ranks, communicator.nodes);
  Model model;
  set_threads(model, communicator, settings);
  set_thresholds(model, communicator, settings);
  model.registered = settings.buffers != Buffers::kPlain;
  // SOURCE: src/init.cc, symmetricSupport; src/sym_kernels.cc, ncclSymkAvailable.
  model.symmetric = settings.buffers == Buffers::kSymmetric && settings.windows.value_or(true) &&
                    communicator.version >= kSymmetricKernels && communicator.p2p.all_nvlink;
  model.cta_policy = settings.cta_policy;
  model.symmetric_kernel = settings.symmetric_kernel;
  model.symmetric_blocks = static_cast<int>(settings.symmetric_blocks.value_or(0));
  Constants constants = constants_of(communicator.version);
  if (settings.tuner && tuner_is_used(communicator, settings)) {
    model.tuner = settings.tuner;
    settings.tuner->rewrite(communicator, constants);
  }
  for (std::size_t f = 0; f < kFunctions; ++f) {
    for (std::size_t a = 0; a < kAlgorithms; ++a) {
      for (std::size_t p = 0; p < kProtocols; ++p) {
        model.entries[f][a][p] = entry({communicator, constants, settings, static_cast<Function>(f),
                                        static_cast<Algorithm>(a), static_cast<Protocol>(p)});
      }
    }
  }
  return model;
}

}  // namespace tutti::core::nccl
