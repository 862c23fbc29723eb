#include "core/nccl/collective_time.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "core/nccl/calibration/calibration.h"
#include "core/nccl/known_gpus.h"
#include "core/nccl/tuning/symmetric.h"

namespace tutti::core::nccl {

ElementType element_type(DataType type) {
  switch (type) {
    case DataType::kFloat32: return ElementType::kFloat32;
    case DataType::kFloat64: return ElementType::kFloat64;
    case DataType::kFloat16: return ElementType::kFloat16;
    case DataType::kBfloat16: return ElementType::kBfloat16;
    case DataType::kInt32: return ElementType::kInt32;
    case DataType::kInt64: return ElementType::kInt64;
  }
  return ElementType::kFloat32;
}

namespace {

/// The error bands of symmetric kernels and of copy engines. These bands are not fitted, because
/// there are no published measurements by size. The band of symmetric kernels is that of NCCL's own
/// estimates for other kernels (docs/nccl.md); the band of copy engines is assumed.
constexpr ErrorBand kSymmetricBand{0.7, 3.3};
constexpr ErrorBand kCopyEnginesBand{0.5, 3.0};

/// Returns the number of bytes that a rank reads and writes in its GPU's memory. Each byte that a
/// kernel sends from a buffer is read once (factor 1). Each received byte is written into a slot
/// and read from the slot (factor 2). The received byte is then either added to a byte that is read
/// (factor 1) or written to the buffer (factor 1). Data that is forwarded remains in registers.
/// SOURCE: NVIDIA/nccl src/device/prims_simple.h. For NVLS, src/device/all_reduce.h: data is copied
/// into and out of a staging buffer (factor 4), and the switch reads and writes this buffer (factor
/// 2).
double crossings(const Prediction& time, CollectiveKind kind, std::int64_t bytes,
                 const std::optional<Choice>& choice, const Communicator& comm) {
  const double n = comm.ranks;
  const auto size = static_cast<double>(bytes);
  if (!choice)
    return 4 * (time.links.bytes - time.relayed + time.cards.bytes / comm.ranks_of_node());
  const bool all_reduce = kind == CollectiveKind::kAllReduce;
  // Symmetric kernels load and store directly, without slots.
  if (!choice->symmetric.empty()) return (all_reduce ? 4 : 2) * size;
  switch (choice->algorithm) {
    case Algorithm::kNvls:
    case Algorithm::kNvlsTree:
    case Algorithm::kCollNetDirect: return (all_reduce ? 6 : 3) * size;
    case Algorithm::kTree:
    case Algorithm::kCollNetChain: return 6 * size;
    case Algorithm::kRing:
    case Algorithm::kPat: break;
  }
  if (all_reduce) return (6 * n - 4) / n * size;
  return kind == CollectiveKind::kReduceScatter ? (3 * n - 1) / n * size
         : kind == CollectiveKind::kAllGather   ? (3 * n - 2) / n * size
                                                : 3 * size;
}

/// Multiplies each part of the prediction by `factor`.
void multiply(Prediction& time, double factor) {
  for (double* us : {&time.launch, &time.hops, &time.fill, &time.transfer, &time.links.us,
                     &time.cards.us, &time.overlap})
    *us *= factor;
}

}  // namespace

std::string describe(const CollectiveTime& time) {
  if (!time.choice) return "sends and receives";
  const Choice& c = *time.choice;
  if (c.symmetric == kCopyEnginesName) return std::string(c.symmetric);
  if (!c.symmetric.empty())
    return fmt::format("symmetric kernel {}, {} blocks × {} threads", c.symmetric, c.channels,
                       c.threads);
  return fmt::format("{} {}, {} channel{} × {} threads", to_string(c.algorithm),
                     to_string(c.protocol), time.channels, time.channels == 1 ? "" : "s",
                     c.threads);
}

std::vector<Candidate> Predictor::considered(CollectiveKind kind, std::int64_t bytes, DataType type,
                                             Reduction reduction) const {
  const auto function = function_of(kind);
  if (!function) return {};
  return candidates(*comm_, model_, {*function, bytes, element_type(type), reduction});
}

Expected<CollectiveTime> Predictor::of(CollectiveKind kind, std::int64_t bytes, DataType type,
                                       Reduction reduction) const {
  CollectiveTime made;
  made.version = comm_->version;
  made.communicator = comm_;
  if (const auto function = function_of(kind)) {
    const Operation operation{*function, bytes, element_type(type), reduction};
    const auto choice = choose(*comm_, model_, operation);
    if (!choice) return tl::make_unexpected(choice.error());
    made.choice = *choice;
    made.time = predict(system_, *comm_, operation, *choice, parameters_);
  } else {
    made.time = predict_sends(system_, *comm_, kind, bytes, parameters_);
  }
  made.band = bands_.of(comm_->nodes, bytes, band_facts(system_, kind, parameters_));
  const bool symmetric = made.choice && !made.choice->symmetric.empty();
  if (symmetric)
    made.band = made.choice->symmetric == kCopyEnginesName ? kCopyEnginesBand : kSymmetricBand;
  if (calibration_ && !symmetric) {
    const auto known = calibration_->correct(
        timed_point(kind, bytes, comm_->ranks, comm_->nodes, made.choice, made.time), made.band);
    multiply(made.time, known.factor);
    made.band = known.band;
    made.calibrated = true;
  }
  if (comm_->nodes > 1 && !parameters_.is_measured(system_.transport))
    made.assumed_network = to_string(system_.transport);
  made.channels = std::max(1, static_cast<int>(std::lround(made.time.channels)));
  const Time whole = time_from_us(made.time.us());
  made.launch = std::min(whole, time_from_us(made.time.launch));
  made.work = std::min(whole - made.launch, time_from_us(made.time.transfer + made.time.overlap));
  made.delay = whole - made.launch - made.work;
  made.links = std::min(made.work, time_from_us(made.time.links.us));
  made.cards = std::min(made.work, time_from_us(made.time.cards.us));
  made.memory = Bytes(std::llround(crossings(made.time, kind, bytes, made.choice, *comm_)));
  return made;
}

void take_at_least(CollectiveTime& time, Time least, const std::string& link, bool known) {
  const Time moving = time.delay + time.work;
  if (moving < least) {
    time.time.transfer += to_us(least - moving);
    time.time.narrowest = known ? "a link at its full rate" : "a shared link of the GPUs";
    if (known) time.time.capped_at = link;
    time.work += least - moving;
  }
  // Links transfer the first chunks already during the delay, so `work` may extend into the delay.
  const Time whole = time.delay + time.work;
  time.work = std::max(time.work, least);
  time.delay = whole - time.work;
  // The lower end of the error band must not be below the time that the links need.
  time.band.low = std::max(time.band.low, static_cast<double>(least.count()) /
                                              static_cast<double>(time.whole().count()));
}

}  // namespace tutti::core::nccl
