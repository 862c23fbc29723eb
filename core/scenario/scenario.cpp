#include "core/scenario/scenario.h"

#include "core/base/file.h"
#include "core/scenario/assign_times.h"
#include "core/scenario/lower.h"
#include "core/scenario/scenario_reader.h"
#include "core/scenario/written_scenario.h"

namespace tutti::core {

std::optional<Interference> parse_interference(const std::string& text) {
  if (text == "auto") return Interference::kWhereKnown;
  if (text == "on") return Interference::kOn;
  if (text == "off") return Interference::kOff;
  return std::nullopt;
}

std::optional<NcclModel> parse_nccl_model(const std::string& text) {
  if (text == "calibrated") return NcclModel::kCalibrated;
  if (text == "rings") return NcclModel::kRings;
  return std::nullopt;
}

Expected<Scenario> read_scenario(const std::string& text, const std::string& path,
                                 const Library& library) {
  WrittenScenario written(path);
  if (read(text, library, written)) lower(written);
  if (written.problems.empty())
    assign_times(library, written.scenario, written.complaints, written.problems);
  if (!written.problems.empty()) return written.problems.take();
  return std::move(written.scenario);
}

Expected<Scenario> load_scenario(const std::string& path, const Library& library) {
  Expected<std::string> text = read_text_file(path, TextSource::kAnything);
  if (!text) return tl::make_unexpected(text.error());
  return read_scenario(*text, path, library);
}

}  // namespace tutti::core
