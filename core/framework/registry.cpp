#include "core/framework/registry.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>

#include "core/base/check.h"
#include "core/framework/byteps/byteps.h"
#include "core/framework/deepspeed/deepspeed.h"
#include "core/framework/horovod/horovod.h"
#include "core/framework/megatron/megatron.h"
#include "core/framework/pytorch/pytorch_ddp.h"
#include "core/framework/tensorflow/tensorflow.h"
#include "core/proto/scenario.pb.h"

namespace tutti::core {
namespace {

std::vector<FrameworkKind>& registered_kinds() {
  static std::vector<FrameworkKind> all{
      tensorflow_kind(),   //
      pytorch_ddp_kind(),  //
      horovod_kind(),      //
      deepspeed_kind(),    //
      megatron_kind(),     //
      byteps_kind(),
  };
  return all;
}

}  // namespace

const std::vector<FrameworkKind>& framework_kinds() { return registered_kinds(); }

void register_framework(FrameworkKind kind) {
  for (const FrameworkKind& known : registered_kinds())
    TUTTI_CHECK(known.name != kind.name, "two frameworks \"{}\"", kind.name);
  registered_kinds().push_back(std::move(kind));
}

GuestMessages framework_messages() {
  GuestMessages guests;
  for (const FrameworkKind& kind : registered_kinds()) {
    if (kind.schema) guests.expect(*proto::Strategy::descriptor(), kind.name, kind.schema());
  }
  return guests;
}

ReadFramework read_framework(const proto::Strategy& message, const GuestMessages& guests, Fields& fields,
                             Complaints& complaints) {
  struct Said {
    const FrameworkKind* kind;
    const google::protobuf::Message* own;
    std::string first;  ///< of its fields that is written
  };
  std::vector<Said> said;
  for (const FrameworkKind& kind : registered_kinds()) {
    if (const auto* own = guests.find(kind.name)) {
      said.push_back({&kind, own, kind.name});
      continue;
    }
    for (const std::string& field : kind.said_by) {
      if (!fields.has(message, field)) continue;
      said.push_back({&kind, nullptr, field});
      break;
    }
  }
  if (said.empty()) return {};
  const Said& chosen = said.back();
  for (const Said& other : said) {
    if (&other != &chosen)
      fields.complain_at(message, other.first, ProblemCode::kConflict,
                         "strategy: {} and {} are of two frameworks; keep one", chosen.first, other.first);
  }
  auto framework = chosen.kind->read({message, chosen.own, fields, complaints});
  // Of several it is not known which one is meant.
  return {true, said.size() == 1 ? std::move(framework) : nullptr};
}

void refuse_packing_fields(const StrategyText& text, std::string_view name) {
  const proto::Strategy& s = text.message;
  const auto besides = [&](bool said, const char* field) {
    if (said)
      text.fields.complain_at(s, field, ProblemCode::kConflict, "strategy: {} and {} are two ways of packing; keep one",
                              name, field);
  };
  besides(s.has_bytes_per_pack(), "bytes_per_pack");
  besides(s.num_packs() > 0, "num_packs");
  besides(s.has_agg_small_grads_max_bytes(), "agg_small_grads_max_bytes");
  besides(s.all_reduce_merge_scope() > 1, "all_reduce_merge_scope");
  if (s.merging() != proto::Strategy::MERGING_DEFAULT)
    text.fields.complain_at(s, "merging", ProblemCode::kUnused,
                            "strategy: {} says how gradients come into its buckets; leave merging out", name);
}

}  // namespace tutti::core
