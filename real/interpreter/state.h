#pragma once

#include "real/interpreter/fifo.h"
#include "real/interpreter/interpreter.h"

// What the interpreter remembers. For its own files only.

namespace tutti::real {

/// A step, and what its rank and schedule make of it: the same for every collective of the schedule.
struct Interpreter::Known {
  core::Step step;
  core::Rank from = -1;                   ///< whom it receives from, if that is one
  core::Rank to = -1;                     ///< whom it sends to, if that is one,
  int credits = core::kUnlimitedCredits;  ///< and slots of that connection
};

/// A message on its way in.
struct Interpreter::Inbound {
  std::int64_t total = 0;
  std::int64_t received = 0;
  Devices::Memory buffer;       ///< of the whole message, if it came before its step
  std::byte* placed = nullptr;  ///< where the piece at hand goes,
  bool in_place = false;        ///< and whether that is where the step wants it
};

struct Interpreter::Connection {
  Channel channel;
  Fifo<Inbound> messages;    ///< not yet worked on to the end, oldest first
  std::int64_t begun = 0;    ///< messages whose first piece has come, in all
  std::uint32_t number = 0;  ///< of the last of them
};

/// A stretch of a message on its way out that the transport has not got yet.
struct Interpreter::Outbound {
  Channel channel;
  const std::byte* bytes = nullptr;  ///< of its beginning
  std::int64_t total = 0;
  std::int64_t offset = 0;
  std::int64_t end = 0;
  std::uint32_t message = 0;  ///< Piece::message
};

struct Interpreter::PendingSend {
  Lane* lane = nullptr;
  std::int64_t index = 0;  ///< of the step
  Devices::Memory bounce;  ///< what is being sent from, if that is not the source itself
};

/// A step that the lane has gone past while what it sends has not left yet.
struct Interpreter::Departing {
  std::int64_t unsent = 0;
  core::Range source;    ///< that must stay as it is meanwhile; may be empty
  Devices::Memory kept;  ///< or what it is sent from
};

struct Interpreter::PendingWork {
  enum class What : std::uint8_t { kStep, kPieceIn, kPieceOut };
  What what = What::kStep;
  Lane* lane = nullptr;
  const std::byte* result = nullptr;
  std::int64_t offset = 0;
  std::int64_t length = 0;
  Piece piece;           ///< of kPieceOut
  Devices::Memory room;  ///< in use until the work is done
};

struct Interpreter::Lane {
  enum class State : std::uint8_t {
    kNotStarted,
    kReady,
    kOnLane,
    kOnMessage,
    kInMessage,
    kOnDevice,  ///< work is under way, and nothing else to do before it is done
    kOnSlot,
    kSending,
    kDone,
    kFailed
  };
  Instance* instance = nullptr;
  Local* local = nullptr;
  core::Rank rank = 0;
  core::Lane number = 0;
  int credits = core::kUnlimitedCredits;  ///< slots of each connection into the lane
  State state = State::kNotStarted;
  bool queued = false;
  std::int64_t next = 0;  ///< the step at hand
  std::int64_t done = 0;  ///< steps before this one are complete; those between are in `departing`
  std::int64_t steps = 0;
  std::vector<Known> known;   ///< all steps, if they are few: asking the schedule takes longer
  Known asked;                ///< else the one at hand
  const Known* now = &asked;  ///< the step at hand, once begun
  bool begun = false;
  Connection* in = nullptr;   ///< whose front message the step has taken
  std::int64_t consumed = 0;  ///< bytes of it handed to the device,
  std::int64_t finished = 0;  ///< and done with
  bool passing_on = false;    ///< pieces are sent on as they come
  bool holds = false;         ///< … or kept until there is a slot,
  bool has_slot = false;      ///< which may come before the message is whole
  std::int64_t unsent = 0;    ///< pieces of the step at hand that are not yet sent
  std::deque<Departing> departing;
  std::deque<Outbound> outbound;  ///< of memory that the host does not reach
  int bounces = 0;                ///< buffers in use for it
  Devices::Memory kept;           ///< what a step that keeps nothing has to send on
  std::int64_t kept_bytes = 0;    ///< there is room for
  Devices::Memory room;           ///< for the piece at hand, to be reduced from
  std::int64_t room_bytes = 0;
  bool room_for_host = true;
  std::vector<Lane*> waiting;                            ///< for this lane to get further
  std::vector<std::unique_ptr<Connection>> connections;  ///< into the lane, those that have been used
  Fifo<Connection*> any;  ///< connections with a message that no step has taken, by arrival
  bool receives_any = false;
  bool host_reaches = true;
  Transport::Clock::time_point began;
  Transport::Clock::time_point waited;
  std::optional<StepDone>
      leaving;  ///< the step before, until what it sends has left, where lanes come to rest between steps
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
  std::int64_t item = 4;                       ///< bytes of an element,
  std::int64_t bytes = 0;                      ///< and of the whole buffer
  std::vector<Local> ranks;                    ///< of this process, in the order of open()
  std::vector<std::int32_t> places;            ///< by rank: in `ranks`; -1 for those elsewhere
  std::map<Channel, std::int32_t> slots_used;  ///< of outgoing connections with limited slots
  std::map<Channel, Lane*> waiting_for_slot;
};

}  // namespace tutti::real
