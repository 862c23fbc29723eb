#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "core/schedule/block_sizes.h"
#include "core/schedule/step.h"

namespace tutti::core {

/// The kinds of collectives. If a collective among n ranks divides its buffer, the n equal parts
/// are called blocks, and block r belongs to rank r.
enum class CollectiveKind : std::uint8_t {
  kAllReduce,      ///< every rank gets the sum of all ranks' buffers
  kReduceScatter,  ///< rank r gets the sum of block r over all ranks
  kAllGather,      ///< every rank gets the blocks of all ranks
  kBroadcast,      ///< every rank gets the root's buffer
  kReduce,         ///< the root gets the sum of all ranks' buffers
  kAllToAll,       ///< each rank s sends its block r to each rank r, which stores it as block s
  kGather,         ///< the root gets the blocks of all ranks
  kScatter,        ///< rank r gets the root's block r
  kSendReceive,    ///< rank r gets the buffer of rank r - 1; rank 0 gets the buffer of the last
                   ///< rank
};

/// Returns the name of the nccl-tests program without "_perf": "all_reduce", "reduce_scatter", …,
/// "sendrecv".
std::string_view to_string(CollectiveKind kind);
std::optional<CollectiveKind> parse_collective(std::string_view name);
/// Returns all kinds.
std::vector<CollectiveKind> collective_kinds();

/// True if the collective reduces (adds up) the ranks' inputs.
bool reduces(CollectiveKind kind);
/// True if one rank is the root.
bool has_root(CollectiveKind kind);
/// True if the collective divides its buffer into one block per rank. The number of elements must
/// then be a multiple of the number of ranks.
bool has_blocks(CollectiveKind kind);
/// True if the collective can be in place, that is, if the inputs may be in the output buffer.
/// False for all_to_all and sendrecv, because outputs would overwrite inputs that are not sent yet.
bool can_be_in_place(CollectiveKind kind);
/// True if the collective acts as a barrier: no rank can finish before every rank has begun.
bool synchronises(CollectiveKind kind);

/// The required result of a collective, in terms of the ranks' `data` buffers. The contract assigns
/// to each input and to each output a range of the buffer, which is called its place. An in-place
/// collective reads each input at its place; an out-of-place collective reads each input
/// `input_shift` elements after its place. Outputs are always written to their places. The elements
/// of an input are numbered by their places in the buffer: element x of an input is the element
/// with place x.
///
/// If only `elements`, `contributors` and `receivers` are set, the contract is a reduction: each
/// receiver gets, for each element, the sum over all contributors, with each contributor included
/// exactly once. For an all-reduce, all ranks are contributors and receivers.
struct Contract {
  std::int64_t elements = 0;  ///< number of elements in the buffer, not counting `input_shift`
  RankSet contributors;
  RankSet receivers;
  CollectiveKind kind = CollectiveKind::kAllReduce;
  std::int64_t input_shift = 0;
  std::shared_ptr<const BlockSizes> filled =
      nullptr;  ///< block sizes of an all-to-all; null: all blocks are full

  static Contract all_reduce(std::int32_t ranks, std::int64_t elements) {
    return {elements, {0, ranks, 1}, {0, ranks, 1}};
  }
  /// Returns the contract of a collective among ranks 0 … ranks - 1. `root` is ignored for kinds
  /// that have no root. The root may be a helper; a helper that is the root has a data buffer.
  /// REQUIRES: `elements` is a multiple of `ranks` if the kind has blocks; `out_of_place` is true,
  /// or the kind can be in place.
  static Contract of(CollectiveKind kind, std::int32_t ranks, std::int64_t elements, Rank root,
                     bool out_of_place);

  /// The number of elements in each rank's data buffer, including `input_shift`.
  [[nodiscard]] std::int64_t buffer_elements() const { return elements + input_shift; }
  /// Returns the root. REQUIRES: the kind has a root.
  [[nodiscard]] Rank root() const {
    return kind == CollectiveKind::kReduce || kind == CollectiveKind::kGather ? receivers.first
                                                                              : contributors.first;
  }
  /// The number of ranks that participate: ranks 0 … members() - 1. REQUIRES: made by of().
  [[nodiscard]] std::int32_t members() const {
    return contributors.count > receivers.count ? contributors.count : receivers.count;
  }
  /// The number of elements of a block, or of the whole buffer if collectives of this kind have no
  /// blocks.
  [[nodiscard]] std::int64_t block() const {
    return has_blocks(kind) ? elements / members() : elements;
  }

  /// Returns the place of a rank's input; an empty range if the rank has no input. The input is
  /// stored `input_shift` elements after its place.
  [[nodiscard]] Range input(Rank rank) const;

  /// A part of one rank's input that becomes, or is added to, a part of another rank's output.
  /// `source` and `target` are places in the data buffer (see Contract).
  struct Part {
    Range source;
    Range target;
  };
  [[nodiscard]] std::optional<Part> part(Rank from, Rank to) const;

  /// A part of a rank's output. The k-th element of `at` is the sum, over all ranks in `from`, of
  /// element `first` + k of the rank's input.
  struct Output {
    Range at;
    RankSet from;
    std::int64_t first = 0;
  };
  /// Returns all parts of the rank's output, in ascending order of their places. Cost: proportional
  /// to the number of parts (one part if the kind reduces, otherwise one part per contributor).
  [[nodiscard]] std::vector<Output> outputs(Rank rank) const;
};

}  // namespace tutti::core
