#include "tools/nccl_fit/quality_line.h"

#include <fmt/format.h>

namespace tutti::nccl_fit {

std::string quality_line(const std::string& what, const core::nccl::Quality& quality) {
  // The width and the precision of a text count characters, not bytes.
  return fmt::format(
      "{:<72.72} {:6} rows  median {:5.1f} %  mean {:5.1f} %  90th {:5.1f} %  bias {:+6.1f} %",
      what, quality.rows, 100 * quality.median, 100 * quality.mean, 100 * quality.p90,
      100 * quality.bias);
}

}  // namespace tutti::nccl_fit
