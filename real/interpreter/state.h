#pragma once

#include "real/interpreter/fifo.h"
#include "real/interpreter/interpreter.h"

// The state of the interpreter. Only the source files of the interpreter include this file.

namespace tutti::real {

/// A schedule step with its resolved peers. All collectives with the same schedule share these
/// values.
struct Interpreter::Known {
  core::Step step;
  core::Rank from = -1;  ///< the rank from which the step receives; -1 if the step does not receive
  core::Rank to = -1;    ///< the rank to which the step sends; -1 if the step does not send
  int credits = core::kUnlimitedCredits;  ///< the number of slots of the connection to
                                          ///< the receiver
};

/// A message that the lane is receiving.
struct Interpreter::Inbound {
  std::int64_t total = 0;
  std::int64_t received = 0;
  Devices::Memory buffer;  ///< buffer for the whole message, if the message arrives before the step
                           ///< that receives it
  std::byte* placed = nullptr;  ///< address at which the current piece is stored
  bool in_place = false;        ///< true: `placed` is the final destination of the piece
};

struct Interpreter::Connection {
  Channel channel;
  Fifo<Inbound> messages;  ///< messages that are not completely processed, oldest first
  std::int64_t begun =
      0;  ///< the number of messages of which at least one piece has arrived so far
  /// The message number (Piece::message) of the piece that arrived last.
  std::uint32_t number = 0;
};

/// A part of a message that has not been passed to the transport.
struct Interpreter::Outbound {
  Channel channel;
  const std::byte* bytes = nullptr;  ///< start of the message
  std::int64_t total = 0;
  std::int64_t offset = 0;
  std::int64_t end = 0;
  std::uint32_t message = 0;  ///< Piece::message
};

struct Interpreter::PendingSend {
  Lane* lane = nullptr;
  std::int64_t index = 0;  ///< index of the step
  /// The buffer that is being sent; empty if the step's source is sent directly.
  Devices::Memory bounce;
};

/// A step whose data is still being sent although the lane has continued with later steps.
struct Interpreter::UnsentStep {
  std::int64_t unsent = 0;
  core::Range source;    ///< the range that is being sent and must not be overwritten; may be empty
  Devices::Memory kept;  ///< a buffer that is being sent instead of `source`
};

struct Interpreter::PendingWork {
  enum class What : std::uint8_t { kStep, kPieceIn, kPieceOut };
  What what = What::kStep;
  Lane* lane = nullptr;
  const std::byte* result = nullptr;
  std::int64_t offset = 0;
  std::int64_t length = 0;
  Piece piece;           ///< only for kPieceOut
  Devices::Memory room;  ///< buffer in use until the work is done
};

struct Interpreter::Lane {
  enum class State : std::uint8_t {
    kNotStarted,
    kReady,
    kOnLane,
    kOnMessage,
    kInMessage,
    kOnDevice,  ///< waits for work on the device
    kOnSlot,
    kSending,
    kDone,
    kFailed
  };
  Instance* instance = nullptr;
  Local* local = nullptr;
  core::Rank rank = 0;
  core::Lane number = 0;
  int credits = core::kUnlimitedCredits;  ///< number of slots of each connection into the lane
  State state = State::kNotStarted;
  bool queued = false;
  std::int64_t next = 0;  ///< index of the current step in the lane's program
  /// All steps with lower indices are complete. Steps with this or a higher index, but below
  /// `next`, are in `unsent_steps`.
  std::int64_t done = 0;
  std::int64_t steps = 0;
  /// All steps of the lane, if the lane has few steps, because reading a stored step is faster than
  /// computing it. Else empty.
  std::vector<Known> known;
  Known requested;                ///< the current step, if `known` is empty
  const Known* now = &requested;  ///< points to the current step, once the step has begun
  bool begun = false;
  /// The connection from which the current step receives its message.
  Connection* in = nullptr;
  std::int64_t consumed = 0;  ///< bytes of the message handed to the device
  std::int64_t finished = 0;  ///< bytes of the message that the device has reduced or stored
  bool passing_on = false;  ///< true: each piece of the message is forwarded as soon as it arrives
  bool holds = false;       ///< true: pieces are kept until the receiver has a free slot
  /// True: the current step has acquired a slot at its receiver. The step may still be receiving
  /// the message that it forwards.
  bool has_slot = false;
  std::int64_t unsent = 0;  ///< number of unsent pieces of the current step
  std::deque<UnsentStep> unsent_steps;
  /// Data that has not been sent, in memory that the host cannot access.
  std::deque<Outbound> outbound;
  int bounces = 0;              ///< number of buffers in use for `outbound`
  Devices::Memory kept;         ///< data that a step forwards without storing it
  std::int64_t kept_bytes = 0;  ///< capacity of `kept` in bytes
  Devices::Memory room;         ///< holds the current piece, an input of the reduction
  std::int64_t room_bytes = 0;
  bool room_for_host = true;
  std::vector<Lane*> waiting;  ///< lanes that wait for this lane's progress
  /// The connections into the lane over which messages have arrived.
  std::vector<std::unique_ptr<Connection>> connections;
  /// The connections on which a message waits for the step that receives it, in order of arrival.
  Fifo<Connection*> any;
  bool receives_any = false;
  bool host_reaches = true;
  Transport::Clock::time_point began;
  Transport::Clock::time_point waited;
  /// The previous step, while its data is being sent. Used only if lanes complete each step before
  /// they begin the next step.
  std::optional<StepDone> leaving;
  core::Rank peer = -1;
  core::Lane peer_lane = -1;
};

/// A rank of this process.
struct Interpreter::Local {
  core::Rank rank = 0;
  std::byte* data = nullptr;
  Devices::Memory scratch;
  std::vector<Lane> lanes;
  std::int32_t lanes_left = 0;
  bool started = false;
};

struct Interpreter::Instance {
  CollectiveTag tag;
  const core::Collective* collective = nullptr;
  const core::Schedule* schedule = nullptr;
  core::Rank ranks_in_all = 0;
  Operation operation = Operation::kSum;
  std::int64_t item = 4;     ///< size of an element in bytes
  std::int64_t bytes = 0;    ///< size of the whole buffer in bytes
  std::vector<Local> ranks;  ///< the ranks of this process, in the order of open()
  /// For each rank, its index in `ranks`; -1 for ranks of other processes.
  std::vector<std::int32_t> places;
  std::map<Channel, std::int32_t> slots_used;  ///< for each outgoing connection with a limited
                                               ///< number of slots, the number of slots in use
  std::map<Channel, Lane*> waiting_for_slot;
};

}  // namespace tutti::real
