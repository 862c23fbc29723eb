#include "core/nccl/aggregate.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <tuple>

#include "core/base/check.h"

namespace tutti::core::nccl {
namespace {

/// Returns the reduction whose kernel NCCL runs. NCCL executes a minimum with the kernel of the
/// maximum.
Reduction kernel_of(Reduction reduction) {
  return reduction == Reduction::kMin ? Reduction::kMax : reduction;
}

/// A task with the properties by which NCCL sorts and aggregates tasks. Tasks of functions that
/// only move data have the type int8.
struct Listed {
  std::size_t task = 0;
  Function function = Function::kAllReduce;
  ElementType type = ElementType::kInt8;
  Reduction reduction = Reduction::kSum;
  std::int64_t bytes = 0;    ///< size in bytes of the buffer that the caller passes
  std::int64_t traffic = 0;  ///< number of bytes that NCCL counts as traffic

  [[nodiscard]] auto kind() const { return std::tuple(function, type, kernel_of(reduction)); }
};

Listed listed(std::size_t index, const Task& task, int ranks) {
  Listed one{index, task.function, task.type, task.reduction, task.elements * size_of(task.type),
             0};
  if (task.function == Function::kAllGather || task.function == Function::kBroadcast) {
    one.type = ElementType::kInt8;
    one.reduction = Reduction::kSum;
  }
  const bool blocks =
      task.function == Function::kAllGather || task.function == Function::kReduceScatter;
  one.traffic = one.bytes * (task.function == Function::kAllReduce ? 2 : blocks ? ranks : 1);
  return one;
}

/// Returns the bin into which NCCL sorts a task by its traffic. There are four bins for each
/// doubling from 1 KiB to 1 GiB. SOURCE: NVIDIA/nccl src/include/comm.h, ncclTaskCollSorterInsert;
/// bitops.h, u32fpEncode.
int bin_of(std::int64_t traffic) {
  constexpr int kBits = 2;
  const auto units =
      static_cast<std::uint32_t>(std::min<std::int64_t>(traffic, std::int64_t{1} << 30) >> 10);
  const int log = 31 - std::countl_zero(units | 1U);
  const int shift = std::max(0, log - kBits);
  const int exponent = log >= kBits ? log - (kBits - 1) : 0;
  return (exponent << kBits) | static_cast<int>((units >> shift) & ((1U << kBits) - 1));
}

Operation together(const std::vector<Listed>& all, std::size_t first, std::size_t end, int ranks,
                   int pipelined) {
  std::int64_t bytes = 0;
  for (std::size_t i = first; i < end; ++i) bytes += all[i].bytes;
  const Listed& one = all[first];
  const bool blocks =
      one.function == Function::kAllGather || one.function == Function::kReduceScatter;
  return {one.function, blocks ? bytes * ranks : bytes, one.type, one.reduction, pipelined};
}

}  // namespace

std::int64_t size_of(ElementType type) {
  switch (type) {
    case ElementType::kInt8:
    case ElementType::kUint8:
    case ElementType::kFloat8e4m3:
    case ElementType::kFloat8e5m2: return 1;
    case ElementType::kFloat16:
    case ElementType::kBfloat16: return 2;
    case ElementType::kInt32:
    case ElementType::kUint32:
    case ElementType::kFloat32: return 4;
    case ElementType::kInt64:
    case ElementType::kUint64:
    case ElementType::kFloat64: return 8;
  }
  return 0;
}

std::vector<Aggregate> aggregate(const std::vector<Task>& group, const Communicator& communicator) {
  TUTTI_CHECK(communicator.version >= (Version{2, 22, 0}),
              "groups of collectives are modelled only for NCCL 2.22 and later, not {}",
              to_string(communicator.version));
  const int ranks = communicator.ranks;
  std::vector<Listed> all;
  for (std::size_t i = 0; i < group.size(); ++i) all.push_back(listed(i, group[i], ranks));
  // NCCL sorts tasks by bin. Within a bin, the tasks are in the order of the calls. A kind is a
  // function with a type and a reduction. Kinds are sorted by their largest task, largest first. If
  // the largest tasks of two kinds are in the same bin, the kind with the last call in this bin
  // comes first.
  std::stable_sort(all.begin(), all.end(), [](const Listed& a, const Listed& b) {
    return bin_of(a.traffic) < bin_of(b.traffic);
  });
  std::vector<Listed> by_kind;
  std::vector<bool> taken(all.size());
  for (std::size_t largest = all.size(); largest-- > 0;) {
    if (taken[largest]) continue;
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (taken[i] || all[i].kind() != all[largest].kind()) continue;
      if (i != largest) taken[i] = true;
      by_kind.push_back(all[i]);
    }
    taken[largest] = true;
  }
  const int channels = std::max(1, communicator.channels);
  const int pipelined = (static_cast<int>(group.size()) + channels - 1) / channels;
  std::vector<Aggregate> aggregates;
  for (std::size_t first = 0; first < by_kind.size();) {
    std::size_t end = first + 1;
    while (end < by_kind.size() && by_kind[end].kind() == by_kind[first].kind() &&
           by_kind[end].traffic < 4 * by_kind[first].traffic)
      ++end;
    Aggregate aggregate{{}, together(by_kind, first, end, ranks, pipelined)};
    for (std::size_t i = first; i < end; ++i) aggregate.tasks.push_back(by_kind[i].task);
    aggregates.push_back(std::move(aggregate));
    first = end;
  }
  return aggregates;
}

}  // namespace tutti::core::nccl
