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

/// A read of a variable, as one of its two ends recorded it.
struct ReadSeen {
  std::int32_t step = 0;
  std::int32_t pack = 0;   ///< index of the pack in the plan
  std::int64_t group = 0;  ///< the worker that reads
  std::uint64_t hash = 0;  ///< hash of all bytes of the value
  bool sent = false;       ///< true: recorded by the server
};

/// The part of one process, a worker or a server, in an asynchronous run.
///
/// Every worker has collectives of its own for each pack of the plan. A read begins at the server
/// when the worker requests it with an empty message; the server sends the variable as it is at
/// that moment. A push is added to the variable as soon as it has arrived, in order of arrival. So
/// the servers' variables are the sum of their initial values and all pushes. Reads and pushes are
/// logged, and the log is replayed when results are checked.
class AsyncServers {
 public:
  /// REQUIRES: the strategy's workers are asynchronous, without sparse gradients; scenario and
  /// devices outlive it.
  AsyncServers(const core::Scenario& scenario, std::int32_t worker, Devices& devices);

  /// Fills buffers for steps first … first + count - 1 and opens their collectives.
  void prepare(std::int32_t first, std::int32_t count, Collectives& collectives);
  /// Starts the collectives that a server has to take part in from the beginning.
  void begin(Collectives& collectives);
  void close(Collectives& collectives);

  /// Returns the number of (rank, collective) pairs in this process that a step has to complete.
  [[nodiscard]] std::int64_t parts_of_step() const;
  /// Returns the tag of this worker's collective for the plan's pack.
  [[nodiscard]] CollectiveTag tag(std::int32_t step, int pack) const;
  /// Returns the plan's pack of a collective; nothing if it is only a request for a read.
  [[nodiscard]] std::optional<std::uint32_t> pack_of(CollectiveTag tag) const;
  /// A replica of this process launches the pack; the first replica to do so also requests what is
  /// read.
  void ask(std::int32_t step, int pack, Collectives& collectives);
  /// A rank of this process has completed a collective.
  void rank_done(CollectiveTag tag, core::Rank rank, Collectives& collectives);

  /// ERRORS: a push that is not the sum of the worker's gradients; a variable that differs from the
  /// result of its pushes, now or when it was sent.
  [[nodiscard]] core::Expected<void> verify();
  /// Returns the reads of the current steps, and the staleness of updates since the last call.
  [[nodiscard]] std::vector<ReadSeen> take_reads();
  [[nodiscard]] core::UpdatesBehind take_behind();

 private:
  /// A collective of one worker.
  struct Part {
    int pack = 0;
    std::int64_t group = 0;
    core::Collective collective;    ///< the collective, with ranks numbered as in the cluster
    core::Contract contract;        ///< its contract, with ranks numbered as in the group
    std::vector<core::Rank> ranks;  ///< ranks of this process
    core::Rank asks = -1,
               root = -1;  ///< the rank that requests a read, or the rank that holds the variable
    std::unique_ptr<core::Collective> question;
  };
  /// A variable that this process holds.
  struct Variable {
    core::DataType type = core::DataType::kFloat32;
    std::int64_t elements = 0;
    std::vector<std::byte> value;
    std::vector<std::byte> before;  ///< the variable's value before the current steps
  };
  /// A read of or a push to a variable, in order.
  struct Event {
    bool read = false;
    int variable = 0;
    std::int32_t step = 0;
    std::size_t part = 0;
  };

  void add_part(int pack, std::int64_t group);
  void place_variable(const Part& part);
  [[nodiscard]] bool is_here(core::Rank rank) const;
  [[nodiscard]] bool lies_here(const Part& part) const {
    return is_here(part.root) && rank_of_host_ == part.root;
  }
  [[nodiscard]] const core::Pack& pack(const Part& part) const {
    return scenario_.plan.packs[static_cast<std::size_t>(part.pack)];
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
  core::UpdatesBehind told_;
  std::vector<Event> events_;
  std::set<std::pair<std::int32_t, int>> asked_;  ///< step and pack
};

}  // namespace tutti::real
