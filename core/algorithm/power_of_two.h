#pragma once

#include <bit>
#include <cstdint>

#include "core/base/check.h"
#include "core/schedule/schedule.h"

namespace tutti::core {

/// What algorithms share in which, hop by hop, each rank exchanges with the one whose number differs in one bit: a power
/// of two of ranks, one lane each.
class PowerOfTwo : public Schedule {
 public:
  PowerOfTwo(std::int32_t ranks, std::int64_t elements, Engine engine)
      : n_(ranks), hops_(std::countr_zero(static_cast<std::uint32_t>(ranks))), elements_(elements), engine_(engine) {
    TUTTI_CHECK(ranks >= 1 && std::has_single_bit(static_cast<std::uint32_t>(ranks)) && elements >= 0,
                "ranks = {}, elements = {}", ranks, elements);
  }

  [[nodiscard]] std::int32_t ranks() const override { return n_; }
  [[nodiscard]] std::int32_t lanes(Rank) const override { return 1; }
  [[nodiscard]] Engine engine(Rank, Lane) const override { return engine_; }

 protected:
  [[nodiscard]] int hops() const { return hops_; }
  [[nodiscard]] std::int64_t elements() const { return elements_; }
  /// The rank with which `rank` exchanges at a hop.
  [[nodiscard]] static Peer partner(Rank rank, int hop) { return Peer::at(rank ^ (1 << hop), 0); }

 private:
  std::int32_t n_;
  int hops_;
  std::int64_t elements_;
  Engine engine_;
};

}  // namespace tutti::core
