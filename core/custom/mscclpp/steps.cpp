// Joins the instructions of a plan's lanes into steps. If a thread block waits for a message, it
// receives the message itself instead of through an inbox, provided that nothing accesses the
// memory earlier. This does not change the result of the plan. If a message is received into
// scratch and then copied, added or forwarded, the instructions become one step, unless another
// instruction uses this scratch range. A plan that Tutti exported therefore becomes the original
// schedule again.

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "core/custom/mscclpp/lanes.h"

namespace tutti::core::custom {
namespace {

/// The ranges of one buffer that instructions read or write.
class Accesses {
 public:
  void add(const Range& range, InstructionId by) {
    if (range.count > 0) all_.push_back({range.offset, range.end(), by});
  }
  void sort() {
    std::sort(all_.begin(), all_.end(),
              [](const Access& a, const Access& b) { return a.begin < b.begin; });
    reach_.resize(all_.size());
    std::int64_t reach = 0;
    for (std::size_t i = 0; i < all_.size(); ++i) reach_[i] = reach = std::max(reach, all_[i].end);
  }
  /// Calls `visit` for each access that overlaps `range`, until a call returns false. Returns false
  /// if a call of `visit` returned false.
  template <class Visit>
  [[nodiscard]] bool all_of(const Range& range, Visit visit) const {
    std::size_t i =
        std::lower_bound(all_.begin(), all_.end(), range.end(),
                         [](const Access& a, std::int64_t end) { return a.begin < end; }) -
        all_.begin();
    while (i-- > 0 && reach_[i] > range.offset) {
      if (all_[i].end > range.offset && !visit(all_[i].by)) return false;
    }
    return true;
  }

 private:
  struct Access {
    std::int64_t begin = 0;
    std::int64_t end = 0;
    InstructionId by;
  };
  std::vector<Access> all_;
  std::vector<std::int64_t> reach_;  ///< for each access: the largest end of this and all earlier
                                     ///< accesses
};

/// An instruction in its final lane. `ids` lists the original instructions that were joined to this
/// one.
struct Placed {
  Instruction step;
  std::vector<InstructionId> ids;
  bool leaves_out_sum = false;  ///< true if a received sum is forwarded but not stored
  int passed_to = -1;           ///< lane to which a received message is forwarded; -1: none
};

class Joiner {
 public:
  Joiner(PlanLanes lanes, Rank ranks) : made_(std::move(lanes)), ranks_(ranks) {}

  PlanSteps join() {
    find_accesses();
    find_waits();
    for (int lane = 0; lane < count(); ++lane) join_inbox(lane);
    place();
    for (auto& sequence : sequences_) fuse(sequence);
    number_lanes();
    return lower();
  }

 private:
  [[nodiscard]] int count() const { return static_cast<int>(made_.lanes.size()); }
  PlanLane& lane(int number) { return made_.lanes[number]; }
  Accesses& accesses(Rank rank, Buffer buffer) {
    return accesses_[buffer == Buffer::kScratch][rank];
  }

  void find_accesses() {
    for (auto& of : accesses_) of.resize(ranks_);
    for (int number = 0; number < count(); ++number) {
      const PlanLane& of = lane(number);
      for (std::size_t i = 0; i < of.steps.size(); ++i) {
        const Instruction& step = of.steps[i];
        const InstructionId id{number, static_cast<int>(i)};
        const auto touch = [&](const Range& range) {
          accesses(of.rank, range.buffer).add(range, id);
        };
        if (step.kind == StepKind::kNop) continue;
        touch(step.target);
        if (step.kind == StepKind::kSwitchReduce) {
          for (std::int32_t m = 0; m < step.group.count; ++m)
            accesses(step.group.at(m), step.source.buffer).add(step.source, id);
        } else if (step.source != step.target) {
          touch(step.source);
        }
        for (const Range& input : step.inputs) touch(input);
      }
    }
    for (auto& of : accesses_) {
      for (Accesses& one : of) one.sort();
    }
  }

  struct WaitFor {
    InstructionId by;
    int index = 0;
  };

  void find_waits() {
    waits_.resize(count());
    for (int number = 0; number < count(); ++number) {
      const auto& steps = lane(number).steps;
      for (std::size_t i = 0; i < steps.size(); ++i) {
        for (const InstructionId& other : steps[i].after)
          waits_[other.lane].push_back({{number, static_cast<int>(i)}, other.index});
      }
    }
    joined_.assign(count(), -1);
    inserted_.resize(count());
  }

  /// If a thread block waits for an inbox, makes the thread block receive the messages itself,
  /// unless this changes the result.
  void join_inbox(int number) {
    const PlanLane& inbox = lane(number);
    const auto& waits = waits_[number];
    if (inbox.kind != PlanLane::Kind::kInbox || waits.empty() || inbox.steps.empty()) return;
    const int user = waits.front().by.lane;
    if (lane(user).kind != PlanLane::Kind::kBlock) return;
    std::vector<int> place(inbox.steps.size(), -1);
    int next = 0;
    for (const WaitFor& wait : waits) {
      if (wait.by.lane != user) return;
      while (next <= wait.index) place[next++] = wait.by.index;
    }
    if (next < static_cast<int>(inbox.steps.size())) return;
    for (std::size_t j = 0; j < inbox.steps.size(); ++j) {
      const Range& target = inbox.steps[j].target;
      const InstructionId own{number, static_cast<int>(j)};
      const bool only_then =
          accesses(inbox.rank, target.buffer).all_of(target, [&](const InstructionId& by) {
            return by == own || (by.lane == user && by.index >= place[j]);
          });
      if (!only_then) return;
    }
    joined_[number] = user;
    for (std::size_t j = 0; j < inbox.steps.size(); ++j)
      inserted_[user].push_back({place[j], {number, static_cast<int>(j)}});
  }

  void place() {
    sequences_.resize(count());
    for (int number = 0; number < count(); ++number) {
      if (joined_[number] >= 0) continue;
      auto& inserted = inserted_[number];
      std::stable_sort(inserted.begin(), inserted.end(),
                       [](const auto& a, const auto& b) { return a.first < b.first; });
      auto& sequence = sequences_[number];
      auto& steps = lane(number).steps;
      std::size_t next = 0;
      for (std::size_t i = 0; i < steps.size(); ++i) {
        for (; next < inserted.size() && inserted[next].first == static_cast<int>(i); ++next) {
          const InstructionId id = inserted[next].second;
          sequence.push_back({lane(id.lane).steps[id.index], {id}});
        }
        Placed one{std::move(steps[i]), {{number, static_cast<int>(i)}}};
        auto& after = one.step.after;
        after.erase(std::remove_if(after.begin(), after.end(),
                                   [&](const InstructionId& id) {
                                     return id.index < 0 || joined_[id.lane] == number;
                                   }),
                    after.end());
        sequence.push_back(std::move(one));
      }
    }
  }

  // --- fused steps ---

  /// True if no instruction except the given ones accesses the scratch range.
  bool only(Rank rank, const Range& range, const std::vector<const Placed*>& by) {
    if (range.buffer != Buffer::kScratch) return false;
    return accesses(rank, range.buffer).all_of(range, [&](const InstructionId& id) {
      return std::any_of(by.begin(), by.end(), [&](const Placed* one) {
        return std::find(one->ids.begin(), one->ids.end(), id) != one->ids.end();
      });
    });
  }

  void fuse(std::vector<Placed>& sequence) {
    std::vector<Placed> fused;
    for (std::size_t i = 0; i < sequence.size(); ++i) {
      fused.push_back(std::move(sequence[i]));
      // Between two instructions that can be fused, skips nops that wait for nothing.
      const auto next = [&](std::size_t from) {
        while (from < sequence.size() && sequence[from].step.kind == StepKind::kNop &&
               sequence[from].step.after.empty())
          ++from;
        return from;
      };
      Placed& first = fused.back();
      if (first.step.kind != StepKind::kReceive || first.ids.empty()) continue;
      const Rank rank = lane(first.ids.front().lane).rank;
      std::size_t j = next(i + 1);
      if (j >= sequence.size()) continue;
      const std::size_t k = next(j + 1);
      Placed* last = k < sequence.size() ? &sequence[k] : nullptr;
      if (keep(rank, first, sequence[j], last)) {
        absorb(fused, sequence, i + 1, j);
        i = j;
        j = next(i + 1);
        if (j >= sequence.size()) continue;
      }
      if (send_on(fused.back(), sequence[j])) {
        absorb(fused, sequence, i + 1, j);
        i = j;
      }
    }
    sequence = std::move(fused);
  }

  static void absorb(std::vector<Placed>& fused, std::vector<Placed>& sequence, std::size_t begin,
                     std::size_t end) {
    for (std::size_t i = begin; i <= end; ++i)
      fused.back().ids.insert(fused.back().ids.end(), sequence[i].ids.begin(),
                              sequence[i].ids.end());
  }

  /// Fuses the receive of a message into scratch with the copy or addition that uses the message.
  bool keep(Rank rank, Placed& first, const Placed& second, const Placed* third) {
    const Instruction& used = second.step;
    const Range scratch = first.step.target;
    if (!used.after.empty() || scratch.count == 0) return false;
    if (used.kind == StepKind::kCopy && used.source == scratch && used.target != scratch &&
        only(rank, scratch, {&first, &second})) {
      first.step.source = first.step.target = used.target;
      first.step.at = used.at;
      return true;
    }
    if (used.kind != StepKind::kReduce || used.inputs.size() != 2) return false;
    const bool last = used.inputs[1] == scratch;
    if (!last && used.inputs[0] != scratch) return false;
    const Range own = used.inputs[last ? 0 : 1];
    if (own == scratch) return false;
    if (used.target == scratch) {
      if (third == nullptr || !sends_on(used.target, *third) ||
          !only(rank, scratch, {&first, &second, third}))
        return false;
      first.leaves_out_sum = true;
    } else if (!only(rank, scratch, {&first, &second})) {
      return false;
    }
    first.step.kind = StepKind::kReceiveReduce;
    first.step.source = own;
    first.step.target = used.target;
    first.step.at = used.at;
    return true;
  }

  static bool sends_on(const Range& range, const Placed& next) {
    return next.step.kind == StepKind::kSend && next.step.fused && next.step.after.empty() &&
           next.step.source == range;
  }

  static bool send_on(Placed& first, const Placed& next) {
    if (!sends_on(first.step.target, next)) return false;
    if (first.step.kind == StepKind::kReceive) {
      first.step.kind = StepKind::kReceiveSend;
    } else if (first.step.kind == StepKind::kReceiveReduce) {
      first.step.kind =
          first.leaves_out_sum ? StepKind::kReceiveReduceSend : StepKind::kReceiveReduceCopySend;
      if (first.leaves_out_sum) first.step.target = first.step.source;
    } else {
      return false;
    }
    first.passed_to = next.step.lane;
    return true;
  }

  // --- numbers ---

  void number_lanes() {
    numbers_.assign(count(), -1);
    lanes_of_rank_.assign(ranks_, 0);
    for (const PlanLane& of : made_.lanes) {
      if (of.kind == PlanLane::Kind::kBlock)
        lanes_of_rank_[of.rank] = std::max(lanes_of_rank_[of.rank], of.number + 1);
    }
    const int blocks = *std::max_element(lanes_of_rank_.begin(), lanes_of_rank_.end());
    if (made_.multicasts > 0)
      std::fill(lanes_of_rank_.begin(), lanes_of_rank_.end(), blocks + made_.multicasts);
    for (int number = 0; number < count(); ++number) {
      const PlanLane& of = lane(number);
      if (of.kind == PlanLane::Kind::kBlock) numbers_[number] = of.number;
      if (of.kind == PlanLane::Kind::kMulticast) numbers_[number] = blocks + of.number;
    }
    for (int number = 0; number < count(); ++number) {
      if (numbers_[number] < 0 && joined_[number] < 0)
        numbers_[number] = lanes_of_rank_[lane(number).rank]++;
    }
  }

  /// Input ranges at equal distances, which a single step adds up.
  struct Run {
    Range first;
    std::int64_t stride = 0;
    std::int32_t inputs = 0;
  };

  static std::vector<Run> runs(const Instruction& sum, bool& accumulates) {
    std::vector<Range> inputs;
    accumulates = false;
    for (const Range& input : sum.inputs) {
      if (input == sum.target && !accumulates) {
        accumulates = true;
      } else {
        inputs.push_back(input);
      }
    }
    std::sort(inputs.begin(), inputs.end());
    std::vector<Run> all;
    for (const Range& input : inputs) {
      if (!all.empty() && all.back().first.buffer == input.buffer) {
        Run& run = all.back();
        const std::int64_t expected = run.first.offset + run.stride * run.inputs;
        if (run.inputs == 1) run.stride = input.offset - run.first.offset;
        if (run.inputs == 1 || expected == input.offset) {
          ++run.inputs;
          continue;
        }
      }
      all.push_back({input, 0, 1});
    }
    return all;
  }

  /// Returns the steps for an instruction, without any step that would only wait.
  static std::vector<Step> steps_of_one(const Placed& one) {
    const Instruction& from = one.step;
    Step step;
    step.kind = from.kind;
    step.source = from.source;
    step.target = from.target;
    step.group = from.group;
    if (from.kind == StepKind::kNop) return {};
    if (from.kind != StepKind::kReduce) return {step};
    bool accumulates = false;
    std::vector<Step> all;
    for (const Run& run : runs(from, accumulates)) {
      Step part = step;
      part.source = run.first;
      if (run.inputs == 1 && !accumulates) {
        part.kind = StepKind::kCopy;
      } else {
        part.inputs = run.inputs;
        part.stride = run.stride;
        part.accumulate = accumulates;
      }
      accumulates = true;
      all.push_back(part);
    }
    return all;
  }

  [[nodiscard]] Peer peer(int number) const {
    const int user = joined_[number];
    const int final = user >= 0 ? user : number;
    return Peer::at(made_.lanes[final].rank, numbers_[final]);
  }

  void resolve_peers(const Placed& one, Step& step) const {
    const Instruction& from = one.step;
    if (receives(step.kind)) {
      step.from = peer(from.lane);
      if (sends(step.kind)) step.to = peer(one.passed_to);
    } else if (step.kind == StepKind::kMulticast) {
      step.to = Peer::at(0, peer(from.lane).lane);
    } else if (step.kind == StepKind::kSend) {
      step.to = peer(from.lane);
    }
  }

  /// Returns the waits of an instruction, except those that earlier waits already guarantee. The
  /// result maps each lane to the last step of the lane for which the instruction waits.
  std::map<int, int> waits_of(const Placed& one, int own, std::map<int, int>& certain) {
    std::map<int, int> waits;
    for (const InstructionId& id : one.step.after) {
      const int in = joined_[id.lane] >= 0 ? joined_[id.lane] : id.lane;
      const int place = places_[id.lane][id.index];
      if (place < 0 && in != own) continue;
      auto [known, is_new] = certain.try_emplace(in, place);
      if (in != own && !is_new && known->second >= place) continue;
      known->second = place;
      auto& wait = waits.try_emplace(in, place).first->second;
      wait = std::max(wait, place);
    }
    return waits;
  }

  PlanSteps lower() {
    // `places_` gets the position of each instruction in its final lane. The position of a removed
    // nop is that of its predecessor.
    places_.resize(count());
    for (int number = 0; number < count(); ++number)
      places_[number].assign(lane(number).steps.size(), -1);
    for (const auto& sequence : sequences_) {
      int last = -1;
      for (std::size_t i = 0; i < sequence.size(); ++i) {
        const Instruction& step = sequence[i].step;
        if (step.kind != StepKind::kNop || !step.after.empty()) last = static_cast<int>(i);
        for (const InstructionId& id : sequence[i].ids) places_[id.lane][id.index] = last;
      }
    }
    // The first pass makes steps that wait for instructions. The second pass replaces waits for
    // instructions by waits for final step numbers.
    struct Waiting {
      int lane = -1;
      int place = -1;
    };
    std::vector<std::vector<Waiting>> waiting(count());
    std::vector<std::vector<PlanStep>> steps(count());
    std::vector<std::vector<std::int64_t>> ends(count());
    for (int number = 0; number < count(); ++number) {
      std::map<int, int> certain;
      auto& into = steps[number];
      auto& wait = waiting[number];
      for (const Placed& one : sequences_[number]) {
        std::vector<Step> all = steps_of_one(one);
        std::map<int, int> waits = waits_of(one, number, certain);
        auto next = waits.begin();
        for (std::size_t left = waits.size(); left > (all.empty() ? 0U : 1U); --left, ++next) {
          into.push_back({{}, one.step.at});
          wait.push_back({next->first, next->second});
        }
        for (Step& step : all) {
          resolve_peers(one, step);
          into.push_back({step, one.step.at});
          wait.push_back(next != waits.end() ? Waiting{next->first, next->second} : Waiting{});
          if (next != waits.end()) ++next;
        }
        ends[number].push_back(static_cast<std::int64_t>(into.size()));
      }
    }
    PlanSteps made(ranks_);
    for (Rank rank = 0; rank < ranks_; ++rank) made[rank].resize(lanes_of_rank_[rank]);
    for (int number = 0; number < count(); ++number) {
      if (joined_[number] >= 0) continue;
      auto& of = steps[number];
      for (std::size_t i = 0; i < of.size(); ++i) {
        const Waiting& wait = waiting[number][i];
        if (wait.lane < 0) continue;
        const std::int64_t end =
            wait.lane == number ? static_cast<std::int64_t>(i) + 1 : ends[wait.lane][wait.place];
        if (end > 0) of[i].step.wait = {numbers_[wait.lane], end};
      }
      made[lane(number).rank][numbers_[number]] = std::move(of);
    }
    return made;
  }

  PlanLanes made_;
  Rank ranks_;
  std::array<std::vector<Accesses>, 2> accesses_;  ///< for each rank: accesses to the data buffer
                                                   ///< ([0]) and to the scratch buffer ([1])
  std::vector<std::vector<WaitFor>> waits_;        ///< for each lane that waits: the waits for
                                                   ///< steps of other lanes
  std::vector<int> joined_;  ///< for each inbox, the thread block that receives its messages
                             ///< directly; -1: none
  std::vector<std::vector<std::pair<int, InstructionId>>> inserted_;
  std::vector<std::vector<Placed>> sequences_;
  std::vector<std::vector<int>> places_;
  std::vector<int> numbers_;
  std::vector<int> lanes_of_rank_;
};

}  // namespace

PlanSteps steps_of(PlanLanes lanes, Rank ranks) { return Joiner(std::move(lanes), ranks).join(); }

}  // namespace tutti::core::custom
