// Makes random mistakes in random valid programs, and compares the plan checker with runs. In a
// run, two ranks execute their programs with completions in random order. If the ranks deadlock, or
// a step ends before one of its tasks, then the checker must have reported a problem.

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "core/base/random.h"
#include "core/plan/check_collectives.h"
#include "core/plan/check_program.h"
#include "core/plan/runner.h"

namespace tutti::core {
namespace {

constexpr std::int32_t kCommunicators = 3;
/// Communicators below this number execute one collective at a time.
constexpr std::int32_t kOneAtATime = 2;

/// A program in a form that can be changed.
struct Draft {
  struct Block {
    TaskId entry, exit;
    std::int32_t repeat;
  };
  std::vector<Task> tasks;
  std::vector<std::pair<TaskId, TaskId>> edges;
  std::vector<Block> blocks;
  std::int32_t latches = 0;

  [[nodiscard]] TaskId end() const { return static_cast<TaskId>(tasks.size()) - 1; }
  [[nodiscard]] Program program() const {
    ProgramBuilder builder;
    for (TaskId t = 0; t <= end(); ++t) {
      builder.add(tasks[t]);
      for (const Block& block : blocks) {
        if (block.exit == t) builder.repeat_since(block.entry, block.repeat);
      }
    }
    for (std::int32_t h = 0; h < latches; ++h) builder.add_latch();
    for (const auto& [from, to] : edges) builder.edge(from, to);
    return std::move(builder).build_unchecked(end());
  }
  /// Returns true if `to` waits for `from`, directly or indirectly.
  [[nodiscard]] bool waits(TaskId to, TaskId from) const {
    std::vector<TaskId> open{to};
    std::vector<bool> seen(tasks.size(), false);
    while (!open.empty()) {
      const TaskId t = open.back();
      open.pop_back();
      for (const auto& [a, b] : edges) {
        if (b != t || seen[a]) continue;
        if (a == from) return true;
        seen[a] = true;
        open.push_back(a);
      }
    }
    return false;
  }
};

class Author {
 public:
  explicit Author(std::uint64_t seed) : random_(seed) {}

  std::uint64_t below(std::uint64_t n) { return random_.below(n); }
  bool one_in(std::uint64_t n) { return below(n) == 0; }

  /// Returns a random program: a sequence of computations, with collectives and copies that start
  /// after them. Some computations wait for a collective. A latch opens at the end.
  Draft draft() {
    Draft d;
    d.latches = 1;
    std::vector<std::optional<TaskId>> last;
    std::vector<bool> chain;
    const auto forget = [&] {
      last.assign(kCommunicators, std::nullopt);
      chain.assign(kCommunicators, false);
    };
    std::vector<TaskId> unpacked;
    std::int32_t next_pack = 0;
    TaskId cursor = add(d, Task::Kind::kCompute, kNoTask);
    forget();
    const auto launch = [&](TaskId after, bool in_block) {
      const auto c = static_cast<std::int32_t>(below(kCommunicators));
      if (one_in(3)) after = add(d, Task::Kind::kMark, after);
      if (one_in(3)) after = add(d, Task::Kind::kCompute, after);
      const TaskId id = add(d, Task::Kind::kCommunicate, after);
      task(d, id).pack = next_pack++;
      task(d, id).index = c;
      std::optional<TaskId>& before = last[c];
      const std::optional<TaskId> other = last[below(kCommunicators)];
      const bool crossed = other && other != before && !in_block && one_in(4);
      if (crossed) d.edges.emplace_back(*other, id);
      // A collective that waits for a collective of another communicator may start later than
      // computation suggests. So the collectives of its communicator must be ordered by edges.
      auto is_chain = chain[c];  // a reference to a bit
      is_chain = is_chain || crossed;
      if (before && c < kOneAtATime && (is_chain || one_in(2))) {
        d.edges.emplace_back(*before, id);
        is_chain = true;
      }
      before = id;
      return id;
    };
    for (std::uint64_t n = 3 + below(6); n > 0; --n) {
      if (one_in(6)) {
        forget();
        block(d, cursor, launch);
        forget();
        continue;
      }
      if (one_in(3)) cursor = add(d, Task::Kind::kMark, cursor);
      for (std::uint64_t i = below(3); i > 0; --i) {
        const TaskId id = launch(cursor, false);
        if (one_in(3)) {
          Task unpack;
          unpack.latch = 0;
          d.tasks.push_back(unpack);
          d.edges.emplace_back(id, last_of(d));
          add(d, Task::Kind::kCompute, last_of(d));
        } else if (one_in(4)) {
          unpacked.push_back(id);
        }
      }
      cursor = add(d, Task::Kind::kCompute, cursor);
      for (const TaskId t : unpacked) d.edges.emplace_back(t, cursor);
      unpacked.clear();
    }
    cursor = add(d, Task::Kind::kMark, cursor);
    task(d, cursor).opens = 0;
    d.tasks.emplace_back();
    std::vector<bool> has_successor(d.tasks.size(), false);
    for (const auto& [from, to] : d.edges) has_successor[from] = true;
    for (TaskId t = 0; t < d.end(); ++t) {
      if (!has_successor[t]) d.edges.emplace_back(t, d.end());
    }
    return d;
  }

 private:
  static Task& task(Draft& d, TaskId t) { return d.tasks[t]; }
  static TaskId last_of(const Draft& d) { return static_cast<TaskId>(d.tasks.size()) - 1; }
  static TaskId add(Draft& d, Task::Kind kind, TaskId after) {
    Task task;
    task.kind = kind;
    task.cost = {TaskCost::Kind::kCopy, 1, {}};
    d.tasks.push_back(task);
    if (after != kNoTask) d.edges.emplace_back(after, last_of(d));
    return last_of(d);
  }

  template <class Launch>
  void block(Draft& d, TaskId& cursor, const Launch& launch) {
    // Everything before the block has to be complete, because only the entry of the block waits for
    // tasks outside.
    const TaskId before = add(d, Task::Kind::kMark, cursor);
    for (TaskId t = 0; t < before; ++t) {
      if (task(d, t).kind == Task::Kind::kCommunicate && task(d, t).number_stride == 0)
        d.edges.emplace_back(t, before);
    }
    const TaskId entry = add(d, Task::Kind::kCompute, before);
    const TaskId one = launch(entry, true);
    const TaskId two = launch(one, true);
    const TaskId exit = add(d, Task::Kind::kMark, two);
    d.edges.emplace_back(entry, exit);
    d.edges.emplace_back(one, exit);
    for (TaskId t = entry; t < exit; ++t) {
      if (task(d, t).kind == Task::Kind::kCommunicate) task(d, t).number_stride = 1;
    }
    d.blocks.push_back({entry, exit, static_cast<std::int32_t>(1 + below(3))});
    cursor = exit;
  }
  Random random_;
};

/// Executes the programs of two ranks, with completions in random order.
class TwoRanks {
 public:
  TwoRanks(const Program& first, const Program& second, std::uint64_t seed) : random_(seed) {
    ranks_.emplace_back(first, rates());
    ranks_.emplace_back(second, rates());
  }

  /// Runs a step. Returns nothing if both ranks complete it, else the problem.
  std::optional<std::string> step() {
    for (Rank& rank : ranks_) {
      rank.ended = false;
      rank.runner.begin_step(1'000'000, rank);
    }
    for (;;) {
      std::vector<std::function<void()>> possible;
      for (Rank& rank : ranks_) {
        if (!rank.stream.empty()) {
          possible.emplace_back([&rank] {
            const TaskId id = rank.stream.front();
            rank.stream.pop_front();
            rank.complete(id);
          });
        }
        for (std::size_t i = 0; i < rank.finished.size(); ++i) {
          possible.emplace_back([&rank, i] {
            const TaskId id = rank.finished[i];
            rank.finished.erase(rank.finished.begin() + static_cast<std::ptrdiff_t>(i));
            rank.complete(id);
          });
        }
      }
      for (std::size_t c = 0; c < kCommunicators; ++c) meet(c, possible);
      for (const Rank& rank : ranks_) {
        if (rank.ended && !rank.in_flight.empty()) return "a task outlasts its step";
        if (rank.again) return "a task outlasts its iteration";
      }
      if (possible.empty()) break;
      possible[random_.below(possible.size())]();
    }
    if (!ranks_[0].ended || !ranks_[1].ended) return "ranks wait forever";
    return std::nullopt;
  }

 private:
  struct Launched {
    TaskId id;
    std::int32_t pack;
    std::int64_t number;
  };
  struct Rank : Host {
    Rank(const Program& program, const ComputeRates& rates) : runner(program, durations, rates) {}
    void compute(TaskId id, const Task&, Time, std::int64_t) override {
      start(id);
      stream.push_back(id);
    }
    void communicate(TaskId id, const Task& task, std::int64_t number) override {
      start(id);
      launched[task.index].push_back({id, task.pack, number});
    }
    void mark(const Task&) override {}
    void step_done() override { ended = true; }
    void start(TaskId id) { again = again || !in_flight.insert(id).second; }
    void complete(TaskId id) {
      in_flight.erase(id);
      runner.done(id, *this);
    }

    Durations durations;
    Runner runner;
    std::deque<TaskId> stream;
    std::vector<std::vector<Launched>> launched =
        std::vector<std::vector<Launched>>(kCommunicators);
    std::vector<TaskId> finished;
    std::set<TaskId> in_flight;
    bool ended = false;
    bool again = false;  ///< a task that was in flight was started again
  };
  static ComputeRates rates() { return {Bandwidth(1), Bandwidth(1)}; }

  /// Adds the completion of each collective that both ranks have launched. If the communicator
  /// executes one at a time, the collective must be the next one of both ranks.
  void meet(std::size_t c, std::vector<std::function<void()>>& possible) {
    for (std::size_t i = 0; i < ranks_[0].launched[c].size(); ++i) {
      for (std::size_t j = 0; j < ranks_[1].launched[c].size(); ++j) {
        const Launched &x = ranks_[0].launched[c][i], &y = ranks_[1].launched[c][j];
        if (x.pack != y.pack || x.number != y.number) continue;
        if (static_cast<std::int32_t>(c) < kOneAtATime && (i > 0 || j > 0)) continue;
        possible.emplace_back([this, c, i, j] {
          for (const auto& [rank, at] : {std::pair(&ranks_[0], i), std::pair(&ranks_[1], j)}) {
            std::vector<Launched>& all = rank->launched[c];
            rank->finished.push_back(all[at].id);
            all.erase(all.begin() + static_cast<std::ptrdiff_t>(at));
          }
        });
      }
    }
  }

  std::deque<Rank> ranks_;
  Random random_;
};

std::vector<PlanProblem> problems(const Program& first, const Program& second) {
  PlanView view;
  view.roles = {{&first, "rank 0"}, {&second, "rank 1"}};
  for (std::int32_t c = 0; c < kCommunicators; ++c)
    view.communicators.push_back({std::to_string(c), {0, 1}, c < kOneAtATime});
  view.use = [](std::int32_t, const Task& task) { return PlanView::Use{task.index, task.pack}; };
  return problems_of(view);
}

/// Runs two steps several times. Returns the first problem, or nothing if all runs complete.
std::optional<std::string> error_of_run(const Program& first, const Program& second, int runs) {
  for (int run = 0; run < runs; ++run) {
    TwoRanks ranks(first, second, static_cast<std::uint64_t>(run) + 1);
    for (int step = 0; step < 2; ++step) {
      if (auto wrong = ranks.step()) return wrong;
    }
  }
  return std::nullopt;
}

std::string all_texts(const std::vector<PlanProblem>& problems) {
  std::string text;
  for (const PlanProblem& problem : problems) text += "\n  " + problem.text;
  return text;
}

constexpr std::uint64_t kDrafts = 1500;

TEST(CheckMutations, CorrectProgramsHaveNoProblemsAndEnd) {
  int with_blocks = 0;
  for (std::uint64_t seed = 0; seed < kDrafts; ++seed) {
    const Draft draft = Author(seed).draft();
    with_blocks += draft.blocks.empty() ? 0 : 1;
    const Program first = draft.program(), second = draft.program();
    const auto found = problems(first, second);
    ASSERT_TRUE(found.empty()) << "draft " << seed << all_texts(found);
    ASSERT_EQ(error_of_run(first, second, 5), std::nullopt) << "draft " << seed;
  }
  EXPECT_GT(with_blocks, 200);
}

TEST(CheckMutations, FindsEveryBackwardEdge) {
  for (std::uint64_t seed = 0; seed < kDrafts; ++seed) {
    Author author(seed);
    Draft draft = author.draft();
    const Program good = draft.program();
    TaskId from = kNoTask, to = kNoTask;
    do {
      from = static_cast<TaskId>(author.below(draft.tasks.size()));
      to = static_cast<TaskId>(author.below(draft.tasks.size()));
    } while (from != to && !draft.waits(from, to));
    draft.edges.emplace_back(from, to);
    const auto found = problems(good, draft.program());
    ASSERT_TRUE(std::any_of(found.begin(), found.end(),
                            [](const PlanProblem& p) { return p.code == PlanProblemCode::kCycle; }))
        << "draft " << seed << ": " << from << " to " << to << all_texts(found);
  }
}

TEST(CheckMutations, FindsEverySwapOfTwoCollectivesOnOneRank) {
  int swaps = 0;
  for (std::uint64_t seed = 0; seed < kDrafts; ++seed) {
    Author author(seed);
    Draft draft = author.draft();
    const Program good = draft.program();
    std::vector<TaskId> collectives;
    for (TaskId t = 0; t < draft.end(); ++t) {
      const Task& task = draft.tasks[t];
      if (task.kind == Task::Kind::kCommunicate && task.index < kOneAtATime)
        collectives.push_back(t);
    }
    if (collectives.size() < 2) continue;
    Task& one = draft.tasks[collectives[author.below(collectives.size())]];
    Task& other = draft.tasks[collectives[author.below(collectives.size())]];
    if (&one == &other) continue;
    std::swap(one.pack, other.pack);
    std::swap(one.index, other.index);
    ++swaps;
    // Collectives of different communicators may be launched in any order if no task depends on
    // them.
    const Program bad = draft.program();
    if (one.index != other.index && !error_of_run(good, bad, 20)) continue;
    ASSERT_FALSE(problems(good, bad).empty())
        << "draft " << seed << ": packs " << one.pack << " and " << other.pack;
  }
  EXPECT_GT(swaps, 1000);
}

TEST(CheckMutations, FindsEveryCollectiveThatOneRankOmits) {
  int mutants = 0;
  for (std::uint64_t seed = 0; seed < kDrafts; ++seed) {
    Author author(seed);
    Draft draft = author.draft();
    const Program good = draft.program();
    Task& task = draft.tasks[author.below(draft.tasks.size())];
    if (task.kind != Task::Kind::kCommunicate) continue;
    ++mutants;
    PlanProblemCode expected = PlanProblemCode::kRankMissing;
    switch (author.below(3)) {
      case 0: task.kind = Task::Kind::kMark; break;
      case 1: task.pack += 1000; break;
      case 2:
        task.every_steps = 2;
        expected = PlanProblemCode::kStepsDiffer;
        break;
    }
    task.number_stride = task.kind == Task::Kind::kMark ? 0 : task.number_stride;
    const auto found = problems(good, draft.program());
    ASSERT_TRUE(std::any_of(found.begin(), found.end(),
                            [&](const PlanProblem& p) { return p.code == expected; }))
        << "draft " << seed << all_texts(found);
  }
  EXPECT_GT(mutants, 200);
}

/// Removes edges. If this lets a random run deadlock, or lets a task outlast its step, then the
/// checker must report it.
TEST(CheckMutations, FindsEveryMissingEdgeThatMatters) {
  int lost = 0, matter = 0, found_mistakes = 0;
  for (std::uint64_t seed = 0; seed < kDrafts; ++seed) {
    Author author(seed);
    Draft draft = author.draft();
    const Program good = draft.program();
    draft.edges.erase(draft.edges.begin() +
                      static_cast<std::ptrdiff_t>(author.below(draft.edges.size())));
    const Program bad = draft.program();
    ++lost;
    const auto found = problems(good, bad);
    found_mistakes += found.empty() ? 0 : 1;
    const auto wrong = error_of_run(good, bad, 20);
    matter += wrong ? 1 : 0;
    ASSERT_TRUE(!wrong || !found.empty()) << "draft " << seed << ": " << *wrong;
    // Here all ranks have the same mistake.
    const Program again = draft.program();
    const auto wrong_on_both = error_of_run(bad, again, 20);
    matter += wrong_on_both ? 1 : 0;
    ASSERT_TRUE(!wrong_on_both || !problems(bad, again).empty())
        << "draft " << seed << ": " << *wrong_on_both;
  }
  EXPECT_GT(matter, 300) << "of " << lost;
  EXPECT_GE(found_mistakes, matter / 2);
}

}  // namespace
}  // namespace tutti::core
