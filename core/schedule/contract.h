#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "core/schedule/block_sizes.h"
#include "core/schedule/step.h"

namespace tutti::core {

/// What a collective makes of what its n ranks hold. "Blocks" are n equal parts of the buffer, the r-th of them rank r's.
enum class CollectiveKind : std::uint8_t {
  kAllReduce,      ///< everyone gets the sum of all buffers
  kReduceScatter,  ///< rank r gets the sum of everyone's block r
  kAllGather,      ///< everyone gets everyone's block
  kBroadcast,      ///< everyone gets the root's buffer
  kReduce,         ///< the root gets the sum of all buffers
  kAllToAll,       ///< rank r gets block r of everyone, that of rank s as its block s
  kGather,         ///< the root gets everyone's block
  kScatter,        ///< rank r gets the root's block r
  kSendReceive,    ///< rank r gets the buffer of rank r - 1, the first that of the last
};

/// "all_reduce", "reduce_scatter", …, "sendrecv": the names of nccl-tests' programs without their _perf.
std::string_view to_string(CollectiveKind kind);
std::optional<CollectiveKind> parse_collective(std::string_view name);
/// Every kind there is.
std::vector<CollectiveKind> collective_kinds();

/// It adds: an operation makes a difference.
bool reduces(CollectiveKind kind);
/// One rank is the root.
bool has_root(CollectiveKind kind);
/// It deals in blocks, so that the buffer has to divide by the number of ranks.
bool has_blocks(CollectiveKind kind);
/// Inputs may lie where the output is to be. (What all_to_all and sendrecv put there would have been sent from there.)
bool can_be_in_place(CollectiveKind kind);
/// Nobody is through before everyone has begun.
bool synchronises(CollectiveKind kind);

/// What a collective has to achieve, by ranks' `data` buffers. Each input has its place in the buffer, which is where it
/// lies at first (in place) or `input_shift` elements in front of there (out of place); an output comes to its place
/// whatever the inputs' shift. The element of an input whose place is x is called its element x.
///
/// {elements, contributors, receivers} alone: every element of every receiver's data becomes the sum of that
/// element of all contributors, each exactly once. All-reduce: both are everyone.
struct Contract {
  std::int64_t elements = 0;  ///< without those that inputs are shifted by
  RankSet contributors;
  RankSet receivers;
  CollectiveKind kind = CollectiveKind::kAllReduce;
  std::int64_t input_shift = 0;
  std::shared_ptr<const BlockSizes> filled = nullptr;  ///< of an all-to-all: null if its blocks are full

  static Contract all_reduce(std::int32_t ranks, std::int64_t elements) {
    return {elements, {0, ranks, 1}, {0, ranks, 1}};
  }
  /// Between ranks 0 … ranks - 1. `root` is of no matter to kinds that have none; it may be a helper's, which then has a
  /// data buffer, too.
  /// REQUIRES: `elements` divides by `ranks` if the kind has blocks; `out_of_place` or the kind can be in place.
  static Contract of(CollectiveKind kind, std::int32_t ranks, std::int64_t elements, Rank root, bool out_of_place);

  /// Of each rank's data buffer.
  [[nodiscard]] std::int64_t buffer_elements() const { return elements + input_shift; }
  /// Of the kinds that have one.
  [[nodiscard]] Rank root() const {
    return kind == CollectiveKind::kReduce || kind == CollectiveKind::kGather ? receivers.first : contributors.first;
  }
  /// Ranks 0 … members() - 1 take part. REQUIRES: made by of().
  [[nodiscard]] std::int32_t members() const {
    return contributors.count > receivers.count ? contributors.count : receivers.count;
  }
  /// Elements of a block, or of everything if the kind has none.
  [[nodiscard]] std::int64_t block() const { return has_blocks(kind) ? elements / members() : elements; }

  /// The place of a rank's input; of no elements if it contributes none. It lies `input_shift` behind that.
  [[nodiscard]] Range input(Rank rank) const;

  /// What of one rank's input is, or is added to, what of another's output: the places of both.
  struct Part {
    Range source;
    Range target;
  };
  [[nodiscard]] std::optional<Part> part(Rank from, Rank to) const;

  /// A part of a rank's output: the sum over `from` of their elements `first`, `first` + 1, ….
  struct Output {
    Range at;
    RankSet from;
    std::int64_t first = 0;
  };
  /// All that the rank gets, in order. Cost: one entry per contributor, or one in all where they are added.
  [[nodiscard]] std::vector<Output> outputs(Rank rank) const;
};

}  // namespace tutti::core
