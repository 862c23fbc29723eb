#include "core/strategy/compression.h"

namespace tutti::core {

DataType sent_as(const std::optional<Compression>& compression, DataType type) {
  const bool floats = type != DataType::kInt32 && type != DataType::kInt64;
  return compression && floats ? compression->type : type;
}

Bytes converted(std::int64_t elements, DataType from, DataType to) {
  return from == to ? Bytes() : elements * (size_of(from) + size_of(to));
}

Workload as_sent(Workload workload, const std::optional<Compression>& compression) {
  for (Variable& gradient : workload.gradients) gradient.type = sent_as(compression, gradient.type);
  return workload;
}

}  // namespace tutti::core
