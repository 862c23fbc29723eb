#include "sim/sweep/execute_points.h"

#include <optional>
#include <utility>

#include "sim/sweep/evaluator.h"

namespace tutti::sim {

using core::Error;
using core::Expected;
using core::Outcome;

Expected<void> check_files(core::SweepStore& store, const core::Library& library) {
  const auto files = store.files();
  if (!files) return tl::make_unexpected(files.error());
  for (const core::Library::File& file : *files) {
    const auto now = library.read(file.kind, file.name, store.info().scenario_file);
    if (!now) return tl::make_unexpected(now.error());
    if (!*now) continue;
    if (const auto same = store.remember(**now); !same) return same;
  }
  return {};
}

Expected<void> keep_files(core::SweepStore& store, Evaluator& evaluator) {
  for (const core::Library::File& file : evaluator.new_files()) {
    if (const auto kept = store.remember(file); !kept) return kept;
  }
  return {};
}

Expected<bool> execute_points(core::SweepStore& store, const core::Library& library,
                              const std::vector<core::Override>& set, core::Executor& executor,
                              const SweepControl& course) {
  if (const auto same = check_files(store, library); !same)
    return tl::make_unexpected(same.error());
  const auto done = store.done();
  if (!done) return tl::make_unexpected(done.error());
  PoolWork pool;
  for (std::size_t p = 0; p < done->size(); ++p) {
    if (!(*done)[p]) pool.points.push_back(static_cast<std::int64_t>(p));
  }
  const auto in_all = std::ssize(*done), before = in_all - std::ssize(pool.points);
  if (course.progress) course.progress(before, in_all, before);
  if (pool.points.empty() && !course.pool) return true;
  pool.points = spread_out(std::move(pool.points));
  pool.threads = course.threads;

  Evaluator evaluator({store.info().scenario_text, store.info().scenario_file, set}, library,
                      executor);
  std::int64_t there = before;
  std::optional<Error> failed;
  pool.work = [&](std::int64_t point, const std::atomic<bool>& stop) {
    return evaluator.at(store.space().overrides(point), &stop);
  };
  pool.take = [&](std::int64_t point, const Outcome& outcome) {
    if (const auto kept = keep_files(store, evaluator); !kept) failed = kept.error();
    if (!failed) {
      if (const auto added = store.add(point, outcome); !added) failed = added.error();
    }
    if (course.progress) course.progress(++there, in_all, before);
    return !failed;
  };
  pool.stop = course.stop;
  pool.waiting = course.waiting;
  const Expected<bool> all = course.pool ? course.pool(pool) : run_pool(pool);
  if (failed) return tl::make_unexpected(*failed);
  return all;
}

}  // namespace tutti::sim
