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
#include "real/asynchronous/in_cluster.h"
#include "real/interpreter/collectives.h"
#include "real/interpreter/verify.h"
#include "real/transport/devices.h"

namespace tutti::real {

/// A read of a variable, as recorded by the server that sent the value, or by the replica that
/// received it.
struct ReadSeen {
  std::int32_t step = 0;
  std::int32_t pack = 0;   ///< index of the pack in the plan
  std::int64_t group = 0;  ///< the worker that reads
  std::uint64_t hash = 0;  ///< hash of all bytes of the value
  bool sent = false;       ///< true: the server recorded this read; false: the receiving replica
                           ///< recorded it
};

/// Executes one process's share of a run with asynchronous parameter servers. A process is a
/// worker, a server, or both.
///
/// Every worker has its own collective for each pack of the plan. To read a variable, a worker
/// sends an empty message to the server, which then sends the variable's current value. The server
/// adds each pushed gradient to the variable on arrival. A variable on a server is therefore always
/// its initial value plus all pushes that have arrived. This class logs reads and pushes, and
/// replays the log to check the results.
class AsyncServers {
 public:
  /// REQUIRES: the workers of the scenario's strategy are asynchronous; no gradient is sparse;
  /// scenario and devices outlive this object.
  AsyncServers(const core::Scenario& scenario, std::int32_t worker, Devices& devices);

  /// Fills the buffers of the training steps first … first + count - 1, and opens the collectives
  /// of these steps.
  void prepare(std::int32_t first, std::int32_t count, Collectives& collectives);
  /// Starts the CPU's part in all collectives in which the CPU begins by waiting for a message.
  /// Such a message is a request or a push that a server receives, or data that the CPU only
  /// forwards.
  void begin(Collectives& collectives);
  void close(Collectives& collectives);

  /// Returns the number of (rank, collective) pairs that this process has to complete in one
  /// training step.
  [[nodiscard]] std::int64_t parts_of_step() const;
  /// Returns the tag of this worker's collective for pack `pack` of the plan.
  [[nodiscard]] CollectiveTag tag(std::int32_t step, int pack) const;
  /// Returns the index of the pack that the collective with this tag transfers; nullopt if the
  /// collective is a request for a read, which transfers no data.
  [[nodiscard]] std::optional<std::uint32_t> pack_of(CollectiveTag tag) const;
  /// Called when a replica of this process launches the pack. If the pack is a read, the first
  /// replica's call sends the request to the server.
  void ask(std::int32_t step, int pack, Collectives& collectives);
  /// Must be called when a rank of this process has completed a collective.
  void rank_done(CollectiveTag tag, core::Rank rank, Collectives& collectives);

  /// Checks the pushes and variables of the current steps. ERRORS: a push is not the sum of the
  /// worker's gradients; or a variable's current value, or a value that the server sent, differs
  /// from the variable's initial value plus the pushes to the variable.
  [[nodiscard]] core::Expected<void> verify();
  /// Returns and clears the logged reads of the current steps.
  [[nodiscard]] std::vector<ReadSeen> take_reads();
  /// Returns the staleness of the updates since the last call.
  [[nodiscard]] core::UpdatesBehind take_behind();

 private:
  /// A collective of one worker.
  struct Part {
    int pack = 0;
    std::int64_t group = 0;
    /// The collective, with its ranks converted to ranks of the cluster.
    core::Collective collective;
    core::Contract contract;        ///< the required result of the collective (core::Contract); its
                                    ///< ranks are ranks of the group
    std::vector<core::Rank> ranks;  ///< the collective's ranks in this process
    /// `asks` is the rank that requests a read, and `root` is the rank that holds the variable; -1
    /// if there is no such rank.
    core::Rank asks = -1, root = -1;
    std::unique_ptr<core::Collective> question;
  };
  /// A model variable that this process holds as a parameter server.
  struct Variable {
    core::DataType type = core::DataType::kFloat32;
    std::int64_t elements = 0;
    std::vector<std::byte> value;
    std::vector<std::byte> before;  ///< the variable's value before the current steps
  };
  /// A log entry: a variable was read, or a gradient was pushed to it.
  struct Event {
    bool read = false;
    int variable = 0;
    std::int32_t step = 0;
    std::size_t part = 0;
  };

  void add_part(int pack, std::int64_t group);
  void place_variable(const Part& part);
  [[nodiscard]] bool is_here(core::Rank rank) const;
  [[nodiscard]] bool is_local(const Part& part) const {
    return is_here(part.root) && rank_of_host_ == part.root;
  }
  [[nodiscard]] const core::Pack& pack(const Part& part) const {
    return scenario_.plan.packs[part.pack];
  }
  [[nodiscard]] int variable_of(const Part& part) const {
    return pack(part).payload.members.front().variable;
  }
  [[nodiscard]] bool is_read(const Part& part) const {
    return pack(part).phase == core::PackPhase::kRead;
  }
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
  [[nodiscard]] core::Error wrong(std::int32_t step, const Part& part,
                                  const std::string& what) const;

  const core::Scenario& scenario_;
  Devices& devices_;
  std::int32_t worker_;
  core::Rank rank_of_host_;
  std::vector<Part> parts_;
  std::map<std::uint32_t, std::size_t> part_of_number_;
  std::int32_t first_ = 0, count_ = 0;
  std::vector<std::vector<std::vector<Devices::Memory>>>
      sets_;  ///< [step - first_][part][rank here]
  std::map<int, Variable> variables_;
  core::Versions versions_;
  core::UpdatesBehind reported_;
  std::vector<Event> events_;
  std::set<std::pair<std::int32_t, int>> requested_;  ///< step and pack
};

}  // namespace tutti::real
