#include "core/packing/buckets.h"

#include <algorithm>
#include <map>

#include "core/base/check.h"

namespace tutti::core {
namespace {

struct Filling {
  std::vector<int> gradients;
  std::int64_t held = 0;
};

std::int64_t bytes_of(const BucketGradient& g) { return g.elements * size_of(g.type).count(); }

}  // namespace

std::vector<std::vector<int>> buckets_of_ddp(std::span<const BucketGradient> gradients, Bytes first_cap, Bytes cap) {
  std::vector<std::vector<int>> closed;
  std::map<DataType, Filling> open;
  std::map<DataType, bool> had_first;
  std::vector<DataType> types;  // in the order of their first gradients
  for (int i = 0; i < static_cast<int>(gradients.size()); ++i) {
    const BucketGradient& gradient = gradients[static_cast<std::size_t>(i)];
    if (!open.contains(gradient.type)) types.push_back(gradient.type);
    Filling& bucket = open[gradient.type];
    bucket.gradients.push_back(i);
    bucket.held += bytes_of(gradient);
    bool& first_is_closed = had_first[gradient.type];
    if (bucket.held < (first_is_closed ? cap : first_cap).count()) continue;
    closed.push_back(std::move(bucket.gradients));
    bucket = {};
    first_is_closed = true;
  }
  for (const DataType type : types) {
    if (!open[type].gradients.empty()) closed.push_back(std::move(open[type].gradients));
  }
  return closed;
}

std::vector<std::vector<int>> buckets_of_deepspeed(std::span<const BucketGradient> gradients, std::int64_t elements) {
  std::vector<std::vector<int>> buckets;
  std::int64_t held = 0;
  for (int i = 0; i < static_cast<int>(gradients.size()); ++i) {
    const BucketGradient& gradient = gradients[static_cast<std::size_t>(i)];
    const bool fits = !buckets.empty() && held + gradient.elements <= elements &&
                      gradients[static_cast<std::size_t>(buckets.back().front())].type == gradient.type;
    if (!fits) {
      buckets.emplace_back();
      held = 0;
    }
    buckets.back().push_back(i);
    held += gradient.elements;
  }
  return buckets;
}

std::vector<std::vector<int>> buckets_of_megatron(std::span<const BucketGradient> gradients, std::int64_t elements) {
  std::vector<DataType> types;
  for (const BucketGradient& gradient : gradients) {
    if (std::find(types.begin(), types.end(), gradient.type) == types.end()) types.push_back(gradient.type);
  }
  std::vector<std::vector<int>> buckets;
  for (const DataType type : types) {
    Filling bucket;
    for (int i = 0; i < static_cast<int>(gradients.size()); ++i) {
      const BucketGradient& gradient = gradients[static_cast<std::size_t>(i)];
      if (gradient.type != type) continue;
      bucket.gradients.push_back(i);
      bucket.held += gradient.elements;
      if (bucket.held < elements) continue;
      buckets.push_back(std::move(bucket.gradients));
      bucket = {};
    }
    if (!bucket.gradients.empty()) buckets.push_back(std::move(bucket.gradients));
  }
  return buckets;
}

std::int64_t usual_megatron_bucket(std::int64_t replicas) {
  return std::max<std::int64_t>(40'000'000, 1'000'000 * replicas);
}

std::vector<std::int64_t> partitions_of_byteps(BucketGradient gradient, Bytes partition) {
  const std::int64_t most = partition / size_of(gradient.type);
  TUTTI_CHECK(most >= 1, "partitions of {} bytes", partition.count());
  std::vector<std::int64_t> parts;
  for (std::int64_t left = gradient.elements; left > 0; left -= parts.back()) parts.push_back(std::min(left, most));
  return parts;
}

Bytes byteps_partition(Bytes asked, int replicas_per_worker) {
  const std::int64_t unit = std::int64_t{4096} * replicas_per_worker;
  return Bytes((asked.count() + unit - 1) / unit * unit);
}

}  // namespace tutti::core
