#include "tests/real/fake_nccl_meeting.h"

#include <cstdlib>
#include <cstring>
#include <utility>

#include "tests/real/fake_cuda.h"

namespace tutti::test {
namespace {

/// The header before each part in the slot of its sender.
struct PartHeader {
  int to = 0;
  int type = 0;
  std::int64_t count = 0;
};

/// Returns true if every rank has read the results of the last operation, so that the slot can take
/// the next input.
bool may_give(const TuttiNcclCommunicator& c, const Operation& op) {
  for (int r = 0; r < c.ranks; ++r) {
    if (c.meeting->ranks[r].taken < op.number) return false;
  }
  return true;
}

/// Writes all parts that the rank sends to its slot, followed by a header with no receiver.
void give_parts(const TuttiNcclCommunicator& c, const Operation& op) {
  std::byte* at = c.slot(c.rank);
  const std::byte* const end = at + kSlotBytes;
  const auto put = [&at, end](const void* from, std::size_t bytes) {
    if (at + bytes > end) std::abort();
    std::memcpy(at, from, bytes);
    at += bytes;
  };
  for (const Part& part : op.parts) {
    if (!part.out) continue;
    const PartHeader header{part.peer, part.type, part.count};
    put(&header, sizeof header);
    put(part.at, static_cast<std::size_t>(part.count) * item_of(part.type));
  }
  const PartHeader last{-1, 0, 0};
  put(&last, sizeof last);
}

/// Copies the parts that `from` has sent to this rank. Returns false if their order or sizes differ
/// from those that this rank receives.
bool take_parts(const TuttiNcclCommunicator& c, const Operation& op, int from) {
  std::vector<std::pair<PartHeader, const std::byte*>> sent;
  PartHeader header;
  for (const std::byte* at = c.slot(from);;
       at += static_cast<std::size_t>(header.count) * item_of(header.type)) {
    std::memcpy(&header, at, sizeof header);
    at += sizeof header;
    if (header.to < 0) break;
    if (header.to == c.rank) sent.emplace_back(header, at);
  }
  auto next = sent.begin();
  for (const Part& part : op.parts) {
    if (part.out || part.peer != from) continue;
    if (next == sent.end() || next->first.type != part.type || next->first.count != part.count)
      return false;
    std::memcpy(part.at, next->second, static_cast<std::size_t>(part.count) * item_of(part.type));
    ++next;
  }
  return next == sent.end();
}

/// Polls a group of sends and receives, as go_on() does for collectives.
bool go_on_with_parts(TuttiNcclCommunicator& c, Operation& op) {
  Meeting::Rank& own = c.meeting->ranks[c.rank];
  const int what = static_cast<int>(Kind::kParts) * 1'000'000;
  if (!op.given) {
    if (!may_give(c, op)) return false;
    give_parts(c, op);
    own.operation = what;
    own.given = op.number + 1;
    op.given = true;
  }
  for (int r = 0; r < c.ranks; ++r) {
    if (c.meeting->ranks[r].given < op.number + 1) return false;
    if (c.meeting->ranks[r].operation != what) c.error = kInvalidUsage;
  }
  for (int r = 0; r < c.ranks && c.error == 0; ++r) {
    if (!take_parts(c, op, r)) c.error = kInvalidUsage;
  }
  if (c.error != 0) return false;
  own.taken = op.number + 1;
  return true;
}

}  // namespace

std::size_t item_of(int type) {
  return type == 2 || type == 6 ? 8 : type == 3 || type == 4 ? 2 : 4;
}

bool go_on(TuttiNcclCommunicator& c, Operation& op) {
  if (op.kind == Kind::kParts) return go_on_with_parts(c, op);
  Meeting& meeting = *c.meeting;
  Meeting::Rank& own = meeting.ranks[c.rank];
  const std::size_t bytes = static_cast<std::size_t>(op.count) * item_of(op.type);
  const bool scatters = op.kind == Kind::kReduceScatter;
  const std::size_t input = scatters ? bytes * static_cast<std::size_t>(c.ranks) : bytes;
  const int what =
      static_cast<int>(op.kind) * 1'000'000 + op.root * 1000 + op.type * 10 + op.operation;
  if (!op.given) {
    if (!may_give(c, op)) return false;
    if (input > kSlotBytes) std::abort();
    std::memcpy(c.slot(c.rank), op.from, input);
    own.operation = what;
    own.count = op.count;
    own.given = op.number + 1;
    op.given = true;
  }
  for (int r = 0; r < c.ranks; ++r) {
    if (meeting.ranks[r].given < op.number + 1) return false;
    // Real ranks would deadlock or return wrong results.
    if (meeting.ranks[r].operation != what || meeting.ranks[r].count != op.count)
      c.error = kInvalidUsage;
  }
  if (c.error != 0) return false;
  auto* const to = static_cast<std::byte*>(op.to);
  switch (op.kind) {
    case Kind::kBroadcast: std::memcpy(to, c.slot(op.root), bytes); break;
    case Kind::kAllGather:
      for (int r = 0; r < c.ranks; ++r)
        std::memcpy(to + static_cast<std::size_t>(r) * bytes, c.slot(r), bytes);
      break;
    default: {
      if (op.kind == Kind::kReduce && c.rank != op.root) break;
      const std::size_t part = scatters ? static_cast<std::size_t>(c.rank) * bytes : 0;
      std::memcpy(to, c.slot(0) + part, bytes);
      for (int r = 1; r < c.ranks; ++r)
        fake_combine(op.operation, op.type, to, to, c.slot(r) + part, op.count);
    }
  }
  own.taken = op.number + 1;
  return true;
}

}  // namespace tutti::test
