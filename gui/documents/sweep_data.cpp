#include "gui/documents/sweep_data.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/explore/shown_values.h"

namespace tutti::gui {

using core::Expected;

const core::Outcome* SweepData::outcome(std::int64_t point) const {
  const auto row =
      std::lower_bound(rows.begin(), rows.end(), point,
                       [](const Row& one, std::int64_t wanted) { return one.point < wanted; });
  return row == rows.end() || row->point != point ? nullptr : &row->outcome;
}

bool counts_bytes(const std::string& field) { return field.find("bytes") != std::string::npos; }

std::string SweepData::settings(std::int64_t point) const {
  const std::vector<std::string> values = space->values(point);
  std::string text;
  for (std::size_t f = 0; f < values.size(); ++f)
    text += fmt::format("{}{} = {}", f == 0 ? "" : "\n", space->fields()[f],
                        core::shown_value(space->fields()[f], values[f]));
  return text;
}

Expected<std::shared_ptr<const SweepData>> read_sweep(core::SweepStore& store,
                                                      const std::string& path) {
  auto data = std::make_shared<SweepData>();
  data->path = path;
  data->info = store.info();
  auto space = core::Space::of(store.info().axes);
  if (!space) return tl::make_unexpected(space.error());
  data->space = std::make_shared<const core::Space>(std::move(*space));
  const auto read = store.each([&](std::int64_t point, const core::Outcome& outcome) {
    data->rows.push_back({point, outcome});
  });
  if (!read) return tl::make_unexpected(read.error());
  auto measured = store.measured();
  if (!measured) return tl::make_unexpected(measured.error());
  data->measured = std::move(*measured);
  auto files = store.files();
  if (!files) return tl::make_unexpected(files.error());
  data->files = std::move(*files);
  return std::shared_ptr<const SweepData>(std::move(data));
}

}  // namespace tutti::gui
