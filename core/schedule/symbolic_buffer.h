#pragma once

#include <cstdint>
#include <vector>

#include "core/schedule/sums.h"

namespace tutti::core {

/// The latest access of a lane to an element: the lane's number, and the number of steps that the
/// lane had executed. Lanes are numbered consecutively over all ranks, beginning with the lanes of
/// rank 0.
struct Access {
  std::uint32_t lane = 0;
  std::uint32_t count = 0;  ///< 0: never accessed
};

/// Consecutive elements of a message or buffer that contain the contributions of the same ranks.
struct Stretch {
  std::int64_t count = 0;
  Sums::Id sum = Sums::kUndefined;
  std::int64_t first = 0;  ///< index of the first element in the ranks' inputs; the following
                           ///< elements have consecutive indices
  bool operator==(const Stretch&) const = default;
};
/// The content of a message, or of a range of a buffer, as a list of consecutive stretches.
using Content = std::vector<Stretch>;

[[nodiscard]] std::int64_t length_of(const Content& content);
/// Adds `more` to `sum`, element by element. Elements of `sum` beyond the end of `more` do not
/// change. An empty `sum` becomes `more`. Sums of elements with different indices become
/// Sums::kUnlike.
void add_to(Content& sum, const Content& more, Sums& sums);

/// A buffer of symbolic elements. Adjacent elements that the same steps have written and read share
/// a cell. Memory therefore grows with the number of different ranges in the steps, not with the
/// number of elements.
class SymbolicBuffer {
 public:
  struct Cell {
    std::int64_t begin = 0;
    std::int64_t end = 0;
    Sums::Id sum = Sums::kUndefined;
    std::int64_t first = 0;  ///< index of the cell's first element in the ranks' inputs, as in a
                             ///< Stretch
    Access written;
    std::vector<Access> read;
  };

  /// Makes a buffer with undefined content.
  explicit SymbolicBuffer(std::int64_t elements);
  /// Sets the initial content of a range. REQUIRES: the range is inside the buffer; nothing has
  /// been read or written yet.
  void fill(std::int64_t offset, const Stretch& content);

  [[nodiscard]] std::int64_t elements() const { return elements_; }
  [[nodiscard]] const std::vector<Cell>& cells() const { return cells_; }
  /// Consecutive cells of the buffer.
  struct Cells {
    Cell* first;
    Cell* last;
    [[nodiscard]] Cell* begin() const { return first; }
    [[nodiscard]] Cell* end() const { return last; }
  };
  /// Returns the cells that exactly cover the range [begin, end) of elements. Splits cells at the
  /// ends of the range. The result is valid until the next call of cells_of() or fill().
  /// REQUIRES: 0 ≤ begin ≤ end ≤ elements().
  Cells cells_of(std::int64_t begin, std::int64_t end);

 private:
  /// Returns the index of the cell that begins at element `at`. If `at` lies inside a cell, splits
  /// the cell. For the end of the buffer, returns cells_.size().
  std::size_t cut(std::int64_t at);

  std::int64_t elements_;
  std::vector<Cell> cells_;
};

}  // namespace tutti::core
