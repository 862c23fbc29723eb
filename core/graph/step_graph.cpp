// Makes the boxes of a drawing from the tasks of a program. The packs, in the order in which they
// are issued, are divided into a few runs of consecutive packs. A phase consists of a run of packs
// and the computation before it. A box contains all tasks with the same kind, lane, phase, pass and
// block. Marks take no time and are not drawn. A task that waits for a mark is drawn as if it
// waited for the predecessors of the mark.

#include "core/graph/step_graph.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "core/base/format.h"
#include "core/plan/issue_order.h"
#include "core/plan/plan_problem.h"

namespace tutti::core {
namespace {

using Box = StepGraph::Box;
using Arrow = StepGraph::Arrow;
using Look = StepGraph::Look;

std::size_t member(std::int64_t index) { return static_cast<std::size_t>(index); }

/// The maximum number of rows for packs and for the computation of each pack.
constexpr int kMaxRows = 20;

Look look_of(const Task& task) {
  if (task.kind == Task::Kind::kCommunicate) return task.pack >= 0 ? Look::kPack : Look::kExchange;
  switch (task.compute) {
    case ComputeKind::kForward: return Look::kForward;
    case ComputeKind::kBackward: return Look::kBackward;
    case ComputeKind::kUpdate: return Look::kUpdate;
    default: return Look::kCopy;
  }
}

/// Returns numbers as "3", "3–8", or "3, 5–7".
std::string ranges(std::vector<std::int32_t> numbers) {
  std::sort(numbers.begin(), numbers.end());
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
  std::string text;
  for (std::size_t i = 0; i < numbers.size();) {
    std::size_t last = i;
    while (last + 1 < numbers.size() && numbers[last + 1] == numbers[last] + 1) ++last;
    text += text.empty() ? "" : ", ";
    text +=
        last == i ? fmt::format("{}", numbers[i]) : fmt::format("{}–{}", numbers[i], numbers[last]);
    i = last + 1;
  }
  return text;
}

/// Returns the ranges as text. If the text would be too long, returns only the first and the last
/// number.
std::string short_ranges(const std::vector<std::int32_t>& numbers) {
  constexpr std::size_t kMaxCharacters = 16;
  const std::string all = ranges(numbers);
  if (all.size() <= kMaxCharacters) return all;
  const auto [low, high] = std::minmax_element(numbers.begin(), numbers.end());
  return fmt::format("{} … {}", *low, *high);
}

class Drawer {
 public:
  Drawer(const Program& program, const TaskTimes& times, const StepGraphWords& words)
      : program_(program),
        times_(times),
        words_(words),
        order_(program),
        box_of_(program.tasks.size(), -1) {}

  StepGraph draw() && {
    name_lanes();
    find_phases();
    group();
    connect();
    place();
    frame();
    graph_.captions = captions();
    return std::move(graph_);
  }

 private:
  [[nodiscard]] const Task& task(TaskId t) const { return program_.tasks[member(t)]; }
  [[nodiscard]] bool is_mark(TaskId t) const { return task(t).kind == Task::Kind::kMark; }

  // --- boxes ---

  /// Names the lanes. Lanes of exchanges are to the left of the compute stream, and the lane of
  /// packs is to its right, so that arrows between them and the stream cross no other lane.
  void name_lanes() {
    std::set<std::int32_t> used;
    for (const Task& one : program_.tasks) {
      if (one.kind == Task::Kind::kCommunicate) used.insert(words_.communicator(one));
    }
    const auto name = [&](std::int32_t c) { return words_.communicators[member(c)]; };
    for (const std::int32_t c : used) {
      if (c == 0) continue;
      lane_of_communicator_[c] = static_cast<std::int32_t>(graph_.lanes.size());
      graph_.lanes.push_back(name(c));
    }
    compute_lane_ = static_cast<std::int32_t>(graph_.lanes.size());
    graph_.lanes.emplace_back("compute stream");
    if (used.contains(0)) {
      lane_of_communicator_[0] = static_cast<std::int32_t>(graph_.lanes.size());
      graph_.lanes.push_back(name(0));
    }
  }
  [[nodiscard]] std::int32_t lane_of(const Task& one) const {
    return one.kind == Task::Kind::kCommunicate ? lane_of_communicator_.at(words_.communicator(one))
                                                : compute_lane_;
  }

  /// For each task, finds the run of packs that it precedes or follows.
  void find_phases() {
    std::vector<std::int32_t> packs;
    for (const TaskId t : order_.tasks()) {
      if (task(t).kind == Task::Kind::kCommunicate && task(t).pack >= 0)
        packs.push_back(task(t).pack);
    }
    const int count = static_cast<int>(packs.size());
    std::set<ComputeKind> per_pack;
    for (const Task& one : program_.tasks) {
      if (one.kind == Task::Kind::kCompute && one.pack >= 0) per_pack.insert(one.compute);
    }
    runs_ = std::min(count, std::max(4, kMaxRows / (1 + static_cast<int>(per_pack.size()))));
    std::map<std::int32_t, int> run_of_pack;
    for (int i = 0; i < count; ++i)
      run_of_pack[packs[member(i)]] =
          static_cast<int>(std::int64_t{i} * runs_ / std::max(count, 1));
    phase_.assign(program_.tasks.size(), runs_);
    pass_.assign(program_.tasks.size(), 0);
    int next = runs_;
    for (auto t = order_.tasks().rbegin(); t != order_.tasks().rend(); ++t) {
      const Task& one = task(*t);
      const auto run = run_of_pack.find(one.pack);
      if (one.kind == Task::Kind::kCommunicate && run != run_of_pack.end()) next = run->second;
      phase_[member(*t)] = run != run_of_pack.end() ? run->second : next;
    }
    int pass = 0;
    bool backward = false;
    for (const TaskId t : order_.tasks()) {
      if (task(t).kind == Task::Kind::kCompute && task(t).pack < 0) {
        if (task(t).compute == ComputeKind::kForward && backward) ++pass;
        if (task(t).compute == ComputeKind::kForward || task(t).compute == ComputeKind::kBackward)
          backward = task(t).compute == ComputeKind::kBackward;
      }
      pass_[member(t)] = pass;
    }
  }

  void group() {
    using Key =
        std::tuple<std::int32_t, int, int, std::int32_t, Look, ComputeKind, bool, std::int32_t>;
    std::map<Key, std::vector<TaskId>> groups;
    for (const TaskId t : order_.tasks()) {
      const Task& one = task(t);
      const bool computes = one.kind == Task::Kind::kCompute;
      const std::int32_t exchange = !computes && one.pack < 0 ? one.index : -1;
      groups[{program_.block_of(t), pass_[member(t)], phase_[member(t)], lane_of(one), look_of(one),
              computes ? one.compute : ComputeKind::kForward, one.pack >= 0, exchange}]
          .push_back(t);
    }
    std::vector<std::vector<TaskId>> all;
    for (auto& [key, tasks] : groups) all.push_back(std::move(tasks));
    std::map<TaskId, std::size_t> place;
    for (std::size_t i = 0; i < order_.tasks().size(); ++i) place[order_.tasks()[i]] = i;
    const auto begins = [&](const std::vector<TaskId>& tasks) {
      Time start = times_.of[member(tasks.front())].start;
      for (const TaskId t : tasks) start = std::min(start, times_.of[member(t)].start);
      return std::pair(start, place.at(tasks.front()));
    };
    std::sort(all.begin(), all.end(),
              [&](const auto& a, const auto& b) { return begins(a) < begins(b); });
    for (const std::vector<TaskId>& tasks : all) add_box(tasks);
    Box end;
    end.lane = compute_lane_;
    end.look = Look::kEnd;
    end.title = "end of the step";
    end.detail = show(times_.step);
    end.tooltip = "the next step begins";
    end.time = times_.of[member(program_.end)];
    end.on_path =
        std::any_of(times_.on_path.begin(), times_.on_path.end(), [](bool on) { return on; });
    box_of_[member(program_.end)] = static_cast<std::int32_t>(graph_.boxes.size());
    graph_.boxes.push_back(end);
  }

  void add_box(const std::vector<TaskId>& tasks) {
    const Task& first = task(tasks.front());
    Box box;
    box.lane = lane_of(first);
    box.look = look_of(first);
    box.tasks = static_cast<std::int32_t>(tasks.size());
    box.time.start = times_.of[member(tasks.front())].start;
    std::vector<std::int32_t> packs, segments;
    Bytes bytes;
    bool same_bytes = true;
    for (const TaskId t : tasks) {
      const TaskTimes::Interval& time = times_.of[member(t)];
      box.time.start = std::min(box.time.start, time.start);
      box.time.end = std::max(box.time.end, time.end);
      box.time.busy += time.busy;
      box.on_path = box.on_path || times_.on_path[member(t)];
      box_of_[member(t)] = static_cast<std::int32_t>(graph_.boxes.size());
      if (task(t).pack >= 0) packs.push_back(task(t).pack);
      if (task(t).kind == Task::Kind::kCompute && task(t).index >= 0)
        segments.push_back(task(t).index);
      if (task(t).kind != Task::Kind::kCommunicate) continue;
      bytes += words_.bytes(task(t));
      same_bytes = same_bytes && words_.bytes(task(t)) == words_.bytes(first);
    }
    const std::string times_drawn = box.tasks > 1 ? fmt::format(" ×{}", box.tasks) : "";
    const std::string of_packs =
        packs.empty() ? ""
                      : fmt::format("pack{} {}", packs.size() == 1 ? "" : "s", short_ranges(packs));
    const std::set<std::int32_t> distinct(segments.begin(), segments.end());
    const std::string of_segments =
        distinct.empty()
            ? ""
            : fmt::format("segment{} {}", distinct.size() == 1 ? "" : "s", short_ranges(segments));
    if (box.look == Look::kPack) {
      box.title = of_packs + times_drawn;
      box.detail = fmt::format("{} · {}", show(bytes), show(box.time.end - box.time.start));
    } else if (box.look == Look::kExchange) {
      box.title = words_.collective(first) + times_drawn;
      box.detail = fmt::format("{}{} · {}", show(words_.bytes(first)),
                               box.tasks > 1 && same_bytes ? " each" : "", show(box.time.busy));
    } else {
      box.title = std::string(to_string(first.compute)) + times_drawn;
      const std::string of = of_packs.empty() ? of_segments : of_packs;
      box.detail = fmt::format("{}{}{}", of, of.empty() ? "" : " · ", show(box.time.busy));
    }
    box.tooltip = tooltip(box, packs, segments);
    graph_.boxes.push_back(std::move(box));
  }

  [[nodiscard]] std::string tooltip(const Box& box, const std::vector<std::int32_t>& packs,
                                    const std::vector<std::int32_t>& segments) const {
    std::string text = fmt::format("{}: {} task{}\nfrom {} to {}, {} in all", box.title, box.tasks,
                                   box.tasks == 1 ? "" : "s", show(box.time.start),
                                   show(box.time.end), show(box.time.busy));
    if (!packs.empty()) text += "\npacks " + ranges(packs);
    if (!segments.empty() && words_.segment) {
      const auto [low, high] = std::minmax_element(segments.begin(), segments.end());
      text += "\nsegments " + ranges(segments) + ": " + words_.segment(*low);
      if (*low != *high) text += " … " + words_.segment(*high);
    }
    return text;
  }

  // --- arrows ---

  /// Returns, for each task, the boxes for which it waits, directly or through marks.
  std::vector<std::set<std::int32_t>> awaited_boxes() {
    std::vector<std::set<std::int32_t>> boxes(program_.tasks.size());
    std::vector<std::int32_t> missing(program_.tasks.size(), 0);
    std::vector<std::vector<TaskId>> after(program_.tasks.size());
    std::vector<TaskId> open;
    for (TaskId t = 0; t < program_.size(); ++t) {
      order_.each_awaited(t, [&](TaskId before) {
        after[member(before)].push_back(t);
        ++missing[member(t)];
      });
      if (missing[member(t)] == 0) open.push_back(t);
    }
    while (!open.empty()) {
      const TaskId t = open.back();
      open.pop_back();
      for (const TaskId next : after[member(t)]) {
        if (is_mark(t))
          boxes[member(next)].insert(boxes[member(t)].begin(), boxes[member(t)].end());
        else
          boxes[member(next)].insert(box_of_[member(t)]);
        if (--missing[member(next)] == 0) open.push_back(next);
      }
    }
    return boxes;
  }

  void connect() {
    const std::vector<std::set<std::int32_t>> awaited = awaited_boxes();
    std::set<std::pair<std::int32_t, std::int32_t>> edges;
    for (TaskId t = 0; t < program_.size(); ++t) {
      const std::int32_t to = box_of_[member(t)];
      if (to < 0) continue;
      for (const std::int32_t from : awaited[member(t)]) {
        if (from != to) edges.emplace(from, to);
      }
    }
    const auto boxes = static_cast<std::int32_t>(graph_.boxes.size());
    // Boxes are sorted by time, so an arrow usually leads to a later box. Two boxes have arrows in
    // both directions only if their tasks alternate.
    std::vector<std::vector<bool>> reaches(member(boxes), std::vector<bool>(member(boxes), false));
    std::int32_t last = -1;
    std::set<std::pair<std::int32_t, std::int32_t>> stream;
    for (std::int32_t b = 0; b < boxes; ++b) {
      if (graph_.boxes[member(b)].lane != compute_lane_) continue;
      if (last >= 0) stream.emplace(last, b);
      last = b;
    }
    const auto links = [&](std::int32_t a, std::int32_t b) {
      return edges.contains({a, b}) || stream.contains({a, b});
    };
    for (std::int32_t a = boxes - 1; a >= 0; --a) {
      for (std::int32_t b = a + 1; b < boxes; ++b) {
        if (!links(a, b)) continue;
        reaches[member(a)][member(b)] = true;
        for (std::int32_t c = b + 1; c < boxes; ++c) {
          if (reaches[member(b)][member(c)]) reaches[member(a)][member(c)] = true;
        }
      }
    }
    const auto is_implied = [&](std::int32_t a, std::int32_t b) {
      for (std::int32_t c = a + 1; c < b; ++c) {
        if (links(a, c) && reaches[member(c)][member(b)]) return true;
      }
      return false;
    };
    const auto add = [&](std::int32_t a, std::int32_t b, Arrow::Kind kind) {
      const Box &from = graph_.boxes[member(a)], &to = graph_.boxes[member(b)];
      graph_.arrows.push_back({a, b, kind, from.on_path && to.on_path});
    };
    for (const auto& [a, b] : edges) {
      if (a > b) {
        if (!edges.contains({b, a})) add(a, b, Arrow::Kind::kDependency);
      } else if (edges.contains({b, a})) {
        add(a, b, Arrow::Kind::kAlternating);
      } else if (!is_implied(a, b)) {
        add(a, b, Arrow::Kind::kDependency);
      }
    }
    for (const auto& [a, b] : stream) {
      if (!edges.contains({a, b}) && !edges.contains({b, a}) && !is_implied(a, b))
        add(a, b, Arrow::Kind::kStream);
    }
  }

  // --- rows ---

  void place() {
    std::vector<std::int32_t> last_row(graph_.lanes.size(), -1);
    std::int32_t floor = 0;  // boxes after a block are below the whole block
    std::int32_t block = -1, lowest = -1;
    std::vector<std::int32_t> block_of_box(graph_.boxes.size(), -1);
    for (TaskId t = 0; t < program_.size(); ++t) {
      if (box_of_[member(t)] >= 0 && !is_mark(t))
        block_of_box[member(box_of_[member(t)])] = program_.block_of(t);
    }
    for (std::int32_t b = 0; b < std::ssize(graph_.boxes); ++b) {
      Box& box = graph_.boxes[member(b)];
      if (block_of_box[member(b)] != block) {
        block = block_of_box[member(b)];
        floor = lowest + 1;
      }
      std::int32_t row = std::max(floor, last_row[member(box.lane)] + 1);
      for (const Arrow& arrow : graph_.arrows) {
        if (arrow.to != b || arrow.from > b) continue;
        const Box& from = graph_.boxes[member(arrow.from)];
        row = std::max(
            row,
            from.row + (arrow.kind == Arrow::Kind::kAlternating && from.lane != box.lane ? 0 : 1));
      }
      box.row = row;
      last_row[member(box.lane)] = row;
      lowest = std::max(lowest, row);
    }
    Box& end = graph_.boxes.back();
    end.row = std::max(end.row, lowest + (end.row == lowest ? 0 : 1));
    blocks_ = std::move(block_of_box);
  }

  void frame() {
    for (std::int32_t b = 0; b < std::ssize(program_.blocks); ++b) {
      const std::int32_t repeat = program_.blocks[member(b)].repeat;
      if (repeat < 2) continue;
      StepGraph::Frame frame{-1, -1, repeat};
      for (std::size_t i = 0; i < graph_.boxes.size(); ++i) {
        if (blocks_[i] != b) continue;
        const std::int32_t row = graph_.boxes[i].row;
        frame.first_row = frame.first_row < 0 ? row : std::min(frame.first_row, row);
        frame.last_row = std::max(frame.last_row, row);
      }
      if (frame.first_row >= 0) graph_.frames.push_back(std::move(frame));
    }
  }

  [[nodiscard]] std::vector<std::string> captions() const {
    std::vector<std::string> lines{"Times: " + times_.source + "."};
    std::int64_t tasks = 0, marks = 0, drawn = 0;
    for (const Task& one : program_.tasks) {
      if (one.kind == Task::Kind::kMark)
        ++marks;
      else
        ++tasks;
    }
    std::string collapsed;
    for (const Box& box : graph_.boxes) drawn += box.look == Look::kEnd ? 0 : 1;
    if (drawn < tasks)
      collapsed = fmt::format(
          "{} tasks are drawn as {} boxes; ×n means that a box stands for n tasks of one kind. ",
          tasks, drawn);
    lines.push_back(collapsed +
                    fmt::format("{} tasks that take no time (marks) are not drawn.", marks));
    return lines;
  }

  const Program& program_;
  const TaskTimes& times_;
  const StepGraphWords& words_;
  IssueOrder order_;
  StepGraph graph_;
  std::map<std::int32_t, std::int32_t> lane_of_communicator_;
  std::int32_t compute_lane_ = 0;
  int runs_ = 0;
  std::vector<int> phase_, pass_;     ///< indexed by task
  std::vector<std::int32_t> box_of_;  ///< for each task: the index of its box; -1: the task is a
                                      ///< mark
  std::vector<std::int32_t> blocks_;  ///< block of each box
};

}  // namespace

StepGraph make_step_graph(const Program& program, const TaskTimes& times,
                          const StepGraphWords& words) {
  return Drawer(program, times, words).draw();
}

}  // namespace tutti::core
