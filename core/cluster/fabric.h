#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/units.h"

namespace tutti::core {

/// A network card: the `index`-th of its worker.
struct Card {
  std::int64_t worker = 0;
  std::int32_t index = 0;
};

/// Chooses among equally short routes. All messages from one card to another take the same route,
/// as with routers that hash addresses and with InfiniBand's forwarding tables; the choice ignores
/// the load.
struct PathChoice {
  enum class Rule {
    kHash,         ///< chooses by a hash of both cards (ECMP)
    kDestination,  ///< chooses by the receiving card's number (InfiniBand's d-mod-k)
  };
  Rule rule = Rule::kHash;
  std::uint64_t seed = 0;             ///< seed of the hash
  std::int32_t cards_per_worker = 1;  ///< the maximum over all workers

  /// Returns a number from 0 … ways - 1. REQUIRES: ways > 0.
  [[nodiscard]] std::uint64_t pick(Card from, Card to, std::uint64_t ways) const;
};

/// The switches between the workers' cards and the links that join them, computed from positions:
/// nothing is stored per worker, switch or link. Switches and directed links are numbered from 0.
class Fabric {
 public:
  virtual ~Fabric() = default;

  struct Link {
    std::int32_t from = 0;  ///< index of a switch, as `to` is
    std::int32_t to = 0;
    Bandwidth bandwidth;
    Time latency;
  };

  [[nodiscard]] virtual std::int32_t switches() const = 0;
  [[nodiscard]] virtual std::int64_t links() const = 0;
  [[nodiscard]] virtual Link link(std::int64_t id) const = 0;
  /// Returns the switch that a card is attached to.
  [[nodiscard]] virtual std::int32_t switch_of(Card card) const = 0;
  /// Appends the links from the switch of one card to that of another; none if both are on the same
  /// switch.
  virtual void append_route(Card from, Card to, std::vector<std::int64_t>& links) const = 0;
  /// Returns the links between two switches, in both directions.
  [[nodiscard]] virtual std::vector<std::int64_t> links_between(std::int32_t a,
                                                                std::int32_t b) const = 0;

  /// Returns the name of a switch: "leaf3", "g2r0"; never the name of a worker's part.
  [[nodiscard]] virtual std::string name(std::int32_t id) const = 0;
  /// Returns the switch with this name; the inverse of name().
  [[nodiscard]] virtual std::optional<std::int32_t> find(const std::string& name) const = 0;
  /// Describes the fabric: "fat tree of 4 leaves and 2 spines".
  [[nodiscard]] virtual std::string describe() const = 0;
  [[nodiscard]] virtual Bandwidth widest() const = 0;

  /// A partition of the workers into domains that share their links to all other workers: each has
  /// `workers` consecutive workers (the last may have fewer), whose outward links carry `outward`
  /// per direction in total. Used as a cut for the lower bound.
  struct Domains {
    std::int64_t workers = 0;
    std::int64_t count = 1;
    Bandwidth outward;  ///< bandwidth out of one domain; 0 if there is only one domain
    Time latency;       ///< latency of the shortest way out
  };
  [[nodiscard]] virtual Domains domains() const = 0;
};

}  // namespace tutti::core
