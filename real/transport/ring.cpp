#include "real/transport/ring.h"

#include <cstring>
#include <random>

namespace tutti::real {
namespace {

constexpr std::size_t kStampBytes = sizeof(std::uint64_t);

/// The short header of a message in one piece. The short header omits the fields that a message in
/// one piece does not need.
struct ShortHeader {
  std::uint32_t kind_and_number = 0;
  CollectiveTag collective;
  std::int32_t from = 0, from_lane = 0, to = 0, to_lane = 0;
  std::uint32_t length = 0;
};
static_assert(sizeof(ShortHeader) == 32);
/// In a short header, the kind of a message in one piece. Header::Kind does not have this value.
constexpr std::uint32_t kWholeMessage = 3;

std::atomic_ref<std::uint64_t> stamp_at(std::byte* line) {
  return std::atomic_ref<std::uint64_t>(*reinterpret_cast<std::uint64_t*>(line));
}

std::size_t in_lines(std::size_t bytes) { return (bytes + kLine - 1) / kLine * kLine; }

bool is_whole_and_short(const Header& header) {
  const Piece& piece = header.piece;
  return header.kind == Header::Kind::kPiece && piece.offset == 0 && piece.length == piece.total &&
         piece.length <= kMaxAmongLines;
}

ShortHeader shortened(const Piece& piece) {
  const Channel& c = piece.channel;
  return {
      kWholeMessage | piece.message << 8,      c.collective, c.from, c.from_lane, c.to, c.to_lane,
      static_cast<std::uint32_t>(piece.length)};
}

std::optional<Header> lengthened(const ShortHeader& header) {
  if ((header.kind_and_number & 0xff) != kWholeMessage || header.from < 0 || header.from_lane < 0 ||
      header.to < 0 || header.to_lane < 0 || header.length > kMaxAmongLines)
    return std::nullopt;
  return Header{Header::Kind::kPiece,
                {{header.collective, header.from, header.from_lane, header.to, header.to_lane},
                 header.length,
                 0,
                 header.length,
                 header.kind_and_number >> 8}};
}

std::uint64_t random_number() {
  std::random_device device;
  return (std::uint64_t{device()} << 32 | device()) | 1;
}

/// Returns true if the ring has space for `needed` bytes after the `written` bytes. Returns false
/// if the reader has not yet freed this space, or if the reader's count is invalid.
bool has_room(std::size_t needed, std::uint64_t written, std::size_t bytes, std::uint64_t& taken,
              const std::atomic<std::uint64_t>& taken_now) {
  if (written + needed - taken <= bytes) return true;
  const std::uint64_t now = taken_now.load(std::memory_order_acquire);
  if (now < taken || now > written) return false;
  taken = now;
  return written + needed - taken <= bytes;
}

}  // namespace

RingShare RingShare::of(const Header& header) {
  const auto length =
      header.kind == Header::Kind::kPiece ? static_cast<std::size_t>(header.piece.length) : 0;
  if (is_whole_and_short(header)) {
    constexpr std::size_t kBefore = kStampBytes + sizeof(ShortHeader);
    return {in_lines(kBefore + length), 0, kBefore};
  }
  if (length <= kMaxAmongLines) return {kLine + in_lines(length), 0, kLine};
  return {kLine, in_lines(length), 0};
}

RingWriter::RingWriter(const RingMemory& memory) : memory_(memory), nonce_(random_number()) {
  memory_.counts.nonce.store(nonce_, std::memory_order_release);
}

std::byte* RingWriter::reserve(const Header& header) {
  const RingShare share = RingShare::of(header);
  if (!has_room(share.lines, lines_, memory_.line_bytes, lines_taken_, memory_.counts.lines_taken))
    return nullptr;
  if (share.payloads == 0)
    return memory_.lines + (lines_ & (memory_.line_bytes - 1)) + share.payload_at;
  if (!has_room(share.payloads, payloads_, memory_.payload_bytes, payloads_taken_,
                memory_.counts.payloads_taken))
    return nullptr;
  return memory_.payloads + (payloads_ & (memory_.payload_bytes - 1));
}

void RingWriter::publish(const Header& header) {
  std::byte* const line = memory_.lines + (lines_ & (memory_.line_bytes - 1));
  if (is_whole_and_short(header)) {
    const ShortHeader bytes = shortened(header.piece);
    std::memcpy(line + kStampBytes, &bytes, sizeof bytes);
  } else {
    const HeaderBytes bytes = encode(header);
    std::memcpy(line + kStampBytes, bytes.data(), bytes.size());
  }
  stamp_at(line).store(nonce_ + lines_, std::memory_order_release);
  const RingShare share = RingShare::of(header);
  lines_ += share.lines;
  payloads_ += share.payloads;
}

RingReader::RingReader(const RingMemory& memory)
    : memory_(memory), nonce_(memory.counts.nonce.load(std::memory_order_acquire)) {}

bool RingReader::empty() const {
  std::byte* const line = memory_.lines + (lines_ & (memory_.line_bytes - 1));
  return stamp_at(line).load(std::memory_order_acquire) != nonce_ + lines_;
}

std::optional<RingReader::Message> RingReader::front() {
  if (broken_ || empty()) return std::nullopt;
  const std::byte* const line = memory_.lines + (lines_ & (memory_.line_bytes - 1));
  ShortHeader bytes;
  std::memcpy(&bytes, line + kStampBytes, sizeof bytes);
  std::optional<Header> header;
  if ((bytes.kind_and_number & 0xff) == kWholeMessage) {
    header = lengthened(bytes);
  } else {
    HeaderBytes all;
    std::memcpy(all.data(), line + kStampBytes, all.size());
    header = decode(all);
  }
  if (header) {
    at_hand_ = RingShare::of(*header);
    if (at_hand_.payloads == 0) return Message{*header, line + at_hand_.payload_at};
    if (at_hand_.payloads <= memory_.payload_bytes)
      return Message{*header, memory_.payloads + (payloads_ & (memory_.payload_bytes - 1))};
  }
  broken_ = true;
  return std::nullopt;
}

void RingReader::release() {
  lines_ += at_hand_.lines;
  memory_.counts.lines_taken.store(lines_, std::memory_order_release);
  if (at_hand_.payloads == 0) return;
  payloads_ += at_hand_.payloads;
  memory_.counts.payloads_taken.store(payloads_, std::memory_order_release);
}

}  // namespace tutti::real
