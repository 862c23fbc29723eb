#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/schedule/schedule.h"
#include "real/interpreter/collectives.h"
#include "real/interpreter/fifo.h"

namespace tutti::real {

/// A schedule step that a lane has completed. All times are measured by this process's clock.
struct StepDone {
  CollectiveTag collective;
  core::Rank rank = 0;
  core::Lane lane = 0;
  std::int64_t index = 0;
  core::Step step;
  Transport::Clock::time_point start;  ///< the time at which the lane began the step
  /// The time at which the step stopped waiting: the awaited message began to move, or the awaited
  /// slot or lane was ready. Equals `start` if the step did not wait.
  Transport::Clock::time_point wait;
  Transport::Clock::time_point end;  ///< when the lane continued
  core::Rank peer = -1;  ///< for a receive: the rank that sent the message; otherwise -1
  core::Lane peer_lane = -1;
};

/// A CollectiveListener that also receives completed schedule steps.
class InterpreterListener : public CollectiveListener {
 public:
  virtual void step_done(const StepDone& step) = 0;
};

/// Executes schedules on the real buffers of this process's ranks, with the semantics that
/// core::Schedule defines.
///
/// The pieces of a message are moved and reduced as soon as they arrive. A fused step, which
/// receives and sends the same message, also forwards each piece immediately, so that all ranks of
/// a chain work on one message at the same time. If the receiver of the forwarded message has no
/// free slot (part of its receive buffer), the step first receives the whole message, and sends it
/// when a slot becomes free.
///
/// While the data of a step is being sent, the lane continues with later steps, as long as these do
/// not write to the data that is being sent. The lane can therefore receive messages that would
/// otherwise have to be buffered. Other lanes see the steps of this lane as completed in order. (If
/// Devices::at_once() is false, a lane completes each step before it begins the next step.)
///
/// The path of a piece: Transport → place() → arrived() → consume() → Devices → piece_done() →
/// send_pieces() → Transport. Pieces from and to memory that the host cannot access
/// (Devices::host_reaches) go through bounce buffers, which the host can access.
class Interpreter : public Collectives, public Receiver {
 public:
  /// REQUIRES: all arguments outlive the interpreter. The listener is notified of completed steps
  /// only if `watch_steps` is true.
  Interpreter(Transport& transport, Devices& devices, InterpreterListener& listener,
              bool watch_steps);
  ~Interpreter() override;

  /// Cost: linear in the number of lanes. If a closed instance of the same collective exists, its
  /// lanes are reset and reused; otherwise, lanes are created. REQUIRES: the collective outlives
  /// the interpreter; the buffers stay valid until close(); the schedule has no in-switch
  /// reduction.
  void open(CollectiveTag tag, const core::Collective& collective, Operation operation,
            const std::vector<core::Rank>& ranks, const std::vector<std::byte*>& data) override;
  void start(CollectiveTag tag, core::Rank rank) override;
  void close(CollectiveTag tag) override;
  void allow_early_messages(CollectiveTag last) override { last_awaited_ = last; }

  /// Runs the lanes that are ready.
  void run_ready();
  [[nodiscard]] bool has_ready() const { return !ready_.empty(); }

  /// Calls run_ready(). ERRORS: a peer sent a message whose length differs from the length in the
  /// schedule.
  core::Expected<void> poll() override;
  /// Returns the text of the error that poll() returned; empty if there was no error.
  [[nodiscard]] const std::string& failure() const { return failure_; }
  /// Returns the number of pieces that were sent or have arrived.
  [[nodiscard]] std::int64_t moved() const override { return pieces_; }
  [[nodiscard]] Clock::time_point next_due() const override;
  [[nodiscard]] std::string progress_text() const override;
  [[nodiscard]] Receiver& receiver() override { return *this; }

  std::byte* place(const Piece& piece) override;
  void arrived(const Piece& piece) override;
  bool take(const Piece& piece, const std::byte* bytes) override;
  bool slot_freed(const Channel& channel) override;
  void sent(Ticket ticket) override;
  [[nodiscard]] bool is_open(CollectiveTag tag) const override { return instances_.contains(tag); }
  [[nodiscard]] bool is_expected_early(CollectiveTag tag) const override {
    return last_awaited_ && last_opened_ < tag && tag <= *last_awaited_;
  }
  void worked(Ticket ticket) override;

 private:
  struct Instance;
  struct Local;
  struct Lane;
  struct Known;
  struct Inbound;
  struct Connection;
  struct Outbound;
  struct PendingSend;
  struct UnsentStep;
  struct PendingWork;

  // interpreter.cpp: collectives, lanes, and steps inside a rank
  Instance* find(CollectiveTag tag);
  std::unique_ptr<Instance> fresh(const core::Collective& collective,
                                  const std::vector<core::Rank>& ranks);
  Instance* reopen(CollectiveTag tag, const core::Collective& collective,
                   const std::vector<core::Rank>& ranks);
  static void make_lane(Instance& instance, Local& local, core::Lane number, bool host_reaches);
  [[nodiscard]] static Known known_step(const Lane& lane, std::int64_t index);
  static Lane& lane_of(Instance& instance, core::Rank rank, core::Lane lane);
  void make_ready(Lane& lane);
  void run(Lane& lane);
  bool begin(Lane& lane);
  bool work(Lane& lane);
  void pass(Lane& lane);
  void count_complete(Lane& lane);
  [[nodiscard]] bool must_wait_for_sends(const Lane& lane) const;
  void finish(Lane& lane);
  [[nodiscard]] std::byte* at(const Lane& lane, const core::Range& range) const;
  [[nodiscard]] Channel outgoing(const Lane& lane) const;
  [[nodiscard]] std::byte* target_of(const Lane& lane) const;
  [[nodiscard]] Work work_of(const Lane& lane, Work::Kind kind) const;

  // sending.cpp
  bool acquire_slot(Lane& lane);
  void send_pieces(Lane& lane, const Channel& channel, const std::byte* bytes, std::int64_t total,
                   std::int64_t offset, std::int64_t length);
  void send_room(Lane& lane, Devices::Memory room, const Piece& piece);
  [[nodiscard]] static std::int64_t step_of(const Lane& lane);
  [[nodiscard]] static std::uint32_t number_of(const Lane& lane);
  Ticket next_ticket();
  void take_ticket(Lane& lane, Devices::Memory bounce);
  void send_out(Lane& lane);
  void send_held(Lane& lane);
  void send_whole(Lane& lane, const std::byte* bytes, std::int64_t length);
  void send_multicast(Lane& lane);

  // receiving.cpp
  static Connection* connection_of(Lane& lane, core::Rank from, core::Lane from_lane);
  static Connection* new_connection(Lane& lane, const Channel& channel);
  bool take_message(Lane& lane);
  bool find_message(Lane& lane);
  [[nodiscard]] static Lane* lane_for(Instance& instance, const Piece& piece);
  Connection* enter(Lane& lane, const Piece& piece);
  std::byte* room_for(Lane& lane, std::int64_t bytes, bool for_host);
  void consume(Lane& lane, const std::byte* bytes, std::int64_t offset, std::int64_t length,
               bool in_place);
  void reduce_and_pass_on(Lane& lane, const std::byte* bytes, std::int64_t offset,
                          std::int64_t length);
  void piece_done(Lane& lane, const std::byte* result, std::int64_t offset, std::int64_t length);
  void after_message(Lane& lane);
  [[nodiscard]] static bool takes_from(const Lane& lane, const Connection& connection);

  Transport& transport_;
  Devices& devices_;
  InterpreterListener& listener_;
  bool watch_steps_;
  using Instances = std::map<CollectiveTag, std::unique_ptr<Instance>>;
  Instances instances_;
  Instance* last_found_ = nullptr;
  CollectiveTag last_opened_;
  std::optional<CollectiveTag> last_awaited_;
  std::vector<Instances::node_type> free_instances_;  ///< closed collectives, for reuse
  bool serial_steps_;         ///< true: a lane completes each step before it begins the next step
  std::int64_t piece_bytes_;  ///< size in bytes of a piece between workers
  Fifo<Lane*> ready_;
  std::vector<PendingSend> sends_;  ///< indexed by ticket - 1
  std::vector<Ticket> free_tickets_;
  std::unordered_map<Ticket, PendingWork> works_;
  Ticket next_ticket_ = 0;
  std::int64_t pieces_ = 0;
  std::string failure_;
};

}  // namespace tutti::real
