#include "sim/engine/critical_path.h"

#include <algorithm>
#include <utility>

namespace tutti::sim {

using core::PathPiece;
using core::Time;
using core::Wide;

namespace {

/// Removes the part of a piece that lies before `start`, the start of the training step. The first
/// pieces may begin earlier if a replica is ahead of the others. The parts of a pack are shortened
/// proportionally.
void cut_front(PathPiece& piece, Time start) {
  const auto before = static_cast<Wide>((piece.end - piece.start).count());
  const auto left = static_cast<Wide>((piece.end - start).count());
  piece.start = start;
  if (piece.parts.total() == Time()) return;
  const auto shorten = [&](Time& part) {
    part = Time(static_cast<std::int64_t>(static_cast<Wide>(part.count()) * left / before));
  };
  core::Breakdown& parts = piece.parts;
  for (Time* part :
       {&parts.launch, &parts.latency, &parts.reduce, &parts.copy, &parts.host, &parts.queue})
    shorten(*part);
  for (Time& part : parts.wire) shorten(part);
  parts.queue += piece.end - piece.start - parts.total();  // time lost by rounding
}

void describe(PathPiece& piece, const CausalChain& causal_chain, const core::Cluster& cluster) {
  piece.parts = causal_chain.parts;
  if (causal_chain.slowest >= 0) piece.slowest_link = cluster.link_name(causal_chain.slowest);
  if (causal_chain.queued_at >= 0) piece.queued_at = cluster.link_name(causal_chain.queued_at);
  piece.queued_time = causal_chain.queued_time;
}

}  // namespace

std::int32_t CriticalPath::add(const PathNode& node) {
  nodes_.push_back(node);
  return static_cast<std::int32_t>(nodes_.size()) - 1;
}

std::int32_t CriticalPath::add(PathNode node, const CausalChain& causal_chain) {
  // Store equal chains only once. If NCCL's time is predicted, all ranks of a collective have the
  // same chain.
  if (causal_chains_.empty() || causal_chains_.back() != causal_chain)
    causal_chains_.push_back(causal_chain);
  node.causal_chain = static_cast<std::int32_t>(causal_chains_.size()) - 1;
  return add(node);
}

/// Collects the pieces from the end to the beginning, and then reverses their order.
std::vector<PathPiece> CriticalPath::pieces(const Cause& last, Time start,
                                            const core::Scenario& scenario) const {
  const core::Cluster& cluster = *scenario.cluster;
  std::vector<PathPiece> pieces;
  for (Cause at = last; at.node >= 0 && at.until > start; at = node(at.node).before) {
    const PathNode& from = node(at.node);
    if (at.until == from.start) continue;
    PathPiece piece;
    piece.kind = from.kind;
    const std::int64_t host = from.replica - cluster.replicas();
    piece.device = cluster.part_name(host < 0 ? cluster.replica(from.replica) : cluster.host(host));
    piece.start = from.start;
    piece.end = at.until;
    piece.pack = from.pack;
    if (from.causal_chain >= 0) describe(piece, causal_chains_[from.causal_chain], cluster);
    if (from.kind == core::SpanKind::kExchange) {
      const std::int32_t e = std::exchange(piece.pack, -1);
      // Messages of an execution trace have no name, because they do not belong to an exchange of
      // the plan.
      piece.layer =
          e < 0 ? "messages" : scenario.communicators[scenario.plan.exchanges[e].communicator].name;
    }
    if (piece.start < start) cut_front(piece, start);
    if (at.segment >= 0) piece.layer = scenario.workload.segments[at.segment].layer;
    pieces.push_back(std::move(piece));
  }
  std::reverse(pieces.begin(), pieces.end());
  return pieces;
}

/// Nodes refer only to older nodes. Therefore one pass from the newest to the oldest node marks all
/// needed nodes, and one pass in the other direction moves them together.
void CriticalPath::forget_before(Time horizon, const std::vector<Cause*>& roots) {
  std::vector<char> needed(nodes_.size(), 0);
  const auto mark = [&](Cause& cause) {
    if (cause.node >= 0 && cause.until <= horizon) cause.node = -1;
    if (cause.node >= 0) needed[cause.node] = 1;
  };
  for (Cause* root : roots) mark(*root);
  for (std::size_t i = nodes_.size(); i-- > 0;) {
    if (needed[i]) mark(nodes_[i].before);
  }
  std::vector<std::int32_t> moved(nodes_.size(), -1);
  const auto move = [&moved](Cause& cause) {
    if (cause.node >= 0) cause.node = moved[cause.node];
  };
  CriticalPath kept;
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    if (!needed[i]) continue;
    PathNode node = nodes_[i];
    move(node.before);
    moved[i] =
        node.causal_chain >= 0 ? kept.add(node, causal_chains_[node.causal_chain]) : kept.add(node);
  }
  for (Cause* root : roots) move(*root);
  kept.kept_ = kept.nodes_.size();
  *this = std::move(kept);
}

}  // namespace tutti::sim
