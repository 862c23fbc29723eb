#include "tests/support/middleman.h"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <span>
#include <stdexcept>

#include "real/join/handshake.h"
#include "real/proto/run.pb.h"
#include "real/transport/wire.h"
#include "real/wire/frame.h"
#include "tests/support/cluster.h"

namespace tutti::test {
namespace {

// The bytes of a joiner and of a listener in a handshake (real/join/handshake.h).
constexpr std::size_t kGreeting = 81, kProof = 32, kChallenge = 88, kVerdict = 33;

real::Listener listen() {
  auto listener = real::Listener::open({"127.0.0.1", 0});
  if (!listener) throw std::runtime_error(listener.error().message());
  return std::move(*listener);
}

/// Sends all bytes. Returns false if the other side accepts nothing for a while, or has closed the
/// connection.
bool send_all(const real::Socket& to, std::string_view bytes) {
  while (!bytes.empty()) {
    pollfd entry{to.get(), POLLOUT, 0};
    if (::poll(&entry, 1, 5000) <= 0) return false;
    const ssize_t sent = ::send(to.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

/// Returns the bytes that can be read; empty: the connection has ended.
std::string read_some(const real::Socket& from) {
  std::array<char, 65536> bytes{};
  const ssize_t got = ::recv(from.get(), bytes.data(), bytes.size(), MSG_DONTWAIT);
  return {bytes.data(), got > 0 ? static_cast<std::size_t>(got) : 0};
}

real::HeaderBytes header_bytes(const std::string& piece) {
  real::HeaderBytes bytes{};
  std::memcpy(bytes.data(), piece.data(), bytes.size());
  return bytes;
}

}  // namespace

Middleman::Middleman(int coordinator_port, Fault fault, int which, std::string secret)
    : coordinator_port_(coordinator_port),
      fault_(fault),
      which_(which),
      secret_(std::move(secret)),
      tail_(secret_.empty() ? 0 : real::kMacBytes),
      control_(listen()),
      data_(listen()) {
  thread_ = std::thread([this] { work(); });
}

Middleman::~Middleman() {
  ends_ = true;
  thread_.join();
}

void Middleman::work() {
  while (!ends_) {
    std::vector<pollfd> files{{control_.file(), POLLIN, 0}, {data_.file(), POLLIN, 0}};
    for (const Line& line : lines_) {
      files.push_back({line.from.get(), POLLIN, 0});
      files.push_back({line.to.get(), POLLIN, 0});
    }
    ::poll(files.data(), files.size(), 20);
    std::vector<Line> open;
    for (std::size_t i = 0; i < lines_.size(); ++i) {
      Line& line = lines_[i];
      const bool on = (files[2 + 2 * i].revents == 0 || move_on(line)) && pass_slowly(line);
      const bool back = on && (files[3 + 2 * i].revents == 0 || move_back(line));
      if (back) open.push_back(std::move(line));
    }
    lines_ = std::move(open);
    accept(control_, coordinator_port_, true);
    if (worker_port_ > 0) accept(data_, worker_port_, false);
  }
}

void Middleman::accept(const real::Listener& listener, int port, bool control) {
  while (auto joiner = listener.accept()) {
    lines_.push_back({std::move(*joiner), connect_plainly(port), control, kGreeting + kProof});
  }
}

bool Middleman::move_on(Line& line) {
  const std::string bytes = read_some(line.from);
  if (bytes.empty()) return false;
  line.held += bytes;
  return pass(line);
}

bool Middleman::move_back(Line& line) {
  const std::string bytes = read_some(line.to);
  std::string& heard = line.heard[1];
  heard += bytes.substr(0, kChallenge + kVerdict - std::min(kChallenge + kVerdict, heard.size()));
  return !bytes.empty() && send_all(line.from, bytes);
}

bool Middleman::pass(Line& line) {
  const std::size_t first = std::min(line.handshake, line.held.size());
  if (!send_all(line.to, line.held.substr(0, first))) return false;
  line.heard[0] += line.held.substr(0, first);
  line.held.erase(0, first);
  line.handshake -= first;
  if (line.handshake > 0) return true;
  return line.control ? pass_introduction(line) : pass_pieces(line);
}

/// Returns the keys of the joiner. The key of the handshakes is the secret itself, because it has
/// the form of random bits, or is empty.
real::SessionKeys Middleman::keys_of(const Line& line) const {
  return real::session_keys(secret_,
                            line.heard[0].substr(0, kGreeting) +
                                line.heard[1].substr(0, kChallenge) +
                                line.heard[0].substr(kGreeting) + line.heard[1].substr(kChallenge),
                            true);
}

/// The first message of a worker contains its address. All following messages are forwarded
/// unchanged.
bool Middleman::pass_introduction(Line& line) {
  if (worker_port_ == 0) {
    std::uint32_t length = 0;
    if (line.held.size() < sizeof length) return true;
    std::memcpy(&length, line.held.data(), sizeof length);
    if (line.held.size() < real::framed_size(length)) return true;
    proto::Control message;
    if (!message.ParseFromString(line.held.substr(sizeof length, length)) || !message.has_hello())
      return false;
    line.held.erase(0, real::framed_size(length));
    worker_port_ = message.hello().address().port();
    message.mutable_hello()->mutable_address()->set_port(data_.address().port);
    if (!send_all(line.to,
                  real::FrameWriter(keys_of(line).send).framed(message.SerializeAsString())))
      return false;
  }
  return send_all(line.to, std::exchange(line.held, {}));
}

bool Middleman::pass_pieces(Line& line) {
  while (line.slow.empty() && line.held.size() >= real::kHeaderBytes) {
    const auto header = real::decode(header_bytes(line.held));
    if (!header) return false;
    const bool piece = header->kind == real::Header::Kind::kPiece;
    const auto payload = piece ? static_cast<std::size_t>(header->piece.length) : std::size_t{0};
    const std::size_t length = real::kHeaderBytes + payload + tail_;
    if (line.held.size() < length) return true;
    std::string whole = line.held.substr(0, length);
    line.held.erase(0, length);
    const bool now = piece && !done_ && which_-- == 0;
    if (line.silent) continue;
    whole += std::exchange(line.kept, {});
    if (!(now ? do_to(line, std::move(whole)) : send_all(line.to, whole))) return false;
  }
  return true;
}

/// Other connections continue meanwhile, including the control connection.
bool Middleman::pass_slowly(Line& line) {
  const auto now = std::chrono::steady_clock::now();
  if (line.slow.empty() || now < line.due) return true;
  const std::string part = line.slow.substr(0, 4000);
  line.slow.erase(0, part.size());
  line.due = now + std::chrono::milliseconds(100);
  return send_all(line.to, part) && (!line.slow.empty() || pass_pieces(line));
}

bool Middleman::do_to(Line& line, std::string piece) {
  done_ = true;
  switch (fault_) {
    case Fault::kLoses: return true;
    case Fault::kRepeats: return send_all(line.to, piece) && send_all(line.to, piece);
    case Fault::kCutsShort:
      send_all(line.to, piece.substr(0, tail_ > 0 ? piece.size() - tail_
                                                  : (real::kHeaderBytes + piece.size()) / 2));
      return false;
    case Fault::kExaggerates: std::fill_n(piece.begin() + 28, 4, '\xff'); break;
    case Fault::kScrambles: std::fill_n(piece.begin(), real::kHeaderBytes, '\x5a'); break;
    case Fault::kMisdirects: piece[20] = '\x63'; break;
    case Fault::kChanges: piece[piece.size() - tail_ - 1] ^= 1; break;
    case Fault::kSwaps: line.kept = std::move(piece); return true;
    case Fault::kGoesSilent: line.silent = true; return true;
    case Fault::kSlows: line.slow = std::move(piece); return true;
  }
  return send_all(line.to, piece);
}

}  // namespace tutti::test
