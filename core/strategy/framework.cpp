#include "core/strategy/framework.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include <fmt/format.h>

#include "core/packing/buckets.h"

namespace tutti::core {
namespace {

/// The order in which gradients become ready; of one segment of the backward pass last-created first.
std::vector<int> as_they_become_ready(const Workload& workload) {
  std::vector<int> order;
  for (const BackwardSegment& segment : workload.segments) {
    std::vector<int> together = segment.variables;
    std::sort(together.rbegin(), together.rend());
    order.insert(order.end(), together.begin(), together.end());
  }
  return order;
}

std::vector<int> last_created_first(const Workload& workload) {
  std::vector<int> order(workload.gradients.size());
  std::iota(order.rbegin(), order.rend(), 0);
  return order;
}

class Buckets {
 public:
  Buckets(const Workload& workload, std::int64_t replicas, int replicas_per_worker)
      : workload_(workload), replicas_(replicas), replicas_per_worker_(replicas_per_worker) {}

  std::vector<Bucket> operator()(const PytorchDdp& ddp) const {
    const std::vector<int> order = as_they_become_ready(workload_);
    std::vector<Bucket> made = side_by_side(order, buckets_of_ddp(gradients(order), ddp.first_bucket, ddp.bucket_cap));
    for (Bucket& bucket : made) bucket.copied_in = bucket.copied_out = !ddp.gradient_as_bucket_view;
    return made;
  }

  std::vector<Bucket> operator()(const DeepSpeed& zero) const {
    const std::vector<int> order = as_they_become_ready(workload_);
    std::vector<Bucket> made = side_by_side(order, buckets_of_deepspeed(gradients(order), zero.reduce_bucket_size));
    for (std::size_t i = 0; i < made.size(); ++i) {
      made[i].copied_in = true;  // contiguous_gradients
      if (i + 1 < made.size()) made[i].also_needs = made[i + 1].members.front().variable;
    }
    return made;
  }

  std::vector<Bucket> operator()(const Megatron& megatron) const {
    const std::vector<int> order = last_created_first(workload_);
    const std::int64_t size = megatron.overlap_grad_reduce
                                  ? megatron.bucket_size.value_or(usual_megatron_bucket(replicas_))
                                  : std::numeric_limits<std::int64_t>::max();
    std::vector<Bucket> made = side_by_side(order, buckets_of_megatron(gradients(order), size));
    for (Bucket& bucket : made) bucket.needs_all_gradients = !megatron.overlap_grad_reduce;
    return made;
  }

  /// Each by itself; what is ready at the same time is fused when it is known (Plan::fusion).
  std::vector<Bucket> operator()(const Horovod&) const {
    std::vector<Bucket> made;
    for (const int v : as_they_become_ready(workload_))
      made.push_back({{{v, 0, workload_.gradients[static_cast<std::size_t>(v)].elements, 0}}});
    return made;
  }

  std::vector<Bucket> operator()(const BytePs& byteps) const {
    std::vector<Bucket> made;
    for (const int v : as_they_become_ready(workload_)) {
      const Variable& gradient = workload_.gradients[static_cast<std::size_t>(v)];
      std::int64_t first = 0;
      for (const std::int64_t count : partitions_of_byteps({gradient.elements, gradient.type},
                                                           byteps_partition(byteps.partition, replicas_per_worker_))) {
        made.push_back({{{v, first, count, 0}}});
        first += count;
      }
    }
    return made;
  }

 private:
  [[nodiscard]] std::vector<BucketGradient> gradients(const std::vector<int>& order) const {
    std::vector<BucketGradient> made;
    for (const int v : order) {
      const Variable& gradient = workload_.gradients[static_cast<std::size_t>(v)];
      made.push_back({gradient.elements, gradient.type});
    }
    return made;
  }

  static std::vector<Bucket> side_by_side(const std::vector<int>& order, const std::vector<std::vector<int>>& buckets,
                                          const Workload& workload) {
    std::vector<Bucket> made;
    for (const std::vector<int>& indices : buckets) {
      std::int64_t offset = 0;
      Bucket& bucket = made.emplace_back();
      for (const int i : indices) {
        const int variable = order[static_cast<std::size_t>(i)];
        const std::int64_t count = workload.gradients[static_cast<std::size_t>(variable)].elements;
        bucket.members.push_back({variable, 0, count, offset});
        offset += count;
      }
    }
    return made;
  }
  [[nodiscard]] std::vector<Bucket> side_by_side(const std::vector<int>& order,
                                                 const std::vector<std::vector<int>>& buckets) const {
    return side_by_side(order, buckets, workload_);
  }

  const Workload& workload_;
  std::int64_t replicas_;
  int replicas_per_worker_;
};

std::string show_mebibytes(Bytes bytes) {
  return fmt::format("{:g} MiB", static_cast<double>(bytes.count()) / (1 << 20));
}

struct Describe {
  std::string operator()(const PytorchDdp& ddp) const {
    std::string text = "PyTorch DDP, buckets of " + show_mebibytes(ddp.bucket_cap);
    if (ddp.first_bucket != ddp.bucket_cap) text += ", the first of " + show_mebibytes(ddp.first_bucket);
    return text;
  }
  std::string operator()(const DeepSpeed& zero) const {
    return fmt::format("DeepSpeed, buckets of {} elements{}", zero.reduce_bucket_size,
                       zero.overlap_comm ? ", overlapped" : "");
  }
  std::string operator()(const Megatron& megatron) const {
    if (!megatron.overlap_grad_reduce) return "Megatron, one bucket";
    return megatron.bucket_size ? fmt::format("Megatron, buckets of {} elements", *megatron.bucket_size)
                                : "Megatron, buckets of its usual size";
  }
  std::string operator()(const Horovod& horovod) const {
    const double cycle_ms = to_us(horovod.cycle) / 1e3;
    if (horovod.fusion_threshold == Bytes())
      return fmt::format("Horovod, nothing fused, in cycles of {:g} ms", cycle_ms);
    constexpr std::int64_t kFew = 1 << 16;
    const std::string most = horovod.fusion_threshold.count() < kFew
                                 ? fmt::format("{} bytes", horovod.fusion_threshold.count())
                                 : show_mebibytes(horovod.fusion_threshold);
    return fmt::format("Horovod, up to {} of what is ready in cycles of {:g} ms", most, cycle_ms);
  }
  std::string operator()(const BytePs& byteps) const {
    std::string text = "BytePS, partitions of " + std::to_string(byteps.partition.count()) + " bytes";
    if (byteps.credit > 0) text += fmt::format(", {} at a time", byteps.credit);
    if (byteps.hash != KeyHash::kDjb2) text += fmt::format(", hash {}", to_string(byteps.hash));
    return text;
  }
};

}  // namespace

std::string describe(const Framework& framework) { return std::visit(Describe(), framework); }

std::vector<Bucket> buckets_of(const Framework& framework, const Workload& workload, std::int64_t replicas,
                               int replicas_per_worker) {
  return std::visit(Buckets(workload, replicas, replicas_per_worker), framework);
}

}  // namespace tutti::core
