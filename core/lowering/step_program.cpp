// Lowers a training step of data parallelism to tasks, after packing and planning:
//
//   reads ─▶ forward ─▶ backward 0 ─▶ backward 1 ─▶ … ─▶ [backward done]
//                          │ ready 3
//                          └─▶ copy ─▶ convert ─▶ pack 3 ─▶ [unpack 3, latched] ─▶ convert, update
//                                                   └─▶ pack 2 (serial launches)
//   [backward done] opens the latch of the unpack marks
//   [all packs and backward done] ─▶ update ─▶ [step done but for its checkpoint]
//                                     ─▶ checkpoint packs one by one ─▶ [end]
//
// Each micro-batch has its own pass of forward and backward tasks. All passes except the first and
// the last are identical and become one repeated block, so a step with 65,536 micro-batches has as
// many tasks as a step with three. Exchanges (tensor or expert parallelism) are due at certain
// times of a pass. Compute tasks are divided into pieces at the times at which exchanges are due.

#include "core/lowering/step_program.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "core/base/check.h"
#include "core/lowering/due_exchanges.h"
#include "core/lowering/plan_check.h"
#include "core/lowering/ready_segments.h"

namespace tutti::core {
namespace {

/// The dependencies of packs: the backward segment after which each pack is ready, and the other
/// packs that each pack waits for.
struct Relations {
  /// The packs that wait for all gradients (Pack::needs_all_gradients), such as those that
  /// num_packs cuts from one concatenation of gradients. All these packs start when the last
  /// gradient of the concatenation is ready. The packs of a concatenation are unpacked when all of
  /// them are complete. Each entry of an all_reduce_spec has one concatenation; without a spec,
  /// there is one in total.
  struct Concatenation {
    std::vector<int> packs;
    int ready_after = -1;  ///< index of the segment that computes the last gradient
  };
  std::vector<Concatenation> concatenations;
  std::vector<int> concatenation_of_pack;  ///< -1: none
  std::vector<int> ready_after;            ///< for each pack of gradients: the segment that
                                           ///< computes its last gradient
  std::vector<int> read_by;  ///< for each pack that reads a variable: the segment whose layer waits
                             ///< for the pack; -1: none
  std::vector<std::vector<int>> successors;  ///< for each pack: the packs that start only after
                                             ///< this pack is complete
  std::vector<int> pull_of;                  ///< for each pack that is a push: the index of its
                                             ///< pull; -1: the pack is not a push
  std::vector<Bytes> bytes_up_to;  ///< for each pack p: total bytes of the gradients in packs 0 …
                                   ///< p, without conversion
  std::vector<Bytes> converted;    ///< for each segment: bytes that are read and written to convert
                                   ///< its gradients; empty: no conversion

  Relations(const Workload& workload, const Plan& plan)
      : concatenation_of_pack(plan.packs.size(), -1),
        ready_after(plan.packs.size(), -1),
        read_by(plan.packs.size(), -1),
        successors(plan.packs.size()),
        pull_of(pulls_of(plan)) {
    const std::vector<int> segment_of = segments_of_gradients(workload);
    concatenate(workload, plan, segment_of);
    Bytes up_to;
    for (int p = 0; p < std::ssize(plan.packs); ++p) {
      const Pack& pack = plan.packs[p];
      if (pack.after >= 0) successors[pack.after].push_back(p);
      if (pack.phase == PackPhase::kRead)
        read_by[p] = segment_of[pack.payload.members.front().variable];
      if (pack.phase == PackPhase::kGradients) {
        ready_after[p] = ready_segment(plan, p, segment_of);
        for (const Member& member : pack.payload.members) {
          // Count the bytes of a push and its pull only once, for the pull, because updates follow
          // the pull.
          if (pull_of[p] < 0)
            up_to += member.count * size_of(workload.gradients[member.variable].type);
        }
      }
      bytes_up_to.push_back(up_to);
    }
    if (!plan.compression || plan.compression->of_packs) return;
    for (const BackwardSegment& segment : workload.segments) {
      Bytes& sum = converted.emplace_back();
      for (const int v : segment.variables) {
        const Variable& gradient = workload.gradients[v];
        // Sparse gradients are sent without conversion to another data type.
        if (!gradient.slices)
          sum += core::converted(gradient.elements, gradient.type,
                                 sent_as(plan.compression, gradient.type));
      }
    }
  }

 private:
  void concatenate(const Workload& workload, const Plan& plan, const std::vector<int>& segment_of) {
    std::map<int, int> by_entry;
    for (int p = 0; p < std::ssize(plan.packs); ++p) {
      const Pack& pack = plan.packs[p];
      if (pack.phase != PackPhase::kGradients || !pack.needs_all_gradients) continue;
      const auto [known, is_new] =
          by_entry.try_emplace(pack.entry, static_cast<int>(concatenations.size()));
      if (is_new) concatenations.emplace_back();
      concatenations[known->second].packs.push_back(p);
      concatenation_of_pack[p] = known->second;
    }
    for (std::size_t v = 0; v < workload.gradients.size() && !by_entry.empty(); ++v) {
      const auto entry =
          by_entry.find(plan.entry_of_gradient.empty() ? 0 : plan.entry_of_gradient[v]);
      if (entry == by_entry.end() || workload.gradients[v].slices) continue;
      int& ready = concatenations[entry->second].ready_after;
      ready = std::max(ready, segment_of[v]);
    }
  }
  /// Returns the backward segment for which a pack of gradients waits.
  [[nodiscard]] int ready_segment(const Plan& plan, int p,
                                  const std::vector<int>& segment_of) const {
    const int c = concatenation_of_pack[p];
    return c >= 0 ? concatenations[c].ready_after : last_segment(plan.packs[p], segment_of);
  }
};

/// Lowers the training step of one group of workers to a program.
class Lowering {
 public:
  Lowering(const Workload& workload, const Plan& plan, const Relations& relations,
           const StepTimes& times, bool divisions)
      : workload_(workload),
        plan_(plan),
        relations_(relations),
        times_(times),
        divisions_(divisions),
        points_(plan) {
    int communicators = 0;
    for (const PlannedExchange& e : plan.exchanges)
      communicators = std::max(communicators, e.communicator + 1);
    last_exchange_.assign(communicators, kNoTask);
    out_.exchanges = static_cast<int>(plan.exchanges.size());
    out_.task_of_pack.assign(plan.packs.size(), kNoTask);
    waiting_for_pack_.resize(plan.packs.size());
  }

  std::pair<StepProgram, Durations> lower() && {
    if (packs() > 0)
      builder_.set_share_whole(std::max<std::int64_t>(1, relations_.bytes_up_to.back().count()));
    latch_ = builder_.add_latch();
    for (int p = 0; p < packs(); ++p) {
      if (pack(p).phase == PackPhase::kRead) launch(p, report_ready(p, kNoTask));
    }
    passes();
    const TaskId end = after_passes();
    out_.program = std::move(builder_).build(end);
    return {std::move(out_), std::move(durations_)};
  }

 private:
  [[nodiscard]] int packs() const { return static_cast<int>(plan_.packs.size()); }
  [[nodiscard]] const Pack& pack(int p) const { return plan_.packs[p]; }
  [[nodiscard]] int segments() const { return static_cast<int>(workload_.segments.size()); }
  /// Returns the bytes that are divided before or after the collective of a pack. If the collective
  /// has no predicted time of NCCL, its schedule includes the division.
  [[nodiscard]] Bytes divided_before(int p) const {
    return divisions_ && plan_.collective(pack(p)).nccl ? pack(p).divided_before : Bytes();
  }
  [[nodiscard]] Bytes divided_after(int p) const {
    return divisions_ && plan_.collective(pack(p)).nccl ? pack(p).divided_after : Bytes();
  }

  // --- tasks ---

  TaskId add(const Task& task, TaskId after) {
    const TaskId id = builder_.add(task);
    if (after != kNoTask) builder_.edge(after, id);
    return id;
  }
  TaskId mark(TaskId after = kNoTask) { return add({}, after); }
  TaskId compute(ComputeKind kind, const TaskCost& cost, int segment, int p, TaskId after) {
    Task task;
    task.kind = Task::Kind::kCompute;
    task.compute = kind;
    task.index = segment;
    task.pack = p;
    task.cost = cost;
    return add(task, after);
  }
  TaskCost row(Time time, std::int64_t compute_bound_ppm = 0) {
    durations_.rows.push_back({time, compute_bound_ppm});
    return {TaskCost::Kind::kTime, std::ssize(durations_.rows) - 1, {}};
  }
  static TaskCost copies(Bytes bytes) { return {TaskCost::Kind::kCopy, bytes.count(), {}}; }
  static TaskCost converts(Bytes bytes) { return {TaskCost::Kind::kMemory, bytes.count(), {}}; }

  TaskId report_ready(int p, TaskId after, std::int32_t every_steps = 1) {
    Task task;
    task.reported = true;
    task.pack = p;
    task.every_steps = every_steps;
    return add(task, after);
  }
  /// Launches the pack after `buffered`. The edges from the other predecessors are added later,
  /// once all packs are known.
  TaskId launch(int p, TaskId buffered, std::int32_t every_steps = 1) {
    Task task;
    task.kind = Task::Kind::kCommunicate;
    task.pack = p;
    task.every_steps = every_steps;
    return out_.task_of_pack[p] = add(task, buffered);
  }

  // --- passes ---

  void passes() {
    const std::int32_t passes = workload_.micro_batches;
    pass(0, passes == 1);
    if (passes > 2) {
      const std::int32_t exchanges_before = exchanges_;
      const TaskId entry = builder_.size();
      pass(1, false);
      cursor_ = mark(cursor_);
      builder_.repeat_since(entry, passes - 2);
      const std::int32_t stride = exchanges_ - exchanges_before;
      for (TaskId t = entry; t < builder_.size(); ++t) {
        if (builder_.task(t).kind == Task::Kind::kCommunicate)
          builder_.task(t).number_stride = stride;
      }
      exchanges_ += stride * (passes - 3);
    }
    if (passes > 1) pass(passes - 1, true);
  }

  void pass(std::int32_t number, bool last) {
    forward(number);
    backward(number, last);
  }

  /// Adds the idle time before the next computation, if the workload has a gap at this point.
  void host_gap(std::optional<Time> gap, int segment) {
    if (gap) cursor_ = compute(ComputeKind::kHostGap, row(*gap), segment, -1, cursor_);
  }

  void forward(std::int32_t number) {
    host_gap(workload_.gaps.forward, -1);
    begin_half(false, times_.forward);
    std::vector<int> reads;
    for (int p = 0; number == 0 && p < packs(); ++p) {
      if (pack(p).phase == PackPhase::kRead) reads.push_back(p);
    }
    if (!reads.empty() && !times_.forward_by_segment.empty()) {
      for (int s = segments() - 1; s >= 0; --s) {
        const Time time = times_.forward_by_segment[s];
        cursor_ = compute(ComputeKind::kForward, row(time, times_.forward_compute_bound), -1, -1,
                          cursor_);
        for (const int p : reads) {
          if (relations_.read_by[p] == s) waiting_for_pack_[p].push_back(cursor_);
        }
        computed_ += time;
      }
      exchanges_due();
    } else {
      const TaskId first = builder_.size();
      computed_in_pieces(times_.forward, [&](Time piece) {
        return compute(ComputeKind::kForward, row(piece, times_.forward_compute_bound), -1, -1,
                       cursor_);
      });
      for (const int p : reads) waiting_for_pack_[p].push_back(first);
    }
    end_half();
  }

  void backward(std::int32_t number, bool last) {
    Time total;
    for (int s = 0; s < segments(); ++s) total += times_.backward_in_pass(s, number);
    begin_half(true, total);
    for (int s = 0; s < segments(); ++s) {
      host_gap(workload_.gaps.before(s), s);
      const std::int64_t bound = times_.compute_bound_in_pass(s, number);
      computed_in_pieces(
          times_.backward_in_pass(s, number),
          [&](Time piece) {
            return compute(ComputeKind::kBackward, row(piece, bound), s, -1, cursor_);
          },
          [&] {
            if (last) gradients_ready(s);
          });
    }
    end_half();
  }

  /// Appends compute tasks with the total duration `time`. The computation is divided at the times
  /// at which exchanges are due. Calls `whole` after the last task is added, before the exchanges
  /// that are due at the end of the computation are added.
  template <class Piece, class Whole>
  void computed_in_pieces(Time time, const Piece& add_piece, const Whole& whole) {
    Time left = time;
    do {
      Time piece = left;
      if (points_.any()) {
        if (const auto next = points_.next(); next && *next - computed_ < left)
          piece = std::max(Time(), *next - computed_);
      }
      left -= piece;
      cursor_ = add_piece(piece);
      computed_ += piece;
      if (left == Time()) whole();
      exchanges_due();
    } while (left > Time());
  }
  template <class Piece>
  void computed_in_pieces(Time time, const Piece& add_piece) {
    computed_in_pieces(time, add_piece, [] {});
  }

  // --- exchanges ---

  void begin_half(bool backward, Time total) {
    computed_ = Time();
    if (points_.any()) points_.begin_pass(backward, total);
  }

  /// Adds the exchanges that are due at the current point of the pass. Collectives of one
  /// communicator run one after the other, and computation waits for each collective that does not
  /// overlap with computation.
  void exchanges_due() {
    while (points_.any()) {
      const auto due = points_.take(computed_);
      if (!due) return;
      const PlannedExchange& exchange = plan_.exchanges[*due];
      Task task;
      task.kind = Task::Kind::kCommunicate;
      task.index = *due;
      task.number = exchanges_++;
      const TaskId id = add(task, cursor_);
      TaskId& last = last_exchange_[exchange.communicator];
      if (last != kNoTask) builder_.edge(last, id);
      last = id;
      if (!exchange.exchange.overlaps) cursor_ = id;
    }
  }

  /// Makes the tasks that follow a forward or backward pass wait for all exchanges of this pass.
  void end_half() {
    std::vector<TaskId> in_flight;
    for (TaskId& last : last_exchange_) {
      if (last != kNoTask && last != cursor_) in_flight.push_back(last);
      last = kNoTask;
    }
    if (in_flight.empty()) return;
    cursor_ = mark(cursor_);
    for (const TaskId exchange : in_flight) builder_.edge(exchange, cursor_);
  }

  // --- packs of gradients ---

  void gradients_ready(int segment) {
    if (!relations_.converted.empty() && relations_.converted[segment].count() > 0)
      cursor_ = compute(ComputeKind::kConvert, converts(relations_.converted[segment]), segment, -1,
                        cursor_);
    std::vector<int> ready;
    for (int p = 0; p < packs(); ++p) {
      if (pack(p).phase != PackPhase::kGradients || relations_.ready_after[p] != segment) continue;
      ready.push_back(p);
      TaskId buffered = report_ready(p, cursor_);
      // A division in place reads and writes as many bytes as a copy. If whole packs are converted,
      // the converted pack is divided.
      const bool converts_packs = plan_.compression && plan_.compression->of_packs;
      const Bytes copied = pack(p).copied_in + (converts_packs ? Bytes() : divided_before(p));
      if (copied.count() > 0)
        buffered = compute(ComputeKind::kCopyIn, copies(copied), -1, p, buffered);
      if (pack(p).converted_in.count() > 0)
        buffered = compute(ComputeKind::kConvert, converts(pack(p).converted_in), -1, p, buffered);
      if (converts_packs && divided_before(p).count() > 0)
        buffered = compute(ComputeKind::kCopyIn, copies(divided_before(p)), -1, p, buffered);
      launch(p, buffered);
    }
    if (!plan_.computation_waits || ready.empty()) return;
    cursor_ = mark(cursor_);
    for (const int p : ready) computation_waiting_.push_back({p, cursor_});
  }

  // --- tasks after the passes ---

  /// Returns the task at the end of the step.
  TaskId after_passes() {
    Task over;
    over.opens = latch_;
    const TaskId backward_done = add(over, cursor_);
    serial_launches();
    const std::vector<TaskId> unpacked = unpack_and_update();
    for (const auto& [p, waits] : computation_waiting_) builder_.edge(out_.task_of_pack[p], waits);
    TaskId all_packs = mark(backward_done);
    for (int p = 0; p < packs(); ++p) {
      if (pack(p).phase != PackPhase::kCheckpoint) builder_.edge(out_.task_of_pack[p], all_packs);
    }
    if (plan_.update == Update::kAfterAll)
      all_packs = compute(ComputeKind::kUpdate, row(times_.update), -1, -1, all_packs);
    const TaskId end = mark(all_packs);
    for (const TaskId task : unpacked) builder_.edge(task, end);
    // TensorFlow aggregates the variables one after the other.
    TaskId saved = end;
    for (int p = 0; p < packs(); ++p) {
      if (pack(p).phase == PackPhase::kCheckpoint)
        saved = launch(p, report_ready(p, saved, plan_.checkpoint_every), plan_.checkpoint_every);
    }
    return saved == end ? end : mark(saved);
  }

  /// Adds the edges from each pack to the packs and tasks that wait for the pack. Adds these edges
  /// before all other edges of the pack's task.
  void serial_launches() {
    for (int p = 0; p < packs(); ++p) {
      if (pack(p).phase == PackPhase::kCheckpoint) continue;
      for (const int next : relations_.successors[p]) {
        if (pack(next).phase != PackPhase::kCheckpoint)
          builder_.edge(out_.task_of_pack[p], out_.task_of_pack[next]);
      }
      for (const TaskId task : waiting_for_pack_[p]) builder_.edge(out_.task_of_pack[p], task);
    }
  }

  /// Adds the tasks that copy gradients out of each pack, convert and update them. The tasks also
  /// wait for the end of the backward pass, because the kernels of the backward pass are queued
  /// before them. Returns the tasks that the end of the step must wait for.
  std::vector<TaskId> unpack_and_update() {
    std::vector<TaskId> tasks;
    std::vector<std::vector<TaskId>> parts(relations_.concatenations.size());
    for (int p = 0; p < packs(); ++p) {
      if (pack(p).phase != PackPhase::kGradients || relations_.pull_of[p] >= 0) continue;
      const int concatenation = relations_.concatenation_of_pack[p];
      const bool has_work = plan_.update == Update::kPerPack || pack(p).copied_out > Bytes() ||
                            divided_after(p) > Bytes() || pack(p).converted_out > Bytes();
      if (concatenation < 0 && !has_work) continue;
      Task latched;
      latched.latch = latch_;
      const TaskId unpack = add(latched, out_.task_of_pack[p]);
      tasks.push_back(unpack);
      if (concatenation >= 0)
        parts[concatenation].push_back(unpack);
      else
        unpack_packs({p}, p, unpack, tasks);
    }
    for (std::size_t c = 0; c < parts.size(); ++c) {
      if (parts[c].empty()) continue;
      const TaskId all = mark();
      for (const TaskId part : parts[c]) builder_.edge(part, all);
      tasks.push_back(all);
      unpack_packs(relations_.concatenations[c].packs, -1, all, tasks);
    }
    return tasks;
  }

  /// Adds the tasks that unpack `packs`. `label` is the pack's index in the tasks' labels; -1: the
  /// tasks unpack all packs of a concatenation.
  void unpack_packs(const std::vector<int>& packs, int label, TaskId after,
                    std::vector<TaskId>& tasks) {
    Bytes copied, converted;
    std::vector<Share> shares;
    for (const int p : packs) {
      copied += pack(p).copied_out + divided_after(p);
      converted += pack(p).converted_out;
      const Bytes before = p == 0 ? Bytes() : relations_.bytes_up_to[p - 1];
      shares.push_back({before.count(), relations_.bytes_up_to[p].count()});
    }
    const auto convert_back = [&] {
      if (converted.count() > 0)
        tasks.push_back(compute(ComputeKind::kConvertBack, converts(converted), -1, label, after));
    };
    // If whole packs were converted to another data type, convert whole packs back before gradients
    // are copied out.
    const bool converts_packs = plan_.compression && plan_.compression->of_packs;
    if (converts_packs) convert_back();
    if (copied.count() > 0)
      tasks.push_back(compute(ComputeKind::kCopyOut, copies(copied), -1, label, after));
    if (!converts_packs) convert_back();
    if (plan_.update != Update::kPerPack) return;
    if (!update_row_) update_row_ = row(times_.update).value;
    tasks.push_back(compute(ComputeKind::kUpdate,
                            {TaskCost::Kind::kShares, *update_row_, builder_.add_shares(shares)},
                            -1, label, after));
  }

  const Workload& workload_;
  const Plan& plan_;
  const Relations& relations_;
  const StepTimes& times_;
  bool divisions_;
  ProgramBuilder builder_;
  StepProgram out_;
  Durations durations_;
  DueExchanges points_;
  std::int32_t latch_ = -1;     ///< the latch that the end of the backward pass opens
  TaskId cursor_ = kNoTask;     ///< the last task of the pass so far, which the next task waits for
  Time computed_;               ///< computation time so far in the current forward or backward pass
  std::int32_t exchanges_ = 0;  ///< number of exchanges that were added to the step so far
  std::vector<TaskId> last_exchange_;  ///< for each communicator: its last exchange in the current
                                       ///< forward or backward pass
  std::vector<std::vector<TaskId>> waiting_for_pack_;  ///< for each pack that reads a variable: the
                                                       ///< forward tasks that wait for the pack
  std::vector<std::pair<int, TaskId>>
      computation_waiting_;  ///< pairs of a pack and the mark that waits for the pack
  std::optional<std::int64_t> update_row_;
};

}  // namespace

StepPrograms::StepPrograms(const Workload& workload, const Plan& plan, Divisions divisions) {
  const Relations relations(workload, plan);
  for (const StepTimes& times : workload.times) {
    auto [program, durations] =
        Lowering(workload, plan, relations, times, divisions == Divisions::kAsTasks).lower();
    std::shared_ptr<const StepProgram> same;
    for (const Group& group : groups_) {
      if (*group.program == program) same = group.program;
    }
    if (!same) same = std::make_shared<const StepProgram>(std::move(program));
    groups_.push_back({std::move(same), std::move(durations)});
  }
#if !defined(NDEBUG) || defined(TUTTI_SANITIZED)
  for (const PlanProblem& problem : problems_of(view_of(*this, plan)))
    TUTTI_CHECK(!is_certain(problem.code), "the plan is wrong: {} ({})", problem.text,
                to_string(problem.code));
#endif
}

}  // namespace tutti::core
