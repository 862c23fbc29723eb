#pragma once

#include <cstdint>
#include <vector>

#include "core/schedule/sums.h"

namespace tutti::core {

/// When something was last touched, by which lane. Lanes are counted over all ranks.
struct Access {
  std::uint32_t lane = 0;
  std::uint32_t count = 0;  ///< 0: never
};

/// A stretch of elements that are the sums of the same ranks' inputs, in a message or a buffer.
struct Stretch {
  std::int64_t count = 0;
  Sums::Id sum = Sums::kUndefined;
  std::int64_t first = 0;  ///< which element of those inputs the first one is of; the others follow it
  bool operator==(const Stretch&) const = default;
};
/// What a message, or a range of a buffer, holds: stretches one behind the other.
using Content = std::vector<Stretch>;

[[nodiscard]] std::int64_t length_of(const Content& content);
/// Element by element; what is beyond the end of `more` stays as it is. An empty `sum` becomes `more`. What are not the
/// same elements of the inputs become Sums::kUnlike.
void add_to(Content& sum, const Content& more, Sums& sums);

/// A buffer of symbols. Neighbours that have always been treated alike are one cell, so a buffer takes memory for the
/// edges of the ranges that steps name, not for its elements.
class SymbolicBuffer {
 public:
  struct Cell {
    std::int64_t begin = 0;
    std::int64_t end = 0;
    Sums::Id sum = Sums::kUndefined;
    std::int64_t first = 0;  ///< as that of a Stretch
    Access written;
    std::vector<Access> read;
  };

  /// Undefined.
  explicit SymbolicBuffer(std::int64_t elements);
  /// REQUIRES: inside the buffer; nothing has been read or written yet.
  void fill(std::int64_t offset, const Stretch& content);

  [[nodiscard]] std::int64_t elements() const { return elements_; }
  [[nodiscard]] const std::vector<Cell>& cells() const { return cells_; }
  /// The cells that make up [begin, end), exactly. REQUIRES: 0 ≤ begin ≤ end ≤ elements().
  /// Valid until the next call.
  struct Cells {
    Cell* first;
    Cell* last;
    [[nodiscard]] Cell* begin() const { return first; }
    [[nodiscard]] Cell* end() const { return last; }
  };
  Cells cells_of(std::int64_t begin, std::int64_t end);

 private:
  /// Index of the cell that begins at `at`, which is made to; cells_.size() for the end.
  std::size_t cut(std::int64_t at);

  std::int64_t elements_;
  std::vector<Cell> cells_;
};

}  // namespace tutti::core
