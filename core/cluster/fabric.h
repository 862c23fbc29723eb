#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/units.h"

namespace tutti::core {

/// A network card: card number `index` of its worker, counted from 0.
struct Card {
  std::int64_t worker = 0;
  std::int32_t index = 0;
};

/// The rule that chooses one of several equally short routes between two cards. All messages from
/// one card to another take the same route, regardless of the load, as with ECMP hashing and
/// InfiniBand's forwarding tables.
struct PathChoice {
  enum class Rule {
    kHash,         ///< chooses by a hash of the sending and the receiving card (ECMP)
    kDestination,  ///< chooses by the receiving card's number (InfiniBand's d-mod-k)
  };
  Rule rule = Rule::kHash;
  std::uint64_t seed = 0;             ///< seed of the hash
  std::int32_t cards_per_worker = 1;  ///< maximum number of cards of a worker

  /// Returns the index of the chosen route, 0 … ways - 1. REQUIRES: ways > 0.
  [[nodiscard]] std::uint64_t pick(Card from, Card to, std::uint64_t ways) const;
};

/// The switches between the workers' network cards, and the links between these switches. Switches
/// and directed links are numbered from 0. All properties are computed from the numbers of switches
/// and links; nothing is stored per worker, switch or link.
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
  /// Returns the switch that a card is attached to.
  [[nodiscard]] virtual std::int32_t switch_of(Card card) const = 0;
  /// Appends the links from the switch of one card to the switch of the other card. Appends no
  /// links if both cards are attached to the same switch.
  virtual void append_route(Card from, Card to, std::vector<std::int64_t>& links) const = 0;
  /// Returns the links that join two switches directly, in both directions.
  [[nodiscard]] virtual std::vector<std::int64_t> links_between(std::int32_t a,
                                                                std::int32_t b) const = 0;

  /// Returns the name of a switch: "leaf3", "g2r0". No part of a worker has a name in the form of a
  /// switch's name.
  [[nodiscard]] virtual std::string name(std::int32_t id) const = 0;
  /// Returns the switch with this name (the inverse of name()); nullopt if there is none.
  [[nodiscard]] virtual std::optional<std::int32_t> find(const std::string& name) const = 0;
  /// Describes the fabric: "fat tree of 4 leaves and 2 spines".
  [[nodiscard]] virtual std::string describe() const = 0;
  [[nodiscard]] virtual Bandwidth widest() const = 0;

  /// A partition of the workers into domains of `workers` consecutive workers; the last domain may
  /// have fewer. The workers of a domain share the links out of the domain. The lower bound on
  /// collectives uses the links out of a domain as a cut.
  struct Domains {
    std::int64_t workers = 0;
    std::int64_t count = 1;
    Bandwidth outward;  ///< total bandwidth out of one domain, per direction; 0 if there is only
                        ///< one domain
    Time latency;       ///< latency of the shortest route out of a domain
  };
  [[nodiscard]] virtual Domains domains() const = 0;
};

}  // namespace tutti::core
