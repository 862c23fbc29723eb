#include "real/transport/local.h"

#include "core/base/check.h"

namespace tutti::real {

bool LocalTransport::send(const Piece& piece, const std::byte* payload, Ticket ticket) {
  sends_.push_back({piece, payload, ticket});
  return false;
}

void LocalTransport::free_slot(const Channel& channel) { slots_.push_back(channel); }

core::Expected<void> LocalTransport::poll(Clock::time_point) {
  // Sends that are added during the loop wait for the next call of this function, so that other
  // work is not delayed.
  for (std::size_t n = sends_.size(); n > 0; --n) {
    const Send send = sends_.front();
    sends_.pop_front();
    std::byte* const to = receiver_->place(send.piece);
    TUTTI_CHECK(to, "unexpected piece of {} bytes, from rank {} to rank {}", send.piece.length,
                send.piece.channel.from, send.piece.channel.to);
    devices_->copy_now(to, send.payload, send.piece.length);
    receiver_->arrived(send.piece);
    receiver_->sent(send.ticket);
  }
  for (std::size_t n = slots_.size(); n > 0; --n) {
    const Channel channel = slots_.front();
    slots_.pop_front();
    const bool lent = receiver_->slot_freed(channel);
    TUTTI_CHECK(lent, "rank {} releases a slot that was not in use", channel.to);
  }
  return {};
}

}  // namespace tutti::real
