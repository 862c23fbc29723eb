// libFuzzer target: reads any bytes as a calibration file. A valid file must be unchanged after
// writing and reading it, and must correct a time to a positive number. Any other file must be
// rejected with a message that names a place.

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "core/nccl/calibration/calibration_file.h"

namespace {

using namespace tutti::core;

void demand(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "%s\n", what);
  std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const nccl::Spread spread = nccl::Spread::initial();
  const auto read = nccl::read_calibration(
      std::string_view(reinterpret_cast<const char*>(data), size), "fuzz", spread);
  if (!read) {
    demand(!read.error().problems().empty(), "an error has a problem");
    for (const Problem& problem : read.error().problems())
      demand(problem.where.file == "fuzz" && !problem.text.empty(),
             "a problem has a place and a text");
    return 0;
  }
  demand(!read->tables().empty(), "there is a table");
  const std::string text = nccl::text_of(*read, "");
  const auto again = nccl::read_calibration(text, "again", spread);
  demand(again.has_value() && nccl::text_of(*again, "") == text, "what is written is read back");
  const nccl::TimedPoint& requested = read->tables().front().rows.front().at;
  const auto corrected = read->correct(requested, {0.8, 1.3});
  demand(std::isfinite(corrected.factor) && corrected.factor > 0, "a correction is a factor");
  demand(corrected.band.low <= corrected.band.high, "a band has a lower and an upper end");
  return 0;
}
