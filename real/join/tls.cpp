// TLS 1.3 by OpenSSL, under loops that poll their sockets themselves. OpenSSL reads and writes
// through a BIO whose functions are send() and recv() without waiting and without SIGPIPE. With
// `--tls secret`, the two ends have a pre-shared key that the handshake of Tutti has derived for
// this connection. TLS adds a Diffie-Hellman exchange, so whoever learns the secret later cannot
// decrypt a recording. With certificates, each end shows its certificate, and accepts only a
// certificate that the authority has signed. Tickets are off, because no connection is resumed. A
// connection that ends without a close alert is an ordinary end here: control connections end with
// explicit messages, and the messages between workers have lengths, so Tutti notices a truncated
// stream without the help of TLS.

#include "real/join/tls.h"

#include <fcntl.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509_vfy.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <mutex>
#include <utility>

#include <fmt/format.h>

#include "core/base/check.h"
#include "real/join/socket.h"

namespace tutti::real {

using core::Error;
using core::Expected;
using core::ProblemCode;

namespace {

constexpr std::string_view kIdentity = "tutti";
/// TLS_AES_128_GCM_SHA256, whose hash must be the hash of the pre-shared key.
constexpr std::array<unsigned char, 2> kCipher{0x13, 0x01};
constexpr const char* kCiphers = "TLS_AES_128_GCM_SHA256";
/// The number of records after which a sender changes its key. RFC 8446, section 5.5, allows
/// 2^24.5 full-size records per key of AES-GCM.
constexpr std::uint64_t kRecordsPerKey = std::uint64_t{1} << 23;
constexpr std::string_view kExporter = "EXPORTER-tutti";

/// Returns the reason of the last error of OpenSSL in words.
std::string reason() {
  const unsigned long code = ERR_peek_last_error();
  ERR_clear_error();
  const char* const text = ERR_reason_error_string(code);
  return text ? text : "unknown reason";
}

/// Returns why the file cannot be opened; empty if it can be. OpenSSL would name no reason.
std::string cannot_open(const std::string& path) {
  const Socket file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  return file ? "" : std::strerror(errno);
}

/// Called by OpenSSL to get the passphrase of an encrypted key. By default, OpenSSL would ask the
/// user for it, in every process of the run.
int refuse_passphrase(char*, int, int, void* requested) {
  *static_cast<bool*>(requested) = true;
  return -1;
}

// --- the socket, as OpenSSL sees it ---

struct Wire {
  int socket = -1;
  bool ended = false;  ///< true: the other end has closed the connection
};

Wire& wire_of(BIO* bio) { return *static_cast<Wire*>(BIO_get_data(bio)); }

int write_wire(BIO* bio, const char* bytes, int size) {
  BIO_clear_retry_flags(bio);
  const ssize_t sent = ::send(wire_of(bio).socket, bytes, static_cast<std::size_t>(size),
                              MSG_NOSIGNAL | MSG_DONTWAIT);
  if (sent < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR))
    BIO_set_retry_write(bio);
  return static_cast<int>(sent);
}

int read_wire(BIO* bio, char* bytes, int size) {
  BIO_clear_retry_flags(bio);
  const ssize_t got =
      ::recv(wire_of(bio).socket, bytes, static_cast<std::size_t>(size), MSG_DONTWAIT);
  if (got == 0) wire_of(bio).ended = true;
  if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR))
    BIO_set_retry_read(bio);
  return static_cast<int>(got);
}

long control_wire(BIO* bio, int command, long, void*) {
  if (command == BIO_CTRL_FLUSH) return 1;
  if (command == BIO_CTRL_EOF) return wire_of(bio).ended ? 1 : 0;
  return 0;
}

struct FreeMethod {
  void operator()(BIO_METHOD* method) const { BIO_meth_free(method); }
};

std::unique_ptr<BIO_METHOD, FreeMethod> wire_method() {
  std::unique_ptr<BIO_METHOD, FreeMethod> method(
      BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "socket of Tutti"));
  TUTTI_CHECK(method, "libcrypto has no memory for a BIO");
  BIO_meth_set_write(method.get(), write_wire);
  BIO_meth_set_read(method.get(), read_wire);
  BIO_meth_set_ctrl(method.get(), control_wire);
  return method;
}

// --- the pre-shared key ---

/// Returns a session that holds the key of this connection.
SSL_SESSION* session_of(SSL* ssl) {
  const auto& keys = *static_cast<const SessionKeys*>(SSL_get_app_data(ssl));
  const SSL_CIPHER* const cipher = SSL_CIPHER_find(ssl, kCipher.data());
  SSL_SESSION* const session = SSL_SESSION_new();
  if (session && cipher &&
      SSL_SESSION_set1_master_key(session, reinterpret_cast<const unsigned char*>(keys.tls.data()),
                                  keys.tls.size()) == 1 &&
      SSL_SESSION_set_cipher(session, cipher) == 1 &&
      SSL_SESSION_set_protocol_version(session, TLS1_3_VERSION) == 1)
    return session;
  SSL_SESSION_free(session);
  return nullptr;
}

int offer_key(SSL* ssl, const EVP_MD*, const unsigned char** identity, std::size_t* length,
              SSL_SESSION** session) {
  *session = session_of(ssl);
  *identity = reinterpret_cast<const unsigned char*>(kIdentity.data());
  *length = kIdentity.size();
  return *session ? 1 : 0;
}

int find_key(SSL* ssl, const unsigned char* identity, std::size_t length, SSL_SESSION** session) {
  *session = nullptr;
  if (std::string_view(reinterpret_cast<const char*>(identity), length) != kIdentity) return 1;
  *session = session_of(ssl);
  return *session ? 1 : 0;
}

}  // namespace

// --- the settings of a process ---

struct TlsContext::Native {
  SSL_CTX* context = SSL_CTX_new(TLS_method());
  std::unique_ptr<BIO_METHOD, FreeMethod> method = wire_method();
  Native() = default;
  Native(const Native&) = delete;
  Native& operator=(const Native&) = delete;
  ~Native() { SSL_CTX_free(context); }
};

TlsContext::TlsContext(TlsMode mode, std::string option)
    : mode_(mode), option_(std::move(option)), native_(std::make_unique<Native>()) {
  SSL_CTX* const context = native_->context;
  TUTTI_CHECK(context && SSL_CTX_set_min_proto_version(context, TLS1_3_VERSION) == 1 &&
                  SSL_CTX_set_ciphersuites(context, kCiphers) == 1 &&
                  SSL_CTX_set_num_tickets(context, 0) == 1,
              "libssl has no TLS 1.3");
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  SSL_CTX_set_options(context, SSL_OP_IGNORE_UNEXPECTED_EOF);
  SSL_CTX_set_verify(context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
  if (mode == TlsMode::kSecret) {
    SSL_CTX_set_psk_use_session_callback(context, offer_key);
    SSL_CTX_set_psk_find_session_callback(context, find_key);
  }
}

TlsContext::~TlsContext() = default;

Expected<void> TlsContext::read_certificates() {
  SSL_CTX* const context = native_->context;
  const auto wrong = [this](const char* file, const std::string& why) {
    return tl::make_unexpected(Error::request({ProblemCode::kInvalid, "--tls"},
                                              fmt::format("--tls {}: {}: {}", option_, file, why)));
  };
  const auto path = [this](const char* file) { return option_ + "/" + file; };
  struct stat status {};
  if (::stat(path("key.pem").c_str(), &status) == 0 && (status.st_mode & 077) != 0)
    return wrong("key.pem", "other users can access this file; restrict it with chmod 600");
  for (const char* file : {"certificate.pem", "key.pem", "ca.pem"}) {
    if (const std::string why = cannot_open(path(file)); !why.empty()) return wrong(file, why);
  }
  ERR_clear_error();
  bool passphrase_requested = false;
  SSL_CTX_set_default_passwd_cb(context, refuse_passphrase);
  SSL_CTX_set_default_passwd_cb_userdata(context, &passphrase_requested);
  if (SSL_CTX_use_certificate_chain_file(context, path("certificate.pem").c_str()) != 1)
    return wrong("certificate.pem", "this certificate cannot be read: " + reason());
  if (SSL_CTX_use_PrivateKey_file(context, path("key.pem").c_str(), SSL_FILETYPE_PEM) != 1) {
    if (passphrase_requested)
      return wrong(
          "key.pem",
          "this private key has a passphrase; store the key without a passphrase (openssl pkey -in "
          "key.pem -out plain.pem)");
    return wrong("key.pem", "this private key cannot be read: " + reason());
  }
  if (SSL_CTX_check_private_key(context) != 1)
    return wrong("key.pem", "the key does not belong to certificate.pem: " + reason());
  if (SSL_CTX_load_verify_locations(context, path("ca.pem").c_str(), nullptr) != 1)
    return wrong("ca.pem", "these certificates cannot be read: " + reason());
  // No other file is read later, so the variable may go out of scope.
  SSL_CTX_set_default_passwd_cb_userdata(context, nullptr);
  return {};
}

Expected<std::shared_ptr<const TlsContext>> TlsContext::open(const std::string& option) {
  struct stat status {};
  const bool secret = option == "secret";
  if (!secret && (::stat(option.c_str(), &status) != 0 || !S_ISDIR(status.st_mode))) {
    return tl::make_unexpected(Error::request(
        {ProblemCode::kUnknownName, "--tls"},
        fmt::format("--tls {}: expected the word \"secret\" (--tls secret), or a folder with "
                    "certificate.pem, key.pem and ca.pem",
                    option)));
  }
  const std::shared_ptr<TlsContext> made(
      new TlsContext(secret ? TlsMode::kSecret : TlsMode::kCertificates, option));
  if (!secret) {
    if (auto read = made->read_certificates(); !read) return tl::make_unexpected(read.error());
  }
  return std::shared_ptr<const TlsContext>(made);
}

// --- one connection ---

struct Tls::State {
  std::shared_ptr<const TlsContext> context;
  SessionKeys keys;
  Wire wire;
  SSL* ssl = nullptr;
  mutable std::mutex mutex;  ///< held while OpenSSL reads or writes, because it cannot do both at
                             ///< the same time
  bool negotiated = false;
  std::string to_send;  ///< the rest of the binding code
  std::string got;
  std::string failure;
  bool closed = false;        ///< true: the connection has ended during the handshake
  std::uint64_t records = 0;  ///< the number of records that were written with the current key

  State() = default;
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() { SSL_free(ssl); }

  /// Returns what a failed call of OpenSSL waits for.
  [[nodiscard]] Progress waits_for(int status) {
    switch (SSL_get_error(ssl, status)) {
      case SSL_ERROR_WANT_READ: return Progress::kReads;
      case SSL_ERROR_WANT_WRITE: return Progress::kWrites;
      case SSL_ERROR_ZERO_RETURN:
        closed = true;
        failure = "the connection was closed";
        break;
      case SSL_ERROR_SYSCALL:
        closed = true;
        failure = errno != 0 ? std::strerror(errno) : "the connection was closed";
        break;
      default: {
        const long verified = SSL_get_verify_result(ssl);
        failure = reason();
        if (verified != X509_V_OK)
          failure += fmt::format(" ({})", X509_verify_cert_error_string(verified));
      }
    }
    ERR_clear_error();
    return Progress::kFailed;
  }

  /// Returns the code of the exporter of this session with the key of one direction.
  [[nodiscard]] std::string binding(const Sha256& key) const {
    std::array<unsigned char, 32> exported{};
    TUTTI_CHECK(SSL_export_keying_material(ssl, exported.data(), exported.size(), kExporter.data(),
                                           kExporter.size(), nullptr, 0, 0) == 1,
                "TLS exports no key");
    const Sha256 code =
        hmac_sha256({reinterpret_cast<const char*>(key.data()), key.size()},
                    {reinterpret_cast<const char*>(exported.data()), exported.size()});
    return {reinterpret_cast<const char*>(code.data()), code.size()};
  }

  ssize_t moved(int status, std::size_t count) {
    if (status == 1) return static_cast<ssize_t>(count);
    switch (SSL_get_error(ssl, status)) {
      case SSL_ERROR_WANT_READ:
      case SSL_ERROR_WANT_WRITE: errno = EAGAIN; return -1;
      case SSL_ERROR_ZERO_RETURN: return 0;
      case SSL_ERROR_SYSCALL:
        if (errno == 0) return 0;
        break;
      default: errno = EPROTO;
    }
    ERR_clear_error();
    return -1;
  }
};

Tls::Tls(std::shared_ptr<const TlsContext> context, int socket, bool joiner,
         const SessionKeys& keys)
    : state_(std::make_unique<State>()) {
  state_->context = std::move(context);
  state_->keys = keys;
  state_->wire.socket = socket;
  state_->ssl = SSL_new(state_->context->native_->context);
  BIO* const bio = BIO_new(state_->context->native_->method.get());
  TUTTI_CHECK(state_->ssl && bio, "libssl has no memory for a connection");
  BIO_set_data(bio, &state_->wire);
  BIO_set_init(bio, 1);
  SSL_set_bio(state_->ssl, bio, bio);
  SSL_set_app_data(state_->ssl, &state_->keys);
  if (joiner) {
    SSL_set_connect_state(state_->ssl);
    return;
  }
  SSL_set_accept_state(state_->ssl);
  // A listener that verifies its peers accepts a pre-shared key only if it has a session ID
  // context, whose value does not matter.
  TUTTI_CHECK(SSL_set_session_id_context(state_->ssl,
                                         reinterpret_cast<const unsigned char*>(kIdentity.data()),
                                         kIdentity.size()) == 1,
              "libssl refuses the session ID context");
}

Tls::~Tls() = default;

Tls::Progress Tls::handshake() {
  State& s = *state_;
  const std::lock_guard lock(s.mutex);
  ERR_clear_error();
  errno = 0;
  if (!s.negotiated) {
    if (const int status = SSL_do_handshake(s.ssl); status != 1) return s.waits_for(status);
    s.negotiated = true;
    s.to_send = s.binding(s.keys.send_binding);
  }
  std::size_t count = 0;
  while (!s.to_send.empty()) {
    const int status = SSL_write_ex(s.ssl, s.to_send.data(), s.to_send.size(), &count);
    if (status != 1) return s.waits_for(status);
    s.to_send.erase(0, count);
  }
  while (s.got.size() < sizeof(Sha256)) {
    char bytes[sizeof(Sha256)];
    const int status = SSL_read_ex(s.ssl, bytes, sizeof bytes - s.got.size(), &count);
    if (status != 1) return s.waits_for(status);
    s.got.append(bytes, count);
  }
  const std::string expected = s.binding(s.keys.receive_binding);
  Sha256 theirs, ours;
  std::memcpy(theirs.data(), s.got.data(), theirs.size());
  std::memcpy(ours.data(), expected.data(), ours.size());
  if (same(theirs, ours)) return Progress::kDone;
  s.failure =
      "the peer of the TLS connection is not the process that made the handshake before TLS";
  return Progress::kFailed;
}

const std::string& Tls::failure() const { return state_->failure; }
bool Tls::closed() const { return state_->closed; }

ssize_t Tls::write(const void* bytes, std::size_t size) {
  State& s = *state_;
  const std::lock_guard lock(s.mutex);
  ERR_clear_error();
  errno = 0;
  std::size_t count = 0;
  const int status = SSL_write_ex(s.ssl, bytes, size, &count);
  const ssize_t written = s.moved(status, count);
  // The next write then begins with a message that announces the new key. If the other end is in
  // the middle of such a message, OpenSSL refuses, and the next write tries again.
  if (written > 0 && ++s.records >= kRecordsPerKey &&
      SSL_key_update(s.ssl, SSL_KEY_UPDATE_NOT_REQUESTED) == 1)
    s.records = 0;
  if (written != 0 || size == 0) return written;
  // The other end has closed TLS, and the connection has ended. Report this in the same way as
  // ::send(), which never returns 0.
  errno = EPIPE;
  return -1;
}

ssize_t Tls::read(void* bytes, std::size_t size) {
  const std::lock_guard lock(state_->mutex);
  ERR_clear_error();
  errno = 0;
  std::size_t count = 0;
  const int status = SSL_read_ex(state_->ssl, bytes, size, &count);
  return state_->moved(status, count);
}

bool Tls::has_unread() const {
  const std::lock_guard lock(state_->mutex);
  return SSL_pending(state_->ssl) > 0;
}

void Tls::end_sending() {
  const std::lock_guard lock(state_->mutex);
  ERR_clear_error();
  static_cast<void>(SSL_shutdown(state_->ssl));  // the other end also notices the end of the socket
  ERR_clear_error();
}

}  // namespace tutti::real
