#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/units.h"

namespace tutti::core {

/// Network card `index` (from 0) of a worker.
struct Card {
  std::int64_t worker = 0;
  std::int32_t index = 0;
};

/// The rule that chooses one of several equally short routes between two cards. As with ECMP
/// hashing and InfiniBand's forwarding tables, the choice does not depend on the load: all messages
/// from one card to another take the same route.
struct PathChoice {
  enum class Rule {
    kHash,         ///< the route depends on a hash of the sending and the receiving card (ECMP)
    kDestination,  ///< the route depends on the receiving card's number (InfiniBand's d-mod-k)
  };
  Rule rule = Rule::kHash;
  std::uint64_t seed = 0;             ///< seed of the hash
  std::int32_t cards_per_worker = 1;  ///< number of cards of the worker with the most cards

  /// Returns the index of the chosen route, from 0 to ways - 1. REQUIRES: ways > 0.
  [[nodiscard]] std::uint64_t pick(Card from, Card to, std::uint64_t ways) const;
};

/// A network of several switches: the switches to which network cards are attached, and the links
/// between the switches. Switches and directed links are numbered from 0. The properties of a
/// switch or link are computed from its number, so nothing is stored per worker, switch or link.
class Fabric {
 public:
  virtual ~Fabric() = default;

  struct Link {
    std::int32_t from = 0;  ///< number of a switch, like `to`
    std::int32_t to = 0;
    Bandwidth bandwidth;
    Time latency;
  };

  [[nodiscard]] virtual std::int32_t switches() const = 0;
  [[nodiscard]] virtual std::int64_t links() const = 0;
  [[nodiscard]] virtual Link link(std::int64_t id) const = 0;
  /// Returns the number of the switch to which a card is attached.
  [[nodiscard]] virtual std::int32_t switch_of(Card card) const = 0;
  /// Appends the links of the route between the switches of two cards. Appends nothing if both
  /// cards are attached to the same switch.
  virtual void append_route(Card from, Card to, std::vector<std::int64_t>& links) const = 0;
  /// Returns the links from switch `a` to switch `b` and from `b` to `a`.
  [[nodiscard]] virtual std::vector<std::int64_t> links_between(std::int32_t a,
                                                                std::int32_t b) const = 0;

  /// Returns the name of a switch, such as "leaf3" or "g2r0". The names of a worker's devices,
  /// switches and cards never look like the name of a network switch.
  [[nodiscard]] virtual std::string name(std::int32_t id) const = 0;
  /// Returns the number of the switch with this name; nullopt if there is none.
  [[nodiscard]] virtual std::optional<std::int32_t> find(const std::string& name) const = 0;
  /// Returns a description such as "fat tree of 4 leaves and 2 spines".
  [[nodiscard]] virtual std::string describe() const = 0;
  [[nodiscard]] virtual Bandwidth widest() const = 0;

  /// A partition of the workers into domains: the blocks of a fat tree, or the groups of a
  /// dragonfly. A domain has `workers` consecutive workers (the last domain may have fewer), which
  /// share the links from the domain to the rest of the network. These links form a cut, which
  /// gives a lower bound on the time of a collective.
  struct Domains {
    std::int64_t workers = 0;
    std::int64_t count = 1;
    Bandwidth outward;  ///< total bandwidth from one domain to the others; 0 if there is only one
                        ///< domain
    Time latency;       ///< latency of the shortest route from one domain to another
  };
  [[nodiscard]] virtual Domains domains() const = 0;
};

}  // namespace tutti::core
