// Executes a plan without data. A thread block runs until it waits for a signal, barrier, semaphore
// or packet that is not there yet. An inbox is a lane that receives what another thread block
// writes (mscclpp_lanes.h). Each thread block keeps two counts for every inbox. `known` is the
// number of messages of which the thread block knows that they have been sent; signals, barriers
// and semaphores pass this count on to other thread blocks. `landed` is the number of messages that
// are certain to have arrived before the thread block's next step. If a signal tells a thread block
// of messages to its own rank, the thread block waits for the inboxes of these messages.
//
// If no thread block can run any more, their waits are skipped. With the waits skipped, the checker
// gets all steps and can report the deadlock.

#include "core/custom/mscclpp_lanes.h"

#include <algorithm>
#include <deque>
#include <map>
#include <memory>
#include <utility>

#include "core/schedule/schedule.h"

namespace tutti::core::custom {
namespace {

using Counts = std::map<int, int>;  ///< number of messages per inbox; the key is the lane of the
                                    ///< inbox

void join(Counts& counts, const Counts& other) {
  for (const auto& [lane, count] : other) {
    int& mine = counts[lane];
    mine = std::max(mine, count);
  }
}

struct Knowledge {
  Counts known;
  Counts landed;
  void add(const Knowledge& other) { join(known, other.known), join(landed, other.landed); }
};

/// An event for which a thread block can wait. An event consists of an instruction, and of the
/// messages that are known to have been sent when the instruction is done.
struct Event {
  InstructionId at;  ///< index -1: there is nothing to wait for
  std::shared_ptr<const Knowledge> knows;
};

class LaneMaker {
 public:
  LaneMaker(const Plan& plan, std::int64_t chunk, std::int64_t shift, std::int64_t element_bytes)
      : plan_(plan), chunk_(chunk), shift_(shift), element_bytes_(element_bytes) {}

  PlanLanes make() {
    for (Rank rank = 0; rank < ranks(); ++rank) {
      const PlanGpu& gpu = plan_.gpus[index(rank)];
      gpus_.emplace_back();
      gpus_.back().semaphores.resize(gpu.semaphores.size());
      for (std::size_t s = 0; s < gpu.semaphores.size(); ++s)
        gpus_.back().semaphores[s].free = gpu.semaphores[s];
      gpus_.back().signals[0].resize(gpu.memory_channels.size());
      gpus_.back().signals[1].resize(gpu.port_channels.size());
      gpus_.back().proxies.assign(gpu.port_channels.size(), {});
      find_proxies(gpu, gpus_.back());
      for (std::size_t b = 0; b < gpu.blocks.size(); ++b) {
        Block block;
        block.rank = rank;
        block.ops = &gpu.blocks[b];
        block.lane = new_lane(PlanLane::Kind::kBlock, rank, static_cast<int>(b));
        blocks_.push_back(std::move(block));
      }
    }
    run();
    return std::move(made_);
  }

 private:
  struct Block {
    Rank rank = 0;
    const std::vector<PlanOp>* ops = nullptr;
    int lane = -1;
    std::size_t at = 0;
    std::int64_t round = 0;
    std::size_t inner = 0;
    bool arrived = false;       ///< true if the thread block has reached a barrier and waits there
    std::size_t part_done = 0;  ///< number of the operation's channels or semaphores that are
                                ///< already done
    std::vector<InstructionId> pending;  ///< instructions for which the block's next instruction
                                         ///< waits
    Knowledge knows;
    std::shared_ptr<const Knowledge> snapshot;  ///< copy of `knows`; null if `knows` has changed
                                                ///< since the copy was made
    [[nodiscard]] bool done() const { return at >= ops->size(); }
  };

  struct Semaphore {
    std::int64_t free = 0;
    std::deque<Event> released;
  };

  struct Proxy {
    bool used = false;  ///< true if an operation puts data on the channel and does not wait until
                        ///< the put is complete
    int lane = -1;
    Knowledge knows;
  };

  struct Barrier {
    std::vector<std::size_t> blocks;
    std::vector<InstructionId> at;
    Knowledge knows;
  };

  struct PacketWrite {
    Range range;
    InstructionId by;
  };

  struct Gpu {
    std::vector<Semaphore> semaphores;
    std::vector<std::deque<Event>> signals[2];  ///< pending signals on memory channels ([0]) and on
                                                ///< port channels ([1])
    std::vector<Proxy> proxies;
    std::map<int, Barrier> barriers;
    std::multimap<std::int64_t, PacketWrite> packets[2];  ///< packets in the data buffer ([0]) and
                                                          ///< in the scratch buffer ([1]); the key
                                                          ///< is the offset
    std::int64_t longest_packet = 0;
  };

  /// A wait of a thread block for an event that has not happened yet; the event is looked up after
  /// all blocks have run.
  struct Promise {
    InstructionId waiting;
    Rank rank = 0;
    const PlanOp* op = nullptr;
    std::size_t number = 0;  ///< index into the operation's channels or semaphores
    Range range;
  };

  [[nodiscard]] Rank ranks() const { return static_cast<Rank>(plan_.gpus.size()); }
  static std::size_t index(std::int64_t number) { return static_cast<std::size_t>(number); }
  Gpu& gpu(Rank rank) { return gpus_[index(rank)]; }
  PlanLane& lane(int number) { return made_.lanes[index(number)]; }

  int new_lane(PlanLane::Kind kind, Rank rank, int number) {
    made_.lanes.push_back({kind, rank, number, {}});
    return static_cast<int>(made_.lanes.size()) - 1;
  }

  InstructionId put(int number, Instruction instruction) {
    auto& steps = lane(number).steps;
    steps.push_back(std::move(instruction));
    return {number, static_cast<int>(steps.size()) - 1};
  }

  /// Appends an instruction to the thread block. The instruction waits for all pending dependencies
  /// of the block.
  InstructionId put(Block& block, Instruction instruction) {
    instruction.after.insert(instruction.after.end(), block.pending.begin(), block.pending.end());
    block.pending.clear();
    instruction.at = at_;
    return put(block.lane, std::move(instruction));
  }

  /// Returns the most recent instruction of a thread block. The most recent instruction is done
  /// only after all earlier instructions of the thread block.
  InstructionId here(Block& block) {
    if (!block.pending.empty()) put(block, {});
    return {block.lane, static_cast<int>(lane(block.lane).steps.size()) - 1};
  }

  /// Adds messages to those that a thread block knows to have been sent. The thread block also
  /// waits for the arrival of those messages that go to its own rank.
  void learn(Block& block, const Knowledge& more) {
    block.snapshot = nullptr;
    block.knows.add(more);
    for (const auto& [inbox, count] : block.knows.known) {
      if (lane(inbox).rank != block.rank) continue;
      int& landed = block.knows.landed[inbox];
      if (landed >= count) continue;
      block.pending.push_back({inbox, count - 1});
      landed = count;
    }
  }

  static std::shared_ptr<const Knowledge> knowledge(Block& block) {
    if (!block.snapshot) block.snapshot = std::make_shared<Knowledge>(block.knows);
    return block.snapshot;
  }

  void find_proxies(const PlanGpu& of, Gpu& into) {
    const auto look = [&](const PlanOp& op) {
      if (!op.port || op.verb != PlanVerb::kPut || op.flushes) return;
      for (const int channel : op.channels) into.proxies[index(channel)].used = true;
    };
    for (const auto& block : of.blocks) {
      for (const PlanOp& op : block) {
        look(op);
        for (const PlanOp& inner : op.body) look(inner);
      }
    }
  }

  // --- places ---

  [[nodiscard]] std::int64_t cut(std::int64_t elements, std::int64_t part,
                                 std::int64_t parts) const {
    return EvenCut{elements, parts}.offset(part);
  }

  /// Returns the elements of a place that the current operation handles in the current round.
  Range range(const PlanPlace& place, Rank own) const {
    const Rank rank = place.rank >= 0 ? place.rank : own;
    Range range;
    std::int64_t first = place.index;
    std::int64_t shift = 0;
    const std::int64_t block = plan_.chunks / ranks();
    if (place.memory == PlanMemory::kScratch) {
      range.buffer = Buffer::kScratch;
    } else if (place.memory == PlanMemory::kInput) {
      shift = plan_.in_place ? 0 : shift_;
      if (plan_.kind == CollectiveKind::kAllGather) first += rank * block;
    } else if (plan_.kind == CollectiveKind::kReduceScatter) {
      first += rank * block;
    }
    const std::int64_t elements = place.size * chunk_;
    const std::int64_t begin = cut(elements, op_->part, op_->parts);
    const std::int64_t size = cut(elements, op_->part + 1, op_->parts) - begin;
    const std::int64_t done = std::min(size, round_offset_);
    range.offset = first * chunk_ + shift + begin + done;
    range.count = std::min(size - done, round_size_);
    return range;
  }

  // --- messages ---

  /// Returns the lane that receives what a given lane writes to a rank.
  int inbox(int from, Rank at) {
    const auto [found, is_new] = inboxes_.try_emplace({from, at}, -1);
    if (is_new) found->second = new_lane(PlanLane::Kind::kInbox, at, 0);
    return found->second;
  }

  int multicast_inbox(int from, Rank at) {
    auto [first, is_new] = multicasts_.try_emplace(from, made_.multicasts);
    if (is_new) ++made_.multicasts;
    const auto [found, new_here] = multicast_inboxes_.try_emplace({from, at}, -1);
    if (new_here) found->second = new_lane(PlanLane::Kind::kMulticast, at, first->second);
    return found->second;
  }

  int server(int from, Rank at) {
    const auto [found, is_new] = servers_.try_emplace({from, at}, -1);
    if (is_new) found->second = new_lane(PlanLane::Kind::kServer, at, 0);
    return found->second;
  }

  Instruction receive(int from, const Range& target) const {
    Instruction step;
    step.kind = StepKind::kReceive;
    step.lane = from;
    step.source = step.target = target;
    step.at = at_;
    return step;
  }

  static Instruction send(int to, const Range& source) {
    Instruction step;
    step.kind = StepKind::kSend;
    step.lane = to;
    step.source = step.target = source;
    return step;
  }

  /// Writes data of a thread block into the memory of another rank. Returns the instruction by
  /// which the other rank receives the data.
  InstructionId write(Block& block, const Range& source, Rank rank, const Range& target,
                      bool fused) {
    const int to = inbox(block.lane, rank);
    Instruction step = send(to, source);
    step.fused = fused;
    put(block, std::move(step));
    const InstructionId arrival = put(to, receive(block.lane, target));
    if (target.count > 0) {
      block.knows.known[to] = arrival.index + 1;
      block.snapshot = nullptr;
    }
    return arrival;
  }

  /// Sends a signal. A signal directly after a message is a part of this message; any other signal
  /// is an empty message.
  InstructionId signal(Block& block, Rank rank) {
    const int to = inbox(block.lane, rank);
    const auto& steps = lane(block.lane).steps;
    const bool behind_message = block.pending.empty() && !steps.empty() &&
                                steps.back().kind == StepKind::kSend && steps.back().lane == to;
    if (behind_message) return {to, static_cast<int>(lane(to).steps.size()) - 1};
    return write(block, {Buffer::kData, 0, 0}, rank, {Buffer::kData, 0, 0}, false);
  }

  /// The proxy thread of a port channel sends the data after the thread block has requested the
  /// send.
  InstructionId write_by_proxy(Block& block, Proxy& proxy, const Range& source, Rank rank,
                               const Range& target) {
    if (proxy.lane < 0) proxy.lane = new_lane(PlanLane::Kind::kProxy, block.rank, 0);
    const InstructionId requested = here(block);
    const int to = inbox(proxy.lane, rank);
    Instruction step = send(to, source);
    if (requested.index >= 0) step.after.push_back(requested);
    step.at = at_;
    put(proxy.lane, std::move(step));
    proxy.knows.add(block.knows);
    const InstructionId arrival = put(to, receive(proxy.lane, target));
    if (target.count > 0) proxy.knows.known[to] = arrival.index + 1;
    return arrival;
  }

  /// If the signal belongs to a message, `arrival` is the instruction that receives the message. If
  /// `arrival` has index -1, the signal is sent as a separate message.
  void post_signal(Block& block, bool port, int channel, InstructionId arrival = {}) {
    const PlanGpu& from = plan_.gpus[index(block.rank)];
    const PlanChannel& end = (port ? from.port_channels : from.memory_channels)[index(channel)];
    Event event;
    Proxy* proxy = port ? &gpu(block.rank).proxies[index(channel)] : nullptr;
    if (proxy != nullptr && proxy->used) {
      const Range nothing{Buffer::kData, 0, 0};
      event.at =
          arrival.index >= 0 ? arrival : write_by_proxy(block, *proxy, nothing, end.peer, nothing);
      event.knows = std::make_shared<Knowledge>(proxy->knows);
    } else {
      event.at = signal(block, end.peer);
      event.knows = knowledge(block);
    }
    if (end.other_end < 0) return;  // no rank can wait for the signal
    gpu(end.peer).signals[port ? 1 : 0][index(end.other_end)].push_back(std::move(event));
  }

  void flush(Block& block, int channel) {
    Proxy& proxy = gpu(block.rank).proxies[index(channel)];
    if (proxy.lane < 0) return;
    block.pending.push_back({proxy.lane, static_cast<int>(lane(proxy.lane).steps.size()) - 1});
    block.knows.add(proxy.knows);
    block.snapshot = nullptr;
  }

  // --- packets ---

  void note_packets(Rank rank, const Range& range, InstructionId by) {
    if (range.count == 0) return;
    Gpu& at = gpu(rank);
    at.packets[index(range.buffer == Buffer::kScratch)].insert({range.offset, {range, by}});
    at.longest_packet = std::max(at.longest_packet, range.count);
  }

  /// Returns the instructions that wrote packets into any part of a range. `covered` is set to true
  /// if packets fill the whole range.
  std::vector<InstructionId> packets_in(Rank rank, const Range& range, bool& covered) {
    Gpu& at = gpu(rank);
    const auto& all = at.packets[index(range.buffer == Buffer::kScratch)];
    std::vector<InstructionId> by;
    std::int64_t end = range.offset;
    covered = true;
    for (auto i = all.lower_bound(range.offset - at.longest_packet);
         i != all.end() && i->first < range.end(); ++i) {
      if (i->second.range.end() <= range.offset) continue;
      if (i->first > end) covered = false;
      end = std::max(end, i->second.range.end());
      by.push_back(i->second.by);
    }
    covered = covered && end >= range.end();
    return by;
  }

  /// Makes the thread block wait for the packets that the operation reads. Returns false if some
  /// packets have not been written yet, unless `forced` is true.
  bool take_packets(Block& block, bool forced) {
    if (!op_->packets_in) return true;
    std::vector<InstructionId> needed;
    std::vector<Range> missing;
    const bool reduces = op_->verb == PlanVerb::kReduce;
    for (std::size_t i = reduces ? 1 : 0; i < op_->source.size(); ++i) {
      bool covered = false;
      const Range from = range(op_->source[i], block.rank);
      const auto by = packets_in(block.rank, from, covered);
      if (!covered) missing.push_back(from);
      needed.insert(needed.end(), by.begin(), by.end());
    }
    if (!missing.empty() && !forced) return false;
    for (const InstructionId& by : needed) {
      if (by.lane != block.lane && by.index >= 0) block.pending.push_back(by);
    }
    for (const Range& from : missing) promise(block, 0, from);
    return true;
  }

  // --- operations ---

  /// Makes the thread block wait for an event that has not happened yet and may never happen.
  void promise(Block& block, std::size_t number, const Range& range) {
    const InstructionId waiting = put(block, {});
    promises_.push_back({waiting, block.rank, op_, number, range});
  }

  bool wait(Block& block, bool forced) {
    for (; block.part_done < op_->channels.size(); ++block.part_done) {
      auto& signals =
          gpu(block.rank).signals[op_->port ? 1 : 0][index(op_->channels[block.part_done])];
      if (signals.empty()) {
        if (!forced) return false;
        promise(block, block.part_done, {});
        continue;
      }
      const Event event = std::move(signals.front());
      signals.pop_front();
      block.pending.push_back(event.at);
      int& landed = block.knows.landed[event.at.lane];
      landed = std::max(landed, event.at.index + 1);
      learn(block, *event.knows);
    }
    return true;
  }

  bool acquire(Block& block, bool forced) {
    for (; block.part_done < op_->semaphores.size(); ++block.part_done) {
      Semaphore& semaphore = gpu(block.rank).semaphores[index(op_->semaphores[block.part_done])];
      if (semaphore.free > 0) {
        --semaphore.free;
        continue;
      }
      if (semaphore.released.empty()) {
        if (!forced) return false;
        promise(block, block.part_done, {});
        continue;
      }
      const Event event = std::move(semaphore.released.front());
      semaphore.released.pop_front();
      if (event.at.index >= 0 && event.at.lane != block.lane) block.pending.push_back(event.at);
      learn(block, *event.knows);
    }
    return true;
  }

  void release(Block& block) {
    for (const int number : op_->semaphores)
      gpu(block.rank).semaphores[index(number)].released.push_back({here(block), knowledge(block)});
  }

  bool barrier(Block& block, std::size_t number, bool forced) {
    Barrier& at = gpu(block.rank).barriers[op_->barrier];
    if (block.arrived) {
      if (!forced) return false;  // the last thread block to arrive releases all
      block.arrived = false;
      const auto mine = std::find(at.blocks.begin(), at.blocks.end(), number);
      at.at.erase(at.at.begin() + (mine - at.blocks.begin()));
      at.blocks.erase(mine);
      promise(block, 0, {});
      return true;
    }
    at.blocks.push_back(number);
    at.at.push_back(here(block));
    at.knows.add(block.knows);
    block.arrived = true;
    if (static_cast<int>(at.blocks.size()) < op_->barrier_blocks)
      return forced ? barrier(block, number, true) : false;
    const Barrier full = std::exchange(at, {});
    for (std::size_t i = 0; i < full.blocks.size(); ++i) {
      Block& one = blocks_[full.blocks[i]];
      one.arrived = false;
      for (std::size_t j = 0; j < full.at.size(); ++j) {
        if (j != i && full.at[j].index >= 0) one.pending.push_back(full.at[j]);
      }
      learn(one, full.knows);
      if (full.blocks[i] != number) advance(one);
    }
    return true;
  }

  void put_op(Block& block) {
    for (std::size_t i = 0; i < op_->target.size(); ++i) {
      const Range source = range(op_->source[i], block.rank);
      const Rank rank = op_->target[i].rank;
      const Range target = range(op_->target[i], block.rank);
      InstructionId arrival;
      Proxy* proxy = op_->port ? &gpu(block.rank).proxies[index(op_->channels[i])] : nullptr;
      if (proxy != nullptr && proxy->used) {
        arrival = write_by_proxy(block, *proxy, source, rank, target);
      } else {
        arrival = write(block, source, rank, target, op_->fused && i == 0);
      }
      if (op_->packets_out) note_packets(rank, target, arrival);
      if (op_->signals) post_signal(block, true, op_->channels[i], arrival);
      if (op_->flushes) flush(block, op_->channels[i]);
    }
  }

  /// Reads a range of another rank: sends a request to that rank. The rank that gets the request
  /// replies with the data.
  void ask(Block& block, const PlanPlace& place) {
    const int from = server(block.lane, place.rank);
    put(block, send(from, {Buffer::kData, 0, 0}));
    put(from, receive(block.lane, {Buffer::kData, 0, 0}));
    Instruction answer = send(block.lane, range(place, block.rank));
    answer.at = at_;
    // The other rank sends the data only after all writes to its memory that the reader knows of.
    for (const auto& [inbox, count] : block.knows.known) {
      if (lane(inbox).rank == place.rank) answer.after.push_back({inbox, count - 1});
    }
    put(from, std::move(answer));
  }

  void take_answer(Block& block, Rank rank, StepKind kind, const Range& own, const Range& target) {
    Instruction step = receive(server(block.lane, rank), target);
    step.kind = kind;
    step.source = own;
    put(block, std::move(step));
  }

  void get(Block& block) {
    for (const PlanPlace& place : op_->source) ask(block, place);
    for (std::size_t i = 0; i < op_->source.size(); ++i) {
      const Range target = range(op_->target[i], block.rank);
      take_answer(block, op_->source[i].rank, StepKind::kReceive, target, target);
    }
  }

  InstructionId copy(Block& block, const Range& source, const Range& target) {
    if (source == target) return here(block);
    Instruction step;
    step.kind = StepKind::kCopy;
    step.source = source;
    step.target = target;
    return put(block, std::move(step));
  }

  void reduce(Block& block) {
    const Range target = range(op_->target[0], block.rank);
    std::vector<Range> inputs;
    std::size_t local = 0;
    while (local < op_->source.size() && op_->source[local].rank < 0)
      inputs.push_back(range(op_->source[local++], block.rank));
    for (std::size_t i = local; i < op_->source.size(); ++i) ask(block, op_->source[i]);
    if (inputs.size() > 1) {
      Instruction step;
      step.kind = StepKind::kReduce;
      step.inputs = inputs;
      step.source = inputs.front();
      step.target = target;
      put(block, std::move(step));
    } else if (op_->source.size() == local) {
      copy(block, inputs.front(), target);
    }
    Range own = inputs.size() > 1 ? target : inputs.front();
    for (std::size_t i = local; i < op_->source.size(); ++i) {
      take_answer(block, op_->source[i].rank, StepKind::kReceiveReduce, own, target);
      own = target;
    }
    std::size_t next = 1;
    if (op_->packets_out) {  // copies as packets, which local readers may wait for
      while (next < op_->target.size() && op_->target[next].rank < 0) {
        const Range kept = range(op_->target[next++], block.rank);
        note_packets(block.rank, kept, copy(block, target, kept));
      }
    }
    for (std::size_t i = next; i < op_->target.size(); ++i) {
      const Range there = range(op_->target[i], block.rank);
      const InstructionId arrival = write(block, target, op_->target[i].rank, there,
                                          i == next && op_->target.size() == next + 1);
      if (op_->packets_out) note_packets(op_->target[i].rank, there, arrival);
    }
  }

  /// Writes data of a thread block to all members of a switch channel. On the block's own rank, the
  /// write is a local copy.
  void store(Block& block, const Range& source, const PlanPlace& place) {
    const PlanSwitch& used = plan_.gpus[index(block.rank)].switches[index(place.channel)];
    const auto at = [&](Rank rank) {
      PlanPlace there = place;
      there.rank = rank;
      return range(there, block.rank);
    };
    const Range own = at(block.rank);
    const InstructionId kept = copy(block, source, own);
    if (op_->packets_out) note_packets(block.rank, own, kept);
    if (used.group.count == 1) return;
    Instruction step;
    step.kind = StepKind::kMulticast;
    step.source = step.target = own;
    step.group = used.group;
    for (std::int32_t i = 0; i < used.group.count; ++i) {
      const Rank rank = used.group.at(i);
      if (rank != block.rank) step.lane = multicast_inbox(block.lane, rank);
    }
    put(block, std::move(step));
    for (std::int32_t i = 0; i < used.group.count; ++i) {
      const Rank rank = used.group.at(i);
      if (rank == block.rank) continue;
      const int to = multicast_inbox(block.lane, rank);
      const InstructionId arrival = put(to, receive(block.lane, at(rank)));
      block.knows.known[to] = arrival.index + 1;
      block.snapshot = nullptr;
      if (op_->packets_out) note_packets(rank, at(rank), arrival);
    }
  }

  void reduce_store(Block& block) {
    const PlanPlace& from = op_->source[0];
    const PlanPlace& to = op_->target[0];
    const PlanSwitch& used = plan_.gpus[index(block.rank)].switches[index(from.channel)];
    PlanPlace own = to;
    own.rank = block.rank;
    Instruction step;
    step.kind = StepKind::kSwitchReduce;
    PlanPlace read_at = from;
    read_at.rank = block.rank;
    step.source = range(read_at, block.rank);
    step.target = range(own, block.rank);
    step.group = used.group;
    put(block, std::move(step));
    store(block, range(own, block.rank), to);
  }

  /// Executes an operation. Returns false if the operation cannot run yet, so that the thread block
  /// has to wait.
  bool carry_out(Block& block, std::size_t number, bool forced) {
    if (!take_packets(block, forced)) return false;
    switch (op_->verb) {
      case PlanVerb::kNop:
      case PlanVerb::kPipeline: return true;
      case PlanVerb::kBarrier: return barrier(block, number, forced);
      case PlanVerb::kSignal:
        for (const int channel : op_->channels) post_signal(block, op_->port, channel);
        return true;
      case PlanVerb::kWait: return wait(block, forced);
      case PlanVerb::kFlush:
        for (const int channel : op_->channels) {
          if (op_->port) flush(block, channel);
        }
        return true;
      case PlanVerb::kPut: return put_op(block), true;
      case PlanVerb::kGet: return get(block), true;
      case PlanVerb::kCopy: {
        const Range target = range(op_->target[0], block.rank);
        const InstructionId by = copy(block, range(op_->source[0], block.rank), target);
        if (op_->packets_out) note_packets(block.rank, target, by);
        return true;
      }
      case PlanVerb::kReduce: return reduce(block), true;
      case PlanVerb::kStore:
        return store(block, range(op_->source[0], block.rank), op_->target[0]), true;
      case PlanVerb::kReduceStore: return reduce_store(block), true;
      case PlanVerb::kAcquire: return acquire(block, forced);
      case PlanVerb::kRelease: return release(block), true;
    }
    return true;
  }

  // --- the run ---

  [[nodiscard]] std::int64_t unit(const PlanOp& pipeline) const {
    const std::int64_t elements = pipeline.chunks * chunk_;
    const std::int64_t wanted = std::max<std::int64_t>(1, pipeline.unit_bytes / element_bytes_);
    return std::max(wanted, (elements + plan_.max_rounds - 1) / plan_.max_rounds);
  }
  [[nodiscard]] std::int64_t rounds(const PlanOp& pipeline) const {
    return (pipeline.chunks * chunk_ + unit(pipeline) - 1) / unit(pipeline);
  }

  /// Returns the current operation of the thread block; null if it has executed its last operation.
  const PlanOp* current(Block& block) {
    while (!block.done()) {
      const PlanOp& op = (*block.ops)[block.at];
      round_offset_ = 0;
      round_size_ = INT64_MAX;
      if (op.verb != PlanVerb::kPipeline) return &op;
      if (op.body.empty() || block.round >= rounds(op)) {
        block.round = 0;
        ++block.at;
        continue;
      }
      round_size_ = unit(op);
      round_offset_ = block.round * round_size_;
      return &op.body[block.inner];
    }
    return nullptr;
  }

  void advance(Block& block) {
    block.part_done = 0;
    const PlanOp& op = (*block.ops)[block.at];
    if (op.verb != PlanVerb::kPipeline) {
      ++block.at;
    } else if (++block.inner >= op.body.size()) {
      block.inner = 0;
      ++block.round;
    }
  }

  bool move(std::size_t number, bool forced) {
    Block& block = blocks_[number];
    op_ = current(block);
    if (op_ == nullptr) return false;
    at_ = op_->at;
    if (!carry_out(block, number, forced)) return false;
    advance(block);
    return true;
  }

  void run() {
    for (;;) {
      bool moved = false;
      for (std::size_t i = 0; i < blocks_.size(); ++i) {
        while (move(i, false)) moved = true;
      }
      if (moved) continue;
      bool stuck = false;
      for (std::size_t i = 0; i < blocks_.size(); ++i) {
        while (move(i, false)) stuck = true;
        stuck = move(i, true) || stuck;
      }
      if (!stuck) break;
    }
    for (Block& block : blocks_) here(block);
    for (const Promise& one : promises_) keep(one);
  }

  /// Connects a wait with the instruction for which it waits, after all blocks have run. If the
  /// awaited event never happened, the instruction waits for itself, which the checker reports as a
  /// deadlock.
  void keep(const Promise& one) {
    Gpu& at = gpu(one.rank);
    std::vector<InstructionId> by;
    op_ = one.op;
    if (one.op->verb == PlanVerb::kWait) {
      auto& signals = at.signals[one.op->port ? 1 : 0][index(one.op->channels[one.number])];
      if (!signals.empty()) {
        by.push_back(signals.front().at);
        signals.pop_front();
      }
    } else if (one.op->verb == PlanVerb::kAcquire) {
      auto& released = at.semaphores[index(one.op->semaphores[one.number])].released;
      if (!released.empty()) {
        by.push_back(released.front().at);
        released.pop_front();
      }
    } else if (one.op->packets_in) {
      bool covered = false;
      by = packets_in(one.rank, one.range, covered);
      if (!covered) by.clear();
    }
    by.erase(std::remove_if(by.begin(), by.end(), [](const auto& id) { return id.index < 0; }),
             by.end());
    auto& after = lane(one.waiting.lane).steps[index(one.waiting.index)].after;
    if (by.empty()) by.push_back(one.waiting);
    after.insert(after.end(), by.begin(), by.end());
  }

  const Plan& plan_;
  std::int64_t chunk_;
  std::int64_t shift_;
  std::int64_t element_bytes_;
  PlanLanes made_;
  std::vector<Gpu> gpus_;
  std::vector<Block> blocks_;
  std::map<std::pair<int, Rank>, int> inboxes_, multicast_inboxes_, servers_;
  std::map<int, int> multicasts_;  ///< index of the multicast of each sending lane; the key is the
                                   ///< lane
  std::vector<Promise> promises_;
  const PlanOp* op_ = nullptr;
  Position at_;
  std::int64_t round_offset_ = 0;
  std::int64_t round_size_ = INT64_MAX;
};

}  // namespace

PlanLanes lanes_of(const Plan& plan, std::int64_t chunk, std::int64_t input_shift,
                   std::int64_t element_bytes) {
  return LaneMaker(plan, chunk, input_shift, element_bytes).make();
}

}  // namespace tutti::core::custom
