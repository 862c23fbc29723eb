#pragma once

#include <sys/types.h>

#include <cstddef>
#include <memory>
#include <string>

#include "core/base/error.h"
#include "real/join/handshake.h"
#include "real/join/session_keys.h"

namespace tutti::real {

/// The TLS settings of a process, for all its connections.
class TlsContext {
 public:
  /// Reads the value of the option --tls. "secret": both ends use a key that the handshake derives
  /// from the run's secret. Any other value is the name of a folder with three files:
  /// certificate.pem (the process's certificate, and the chain up to the authority), key.pem (the
  /// private key of this certificate), and ca.pem (the certificate of the authority that has signed
  /// all certificates of the run).
  /// ERRORS (kRequest): a file cannot be read; other users can read the key; the key has a
  /// passphrase.
  static core::Expected<std::shared_ptr<const TlsContext>> open(const std::string& option);
  TlsContext(const TlsContext&) = delete;
  TlsContext& operator=(const TlsContext&) = delete;
  ~TlsContext();

  [[nodiscard]] TlsMode mode() const { return mode_; }
  /// Returns the value of the option, for the processes that this process starts.
  [[nodiscard]] const std::string& option() const { return option_; }

 private:
  friend class Tls;
  struct Native;
  TlsContext(TlsMode mode, std::string option);
  [[nodiscard]] core::Expected<void> read_certificates();

  TlsMode mode_;
  std::string option_;
  std::unique_ptr<Native> native_;
};

/// TLS 1.3 over a connected non-blocking socket, after Tutti's own handshake. After the handshake
/// of TLS, both ends exchange a code that is computed from TLS's exporter (RFC 8446, section 7.5)
/// with a key of Tutti's handshake. A man in the middle, even one with a valid certificate, has two
/// TLS sessions with different exporters, so the code binds both ends of TLS to both ends of the
/// handshake. Any thread may call write() and read().
class Tls {
 public:
  /// `joiner`: true for the end that opened the connection. REQUIRES: the socket stays open while
  /// this object is used.
  Tls(std::shared_ptr<const TlsContext> context, int socket, bool joiner, const SessionKeys& keys);
  Tls(const Tls&) = delete;
  Tls& operator=(const Tls&) = delete;
  ~Tls();

  enum class Progress { kDone, kReads, kWrites, kFailed };
  /// Continues the handshake of TLS without waiting. Returns whether the handshake is done, has
  /// failed, or waits to read or to write.
  Progress handshake();
  /// Returns why handshake() has failed.
  [[nodiscard]] const std::string& failure() const;
  /// Returns true if handshake() has failed because the connection has ended, so that another
  /// attempt may succeed.
  [[nodiscard]] bool closed() const;

  /// Like ::send() and ::recv() of a non-blocking socket. A write that was not accepted (EAGAIN)
  /// must be repeated with the same bytes.
  ssize_t write(const void* bytes, std::size_t size);
  ssize_t read(void* bytes, std::size_t size);
  /// Returns true if TLS has decrypted bytes that read() has not returned yet. The socket need not
  /// be readable in this case.
  [[nodiscard]] bool has_unread() const;
  /// Signals to the other end that no more data follows.
  void end_sending();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace tutti::real
