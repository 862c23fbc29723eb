#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/lowering/staleness.h"
#include "core/scenario/scenario.h"
#include "real/interpreter/collectives.h"
#include "real/interpreter/verify.h"
#include "real/own_pace/in_cluster.h"
#include "real/transport/devices.h"

namespace tutti::real {

/// What came of a read of a variable, seen from either end.
struct ReadSeen {
  std::int32_t step = 0;
  std::int32_t pack = 0;   ///< of the plan
  std::int64_t group = 0;  ///< the worker that reads
  std::uint64_t hash = 0;  ///< of all its bytes
  bool sent = false;       ///< by the server
};

/// The part of one process in a run whose workers do not wait for each other: that of a worker, or of a server.
///
/// Every worker has collectives of its own for each pack of the plan. A read begins at the server when the worker asks for it, in a
/// message of nothing; what is sent is the variable as it is then. A push is added to the variable when it has come, whoever comes first.
/// So what the servers hold is the sum of what they began with and all pushes. What went on is written down, and gone through once
/// more when results are compared.
class OwnPace {
 public:
  /// REQUIRES: the strategy's workers are asynchronous, without sparse gradients; scenario and devices outlive it.
  OwnPace(const core::Scenario& scenario, std::int32_t worker, Devices& devices);

  /// Fills buffers for steps first … first + count - 1 and opens their collectives.
  void prepare(std::int32_t first, std::int32_t count, Collectives& collectives);
  /// What a server has to be there for from the beginning.
  void begin(Collectives& collectives);
  void close(Collectives& collectives);

  /// Ranks here that have to be through with something in a step, over everything.
  [[nodiscard]] std::int64_t parts_of_step() const;
  /// The collective of the plan's pack.
  [[nodiscard]] CollectiveTag tag(std::int32_t step, int pack) const;
  /// The plan's pack of a collective; nothing if it only asks for one.
  [[nodiscard]] std::optional<std::uint32_t> pack_of(CollectiveTag tag) const;
  /// A replica here launches the pack; the first one also asks for what is read.
  void ask(std::int32_t step, int pack, Collectives& collectives);
  /// A rank here is through.
  void rank_done(CollectiveTag tag, core::Rank rank, Collectives& collectives);

  /// ERRORS: a push that is not the sum of the worker's gradients; a variable that is not what pushes make of it, or was not when it
  /// was sent.
  [[nodiscard]] core::Expected<void> verify();
  /// Reads of the steps at hand, and updates since the last call.
  [[nodiscard]] std::vector<ReadSeen> take_reads();
  [[nodiscard]] core::UpdatesBehind take_behind();

 private:
  /// A collective of one worker's.
  struct Part {
    int pack = 0;
    std::int64_t group = 0;
    core::Collective collective;      ///< with the cluster's ranks
    core::Contract contract;          ///< with the group's
    std::vector<core::Rank> ranks;    ///< here
    core::Rank asks = -1, root = -1;  ///< of a read: who asks; of all, where the variable lies
    std::unique_ptr<core::Collective> question;
  };
  /// A variable that lies here.
  struct Variable {
    core::DataType type = core::DataType::kFloat32;
    std::int64_t elements = 0;
    std::vector<std::byte> value;
    std::vector<std::byte> before;  ///< the steps at hand
  };
  /// What happened to a variable, in order.
  struct Event {
    bool read = false;
    int variable = 0;
    std::int32_t step = 0;
    std::size_t part = 0;
  };

  void add_part(int pack, std::int64_t group);
  void place_variable(const Part& part);
  [[nodiscard]] bool is_here(core::Rank rank) const;
  [[nodiscard]] bool lies_here(const Part& part) const { return is_here(part.root) && rank_of_host_ == part.root; }
  [[nodiscard]] const core::Pack& pack(const Part& part) const {
    return scenario_.plan.packs[static_cast<std::size_t>(part.pack)];
  }
  [[nodiscard]] int variable_of(const Part& part) const { return pack(part).payload.members.front().variable; }
  [[nodiscard]] bool is_read(const Part& part) const { return pack(part).phase == core::PackPhase::kRead; }
  [[nodiscard]] Reduced reduced(std::int32_t step, const Part& part) const;
  [[nodiscard]] std::uint32_t number(int pack, std::int64_t group) const;
  [[nodiscard]] CollectiveTag tag(std::int32_t step, const Part& part) const;
  [[nodiscard]] CollectiveTag question(std::int32_t step, const Part& part) const;
  [[nodiscard]] const Part* find(CollectiveTag tag) const;
  [[nodiscard]] std::byte* data(std::int32_t step, const Part& part, core::Rank rank) const;
  void fill(std::int32_t step, const Part& part, core::Rank rank, std::byte* buffer);
  void send_as_it_is(std::int32_t step, const Part& part, Collectives& collectives);
  void apply(std::int32_t step, const Part& part);
  [[nodiscard]] core::Expected<void> verify_push(std::int32_t step, const Part& part) const;
  [[nodiscard]] core::Error wrong(std::int32_t step, const Part& part, const std::string& what) const;

  const core::Scenario& scenario_;
  Devices& devices_;
  std::int32_t worker_;
  core::Rank rank_of_host_;
  std::vector<Part> parts_;
  std::map<std::uint32_t, std::size_t> part_of_number_;
  std::int32_t first_ = 0, count_ = 0;
  std::vector<std::vector<std::vector<Devices::Memory>>> sets_;  ///< [step - first_][part][rank here]
  std::map<int, Variable> variables_;
  core::Versions versions_;
  core::UpdatesBehind told_;
  std::vector<Event> events_;
  std::set<std::pair<std::int32_t, int>> asked_;  ///< step and pack
};

}  // namespace tutti::real
