// Programs in columns, in memory and in mapped files. For random programs and random completions,
// every call is compared in order with those of a Runner of the same program. Further tests damage
// the files.

#include "core/plan/column_runner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/base/random.h"
#include "core/plan/check_program.h"
#include "core/plan/program_file.h"
#include "tests/support/program.h"

namespace tutti::core {
namespace {

using Code = PlanProblemCode;

/// Records every call, and keeps the operations in flight.
class Recorded : public Host {
 public:
  std::vector<std::string> log;
  std::vector<TaskId> in_flight;
  bool ended = false;

  void compute(TaskId id, const Task& t, Time duration, std::int64_t bound) override {
    log.push_back(fmt::format("compute {} {} {} {} {}", id, label_of(t), t.every_steps,
                              duration.count(), bound));
    in_flight.push_back(id);
  }
  void communicate(TaskId id, const Task& t, std::int64_t number) override {
    log.push_back(fmt::format("communicate {} {} as {}", id, label_of(t), number));
    in_flight.push_back(id);
  }
  void mark(const Task& t) override { log.push_back(fmt::format("mark {} {}", t.pack, t.index)); }
  void step_done() override {
    log.emplace_back("end");
    ended = true;
  }
};

const Durations& durations() {
  static const Durations all{{{Time(1000), 3}, {Time(77), 500'000}, {Time(123456), 1'000'000}}};
  return all;
}
ComputeRates device() { return {Bandwidth(1'000'000'007), Bandwidth(3'999'999'937)}; }

/// Generates programs with all features of tasks. All edges lead to higher task numbers.
class Generator {
 public:
  explicit Generator(std::uint64_t seed) : random_(seed) {}

  std::uint64_t below(std::uint64_t n) { return random_.below(n); }
  bool one_in(std::uint64_t n) { return below(n) == 0; }

  Program make() {
    ProgramBuilder b;
    b.set_share_whole(1000);
    for (std::uint64_t h = below(3); h > 0; --h) b.add_latch();
    latches_ = {};
    const std::uint64_t tasks = 2 + below(40);
    while (b.size() < static_cast<std::int32_t>(tasks)) {
      if (one_in(8))
        block(b);
      else
        add_task(b, false, below(8) == 0 ? 0 : 1 + below(3), 0);
    }
    // The end waits for every task without successors, and for some others.
    const TaskId end = b.add({});
    for (TaskId t = 0; t < end; ++t) {
      const bool may_lead_out = block_of_[t] < 0 || exits_[t];
      if (!has_successor_[t] || (may_lead_out && one_in(6))) b.edge(t, end);
    }
    return std::move(b).build(end);
  }

 private:
  Task task(bool in_block) {
    Task t;
    t.kind = static_cast<Task::Kind>(below(3));
    t.compute = static_cast<ComputeKind>(below(7));
    t.reported = one_in(2);
    t.pack = one_in(2) ? -1 : static_cast<std::int32_t>(below(100));
    t.index = one_in(2) ? -1 : static_cast<std::int32_t>(below(100));
    t.every_steps = one_in(5) ? static_cast<std::int32_t>(1 + below(3)) : 1;
    t.number = static_cast<std::int32_t>(below(10));
    if (in_block && one_in(2)) t.number_stride = static_cast<std::int32_t>(1 + below(5));
    return t;
  }
  TaskId add_task(ProgramBuilder& b, bool in_block, std::uint64_t predecessors, TaskId first) {
    Task t = task(in_block);
    t.cost.kind = static_cast<TaskCost::Kind>(below(5));
    const bool row = t.cost.kind == TaskCost::Kind::kTime || t.cost.kind == TaskCost::Kind::kShares;
    t.cost.value = static_cast<std::int64_t>(below(row ? 3 : 100'000));
    if (t.cost.kind == TaskCost::Kind::kShares) {
      const auto from = static_cast<std::int64_t>(below(500)),
                 to = from + static_cast<std::int64_t>(below(500));
      t.cost.shares = b.add_shares({{from, to}, {to, to + 1}});
    }
    if (t.kind != Task::Kind::kCompute) t.cost = {};
    if (t.kind == Task::Kind::kCompute) t.reported = false;
    if (t.kind != Task::Kind::kMark) t.reported = false;
    if (t.kind != Task::Kind::kCompute) t.compute = ComputeKind::kForward;
    const auto latch = static_cast<std::int32_t>(below(3));
    if (!in_block && latch < static_cast<std::int32_t>(opened_.size()) && opened_[latch] &&
        one_in(2))
      t.latch = latch;
    if (!in_block && t.latch < 0 && one_in(5)) open_one(b, t);
    const TaskId id = b.add(t);
    has_successor_.push_back(false);
    block_of_.push_back(in_block ? 1 : -1);
    exits_.push_back(false);
    std::vector<TaskId> from;
    for (TaskId p = first; p < id; ++p) {
      if (in_block || block_of_[p] < 0 || exits_[p]) from.push_back(p);
    }
    for (; predecessors > 0 && !from.empty(); --predecessors) {
      // Newer tasks are preferred.
      const std::size_t i = one_in(2) ? from.size() - 1 : below(from.size());
      link(b, from[i], id);
      from.erase(from.begin() + static_cast<std::ptrdiff_t>(i));
    }
    return id;
  }
  void open_one(ProgramBuilder& b, Task& t) {
    const std::size_t next = opened_.size();
    if (next >= 3) return;
    // Latches are numbered in the order in which they are opened, and the builder creates only
    // those that are used.
    if (next >= latches_.size()) latches_.push_back(b.add_latch());
    t.opens = latches_[next];
    opened_.resize(static_cast<std::size_t>(t.opens) + 1, false);
    opened_[t.opens] = true;
  }
  void link(ProgramBuilder& b, TaskId from, TaskId to) {
    b.edge(from, to);
    has_successor_[from] = true;
  }
  void block(ProgramBuilder& b) {
    const TaskId entry = add_task(b, true, 0, 0);
    for (TaskId p = 0; p < entry; ++p) {
      if (!one_in(3)) continue;
      if (block_of_[p] < 0 || exits_[p]) link(b, p, entry);
    }
    for (std::uint64_t n = below(5); n > 0; --n) add_task(b, true, 1 + below(2), entry);
    const TaskId exit = add_task(b, true, 0, entry);
    for (TaskId t = entry; t < exit; ++t) {
      if (!has_successor_[t] || one_in(4)) link(b, t, exit);
    }
    exits_[exit] = true;
    b.repeat_since(entry, static_cast<std::int32_t>(1 + below(4)));
  }

  Random random_;
  std::vector<bool> has_successor_, exits_, opened_;
  std::vector<int> block_of_;
  std::vector<std::int32_t> latches_;
};

/// Runs two runners in lockstep, with random completions. Returns the first calls that differ, or
/// an empty text.
template <class Other>
std::string difference(Runner& ours, Other& other, std::uint64_t seed, int steps) {
  Random random(seed);
  Recorded a, b;
  for (int step = 0; step < steps; ++step) {
    const std::int64_t pace = random.below(2) == 0
                                  ? 1'000'000
                                  : 400'000 + static_cast<std::int64_t>(random.below(2'000'000));
    a.ended = b.ended = false;
    ours.begin_step(pace, a);
    other.begin_step(pace, b);
    while (a.log == b.log && !a.in_flight.empty()) {
      const std::size_t i = random.below(a.in_flight.size());
      const TaskId id = a.in_flight[i];
      a.in_flight.erase(a.in_flight.begin() + static_cast<std::ptrdiff_t>(i));
      b.in_flight.erase(b.in_flight.begin() + static_cast<std::ptrdiff_t>(i));
      a.log.clear(), b.log.clear();
      ours.done(id, a);
      other.done(id, b);
    }
    if (a.log != b.log)
      return fmt::format("step {}: {} against {}", step, testing::PrintToString(a.log),
                         testing::PrintToString(b.log));
    if (!a.ended) return fmt::format("step {} does not end", step);
  }
  return "";
}

TEST(ColumnRunner, MakesTheCallsOfTheRunnerInOrder) {
  const test::TemporaryFolder folder;
  int blocks = 0, latches = 0;
  for (std::uint64_t seed = 0; seed < 4000; ++seed) {
    const Program program = Generator(seed).make();
    ASSERT_TRUE(has_forward_edges(program)) << seed;
    blocks += program.blocks.empty() ? 0 : 1;
    latches += std::any_of(program.tasks.begin(), program.tasks.end(),
                           [](const Task& t) { return t.latch >= 0; })
                   ? 1
                   : 0;
    const OwnedColumns owned(program);
    ASSERT_TRUE(problems_of(owned.columns(), 3).empty())
        << seed << ": " << problems_of(owned.columns(), 3).front().text;
    {
      Runner runner(program, durations(), device());
      ColumnRunner columns(owned.columns(), durations(), device());
      ASSERT_EQ(difference(runner, columns, seed, 3), "") << seed;
      ASSERT_EQ(columns.in_flight(), 0);
      ASSERT_EQ(columns.waiting(), 0);
    }
    if (seed % 10 != 0) continue;
    const std::string path = folder.file("program");
    ASSERT_TRUE(write_program_file(path, program));
    const auto file = ProgramFile::open(path, 3);
    ASSERT_TRUE(file) << seed << ": " << file.error().message();
    file->release_before(static_cast<TaskId>(seed) % program.size());
    Runner runner(program, durations(), device());
    ColumnRunner mapped(file->columns(), durations(), device());
    ASSERT_EQ(difference(runner, mapped, seed, 2), "") << seed;
  }
  EXPECT_GT(blocks, 1000);
  EXPECT_GT(latches, 300);
}

/// Writes a program of rows of tasks, in which each task waits for two tasks of the previous row.
std::string write_rows(const std::string& path, std::int32_t rows, std::int32_t width) {
  const std::int64_t tasks = std::int64_t{rows} * width + 1;
  ProgramFileWriter::Lists lists;
  for (std::int32_t i = 0; i < width; ++i) lists.roots.push_back(i);
  lists.has_rare_fields = false;
  auto writer = ProgramFileWriter::create(path, tasks, lists);
  if (!writer) return writer.error().message();
  Task task;
  task.kind = Task::Kind::kCompute;
  task.cost.kind = TaskCost::Kind::kOwnTime;
  for (std::int32_t row = 0; row < rows; ++row) {
    for (std::int32_t i = 0; i < width; ++i) {
      task.index = i;
      task.cost.value = row;
      const TaskId below = (row + 1) * width;
      std::vector<TaskId> successors{below + i, below + (i + 1) % width};
      if (row + 1 == rows) successors = {static_cast<TaskId>(tasks - 1)};
      (*writer)->add(task, row == 0 ? 0 : 2, successors);
    }
  }
  (*writer)->add({}, width, {});
  const auto finished = (*writer)->finish();
  return finished ? "" : finished.error().message();
}

TEST(ColumnRunner, StoresOnlyTasksThatStillWaitForPredecessors) {
  const test::TemporaryFolder folder;
  constexpr std::int32_t kRows = 5'000, kWidth = 40;
  ASSERT_EQ(write_rows(folder.file("rows"), kRows, kWidth), "");
  const auto file = ProgramFile::open(folder.file("rows"), 0);
  ASSERT_TRUE(file) << file.error().message();
  EXPECT_EQ(file->columns().every_steps, nullptr) << "columns that nobody needs are not written";
  ColumnRunner runner(file->columns(), durations(), device());
  Recorded host;
  runner.begin_step(1'000'000, host);
  std::size_t done = 0, most_bytes = 0;
  std::int64_t most_waiting = 0;
  while (done < host.in_flight.size()) {
    runner.done(host.in_flight[done++], host);
    most_bytes = std::max(most_bytes, runner.bytes());
    most_waiting = std::max(most_waiting, runner.waiting());
    host.log.clear();
    if (done % 10'000 == 0) file->release_before(host.in_flight[done - 1]);
  }
  EXPECT_TRUE(host.ended);
  EXPECT_EQ(done, std::size_t{kRows} * kWidth);
  EXPECT_LE(most_waiting, 2 * kWidth);
  EXPECT_LE(most_bytes, 4096u) << "of " << kRows * kWidth << " tasks";
}

// --- damage ---

std::string content(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}
void write(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

/// Opens a file, and runs a step if it could be opened. Returns true if it could be opened.
bool opens_and_ends(const std::string& path) {
  const auto file = ProgramFile::open(path, 3);
  if (!file) return false;
  ColumnRunner runner(file->columns(), durations(), device());
  Recorded host;
  runner.begin_step(1'000'000, host);
  for (std::size_t done = 0; done < host.in_flight.size() && done < 2'000; ++done) {
    runner.done(host.in_flight[done], host);
    host.log.clear();
    host.ended = host.ended && done + 1 == host.in_flight.size();
  }
  // The damage may have given a block a very large number of iterations.
  EXPECT_TRUE(host.ended || host.in_flight.size() >= 2'000);
  return true;
}

TEST(ProgramFile, IsRefusedOrEndsIfItIsDamaged) {
  const test::TemporaryFolder folder;
  const std::string path = folder.file("program");
  int opened = 0, refused = 0;
  Random random(1);
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    const Program program = Generator(seed).make();
    ASSERT_TRUE(write_program_file(path, program));
    const std::string good = content(path);
    ASSERT_TRUE(opens_and_ends(path)) << seed;
    for (int i = 0; i < 100; ++i) {
      std::string bad = good;
      constexpr std::int64_t kValues[] = {-1,        0,        1, 2, 1'000'000, -1'000'000'007,
                                          INT64_MAX, INT64_MIN};
      const std::int64_t value = kValues[random.below(8)];
      const std::size_t width = random.below(3) == 0 ? 8 : random.below(2) == 0 ? 4 : 1;
      std::memcpy(bad.data() + random.below(bad.size() - width + 1), &value, width);
      write(path, bad);
      ++(opens_and_ends(path) ? opened : refused);
    }
  }
  EXPECT_GT(opened, 250) << "labels and times may be anything";
  EXPECT_GT(refused, 1000);
}

TEST(ProgramFile, IsRefusedIfItIsTruncated) {
  const test::TemporaryFolder folder;
  const std::string path = folder.file("program");
  ASSERT_TRUE(write_program_file(path, Generator(3).make()));
  const std::string good = content(path);
  for (std::size_t length = 0; length < good.size(); length += length < 400 ? 1 : 7) {
    write(path, good.substr(0, length));
    ASSERT_FALSE(opens_and_ends(path)) << length << " of " << good.size();
  }
  for (const std::string& no_file :
       {folder.file("nothing"), folder.path(), std::string("/dev/null")})
    EXPECT_FALSE(ProgramFile::open(no_file, 3)) << no_file;
}

/// A program to be damaged: task 0 computes, 1 opens a latch, 2 is latched, 3 to 5 are a block, and
/// 6 is the end.
struct Broken {
  std::vector<std::uint8_t> kinds =
      std::vector<std::uint8_t>(7, static_cast<std::uint8_t>(Task::Kind::kMark));
  std::vector<std::int32_t> predecessors{0, 1, 1, 1, 1, 1, 2}, successors{1, 2, 3, 6, 4, 5, 6};
  std::vector<std::int64_t> edges_end{1, 3, 4, 5, 6, 7, 7},
      values = std::vector<std::int64_t>(7, 0);
  std::vector<std::int32_t> latches = std::vector<std::int32_t>(7, -1), opens = latches,
                            strides = std::vector<std::int32_t>(7, 0),
                            every = std::vector<std::int32_t>(7, 1);
  std::vector<TaskId> roots{0};
  std::vector<Block> blocks{{{3, 3}, 3, 5, 2, {}}};
  std::vector<Share> shares{{0, 1}};
  std::int64_t whole = 1;

  Broken() {
    kinds[0] = static_cast<std::uint8_t>(Task::Kind::kCompute);
    opens[1] = 0;
    latches[2] = 0;
  }
  [[nodiscard]] std::vector<Code> codes() const {
    TaskColumns c;
    c.tasks = std::ssize(kinds);
    c.kinds = kinds.data();
    c.predecessors = predecessors.data();
    c.edges_end = edges_end.data();
    c.successors = successors.data();
    c.edges = std::ssize(successors);
    c.values = values.data();
    c.latches = latches.data();
    c.opens = opens.data();
    c.number_strides = strides.data();
    c.every_steps = every.data();
    c.roots = roots;
    c.blocks = blocks;
    c.shares = shares;
    c.share_whole = whole;
    c.latch_count = 1;
    std::vector<Code> codes;
    for (const PlanProblem& problem : problems_of(c, 1)) codes.push_back(problem.code);
    return codes;
  }
};

TEST(CheckColumns, FindsEachKindOfError) {
  ASSERT_THAT(Broken().codes(), testing::IsEmpty());
  const std::vector<std::tuple<const char*, Code, std::function<void(Broken&)>>> mistakes{
      {"an edge back", Code::kDamaged, [](Broken& b) { b.successors[3] = 1; }},
      {"an edge to itself", Code::kDamaged, [](Broken& b) { b.successors[4] = 3; }},
      {"an edge to nowhere", Code::kDamaged, [](Broken& b) { b.successors[6] = 7; }},
      {"a count too high", Code::kDamaged, [](Broken& b) { b.predecessors[6] = 3; }},
      {"a count too low", Code::kDamaged, [](Broken& b) { b.predecessors[6] = 1; }},
      {"a root too few", Code::kDamaged, [](Broken& b) { b.roots.clear(); }},
      {"a root too many", Code::kDamaged, [](Broken& b) { b.roots.push_back(2); }},
      {"a kind that is none", Code::kDamaged, [](Broken& b) { b.kinds[1] = 3; }},
      {"a row that is not there", Code::kDamaged, [](Broken& b) { b.values[0] = 1; }},
      {"a share that is no part", Code::kDamaged, [](Broken& b) { b.shares[0].to = 2; }},
      {"a latch that is not there", Code::kDamaged, [](Broken& b) { b.latches[2] = 1; }},
      {"nothing after a task", Code::kNotAwaited,
       [](Broken& b) {
         b.successors = {1, 2, 3, 4, 5, 6};
         b.edges_end = {1, 3, 3, 4, 5, 6, 6};
         b.predecessors[6] = 1;
       }},
      {"no opener", Code::kLatchNeverOpened, [](Broken& b) { b.opens[1] = -1; }},
      {"an opener that comes later", Code::kLatchNeverOpened,
       [](Broken& b) { std::swap(b.opens[1], b.opens[6]); }},
      {"two openers", Code::kLatchOpenedTwice, [](Broken& b) { b.opens[0] = 0; }},
      {"never", Code::kNeverTakesPart, [](Broken& b) { b.every[1] = 0; }},
      {"numbers outside of blocks", Code::kNumberOutsideBlock, [](Broken& b) { b.strides[1] = 1; }},
      {"a block without end", Code::kBlockNeverEnds, [](Broken& b) { b.blocks[0].repeat = 0; }},
      {"blocks that overlap", Code::kBlocksOverlap,
       [](Broken& b) { b.blocks.push_back(b.blocks[0]); }},
      {"a way into a block", Code::kBlockEnteredElsewhere,
       [](Broken& b) { b.successors[3] = 4, b.predecessors = {0, 1, 1, 1, 2, 1, 1}; }},
      {"a way out of a block", Code::kBlockLeftElsewhere,
       [](Broken& b) {
         b.successors[5] = 6, b.predecessors = {0, 1, 1, 1, 1, 0, 3}, b.roots = {0, 5};
       }},
      {"a latch in a block", Code::kNotAllowedInBlock, [](Broken& b) { b.latches[4] = 0; }},
      {"the end in a block", Code::kNotAllowedInBlock,
       [](Broken& b) {
         b.blocks[0] = {{3, 4}, 3, 6, 2, {}};
       }},
  };
  for (const auto& [what, code, change] : mistakes) {
    Broken broken;
    change(broken);
    EXPECT_THAT(broken.codes(), testing::Contains(code)) << what;
  }
}

}  // namespace
}  // namespace tutti::core
