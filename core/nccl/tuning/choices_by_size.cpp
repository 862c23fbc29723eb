#include "core/nccl/tuning/choices_by_size.h"

#include <algorithm>
#include <limits>

#include "core/nccl/tuner/tuner.h"

namespace tutti::core::nccl {
namespace {

// NCCL corrects its estimates differently at different sizes. Between two sizes at which a
// correction changes, the time of each candidate grows linearly. A candidate that is fastest at
// both ends of such an interval is therefore fastest everywhere in the interval, and its number of
// channels only grows with the size. It is therefore sufficient to compute the choice at all sizes
// where corrections change, and to bisect every interval whose ends have different choices.
// Corrections change at powers of two, and at a few sizes that depend on the communicator. The
// sizes that depend on the communicator are found by examining kPerOctave sizes of each octave.
constexpr std::int64_t kPerOctave = 32;

bool same(const Choice& a, const Choice& b) {
  return a.algorithm == b.algorithm && a.protocol == b.protocol && a.channels == b.channels;
}

std::vector<std::int64_t> sizes_to_look_at() {
  std::vector<std::int64_t> sizes;
  for (std::int64_t bytes = 0; bytes < kPerOctave; ++bytes) sizes.push_back(bytes);
  constexpr std::int64_t kLargest = std::numeric_limits<std::int64_t>::max();
  for (std::int64_t octave = kPerOctave;; octave *= 2) {
    for (std::int64_t i = 0; i < kPerOctave; ++i)
      sizes.push_back(octave + i * (octave / kPerOctave));
    if (octave > kLargest / 2) break;
  }
  sizes.push_back(kLargest);
  return sizes;
}

class Ranges {
 public:
  Ranges(const Communicator& communicator, const Model& model, const Operation& like)
      : communicator_(communicator), model_(model), operation_(like) {}

  Expected<std::vector<ChoiceRange>> all() {
    std::vector<std::int64_t> sizes = sizes_to_look_at();
    if (model_.tuner) {
      const auto more = model_.tuner->boundaries(communicator_, operation_.function);
      sizes.insert(sizes.end(), more.begin(), more.end());
      std::sort(sizes.begin(), sizes.end());
      sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
    }
    auto before = at(sizes.front());
    if (!before) return tl::make_unexpected(before.error());
    found_.push_back({sizes.front(), sizes.front(), *before});
    for (std::size_t i = 1; i < sizes.size(); ++i) {
      const auto next = at(sizes[i]);
      if (!next) return tl::make_unexpected(next.error());
      if (auto split = find_changes(sizes[i - 1], *before, sizes[i], *next); !split)
        return tl::make_unexpected(split.error());
      before = next;
    }
    found_.back().last = sizes.back();
    return std::move(found_);
  }

 private:
  Expected<Choice> at(std::int64_t bytes) {
    operation_.bytes = bytes;
    return choose(communicator_, model_, operation_);
  }

  /// Begins a new range at each size between `from` and `to` at which the choice changes.
  Expected<void> find_changes(std::int64_t from, const Choice& at_from, std::int64_t to,
                              const Choice& at_to) {
    if (same(at_from, at_to)) return {};
    if (to - from == 1) {
      found_.back().last = from;
      found_.push_back({to, to, at_to});
      return {};
    }
    const std::int64_t middle = from + (to - from) / 2;
    const auto at_middle = at(middle);
    if (!at_middle) return tl::make_unexpected(at_middle.error());
    if (auto lower = find_changes(from, at_from, middle, *at_middle); !lower) return lower;
    return find_changes(middle, *at_middle, to, at_to);
  }

  const Communicator& communicator_;
  const Model& model_;
  Operation operation_;
  std::vector<ChoiceRange> found_;
};

}  // namespace

Expected<std::vector<ChoiceRange>> choices_by_size(const Communicator& communicator,
                                                   const Model& model, const Operation& like) {
  return Ranges(communicator, model, like).all();
}

}  // namespace tutti::core::nccl
