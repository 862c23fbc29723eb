#include "tools/python/sweep_table.h"

#include <charconv>
#include <limits>
#include <optional>
#include <utility>

#include "core/explore/sweep_store.h"

namespace tutti::python {
namespace {

using core::Outcome;

/// Parses all texts as numbers of one type. Returns nullopt if a text is not a number of this type.
template <class Number>
std::optional<std::vector<Number>> all_numbers(const std::vector<std::string>& texts) {
  std::vector<Number> numbers;
  for (const std::string& text : texts) {
    Number number{};
    const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (status != std::errc() || end != text.data() + text.size()) return std::nullopt;
    numbers.push_back(number);
  }
  return numbers;
}

/// Returns a column of integers if all texts are integers, a column of floats if all texts are
/// numbers, and a column of texts otherwise.
Column column_of(const std::string& name, const std::vector<std::string>& texts) {
  if (auto whole = all_numbers<std::int64_t>(texts)) return {name, std::move(*whole)};
  if (auto numbers = all_numbers<double>(texts)) return {name, std::move(*numbers)};
  Texts column;
  for (const std::string& text : texts) column.add(text);
  return {name, std::move(column)};
}

}  // namespace

core::Expected<SweepTable> read_sweep(const std::string& path) {
  auto store = core::SweepStore::open(path);
  if (!store) return tl::make_unexpected(store.error());
  const std::vector<std::string> fields = store->space().fields();
  std::vector<std::int64_t> points, packs, seeds;
  std::vector<std::vector<std::string>> values(fields.size());
  Texts status, message;
  std::vector<std::vector<double>> costs(core::kCosts.size());
  const auto read = store->each([&](std::int64_t point, const Outcome& outcome) {
    points.push_back(point);
    const std::vector<std::string> at = store->space().values(point);
    for (std::size_t f = 0; f < fields.size(); ++f) values[f].push_back(at[f]);
    status.add(to_string(outcome.status));
    message.add(outcome.message);
    const bool done = outcome.status == Outcome::Status::kDone;
    for (std::size_t c = 0; c < core::kCosts.size(); ++c)
      costs[c].push_back(done ? core::to_us(outcome.*core::kCosts[c].time)
                              : std::numeric_limits<double>::quiet_NaN());
    packs.push_back(done ? outcome.packs : 0);
    seeds.push_back(static_cast<std::int64_t>(outcome.seed));
  });
  if (!read) return tl::make_unexpected(read.error());
  std::vector<Column> columns;
  columns.push_back({"point", std::move(points)});
  for (std::size_t f = 0; f < fields.size(); ++f)
    columns.push_back(column_of(fields[f], values[f]));
  columns.push_back({"status", std::move(status)});
  columns.push_back({"message", std::move(message)});
  for (std::size_t c = 0; c < core::kCosts.size(); ++c)
    columns.push_back({std::string(core::kCosts[c].name) + "_us", std::move(costs[c])});
  columns.push_back({"packs", std::move(packs)});
  columns.push_back({"seed", std::move(seeds)});
  return SweepTable{fields, Table(std::move(columns))};
}

}  // namespace tutti::python
