#include "real/transport/ring.h"

#include <cstring>
#include <random>

namespace tutti::real {
namespace {

/// Of the message whose header is at `line`.
std::atomic_ref<std::uint64_t> stamp_at(std::byte* line) {
  return std::atomic_ref<std::uint64_t>(*reinterpret_cast<std::uint64_t*>(line + kHeaderBytes));
}

/// From a message's line to its payload.
std::size_t before_payload(std::int64_t payload) { return payload <= kInLine ? kLine - kInLine : kLine; }

std::uint64_t random_number() {
  std::random_device device;
  // Not 0: a ring that nothing was written to must not look as if there were something.
  return (std::uint64_t{device()} << 32 | device()) | 1;
}

}  // namespace

RingWriter::RingWriter(RingCounts& counts, std::byte* data, std::size_t bytes)
    : counts_(counts), data_(data), bytes_(bytes), nonce_(random_number()) {
  counts_.nonce.store(nonce_, std::memory_order_release);
}

std::byte* RingWriter::reserve(std::int64_t payload) {
  const std::size_t needed = in_ring(payload);
  if (written_ + needed - taken_ > bytes_) {
    const std::uint64_t taken = counts_.taken.load(std::memory_order_acquire);
    if (taken < taken_ || taken > written_) return nullptr;  // the reader is mad
    taken_ = taken;
    if (written_ + needed - taken_ > bytes_) return nullptr;
  }
  return data_ + written_ % bytes_ + before_payload(payload);
}

void RingWriter::publish(const HeaderBytes& header, std::int64_t payload) {
  std::byte* const line = data_ + written_ % bytes_;
  std::memcpy(line, header.data(), header.size());
  stamp_at(line).store(nonce_ + written_, std::memory_order_release);
  written_ += in_ring(payload);
}

bool RingReader::empty() const {
  return stamp_at(data_ + taken_ % bytes_).load(std::memory_order_acquire) != nonce_ + taken_;
}

std::optional<RingReader::Message> RingReader::front() {
  if (broken_ || empty()) return std::nullopt;
  const std::byte* const line = data_ + taken_ % bytes_;
  HeaderBytes bytes;
  std::memcpy(bytes.data(), line, bytes.size());
  const std::optional<Header> header = decode(bytes);
  const std::int64_t payload = header && header->kind == Header::Kind::kPiece ? header->piece.length : 0;
  if (header && in_ring(payload) <= bytes_) return Message{*header, line + before_payload(payload)};
  broken_ = true;
  return std::nullopt;
}

bool RingReader::release(std::int64_t payload) {
  taken_ += in_ring(payload);
  counts_.taken.store(taken_, std::memory_order_release);
  // The writer first says that it waits, then looks at `taken` once more; here it is the other way round.
  std::atomic_thread_fence(std::memory_order_seq_cst);
  return counts_.writer_waits.load(std::memory_order_relaxed) != 0;
}

}  // namespace tutti::real
