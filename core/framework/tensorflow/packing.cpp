#include "core/framework/tensorflow/packing.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>

#include "core/strategy/strategy.h"

namespace tutti::core {

void TensorFlowPacking::apply(Strategy& strategy) const {
  strategy.num_packs = num_packs;
  strategy.agg_small_grads_max_bytes = agg_small_grads_max_bytes;
  strategy.agg_small_grads_max_group = agg_small_grads_max_group;
  strategy.agg_small_grads_exact_group = agg_small_grads_exact_group;
  strategy.all_reduce_merge_scope = merge_scope.value_or(1);
  strategy.requested_merge_scope = merge_scope.has_value();
}

TensorFlowPacking packing_from(const google::protobuf::Message& message,
                               const TensorFlowPackingFields& names, Fields& fields) {
  constexpr std::int64_t kMaxSmallBytes = std::int64_t{1} << 50;
  TensorFlowPacking packing;
  const auto whole = [&](const std::string& field, std::int64_t least, std::int64_t most) {
    return field.empty() ? std::nullopt : fields.integer(message, field, names.what, least, most);
  };
  packing.num_packs = static_cast<int>(whole(names.num_packs, 0, 1 << 20).value_or(0));
  if (const auto scope = whole(names.merge_scope, 1, 1 << 30))
    packing.merge_scope = static_cast<int>(*scope);
  if (!names.agg_small_grads) return packing;
  packing.agg_small_grads_max_bytes =
      Bytes(whole("agg_small_grads_max_bytes", 1, kMaxSmallBytes).value_or(0));
  packing.agg_small_grads_max_group =
      static_cast<int>(whole("agg_small_grads_max_group", 1, 1 << 30).value_or(10));
  const auto* const exact = message.GetDescriptor()->FindFieldByName("agg_small_grads_exact_group");
  packing.agg_small_grads_exact_group = message.GetReflection()->GetBool(message, exact);
  if (fields.has(message, "agg_small_grads_max_bytes")) return packing;
  for (const char* field : {"agg_small_grads_exact_group", "agg_small_grads_max_group"}) {
    if (fields.has(message, field))
      fields.complain_at(message, field, ProblemCode::kUnused,
                         "{}: {} has no effect without agg_small_grads_max_bytes; set both",
                         names.what, field);
  }
  return packing;
}

}  // namespace tutti::core
