#include "core/schedule/contract.h"

#include <algorithm>
#include <array>

#include "core/base/check.h"

namespace tutti::core {
namespace {

struct Kind {
  CollectiveKind kind;
  std::string_view name;
  bool reduces, root, blocks, in_place, synchronises;
};
constexpr std::array<Kind, 9> kKinds{
    {{CollectiveKind::kAllReduce, "all_reduce", true, false, false, true, true},
     {CollectiveKind::kReduceScatter, "reduce_scatter", true, false, true, true, true},
     {CollectiveKind::kAllGather, "all_gather", false, false, true, true, true},
     {CollectiveKind::kBroadcast, "broadcast", false, true, false, true, false},
     {CollectiveKind::kReduce, "reduce", true, true, false, true, false},
     {CollectiveKind::kAllToAll, "alltoall", false, false, true, false, true},
     {CollectiveKind::kGather, "gather", false, true, true, true, false},
     {CollectiveKind::kScatter, "scatter", false, true, true, true, false},
     {CollectiveKind::kSendReceive, "sendrecv", false, false, false, false, false}}};

const Kind& facts(CollectiveKind kind) {
  const auto* const found =
      std::find_if(kKinds.begin(), kKinds.end(), [&](const Kind& k) { return k.kind == kind; });
  TUTTI_CHECK(found != kKinds.end(), "collective {}", static_cast<int>(kind));
  return *found;
}

}  // namespace

std::string_view to_string(CollectiveKind kind) { return facts(kind).name; }
bool reduces(CollectiveKind kind) { return facts(kind).reduces; }
bool has_root(CollectiveKind kind) { return facts(kind).root; }
bool has_blocks(CollectiveKind kind) { return facts(kind).blocks; }
bool can_be_in_place(CollectiveKind kind) { return facts(kind).in_place; }
bool synchronises(CollectiveKind kind) { return facts(kind).synchronises; }

std::optional<CollectiveKind> parse_collective(std::string_view name) {
  for (const Kind& kind : kKinds) {
    if (kind.name == name) return kind.kind;
  }
  return std::nullopt;
}

std::vector<CollectiveKind> collective_kinds() {
  std::vector<CollectiveKind> kinds;
  for (const Kind& kind : kKinds) kinds.push_back(kind.kind);
  return kinds;
}

Contract Contract::of(CollectiveKind kind, std::int32_t ranks, std::int64_t elements, Rank root,
                      bool out_of_place) {
  TUTTI_CHECK(ranks >= 1 && root >= 0 && (out_of_place || can_be_in_place(kind)) &&
                  (!has_blocks(kind) || elements % ranks == 0),
              "{} of {} elements between {} ranks, root {}", to_string(kind), elements, ranks,
              root);
  const RankSet everyone{0, ranks, 1};
  const RankSet only{root, 1, 1};
  const bool to_one = kind == CollectiveKind::kReduce || kind == CollectiveKind::kGather;
  const bool from_one = kind == CollectiveKind::kBroadcast || kind == CollectiveKind::kScatter;
  return {elements, from_one ? only : everyone, to_one ? only : everyone, kind,
          out_of_place ? elements : 0};
}

Range Contract::input(Rank rank) const {
  if (!contributors.contains(rank)) return {Buffer::kData, 0, 0};
  if (kind == CollectiveKind::kAllGather || kind == CollectiveKind::kGather)
    return {Buffer::kData, rank * block(), block()};
  return {Buffer::kData, 0, elements};
}

std::optional<Contract::Part> Contract::part(Rank from, Rank to) const {
  if (!contributors.contains(from) || !receivers.contains(to)) return std::nullopt;
  const auto block_of = [this](Rank rank) { return Range{Buffer::kData, rank * block(), block()}; };
  const auto both = [](const Range& range) { return Part{range, range}; };
  switch (kind) {
    case CollectiveKind::kAllReduce:
    case CollectiveKind::kBroadcast:
    case CollectiveKind::kReduce: return both({Buffer::kData, 0, elements});
    case CollectiveKind::kReduceScatter:
    case CollectiveKind::kScatter: return both(block_of(to));
    case CollectiveKind::kAllGather:
    case CollectiveKind::kGather: return both(block_of(from));
    case CollectiveKind::kAllToAll: {
      Part part{block_of(to), block_of(from)};
      if (filled) part.source.count = part.target.count = filled->of(from, to);
      return part;
    }
    case CollectiveKind::kSendReceive:
      if ((from + 1) % members() != to) return std::nullopt;
      return both({Buffer::kData, 0, elements});
  }
  return std::nullopt;
}

std::vector<Contract::Output> Contract::outputs(Rank rank) const {
  std::vector<Output> outputs;
  if (!receivers.contains(rank)) return outputs;
  for (std::int32_t i = 0; i < contributors.count; ++i) {
    const Rank from = contributors.at(i);
    const auto part = this->part(from, rank);
    if (!part) continue;
    if (reduces(kind)) return {{part->target, contributors, part->source.offset}};
    outputs.push_back({part->target, {from, 1, 1}, part->source.offset});
  }
  return outputs;
}

}  // namespace tutti::core
