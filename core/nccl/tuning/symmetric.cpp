// NCCL has a separate cost model for symmetric kernels. The time of a kernel with b thread blocks
// is latency + softplus(B / rate - 1). B is the number of bytes on the bus. The rate is b times the
// rate of a block, limited smoothly to the rate of all links. Additional blocks occupy
// multiprocessors that computation could use. Therefore NCCL determines, for each kernel, the
// smallest number of blocks whose time is within 2.5 % of the time with the maximum number. NCCL
// then uses the kernel with the lowest product of its time and 1 + 2.5 % per block. Floats are
// rounded exactly as in NCCL, because the choice between nearly equal candidates depends on the
// rounding. NCCL has no estimate for copy engines. The time of copy engines is computed from the
// bytes that cross links (core/nccl/time).

#include "core/nccl/tuning/symmetric.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

namespace tutti::core::nccl {
namespace {

constexpr std::int64_t kGiB = std::int64_t{1} << 30;
constexpr int kMaxBlocks = 64;

/// The rule by which NCCL's model computes the number of bytes that a kernel transfers.
enum class Bus {
  kAllToAll,       ///< LL: each rank sends its whole buffer, with flags, to every other rank
  kTwoShots,       ///< a reduce-scatter by loads, then an all-gather by stores
  kInSwitch,       ///< a reduce-scatter and an all-gather, both by the switch
  kBlocksOfPeers,  ///< each rank receives the blocks of all other ranks
};

struct SymmetricShape {
  std::string_view name;
  Function function;
  Bus bus;
  bool ll = false;
  bool multicasts = false;  ///< true if the switch multicasts the data
  bool reduces = false;     ///< true if the switch reduces the data
};

/// All kernels in NCCL's order, because NCCL chooses the first of several kernels with equal times.
constexpr std::array<SymmetricShape, 11> kSymmetricShapes{{
    {"AllReduce_AGxLL_R", Function::kAllReduce, Bus::kAllToAll, true},
    {"AllReduce_AGxLLMC_R", Function::kAllReduce, Bus::kAllToAll, true, true},
    {"AllReduce_RSxLD_AGxST", Function::kAllReduce, Bus::kTwoShots},
    {"AllReduce_RSxLDMC_AGxSTMC", Function::kAllReduce, Bus::kInSwitch, false, true, true},
    {"AllGather_LL", Function::kAllGather, Bus::kAllToAll, true},
    {"AllGather_LLMC", Function::kAllGather, Bus::kAllToAll, true, true},
    {"AllGather_ST", Function::kAllGather, Bus::kBlocksOfPeers},
    {"AllGather_STMC", Function::kAllGather, Bus::kBlocksOfPeers, false, true},
    {"ReduceScatter_LL", Function::kReduceScatter, Bus::kAllToAll, true},
    {"ReduceScatter_LD", Function::kReduceScatter, Bus::kBlocksOfPeers},
    {"ReduceScatter_LDMC", Function::kReduceScatter, Bus::kBlocksOfPeers, false, true, true},
}};

/// Returns a smooth minimum of x and `ceiling`.
double softmin(double x, double ceiling, double softness) {
  return ceiling -
         softness * std::log1p((std::exp(ceiling / softness) - 1) * std::exp(-x / softness));
}

/// Returns a smooth maximum of x and 0.
double softplus(double x, double softness) {
  const double z = x / softness;
  return z >= 100.0 ? x : softness * std::log1p(std::exp(z));
}

/// The constants of NCCL's model, in us and bytes/us.
struct Figures {
  double latency, per_block, most;
};

Figures figures_of(const SymmetricShape& kernel, const Communicator& comm) {
  constexpr double kGb = (1 << 30) / 1.e6;
  const bool in_switch = kernel.bus == Bus::kInSwitch;
  const bool all_reduce = kernel.function == Function::kAllReduce;
  if (comm.compute_capability < 100)
    return {kernel.ll ? 4.5 : 7.8, all_reduce ? 65 * kGb : 44 * kGb,
            in_switch ? 480 * kGb : 320 * kGb};
  const double ll = kernel.function == Function::kAllGather ? 8.5 : 11;
  return {kernel.ll ? ll : all_reduce ? 19.5 : 13.0, 55 * kGb, in_switch ? 1000 * kGb : 600 * kGb};
}

/// Returns the time of a kernel and its number of thread blocks. NCCL uses the smallest number of
/// blocks with which the time is within 2.5 % of the time with the maximum number. `bytes` is the
/// size of one rank's argument.
SymmetricKernel timed(const SymmetricShape& kernel, const Communicator& comm, std::int64_t bytes,
                      int only_blocks) {
  const int n = comm.ranks;
  const auto size = static_cast<double>(bytes);
  // NCCL computes with whole bytes. The factor of 9 accounts for LL's doubled number of bytes and
  // its additional processing.
  double bus = 0, multiplier = 1;
  int most = kMaxBlocks;
  const int most_by_switch = ((comm.compute_capability < 100 ? 16 : 32) + n - 1) / n;
  switch (kernel.bus) {
    case Bus::kAllToAll:
      bus = n * size * 9;
      if (kernel.multicasts) multiplier = 1.1;
      break;
    case Bus::kTwoShots: bus = static_cast<double>(2 * bytes * (n - 1) / n); break;
    case Bus::kInSwitch:
      bus = static_cast<double>(bytes / n + bytes);
      multiplier = n;
      most = most_by_switch;
      break;
    case Bus::kBlocksOfPeers:
      bus = (n - 1) * size;
      if (kernel.multicasts) {
        multiplier = 0.55 * n;
        most = most_by_switch;
      }
      break;
  }
  int least = 1;
  if (only_blocks > 0) least = most = std::min(only_blocks, kMaxBlocks);
  const Figures figures = figures_of(kernel, comm);
  const auto time_with = [&](int blocks) {
    const double rate =
        softmin(blocks * figures.per_block * multiplier, figures.most, figures.per_block);
    return figures.latency + softplus(bus / rate - 1, 1);
  };
  SymmetricKernel made{kernel.name, most, static_cast<float>(time_with(most))};
  for (int blocks = least; blocks < most; ++blocks) {
    const double time = time_with(blocks);
    if (time > 1.025 * static_cast<double>(made.estimate_us)) continue;
    made.blocks = blocks;
    made.estimate_us = static_cast<float>(time);
    break;
  }
  return made;
}

bool is_of_8_bits(ElementType type) {
  return type == ElementType::kFloat8e4m3 || type == ElementType::kFloat8e5m2;
}

/// True if there is a kernel that implements the operation. Kernels support only additions of
/// floats of at most 32 bits.
bool implemented(const Operation& operation) {
  if (operation.function == Function::kAllGather) return true;
  if (operation.function != Function::kAllReduce && operation.function != Function::kReduceScatter)
    return false;
  const bool adds = operation.reduction == Reduction::kSum;
  return adds &&
         (operation.type == ElementType::kFloat32 || operation.type == ElementType::kFloat16 ||
          operation.type == ElementType::kBfloat16 || is_of_8_bits(operation.type));
}

/// True if the NVSwitch can sum elements of this type. REQUIRES: the reduction is a sum.
bool switch_adds(const Communicator& comm, ElementType type) {
  return comm.nvls && (!is_of_8_bits(type) || comm.compute_capability >= 100);
}

/// Returns the size in bytes of the argument that one rank passes to NCCL.
std::int64_t argument_bytes(const Communicator& comm, const Operation& operation) {
  return operation.function == Function::kAllReduce ? operation.bytes
                                                    : operation.bytes / comm.ranks;
}

}  // namespace

std::vector<std::string_view> symmetric_kernel_names() {
  std::vector<std::string_view> names;
  for (const SymmetricShape& kernel : kSymmetricShapes) names.push_back(kernel.name);
  return names;
}

std::optional<SymmetricKernel> symmetric_kernel(const Communicator& comm, const Model& model,
                                                const Operation& operation) {
  if (!model.symmetric || comm.nodes > 1 || comm.ranks < 2) return std::nullopt;
  if (model.cta_policy == CtaPolicy::kZero && operation.function == Function::kAllGather &&
      comm.version >= kCopyEngines)
    return SymmetricKernel{kCopyEnginesName, 0, 0};
  if (!implemented(operation)) return std::nullopt;
  std::int64_t bytes = argument_bytes(comm, operation);
  // From 2.28 on, NCCL rounds sizes up to whole cells.
  constexpr std::int64_t kCell = 1024;
  if (comm.version >= kCopyEngines) bytes = (bytes + kCell - 1) / kCell * kCell;
  const bool all_reduce = operation.function == Function::kAllReduce;
  const std::int64_t on_bus = all_reduce ? bytes : comm.ranks * bytes;
  if (on_bus >= 64 * kGiB) return std::nullopt;
  std::optional<SymmetricKernel> best;
  const auto penalised = [](const SymmetricKernel& one) {
    return one.estimate_us * (1.0F + 0.025F * static_cast<float>(one.blocks));
  };
  for (const SymmetricShape& kernel : kSymmetricShapes) {
    if (kernel.function != operation.function) continue;
    if (model.symmetric_kernel && *model.symmetric_kernel != kernel.name) continue;
    if (kernel.multicasts && !comm.nvls) continue;
    if (kernel.reduces && !switch_adds(comm, operation.type)) continue;
    // LL kernels count elements in 32 bits, and an LL kernel executes only one collective of a
    // group.
    if (kernel.ll && (on_bus >= 2 * kGiB || operation.pipelined > 1)) continue;
    const SymmetricKernel one = timed(kernel, comm, bytes, model.symmetric_blocks);
    if (!best || penalised(one) < penalised(*best)) best = one;
  }
  return best;
}

std::string note_on_symmetric(const Communicator& comm) {
  if (comm.nodes > 1)
    return fmt::format(
        "symmetric buffers do not change the prediction for {} nodes, because Tutti does not model "
        "the multi-node kernels of NCCL 2.30",
        comm.nodes);
  if (!comm.p2p.all_nvlink)
    return "symmetric buffers do not change the prediction, because their kernels need NVLink "
           "between all GPUs";
  return "the times of symmetric kernels are NCCL's estimates, and the times of copy engines are "
         "derived from the links. The error bands of these predictions are wide, because no "
         "published measurements were available for a fit";
}

double symmetric_link_bytes(std::string_view name, const Communicator& comm,
                            const Operation& operation) {
  const double n = comm.ranks;
  const auto argument = static_cast<double>(argument_bytes(comm, operation));
  if (name == kCopyEnginesName) return (n - 1) * argument;
  for (const SymmetricShape& kernel : kSymmetricShapes) {
    if (kernel.name != name) continue;
    switch (kernel.bus) {
      case Bus::kAllToAll: return 2 * argument * (kernel.multicasts ? 1 : n - 1);  // with flags
      case Bus::kTwoShots: return 2 * (n - 1) / n * argument;
      case Bus::kInSwitch: return (1 + 1 / n) * argument;
      case Bus::kBlocksOfPeers: return kernel.multicasts ? argument : (n - 1) * argument;
    }
  }
  return 0;
}

}  // namespace tutti::core::nccl
