#include "core/framework/tried_sizes.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace tutti::core {
namespace {

constexpr double kTriedStep = 1.4142135623730951;

double bytes_of_all(const Workload& workload) {
  return static_cast<double>(std::max<std::int64_t>(1, workload.bytes().count()));
}

}  // namespace

std::vector<std::string> tried_sizes(double least, double most) {
  std::vector<std::string> values;
  double value = least;
  for (; value < most * kTriedStep; value *= kTriedStep)
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
  for (double mb = 0.25; mb < bytes_of_all(workload) / 1'048'576 * kTriedStep; mb *= kTriedStep)
    values.push_back(fmt::format("{:.4g}", mb));
  return values;
}

}  // namespace tutti::core
