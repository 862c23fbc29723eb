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

namespace {

/// Returns the framework's field that the strategy sets; null if it sets none.
const google::protobuf::FieldDescriptor* written_framework(const proto::Strategy& message) {
  const auto* const one_of = proto::Strategy::descriptor()->FindOneofByName("framework");
  return proto::Strategy::GetReflection()->GetOneofFieldDescriptor(message, one_of);
}

}  // namespace

ReadFramework read_framework(const proto::Strategy& message, const GuestMessages& guests,
                             Fields& fields, Complaints& complaints) {
  const auto* const field = written_framework(message);
  const FrameworkKind* chosen = nullptr;
  bool several = false;
  for (const FrameworkKind& kind : registered_kinds()) {
    const bool guest = guests.find(kind.name) != nullptr;
    if (!guest && (!field || field->name() != kind.name)) continue;
    const std::string other = chosen                                         ? chosen->name
                              : guest && field && field->name() != kind.name ? field->name()
                                                                             : "";
    if (!other.empty()) {
      several = true;
      fields.complain_at(message, other, ProblemCode::kConflict,
                         "strategy: {} and {} exclude each other; keep one", kind.name, other);
    }
    chosen = &kind;
  }
  if (!chosen) return {};
  if (message.all_reduce_merge_scope() > 1)
    fields.complain_at(message, "all_reduce_merge_scope", ProblemCode::kConflict,
                       "strategy: all_reduce_merge_scope has no effect with {}, which packs by its "
                       "own rules; remove all_reduce_merge_scope",
                       chosen->name);
  auto framework = chosen->read({message, guests.find(chosen->name), fields, complaints});
  // If several frameworks are set, it is unknown which one the user wants.
  return {true, several ? nullptr : std::move(framework)};
}

void refuse_merging(const StrategyText& text, std::string_view name) {
  if (text.message.merging() == proto::Strategy::MERGING_DEFAULT) return;
  text.fields.complain_at(text.message, "merging", ProblemCode::kUnused,
                          "strategy: merging has no effect with {}, which copies gradients into "
                          "buckets by its own rules; remove merging",
                          name);
}

}  // namespace tutti::core
