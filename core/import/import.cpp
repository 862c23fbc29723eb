#include "core/import/import.h"

#include <algorithm>

#include "core/formats/byte_input.h"
#include "core/import/kineto_import.h"
#include "core/import/step_model.h"

namespace tutti::core {
namespace {

Expected<void> import_input(TraceFormat format, ByteInput& input, const std::string& name, MeasuredRun& run,
                            const std::function<void(double)>& progress) {
  switch (format) {
    case TraceFormat::kKineto: return import_kineto(input, name, run, progress);
  }
  return {};
}

}  // namespace

Expected<void> import_file(TraceFormat format, const std::string& path, MeasuredRun& run,
                           const std::function<void(double)>& progress) {
  const auto input = open_byte_input(path);
  if (!input) return tl::make_unexpected(input.error());
  return import_input(format, **input, path, run, progress);
}

Expected<void> import_bytes(TraceFormat format, std::string_view bytes, const std::string& name, MeasuredRun& run) {
  const auto input = byte_input_of(bytes, name);
  return import_input(format, *input, name, run, {});
}

void finish_import(MeasuredRun& run) {
  std::stable_sort(run.ranks.begin(), run.ranks.end(),
                   [](const MeasuredRank& a, const MeasuredRank& b) { return a.rank < b.rank; });
  align_clocks(run);
}

}  // namespace tutti::core
