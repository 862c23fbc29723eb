#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "core/custom/mscclpp/operation_names.h"
#include "core/custom/mscclpp/plan_fields.h"

namespace tutti::core::custom {

struct RemoteBuffer {
  Rank rank = 0;
  PlanMemory memory = PlanMemory::kScratch;
};

/// The channels and remote buffers of a thread block, as indices into the lists of its GPU. An
/// operation refers to an entry of these lists.
struct BlockLists {
  std::vector<int> memory, port, switches;
  std::vector<int> memory_buffers, port_buffers;
};

/// Reads the operations of thread blocks, and limits their total number and cost.
class OperationReader : public PlanFields {
 public:
  /// REQUIRES: the channels of all GPUs have been read into `plan`.
  OperationReader(Plan& plan, Problems& problems)
      : PlanFields(plan.file, problems), plan_(plan), ranks_(static_cast<Rank>(plan.gpus.size())) {}

  /// Returns the operations of a thread block of a GPU. `remote` are the buffers of other GPUs that
  /// the GPU declares.
  std::vector<PlanOp> read(const JsonValue& block, Rank rank, const BlockLists& lists,
                           const std::vector<RemoteBuffer>& remote);
  /// Checks the limits for the operations of all thread blocks together.
  void check_totals(Position at);

 private:
  PlanGpu& gpu() { return plan_.gpus[rank_]; }
  void read_op(const JsonValue& of, bool in_pipeline, std::vector<PlanOp>& into);
  void read_pipeline(const JsonValue& of, PlanOp op, bool in_pipeline, std::vector<PlanOp>& into);
  void read_transfer(const JsonValue& of, const PlanName& name, PlanOp& op);
  void read_place(const JsonValue& of, const PlanOp& op, std::vector<PlanPlace>& into);
  [[nodiscard]] std::int64_t chunks_of(PlanMemory memory, Rank rank) const;
  void check_operands(const JsonValue& of, const PlanName& name, PlanOp& op);
  void check_group(const JsonValue& of, const PlanSwitch& used, const PlanPlace& place);
  void count_pipelined(const JsonValue& of, const PlanOp& op, const std::string& name);
  void count_followed(const PlanOp& op);

  Plan& plan_;
  Rank ranks_;
  Rank rank_ = 0;  ///< the GPU whose operations are read
  BlockLists lists_;
  std::vector<RemoteBuffer> remote_;
  std::size_t ops_ = 0;
  std::int64_t pipelined_ = 0;
  std::int64_t packet_ops_ = 0;
  std::int64_t switch_edges_ = 0;
  std::size_t followed_ = 0;  ///< number of signals and waits
  /// Pairs of a thread block (GPU and index) and a GPU to which it sends.
  std::set<std::tuple<Rank, std::int64_t, Rank>> ways_;
};

}  // namespace tutti::core::custom
