#include "core/synthesis/exchange_text.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <numeric>

#include <fmt/format.h>

namespace tutti::core::synthesis {
namespace {

int ranks_of(const Exchange& exchange) {
  return std::accumulate(exchange.radices.begin(), exchange.radices.end(), 1, std::multiplies<>());
}

/// A round of an exchange, in which ranks that differ only in one digit exchange data. `radix` is
/// the radix of the digit, and `weight` is its place value.
struct Round {
  int radix = 1;
  int weight = 1;
};

std::vector<Round> rounds_of(const Exchange& exchange) {
  std::vector<Round> rounds;
  int weight = 1;
  for (const int radix : exchange.radices) {
    rounds.push_back({radix, weight});
    weight *= radix;
  }
  return rounds;
}

bool scatters(const Exchange& exchange, CollectiveKind kind) {
  return kind == CollectiveKind::kReduceScatter ||
         (kind == CollectiveKind::kAllReduce && !exchange.whole_buffers);
}

class ExchangeWriter {
 public:
  ExchangeWriter(const Exchange& exchange, CollectiveKind kind)
      : exchange_(exchange), kind_(kind) {}

  std::string write(const TextOptions& options) {
    for (const std::string& remark : options.remarks) text_ += "# " + remark + '\n';
    const int ranks = ranks_of(exchange_);
    text_ += fmt::format(
        "algorithm {}\ncollective {}\nengine kernel\nchunks {}\n"
        "require ranks == {} \"this algorithm was synthesized for {} ranks\"\n\n"
        "lane exchange {{\n",
        options.name, to_string(kind_), exchange_.whole_buffers ? 1 : ranks, ranks, ranks);
    std::vector<Round> rounds = rounds_of(exchange_);
    if (scatters(exchange_, kind_)) {
      for (auto round = rounds.rbegin(); round != rounds.rend(); ++round)
        write_reducing(*round, round == rounds.rbegin());
    }
    if (exchange_.whole_buffers) {
      for (const Round& round : rounds) write_adding(round, &round == &rounds.front());
    } else if (kind_ != CollectiveKind::kReduceScatter) {
      const bool from_input = kind_ == CollectiveKind::kAllGather;
      for (const Round& round : rounds)
        write_gathering(round, from_input && &round == &rounds.front());
    }
    return text_ + "}\n";
  }

 private:
  /// Returns the rank whose digit is larger by `d` (`ahead`) or smaller by `d`, modulo the radix.
  static std::string peer(const Round& round, bool ahead) {
    return fmt::format("rank + ((rank / {1} + {2}d) % {0} - rank / {1} % {0}) * {1}", round.radix,
                       round.weight, ahead ? "" : fmt::format("{} - ", round.radix));
  }

  void begin_peers(const Round& round, bool ahead) {
    text_ += fmt::format("  for d from 1 to {} {{\n    let peer = {}\n", round.radix - 1,
                         peer(round, ahead));
  }

  void write_gathering(const Round& round, bool from_input) {
    const char* const source = from_input ? "input" : "data";
    begin_peers(round, true);
    text_ += fmt::format("    send {0}[rank / {1} * {1} count {1}] to peer\n  }}\n", source,
                         round.weight);
    if (from_input) text_ += "  copy input[rank] to data[rank]\n";
    begin_peers(round, false);
    text_ +=
        fmt::format("    receive data[peer / {0} * {0} count {0}] from peer\n  }}\n", round.weight);
  }

  void write_reducing(const Round& round, bool from_input) {
    const char* const source = from_input ? "input" : "data";
    begin_peers(round, true);
    text_ += fmt::format("    send {0}[peer / {1} * {1} count {1}] to peer\n  }}\n", source,
                         round.weight);
    begin_peers(round, false);
    write_sum(fmt::format("[rank / {0} * {0} count {0}]", round.weight), from_input);
  }

  void write_adding(const Round& round, bool from_input) {
    begin_peers(round, true);
    text_ += fmt::format("    send {}[0] to peer\n  }}\n", from_input ? "input" : "data");
    begin_peers(round, false);
    write_sum("[0]", from_input);
  }

  void write_sum(const std::string& range, bool from_input) {
    if (from_input)
      text_ += fmt::format(
          "    if d == 1 {{ reduce data{0} with input{0} from peer }} else {{ reduce data{0} from "
          "peer }}\n  }}\n",
          range);
    else
      text_ += fmt::format("    reduce data{} from peer\n  }}\n", range);
  }

  const Exchange& exchange_;
  CollectiveKind kind_;
  std::string text_;
};

}  // namespace

bool has_exchanges(CollectiveKind kind) {
  return kind == CollectiveKind::kAllGather || kind == CollectiveKind::kReduceScatter ||
         kind == CollectiveKind::kAllReduce;
}

std::vector<Exchange> exchanges_of(int ranks, CollectiveKind kind) {
  std::vector<Exchange> all;
  std::vector<int> radices;
  const std::function<void(int)> extend = [&](int rest) {
    if (rest == 1) {
      all.push_back({radices, false});
      if (kind == CollectiveKind::kAllReduce) all.push_back({radices, true});
      return;
    }
    for (int radix = 2; radix <= rest; ++radix) {
      if (rest % radix != 0) continue;
      radices.push_back(radix);
      extend(rest / radix);
      radices.pop_back();
    }
  };
  if (ranks > 1 && has_exchanges(kind)) extend(ranks);
  return all;
}

Time estimate(const Exchange& exchange, CollectiveKind kind, const FabricGraph& graph,
              Bytes bytes) {
  Time sum;
  for (const Round& round : rounds_of(exchange)) {
    Time latency;
    Bandwidth slowest(std::numeric_limits<std::int64_t>::max());
    for (int rank = 0; rank < graph.ranks; ++rank) {
      for (int d = 1; d < round.radix; ++d) {
        const int digit = rank / round.weight % round.radix;
        const int peer = rank + ((digit + d) % round.radix - digit) * round.weight;
        if (!graph.has_route(rank, peer)) return kNever;
        latency = std::max(latency, graph.latency(rank, peer));
        slowest = std::min(slowest, graph.bandwidth(rank, peer));
      }
    }
    const Bytes each(exchange.whole_buffers ? bytes.count()
                                            : bytes.count() / graph.ranks * round.weight);
    const Time time = latency + transfer_time(round.radix - 1, each, slowest);
    sum += time;
    if (scatters(exchange, kind) && kind == CollectiveKind::kAllReduce) sum += time;
  }
  return sum;
}

std::string text_of(const Exchange& exchange, CollectiveKind kind, const TextOptions& options) {
  return ExchangeWriter(exchange, kind).write(options);
}

std::string describe(const Exchange& exchange) {
  std::string text;
  for (const int radix : exchange.radices)
    text += fmt::format("{}{}", text.empty() ? "" : " × ", radix);
  return text;
}

}  // namespace tutti::core::synthesis
