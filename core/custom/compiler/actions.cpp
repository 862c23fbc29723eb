// Compiles actions. The places, peers and groups of an action become values that are computed for
// each step. The variables on which they depend decide whether the iterations of a loop differ only
// in their ranges (NodeCode::identical), so every value that is not a first chunk is recorded.

#include "core/custom/compiler/actions.h"

#include <optional>
#include <utility>

namespace tutti::core::custom {

CompiledAction ActionCompiler::compile(const ActionText& text, int wait) {
  ActionCode action;
  action.at = text.at;
  action.wait = wait;
  ways_ = 0;
  like_ = 0;
  action.source = compile_range(text.place);
  if (text.has_other) {
    action.one_place = false;
    action.target = compile_range(text.other);
  }
  Area written = text.place.area;
  switch (text.verb) {
    case Verb::kSend:
      action.kind = StepKind::kSend;
      written = Area::kData;
      break;
    case Verb::kReceive:
      action.kind = text.then == Then::kNothing ? StepKind::kReceive : StepKind::kReceiveSend;
      break;
    case Verb::kReduce:
      action.kind = text.then == Then::kNothing    ? StepKind::kReceiveReduce
                    : text.then == Then::kOnlySend ? StepKind::kReceiveReduceSend
                                                   : StepKind::kReceiveReduceCopySend;
      if (text.then == Then::kOnlySend) written = Area::kData;
      // The sum is stored in the first operand, and the data of the second operand is added.
      if (text.has_other) std::swap(action.source, action.target);
      break;
    case Verb::kCopy:
    case Verb::kAdd:
      action.kind = text.verb == Verb::kCopy ? StepKind::kCopy : StepKind::kReduce;
      written = text.other.area;
      break;
    case Verb::kMulticast:
      action.kind = StepKind::kMulticast;
      written = Area::kData;
      break;
    case Verb::kReduceAcross:
      action.kind = StepKind::kSwitchReduce;
      if (text.has_other) std::swap(action.source, action.target);
      break;
  }
  check_nothing(text);
  if (written == Area::kInput)
    complain(ProblemCode::kInvalid, text.at,
             "the input is read-only; write to output[…] or scratch[…]");
  if (text.from.rank >= 0) action.from = compile_peer(text.from);
  if (text.to.rank >= 0) action.to = compile_peer(text.to);
  if (text.group.first >= 0) {
    action.group = compile_group(text.group);
    compile_lane_of(text.to, action.to);
  }
  return {std::move(action), ways_, like_};
}

void ActionCompiler::check_nothing(const ActionText& text) {
  const bool named =
      text.place.area == Area::kNothing || (text.has_other && text.other.area == Area::kNothing);
  const bool message =
      text.verb == Verb::kSend || text.verb == Verb::kReceive || text.verb == Verb::kMulticast;
  if (named && (!message || text.then != Then::kNothing))
    complain(ProblemCode::kInvalid, text.at,
             "\"nothing\" can only be sent, received or multicast; write data or scratch here");
}

RangeCode ActionCompiler::compile_range(const RangeText& text) {
  RangeCode place;
  place.area = text.area;
  if (text.area == Area::kNothing) return place;
  if (text.area == Area::kScratch && program_.scratch == 0)
    complain(ProblemCode::kMissing, text.at,
             "\"scratch\" is not declared; add a line with its number of chunks, such as \"scratch "
             "chunks\"");
  const int first = expressions_.evaluate(text.first);
  place.first = values_.value(first);
  if (text.last >= 0 || text.count >= 0) {
    const int one = values_.constant(1);
    const int count =
        text.count >= 0
            ? expressions_.evaluate(text.count)
            : expressions_.apply(
                  ValueOp::kAdd,
                  {expressions_.apply(ValueOp::kSubtract, {expressions_.evaluate(text.last), first},
                                      text.at),
                   one},
                  text.at);
    place.one = values_.facts(count).constant() && values_.facts(count).low == 1;
    place.count = values_.value(count);
    size_depends_on(count, text.at);
  }
  if (text.like >= 0) {
    const int like = expressions_.evaluate(text.like);
    place.has_like = true;
    place.like = values_.value(like);
  }
  if (text.parts >= 0) compile_piece(text, place);
  return place;
}

void ActionCompiler::compile_piece(const RangeText& text, RangeCode& place) {
  const int parts = expressions_.evaluate(text.parts);
  const Facts facts = values_.facts(parts);
  if (facts.low < 1) {
    return complain(ProblemCode::kTooSmall, text.at,
                    "the number of pieces can become {}; it must be at least 1", facts.low);
  }
  place.in_pieces = true;
  place.part = values_.value(expressions_.evaluate(text.part));
  place.parts = values_.value(parts);
  size_depends_on(parts, text.at);
  if (facts.constant())
    program_.piece_counts.push_back(facts.low);
  else
    program_.pieces_vary = true;
}

void ActionCompiler::size_depends_on(int value, Position at) {
  like_ |= values_.facts(value).uses;
  symmetry_.need_same(value, at, "a size depends on the node");
}

PeerCode ActionCompiler::compile_peer(const PeerText& text) {
  PeerCode peer;
  const int rank = expressions_.evaluate(text.rank);
  const std::int64_t ranks = program_.shape.ranks;
  peer.relative = values_.is_rank_plus(rank);
  peer.rank = peer.relative ? values_.value_without_rank(rank) : values_.value(rank);
  if (ranks > 1 && peer.relative && peer.rank.count == 0 &&
      floor_modulo(peer.rank.base, ranks) == 0)
    complain(ProblemCode::kInvalid, text.at,
             "a rank cannot send to or receive from itself; use copy");
  ways_ |= peer.relative ? values_.facts(rank).uses & ~1U : values_.facts(rank).uses;
  symmetry_.need_moving(rank, text.at);
  compile_lane_of(text, peer);
  return peer;
}

void ActionCompiler::compile_lane_of(const PeerText& text, PeerCode& peer) {
  if (text.lane.empty()) return;
  const std::optional<int> family = lanes_.find(text.lane, text.lane_index >= 0, text.lane_at);
  peer.own_lane = false;
  peer.family = family.value_or(0);
  if (text.lane_index < 0 || !family) return;
  const int number = expressions_.evaluate(text.lane_index);
  ways_ |= values_.facts(number).uses;
  symmetry_.need_same(number, text.lane_at, "the index of a lane depends on the node");
  peer.lane_number = values_.value(number);
}

GroupCode ActionCompiler::compile_group(const GroupText& text) {
  GroupCode group;
  const int first = expressions_.evaluate(text.first);
  const int count = expressions_.evaluate(text.count);
  const int stride = text.stride < 0 ? values_.constant(1) : expressions_.evaluate(text.stride);
  if (values_.facts(stride).low < 1)
    complain(
        ProblemCode::kTooSmall, text.at,
        "the group's `step`, the distance between consecutive ranks, can become {}; it must be at "
        "least 1",
        values_.facts(stride).low);
  group.first = values_.value(first);
  group.count = values_.value(count);
  group.stride = values_.value(stride);
  for (const int value : {first, count, stride}) ways_ |= values_.facts(value).uses;
  symmetry_.need_moving(first, text.at);
  symmetry_.need_same(count, text.at, "the size of a group depends on the node");
  symmetry_.need_same(stride, text.at, "the step of a group depends on the node");
  // IdenticalSteps can only describe messages to a single rank, so steps for a group are computed
  // one by one.
  like_ = ~0U;
  return group;
}

}  // namespace tutti::core::custom
