// Measures large task graphs: tasks per second, bytes per replica that runs a graph, and the
// resident part of a mapped file. The default is 10^7 tasks. TUTTI_BENCH_TASKS=100000000 writes a
// file of 3.7 GB and runs it.

#include <benchmark/benchmark.h>

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <deque>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "core/plan/column_runner.h"
#include "core/plan/program_file.h"
#include "core/plan/runner.h"

namespace tutti {
namespace {

using core::TaskId;

constexpr std::int32_t kWidth = 1000;  ///< maximum number of tasks in progress

/// Completes tasks in the order in which they were started.
class InOrder : public core::Host {
 public:
  void compute(TaskId id, const core::Task&, core::Time, std::int64_t) override {
    open.push_back(id);
  }
  void communicate(TaskId id, const core::Task&, std::int64_t) override { open.push_back(id); }
  void mark(const core::Task&) override {}
  void step_done() override { ended = true; }

  std::deque<TaskId> open;
  bool ended = false;
};

/// Returns the resident memory of this process in MiB.
double resident_mib() {
  std::ifstream file("/proc/self/statm");
  std::int64_t all = 0, resident = 0;
  file >> all >> resident;
  return static_cast<double>(resident) * static_cast<double>(::sysconf(_SC_PAGESIZE)) / (1 << 20);
}

/// Returns a task of a graph of rows, in which each task waits for two tasks of the previous row.
/// Half of the tasks compute, half communicate.
core::Task task_in_row(std::int32_t row, std::int32_t i) {
  core::Task task;
  task.kind = i % 2 == 0 ? core::Task::Kind::kCompute : core::Task::Kind::kCommunicate;
  task.index = i;
  if (i % 2 == 0) task.cost = {core::TaskCost::Kind::kOwnTime, row, {}};
  return task;
}

core::Program rows_in_memory(std::int32_t rows) {
  core::ProgramBuilder b;
  for (std::int32_t row = 0; row < rows; ++row) {
    for (std::int32_t i = 0; i < kWidth; ++i) b.add(task_in_row(row, i));
  }
  const TaskId end = b.add({});
  for (TaskId t = 0; t < end; ++t) {
    const TaskId below = (t / kWidth + 1) * kWidth, i = t % kWidth;
    if (below == end) {
      b.edge(t, end);
    } else {
      b.edge(t, below + i);
      b.edge(t, below + (i + 1) % kWidth);
    }
  }
  return std::move(b).build(end);
}

void write_rows(const std::string& path, std::int32_t rows) {
  const std::int64_t tasks = std::int64_t{rows} * kWidth + 1;
  core::ProgramFileWriter::Lists lists;
  for (std::int32_t i = 0; i < kWidth; ++i) lists.roots.push_back(i);
  lists.has_rare_fields = false;
  auto writer = core::ProgramFileWriter::create(path, tasks, lists);
  if (!writer) return;
  for (std::int32_t row = 0; row < rows; ++row) {
    for (std::int32_t i = 0; i < kWidth; ++i) {
      const TaskId below = (row + 1) * kWidth;
      const bool is_last = row + 1 == rows;
      const TaskId successors[] = {is_last ? static_cast<TaskId>(tasks - 1) : below + i,
                                   below + (i + 1) % kWidth};
      (*writer)->add(task_in_row(row, i), row == 0 ? 0 : 2, {successors, is_last ? 1U : 2U});
    }
  }
  (*writer)->add({}, kWidth, {});
  if (const auto finished = (*writer)->finish(); !finished) std::filesystem::remove(path);
}

template <class Runner, class Passed>
std::int64_t run_step(Runner& runner, InOrder& host, const Passed& passed) {
  std::int64_t done = 0;
  host.ended = false;
  runner.begin_step(1'000'000, host);
  while (!host.open.empty()) {
    const TaskId id = host.open.front();
    host.open.pop_front();
    runner.done(id, host);
    if ((++done & 0xfffff) == 0) passed(id);
  }
  return host.ended ? done : 0;
}

void RunInMemory(benchmark::State& state) {
  const core::Program program = rows_in_memory(static_cast<std::int32_t>(state.range(0) / kWidth));
  const core::Durations durations;
  core::Runner runner(program, durations, {core::Bandwidth(1), core::Bandwidth(1)});
  InOrder host;
  for (auto _ : state) benchmark::DoNotOptimize(run_step(runner, host, [](TaskId) {}));
  state.SetItemsProcessed(state.iterations() * program.size());
  state.counters["bytes_per_replica"] = static_cast<double>(
      program.predecessors.size() * sizeof(std::int32_t) + program.tasks.size() / 8);
}
BENCHMARK(RunInMemory)->Arg(100'000)->Unit(benchmark::kMillisecond);

void RunColumnsInMemory(benchmark::State& state) {
  const core::Program program = rows_in_memory(static_cast<std::int32_t>(state.range(0) / kWidth));
  const core::OwnedColumns columns(program);
  const core::Durations durations;
  core::ColumnRunner runner(columns.columns(), durations, {core::Bandwidth(1), core::Bandwidth(1)});
  InOrder host;
  for (auto _ : state) benchmark::DoNotOptimize(run_step(runner, host, [](TaskId) {}));
  state.SetItemsProcessed(state.iterations() * program.size());
  state.counters["bytes_per_replica"] = static_cast<double>(runner.bytes());
}
BENCHMARK(RunColumnsInMemory)->Arg(100'000)->Unit(benchmark::kMillisecond);

std::int64_t tasks_of_file() {
  const char* const requested = std::getenv("TUTTI_BENCH_TASKS");
  return requested ? std::max<std::int64_t>(kWidth, std::atoll(requested)) : 10'000'000;
}

/// A file that is deleted with this object.
struct RowsFile {
  std::string path =
      (std::filesystem::temp_directory_path() / ("tutti-rows-" + std::to_string(::getpid())))
          .string();
  RowsFile() { write_rows(path, static_cast<std::int32_t>(tasks_of_file() / kWidth)); }
  ~RowsFile() { std::filesystem::remove(path); }
};

void CheckMapped(benchmark::State& state) {
  const RowsFile file;
  for (auto _ : state) {
    const auto program = core::ProgramFile::open(file.path, 0);
    if (!program) return state.SkipWithError(program.error().message().c_str());
  }
  state.SetItemsProcessed(state.iterations() * tasks_of_file());
  state.counters["tasks"] = static_cast<double>(tasks_of_file());
  state.counters["file_MB"] = static_cast<double>(std::filesystem::file_size(file.path)) / 1e6;
}
BENCHMARK(CheckMapped)->Unit(benchmark::kMillisecond)->UseRealTime();

/// Runs one replica through the whole mapped file, and releases the pages that it has passed.
void RunMapped(benchmark::State& state) {
  const RowsFile file;
  const auto program = core::ProgramFile::open(file.path, 0);
  if (!program) return state.SkipWithError(program.error().message().c_str());
  const core::Durations durations;
  core::ColumnRunner runner(program->columns(), durations,
                            {core::Bandwidth(1), core::Bandwidth(1)});
  InOrder host;
  const double before = resident_mib();
  double most = before;
  std::size_t bytes = 0;
  std::int64_t open = 0;
  for (auto _ : state) {
    const std::int64_t done = run_step(runner, host, [&](TaskId id) {
      most = std::max(most, resident_mib());
      bytes = std::max(bytes, runner.bytes());
      open = std::max(open, runner.in_flight() + runner.waiting());
      program->release_before(id);
    });
    if (done == 0) return state.SkipWithError("the step did not end");
  }
  state.SetItemsProcessed(state.iterations() * program->columns().tasks);
  state.counters["tasks"] = static_cast<double>(program->columns().tasks);
  state.counters["resident_MiB"] = most - before;
  state.counters["bytes_per_replica"] = static_cast<double>(bytes);
  state.counters["bytes_per_open_task"] =
      static_cast<double>(bytes) / static_cast<double>(std::max<std::int64_t>(open, 1));
}
BENCHMARK(RunMapped)->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace
}  // namespace tutti
