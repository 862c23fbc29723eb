#include "core/framework/tried_sizes.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace tutti::core {
namespace {

/// Returns the sizes from `least` to the first one that is at least `most`: least · 2^n, and
/// least · 1.5 · 2^n in between.
std::vector<double> steps(double least, double most) {
  std::vector<double> values;
  for (double power = least;; power *= 2) {
    for (const double value : {power, 1.5 * power}) {
      values.push_back(value);
      if (value >= most) return values;
    }
  }
}

double bytes_of_all(const Workload& workload) {
  return static_cast<double>(std::max<std::int64_t>(1, workload.bytes().count()));
}

}  // namespace

std::vector<std::string> tried_sizes(double least, double most) {
  std::vector<std::string> values;
  for (const double value : steps(least, most))
    values.push_back(fmt::format("{}", std::llround(value)));
  return values;
}

std::vector<std::string> tried_bytes(const Workload& workload) {
  return tried_sizes(65'536, bytes_of_all(workload));
}

std::vector<std::string> tried_elements(const Workload& workload) {
  std::int64_t elements = 1;
  for (const Variable& gradient : workload.gradients) elements += gradient.elements;
  return tried_sizes(1e4, static_cast<double>(elements));
}

std::vector<std::string> tried_mebibytes(const Workload& workload) {
  std::vector<std::string> values;
  for (const double mb : steps(0.25, bytes_of_all(workload) / 1'048'576))
    values.push_back(fmt::format("{}", mb));
  return values;
}

}  // namespace tutti::core
