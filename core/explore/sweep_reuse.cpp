#include "core/explore/sweep_reuse.h"

#include <algorithm>
#include <numeric>
#include <unordered_map>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tutti::core {

namespace {

/// Returns the indices of the fields in the alphabetical order of their names. Sweeps may list the
/// same fields in different orders.
std::vector<std::size_t> by_name(const std::vector<std::string>& fields) {
  std::vector<std::size_t> order(fields.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return fields[a] < fields[b]; });
  return order;
}

/// Returns a text that is equal for points with the same values.
std::string key_of(const std::vector<std::string>& values, const std::vector<std::size_t>& order) {
  std::string key;
  for (const std::size_t field : order) {
    key += values[field];
    key += '\0';
  }
  return key;
}

}  // namespace

Expected<std::int64_t> copy_results(SweepStore& store, SweepStore& earlier,
                                    const std::string& earlier_file) {
  const auto differs = [&](const std::string& what) {
    return tl::make_unexpected(Error::request(
        {ProblemCode::kConflict, "--reuse"},
        fmt::format("the results of this sweep do not apply to the new sweep: {}", what),
        {earlier_file, 0, 0}));
  };
  if (const auto difference = difference_of_scenarios(earlier.info(), store.info()))
    return differs(*difference);
  std::vector<std::string> there = earlier.space().fields(), here = store.space().fields();
  const std::vector<std::size_t> order_there = by_name(there), order_here = by_name(here);
  std::sort(there.begin(), there.end());
  std::sort(here.begin(), here.end());
  if (there != here)
    return differs(fmt::format("this sweep varies {}, but the new sweep varies {}",
                               fmt::join(earlier.space().fields(), ", "),
                               fmt::join(store.space().fields(), ", ")));
  std::unordered_map<std::string, Outcome> results;
  const auto read = earlier.each([&](std::int64_t point, const Outcome& outcome) {
    if (outcome.status == Outcome::Status::kDone && !outcome.stopped)
      results.emplace(key_of(earlier.space().values(point), order_there), outcome);
  });
  if (!read) return tl::make_unexpected(read.error());
  const auto done = store.done();
  if (!done) return tl::make_unexpected(done.error());
  std::int64_t copied = 0;
  for (std::int64_t point = 0; point < store.space().size(); ++point) {
    if ((*done)[point]) continue;
    const auto known = results.find(key_of(store.space().values(point), order_here));
    if (known == results.end()) continue;
    if (const auto added = store.add(point, known->second); !added)
      return tl::make_unexpected(added.error());
    ++copied;
  }
  return copied;
}

}  // namespace tutti::core
